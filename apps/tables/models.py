"""Live tables: who sits where, the match being played, and every move ever made."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.games.kernel.game import Level, Mode
from apps.games.kernel.timing import EXPIRES_AFTER_DAYS

if TYPE_CHECKING:
    from datetime import datetime

NAME_LENGTH = 24


class Status(models.TextChoices):
    SEATING = "seating", _("seating")
    PLAYING = "playing", _("playing")
    FINISHED = "finished", _("finished")


class MadeBy(models.TextChoices):
    """Whose hand made a move."""

    PLAYER = "player", _("player")
    CPU = "cpu", _("CPU")
    STAND_IN = "stand-in", _("stand-in")
    CLOCK = "clock", _("clock")


class EndedBy(models.TextChoices):
    PLAYED = "played", _("played to the end")
    CLAIMED = "claimed", _("claimed")
    RESIGNED = "resigned", _("resigned")
    CANCELLED = "cancelled", _("cancelled")
    VOID = "void", _("void")


class EventKind(models.TextChoices):
    """What happens at a table beside moves, told in the log and the live region."""

    SAT = "sat", _("took a seat")
    CPU_SAT = "cpu-sat", _("CPU added")
    LEFT = "left", _("left")
    STARTED = "started", _("match started")
    FINISHED = "finished", _("match finished")
    STAND_IN = "replaced", _("stand-in took over")
    BACK = "back", _("came back")


MODE_LABELS = {
    Mode.LINK: _("with friends by link"),
    Mode.COMPUTER: _("versus computer"),
    Mode.SAME_DEVICE: _("same device"),
    Mode.RANKED: _("ranked game"),
}
LEVEL_LABELS = {
    Level.EASY: pgettext_lazy("difficulty", "easy"),
    Level.MEDIUM: pgettext_lazy("difficulty", "medium"),
    Level.HARD: pgettext_lazy("difficulty", "hard"),
}


class TableQuerySet(models.QuerySet["Table"]):
    def alive(self) -> TableQuerySet:
        return self.filter(expired_at=None)

    def open(self) -> TableQuerySet:
        """Public tables that still seat people."""
        return self.alive().filter(public=True, status=Status.SEATING)

    def seating(self, user_id: int) -> TableQuerySet:
        """Tables at which this person holds a seat."""
        return self.alive().filter(seats__user=user_id).distinct()

    def without_host(self, since: datetime) -> TableQuerySet:
        """Tables between matches whose host has been away since then, while others are there."""
        away = Seat.objects.filter(table=models.OuterRef("pk"), user=models.OuterRef("host"), away_since__lte=since)
        there = Seat.objects.filter(table=models.OuterRef("pk"), user__isnull=False, away_since=None)
        return self.alive().exclude(status=Status.PLAYING).filter(models.Exists(away), models.Exists(there))

    def idle(self, now: datetime) -> TableQuerySet:
        """Tables played by link that nobody has touched for too long (G-7)."""
        since = now - timedelta(days=EXPIRES_AFTER_DAYS)
        return self.alive().filter(mode=Mode.LINK, active_at__lt=since)


class Table(models.Model):
    """A place where one match after another is played under the same settings."""

    code = models.CharField(_("code"), max_length=16, unique=True)
    game = models.CharField(_("game"), max_length=40)
    options = models.JSONField(_("settings"), default=dict)
    mode = models.CharField(_("mode"), max_length=16, choices=[(mode.value, MODE_LABELS[mode]) for mode in Mode])
    public = models.BooleanField(_("public"), default=False)
    seconds = models.PositiveSmallIntegerField(_("seconds per turn"), default=0)
    host = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="hosted_tables", verbose_name=_("host")
    )
    status = models.CharField(_("status"), max_length=16, choices=Status.choices, default=Status.SEATING)
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    active_at = models.DateTimeField(_("last active"), default=timezone.now, db_index=True)
    expired_at = models.DateTimeField(_("expired"), null=True, blank=True)

    objects = TableQuerySet.as_manager()

    class Meta:
        verbose_name = _("table")
        verbose_name_plural = _("tables")
        indexes = [
            models.Index(fields=["-created_at"], name="table_open", condition=models.Q(public=True, status="seating")),
        ]

    def __str__(self) -> str:
        return self.code


class Seat(models.Model):
    """A place at a table: a person's, a CPU's, or one whose person has left to a stand-in."""

    table = models.ForeignKey(Table, models.CASCADE, related_name="seats", verbose_name=_("table"))
    index = models.PositiveSmallIntegerField(_("number"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="seats", verbose_name=_("user")
    )
    name = models.CharField(_("name"), max_length=NAME_LENGTH)
    cpu_level = models.CharField(
        _("difficulty"), max_length=8, blank=True, choices=[(level.value, LEVEL_LABELS[level]) for level in Level]
    )
    shared = models.BooleanField(_("one of several seats of one browser"), default=False)
    away_since = models.DateTimeField(_("away since"), null=True, blank=True)
    stand_in = models.BooleanField(_("a stand-in plays"), default=False)
    timeouts = models.PositiveSmallIntegerField(_("time-outs in a row"), default=0)
    stood_in = models.PositiveSmallIntegerField(_("moves made for the absent person"), default=0)
    accepted = models.BooleanField(_("accepts the next match"), default=False)

    class Meta:
        verbose_name = _("seat")
        verbose_name_plural = _("seats")
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(fields=["table", "index"], name="one_seat_an_index"),
            models.UniqueConstraint(
                fields=["table", "user"], condition=models.Q(shared=False), name="one_seat_a_person_and_table"
            ),
            models.UniqueConstraint("table", Lower("name"), condition=models.Q(cpu_level=""), name="one_name_a_table"),
        ]

    def __str__(self) -> str:
        return f"{self.table_id}/{self.index} {self.name}"


class MatchQuerySet(models.QuerySet["Match"]):
    def live(self) -> MatchQuerySet:
        return self.filter(finished_at=None)

    def due(self, now: datetime) -> MatchQuerySet:
        """Matches on which the clock has to act, and no clock is acting already."""
        passed = models.Q(deadline_at__lte=now) | models.Q(next_cpu_at__lte=now)
        free = models.Q(leased_until=None) | models.Q(leased_until__lte=now)
        return self.live().filter(passed, free)


class Match(models.Model):
    """One game from the deal to the result: exactly (game, version, options, seats, first, seed, moves)."""

    table = models.ForeignKey(Table, models.CASCADE, related_name="matches", verbose_name=_("table"))
    number = models.PositiveIntegerField(_("number"))
    game = models.CharField(_("game"), max_length=40)
    rules_version = models.PositiveSmallIntegerField(_("version of the rules"))
    options = models.JSONField(_("settings"), default=dict)
    seat_count = models.PositiveSmallIntegerField(_("seats"))
    first = models.PositiveSmallIntegerField(_("begins"))
    seed = models.BinaryField(_("seed"), max_length=32)
    seed_hash = models.CharField(_("hash of the seed"), max_length=64)
    state = models.BinaryField(_("state"))
    move_count = models.PositiveIntegerField(_("moves"), default=0)
    prompts = models.JSONField(_("versions at which each seat was asked"), default=list)
    deadline_at = models.DateTimeField(_("time runs out"), null=True, blank=True)
    next_cpu_at = models.DateTimeField(_("next CPU move"), null=True, blank=True)
    paused_at = models.DateTimeField(_("paused"), null=True, blank=True)
    leased_until = models.DateTimeField(_("a clock acts until"), null=True, blank=True)
    ended_by = models.CharField(_("ended by"), max_length=16, choices=EndedBy.choices, blank=True)
    started_at = models.DateTimeField(_("started"), default=timezone.now)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    objects = MatchQuerySet.as_manager()

    class Meta:
        verbose_name = _("match")
        verbose_name_plural = _("matches")
        constraints = [models.UniqueConstraint(fields=["table", "number"], name="one_match_a_number")]
        indexes = [
            models.Index(fields=["deadline_at"], name="match_deadline", condition=models.Q(finished_at=None)),
            models.Index(fields=["next_cpu_at"], name="match_next_cpu", condition=models.Q(finished_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.table_id}#{self.number}"


class Participant(models.Model):
    """Who played a seat of a match, and how it ended for them. Outlives the table's seats."""

    match = models.ForeignKey(Match, models.CASCADE, related_name="participants", verbose_name=_("match"))
    seat = models.PositiveSmallIntegerField(_("seat"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="played", verbose_name=_("user")
    )
    name = models.CharField(_("name"), max_length=NAME_LENGTH)
    cpu_level = models.CharField(_("difficulty"), max_length=8, blank=True)
    place = models.PositiveSmallIntegerField(_("place"), null=True, blank=True)
    score = models.IntegerField(_("score"), null=True, blank=True)
    absent = models.BooleanField(_("absent"), default=False)

    class Meta:
        verbose_name = _("participant")
        verbose_name_plural = _("participants")
        ordering = ["seat"]
        constraints = [models.UniqueConstraint(fields=["match", "seat"], name="one_participant_a_seat")]

    def __str__(self) -> str:
        return f"{self.match_id}/{self.seat} {self.name}"


class Move(models.Model):
    """One move, never changed: what was played, by whose hand, and what anybody may know of it."""

    match = models.ForeignKey(Match, models.CASCADE, related_name="moves", verbose_name=_("match"))
    number = models.PositiveIntegerField(_("number"))
    version = models.PositiveIntegerField(_("version of the table"))
    seat = models.PositiveSmallIntegerField(_("seat"))
    move = models.JSONField(_("move"))
    made_by = models.CharField(_("made by"), max_length=8, choices=MadeBy.choices)
    events = models.JSONField(_("public events"), default=list)
    made_at = models.DateTimeField(_("made"), default=timezone.now)

    class Meta:
        verbose_name = _("move")
        verbose_name_plural = _("moves")
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["match", "number"], name="one_move_a_number")]

    def __str__(self) -> str:
        return f"{self.match_id}.{self.number}"


