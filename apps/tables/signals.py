"""News for whoever lives above tables. Sent inside the sender's transaction."""

from django.dispatch import Signal

match_finished = Signal()
"""kwargs: ``match`` (Match, with its participants' places written), ``outcome``."""
