from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.contrib.sitemaps.views import sitemap
from django.urls import include, path

from apps.rulebook import views as rulebook
from apps.rulebook.sitemaps import SITEMAPS
from apps.tables import views as tables
from config import watching

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
    path("healthz", watching.healthz, name="healthz"),
    path("readyz", watching.readyz),
    path("metrics", watching.metrics),
    path("", tables.root, name="root"),
    path("t/<slug:code>/", tables.follow_link, name="link"),
    *i18n_patterns(
        path("", tables.home, name="home"),
        path("", include("apps.rulebook.urls")),
        path("", include("apps.accounts.urls")),
        path("tables/", include("apps.tables.urls")),
    ),
]