class Event(models.Model):
    """Something that happened at a table beside the moves."""

    table = models.ForeignKey(Table, models.CASCADE, related_name="events", verbose_name=_("table"))
    match = models.ForeignKey(
        Match, models.CASCADE, null=True, blank=True, related_name="events", verbose_name=_("match")
    )
    version = models.PositiveIntegerField(_("version of the table"))
    kind = models.CharField(_("kind"), max_length=16, choices=EventKind.choices)
    seat = models.PositiveSmallIntegerField(_("seat"), null=True, blank=True)
    name = models.CharField(_("name"), max_length=NAME_LENGTH, blank=True)
    count = models.PositiveIntegerField(_("count"), default=0)
    happened_at = models.DateTimeField(_("happened"), default=timezone.now)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        ordering = ["version", "id"]
        indexes = [models.Index(fields=["table", "version"], name="event_of_table")]

    def __str__(self) -> str:
        return f"{self.table_id}@{self.version} {self.kind}"


class SeatPass(models.Model):
    """A one-time link that moves a seat to another browser. Only a hash of the token is kept."""

    token_hash = models.CharField(_("hash of the token"), max_length=64, unique=True)
    seat = models.ForeignKey(Seat, models.CASCADE, related_name="passes", verbose_name=_("seat"))
    expires_at = models.DateTimeField(_("expires"))
    used_at = models.DateTimeField(_("used"), null=True, blank=True)

    class Meta:
        verbose_name = _("seat pass")
        verbose_name_plural = _("seat passes")

    def __str__(self) -> str:
        return f"{self.seat_id} until {self.expires_at:%c}"


def options_key(options: dict[str, Any]) -> str:
    """One text for one set of settings, whatever the order of its fields."""
    return msgspec.json.encode(options, order="sorted").decode()


class PersonalBest(models.Model):
    """The best total of a person playing alone, for one game and one set of settings (HL-15)."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="personal_bests", verbose_name=_("user")
    )
    game = models.CharField(_("game"), max_length=40)
    options = models.CharField(_("settings"), max_length=200)
    score = models.IntegerField(_("score"))
    match = models.ForeignKey(Match, models.SET_NULL, null=True, related_name="+", verbose_name=_("match"))
    reached_at = models.DateTimeField(_("reached"), default=timezone.now)

    class Meta:
        verbose_name = _("personal best")
        verbose_name_plural = _("personal bests")
        constraints = [models.UniqueConstraint(fields=["user", "game", "options"], name="one_best_a_setting")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.game} {self.score}"


class Heartbeat(models.Model):
    """When a clock last looked. An old one tells how long nobody was there (design: the clock)."""

    name = models.CharField(_("name"), max_length=16, primary_key=True)
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("heartbeat")
        verbose_name_plural = _("heartbeats")

    def __str__(self) -> str:
        return self.name
