from datetime import timedelta

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TablesConfig(AppConfig):
    name = "apps.tables"
    verbose_name = _("Tables")

    def ready(self) -> None:
        from apps.accounts import services as accounts
        from apps.tables import clock, receivers  # noqa: F401  receivers listen once imported

        clock.register(name="presence", every=timedelta(seconds=2), run=clock.watch_presence)
        clock.register(name="hosts", every=timedelta(seconds=10), run=clock.watch_hosts)
        clock.register(name="expiry", every=timedelta(minutes=10), run=clock.expire_tables)
        clock.register(name="guests", every=timedelta(hours=1), run=lambda now: accounts.erase_guests(now=now))
        clock.register(name="sessions", every=timedelta(days=1), run=lambda now: accounts.erase_sessions())
