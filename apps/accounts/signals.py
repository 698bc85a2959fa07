"""News about people, for whoever keeps something of theirs. Sent inside the sender's transaction."""

from django.dispatch import Signal

user_erased = Signal()
"""kwargs: ``user``, about to be deleted."""
