from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RulebookConfig(AppConfig):
    name = "apps.rulebook"
    verbose_name = _("Rules pages")

    def ready(self) -> None:
        from apps.rulebook import operator  # noqa: F401 - registers its check
