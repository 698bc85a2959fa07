"""Play every match of the database again: after a crash, or after a backup has been restored."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.games import registry
from apps.games.kernel.record import replay
from apps.tables.models import EndedBy, Match
from apps.tables.selectors import record_of


class Command(BaseCommand):
    help = "Replays every match from its seed and moves, and compares the result with the state that is stored."

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError when a match does not come to the state that is stored."""
        wrong = matches = moves = 0
        for match in Match.objects.select_related("table").order_by("pk").iterator():
            matches, moves = matches + 1, moves + match.move_count
            if problem := problem_of(match):
                wrong += 1
                self.stderr.write(f"Match {match.number} of table {match.table.code} {problem}.")
        if wrong:
            raise CommandError(f"{wrong} of {matches} matches are not what their moves make of them.")
        self.stdout.write(f"{matches} matches of {moves} moves replay to what is stored.")


def problem_of(match: Match) -> str:
    """What is wrong with a match; empty where nothing is."""
    game = registry.get(match.game)
    numbers = list(match.moves.order_by("number").values_list("number", flat=True))
    if numbers != list(range(1, match.move_count + 1)):
        return f"has {len(numbers)} of {match.move_count} moves"
    if match.rules_version != game.version:
        return ""  # its rules are no longer there to replay it
    try:
        state = replay(game, record_of(match))
    except Exception as error:  # whatever the rules make of moves that are not theirs
        return f"does not replay: {type(error).__name__}"
    if state != game.load_state(bytes(match.state)):
        return "comes to another state"
    over = game.outcome(state) is not None
    return "" if over == (match.ended_by == EndedBy.PLAYED) else "ended otherwise than it was played"
