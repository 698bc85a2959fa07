def test_browser_opens_the_home_page(page, site):
    response = page.goto("/en/")
    assert response.status == 200, site.log
    assert page.locator("h1").count() == 1
