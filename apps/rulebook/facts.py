"""The numbers and settings on a rules page, taken from the game and the site and never from its prose."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import msgspec
from django.conf import settings
from django.utils.translation import gettext, ngettext

from apps.games import registry
from apps.games.kernel import timing
from apps.games.kernel.cards import STANDARD_PACK
from apps.games.kernel.draws import SEED_BYTES
from apps.games.kernel.game import AnyGame, OptionField

type Value = bool | int | str

SPELLED_OUT = 3
"""More neighbouring numbers than this are shown as a range."""


class Row(msgspec.Struct, frozen=True):
    """A line of the table of defaults."""

    label: str
    value: str


class HouseRule(msgspec.Struct, frozen=True):
    """A line of the table of house rules. ``choices`` is empty where the host may not change it."""

    name: str
    meaning: str
    default: str
    choices: str = ""


@cache
def game_facts(slug: str) -> dict[str, int | str]:
    """What a rules page may name: ``seats.most``, ``default.turns``, ``opening.stock``, …

    ``opening`` is the public view of a match with the default settings before its first move; a list
    counts as ``.count`` and its items go by number.
    """
    game = registry.get(slug)
    options = game.Options()
    facts: dict[str, int | str] = {
        "minutes": game.minutes,
        "seats.least": game.seats[0],
        "seats.most": game.seats[-1],
        "pack": len(STANDARD_PACK),
        **site_facts(),
    }
    for field in game.option_fields:
        facts |= _option_facts(field, getattr(options, field.name))
    state = game.deal(options, seats=game.seats[0], seed=bytes(SEED_BYTES), first=0)
    facts |= _numbers(msgspec.to_builtins(game.view(state, None)), "opening")
    return facts


def site_facts() -> dict[str, int | str]:
    """What every page of the rulebook may name."""
    return {
        "clock.short": min(filter(None, timing.TURN_SECONDS)),
        "clock.long": max(timing.TURN_SECONDS),
        "stand_in.seconds": timing.STAND_IN_AFTER_SECONDS,
        "stand_in.timeouts": timing.TIMEOUTS_TO_STAND_IN,
        "claim.seconds": timing.CLAIM_AFTER_SECONDS,
        "table.days": timing.EXPIRES_AFTER_DAYS,
        "guest.days": timing.GUEST_KEPT_DAYS,
        "cookie.session": settings.SESSION_COOKIE_NAME,
        "cookie.session.days": settings.SESSION_COOKIE_AGE // 86400,
        "cookie.csrf": settings.CSRF_COOKIE_NAME,
        "cookie.csrf.days": settings.CSRF_COOKIE_AGE // 86400,
    }


def play_query(game: AnyGame) -> str:
    """The site's default settings of a game as the new-table page reads them."""
    options = msgspec.to_builtins(game.Options())
    return urlencode({"game": game.slug, **{name: _plain(value) for name, value in options.items()}, "seconds": 0})


def default_rows(game: AnyGame, *, source: str, checked: str) -> tuple[Row, ...]:
    """The site's defaults for a game, in the active language."""
    options = game.Options()
    own = (Row(str(field.label), _label(field, getattr(options, field.name))) for field in game.option_fields)
    return (
        Row(gettext("Number of players"), seats_text(game)),
        *own,
        Row(gettext("Time per turn"), gettext("no limit")),
        *_leaving_rows(game),
        Row(gettext("A tie in rated play"), gettext("half a win for each")),
        Row(gettext("These rules follow"), source),
        Row(gettext("Last checked"), checked),
    )


def house_rules(game: AnyGame) -> tuple[HouseRule, ...]:
    """The settings a host may change, in the active language."""
    options = game.Options()
    own = (
        HouseRule(str(field.label), str(field.meaning), _label(field, getattr(options, field.name)), _choices(field))
        for field in game.option_fields
    )
    return (*own, _clock_rule())


def seats_text(game: AnyGame) -> str:
    """How many may play: “1–8”, “2”."""
    least, most = game.seats[0], game.seats[-1]
    return str(least) if least == most else f"{least}–{most}"


def players_text(game: AnyGame) -> str:
    """How many may play, with the word: “1–8 players”."""
    seats = seats_text(game)
    return ngettext("%(seats)s player", "%(seats)s players", game.seats[-1]) % {"seats": seats}


def minutes_text(game: AnyGame) -> str:
    """About how long a match takes: “5 minutes”."""
    return ngettext("%(count)d minute", "%(count)d minutes", game.minutes) % {"count": game.minutes}


def _leaving_rows(game: AnyGame) -> tuple[Row, ...]:
    expiry = Row(gettext("A table played by link expires"), _expiry())
    if game.waits:
        return Row(gettext("If somebody leaves"), gettext("the table waits for them")), expiry
    return (
        Row(gettext("If somebody leaves"), gettext("the computer (medium) plays for them until they are back")),
        Row(gettext("The computer takes over"), _takeover()),
        Row(gettext("If nobody is there"), gettext("a casual game pauses")),
        expiry,
    )


def _takeover() -> str:
    seconds, timeouts = timing.STAND_IN_AFTER_SECONDS, timing.TIMEOUTS_TO_STAND_IN
    away = ngettext("after %(count)d second away", "after %(count)d seconds away", seconds)
    slow = ngettext("after %(count)d time-out", "after %(count)d time-outs in a row", timeouts)
    return gettext("%(away)s or %(slow)s") % {"away": away % {"count": seconds}, "slow": slow % {"count": timeouts}}


def _expiry() -> str:
    days = timing.EXPIRES_AFTER_DAYS
    return ngettext("after %(count)d day without a move", "after %(count)d days without a move", days) % {"count": days}


def _clock_rule() -> HouseRule:
    limits = [seconds for seconds in timing.TURN_SECONDS if seconds]
    listed = gettext("%(short)s or %(long)s") % {"short": limits[0], "long": limits[-1]}
    return HouseRule(
        name=gettext("Time per turn"),
        meaning=gettext("How long a decision may take. The clock starts again at every decision."),
        default=gettext("no limit"),
        choices=ngettext("%(limits)s second", "%(limits)s seconds", limits[-1]) % {"limits": listed},
    )


def _label(field: OptionField, value: Value) -> str:
    return next(str(label) for choice, label in field.choices if choice == value)


def _choices(field: OptionField) -> str:
    """All that a host may choose from; a long run of numbers as its ends."""
    values = [value for value, _ in field.choices]
    if len(values) > SPELLED_OUT and _is_run(values):
        return f"{values[0]}–{values[-1]}"
    return ", ".join(str(label) for _, label in field.choices)


def _is_run(values: list[Value]) -> bool:
    numbers = [value for value in values if type(value) is int]
    return len(numbers) == len(values) and numbers == list(range(numbers[0], numbers[-1] + 1))


def _option_facts(field: OptionField, default: Value) -> Mapping[str, int | str]:
    numbers = [value for value, _ in field.choices if type(value) is int]
    if not numbers:
        return {}
    return {f"default.{field.name}": default, f"least.{field.name}": min(numbers), f"most.{field.name}": max(numbers)}


def _numbers(value: Any, name: str) -> dict[str, int | str]:
    """The whole numbers in plain data, under dotted names."""
    return dict(_walk(value, name))


def _walk(value: Any, name: str) -> Iterator[tuple[str, int]]:
    if type(value) is int:
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(item, f"{name}.{key}")
    elif isinstance(value, list):
        yield f"{name}.count", len(value)
        for index, item in enumerate(value):
            yield from _walk(item, f"{name}.{index}")


def _plain(value: Value) -> str:
    """An option as a query or a form writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
