from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.contrib.sitemaps.views import sitemap
from django.urls import include, path

from apps.rulebook import views as rulebook
from apps.rulebook.sitemaps import SITEMAPS

urlpatterns = [
    path("admin/", admin.site.urls),
    path(
        "sitemap.xml",
        sitemap,
        {"sitemaps": SITEMAPS, "template_name": "rulebook/sitemap.xml"},
        name="sitemap",
    ),
    path("robots.txt", rulebook.robots, name="robots"),
    path("favicon.ico", rulebook.favicon),
    *i18n_patterns(path("", include("apps.rulebook.urls"))),
]
