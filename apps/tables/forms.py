"""What a new table is made of, for every game alike: its own settings come from the contract."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.names import clean_name
from apps.games.kernel.errors import OptionError, Refusal
from apps.games.kernel.game import AnyGame, Level, Mode, OptionField
from apps.games.kernel.timing import TURN_SECONDS
from apps.tables import refusals
from apps.tables.models import LEVEL_LABELS, MODE_LABELS

SHOWN_MODES = (Mode.LINK, Mode.COMPUTER, Mode.SAME_DEVICE)


def value_key(value: bool | int | str) -> str:
    """A setting's value as it travels in forms and addresses: ``true``, ``3``, ``up``."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class NewTableForm(forms.Form):
    """Mode, settings, clock, names and CPUs of a new table of one game."""

    def __init__(self, game: AnyGame, data: QueryDict | None = None, *, initial: Mapping[str, Any] | None = None):
        super().__init__(data, initial=dict(initial or {}), label_suffix="")
        self.game = game
        self.fields["mode"] = forms.ChoiceField(choices=mode_choices(game), label=_("Mode"))
        for field in game.option_fields:
            self.fields[field.name] = _option_field(field)
        self.fields["seconds"] = forms.TypedChoiceField(
            choices=[(seconds, seconds_label(seconds)) for seconds in TURN_SECONDS],
            coerce=int,
            required=False,
            label=_("Time per turn"),
        )
        self.fields["public"] = forms.BooleanField(required=False, label=_("public table"))
        self.fields["name"] = forms.CharField(required=False, max_length=10_000, label=_("Your name at the table"))
        self.fields["cpus"] = forms.TypedChoiceField(
            choices=[(n, n) for n in cpu_counts(game)], coerce=int, required=False
        )
        self.fields["level"] = forms.ChoiceField(
            choices=[(level.value, LEVEL_LABELS[level]) for level in Level], required=False, label=_("Difficulty")
        )

    def clean_name(self) -> str:
        raw = self.cleaned_data["name"].strip() or str(self.initial.get("name", ""))
        return _checked_name(raw)

    def clean_mode(self) -> Mode:
        return Mode(self.cleaned_data["mode"])

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            given = {field.name: cleaned[field.name] for field in self.game.option_fields}
            # What was not sent keeps the game's own default.
            cleaned["options"] = self.game.Options(**{name: value for name, value in given.items() if value != ""})
        except OptionError as error:
            raise ValidationError(refusals.words(error)) from None
        cleaned["names"] = self._names(cleaned)
        cleaned["cpu_levels"] = self._cpu_levels(cleaned)
        self._check_seats(cleaned)
        return cleaned

    def _names(self, cleaned: Mapping[str, Any]) -> list[str]:
        """The people on this screen: the host, or everybody named on the same device."""
        if cleaned["mode"] != Mode.SAME_DEVICE:
            return [cleaned["name"]]
        given = self.data.getlist("names") if isinstance(self.data, QueryDict) else []
        names = [_checked_name(raw) for raw in given if raw.strip()]
        if len({name.casefold() for name in names}) < len(names):
            raise ValidationError(refusals.words(Refusal("illegal", reason="name-taken")))
        return names or [cleaned["name"]]

    def _cpu_levels(self, cleaned: Mapping[str, Any]) -> list[str]:
        if cleaned["mode"] != Mode.COMPUTER:
            return []
        wanted = cleaned["cpus"]
        count = default_cpus(self.game) if wanted == "" else wanted
        return [cleaned.get("level") or Level.MEDIUM.value] * count

    def _check_seats(self, cleaned: Mapping[str, Any]) -> None:
        if cleaned["mode"] == Mode.LINK:
            return
        people = len(cleaned["names"]) + len(cleaned["cpu_levels"])
        if people not in self.game.seats:
            raise ValidationError(refusals.words(Refusal("illegal", reason="full" if people > 1 else "too-few")))

    # ── for the template ──

    def option_rows(self) -> Iterator[dict[str, Any]]:
        """Each setting with its choices: (value, label, checked)."""
        defaults = self.game.Options()
        for field in self.game.option_fields:
            chosen = self._chosen(field.name, value_key(getattr(defaults, field.name)))
            choices = [(value_key(value), label, value_key(value) == chosen) for value, label in field.choices]
            yield {"name": field.name, "label": field.label, "meaning": field.meaning, "choices": choices}

    def rows(self, name: str, default: str) -> list[tuple[str, Any, bool]]:
        """The choices of one field of the form's own: (value, label, checked)."""
        chosen = self._chosen(name, default)
        return [(str(value), label, str(value) == chosen) for value, label in cast(Any, self.fields[name]).choices]

    def _chosen(self, name: str, default: str) -> str:
        given = self.data.get(name) if self.is_bound else self.initial.get(name)
        return str(given) if given not in (None, "") else default


def mode_choices(game: AnyGame) -> list[tuple[str, Any]]:
    return [(mode.value, MODE_LABELS[mode]) for mode in SHOWN_MODES if mode in game.modes]


def cpu_counts(game: AnyGame) -> range:
    """How many CPUs one person may play against; none where the game can be played alone."""
    return range(max(0, game.seats.start - 1), game.seats.stop - 1)


def default_cpus(game: AnyGame) -> int:
    return max(1, game.seats.start - 1)


def seconds_label(seconds: int) -> str:
    if not seconds:
        return gettext("no limit")
    return ngettext("%(seconds)s second", "%(seconds)s seconds", seconds) % {"seconds": seconds}


def _option_field(field: OptionField) -> forms.TypedChoiceField:
    values = {value_key(value): value for value, _label in field.choices}
    return forms.TypedChoiceField(
        choices=[(value_key(value), label) for value, label in field.choices],
        coerce=values.__getitem__,
        required=False,
        label=field.label,
    )


def _checked_name(raw: str) -> str:
    try:
        return clean_name(raw)
    except Refusal as refusal:
        raise ValidationError(refusals.words(refusal)) from None
