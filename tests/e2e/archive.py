"""What the site's own database holds of a match, read from outside while it runs."""

import sqlite3
from contextlib import closing
from typing import Any

import msgspec

from apps.games import registry
from apps.games.kernel.record import Record, replay
from tests.site import Site


class Made(msgspec.Struct, frozen=True):
    """A move as it was written down."""

    number: int
    version: int
    seat: int
    made_by: str
    move: bytes
    events: tuple[Any, ...]


class Kept(msgspec.Struct, frozen=True):
    """A match and its moves."""

    record: Record
    seed_hash: str
    state: bytes
    over: bool
    moves: tuple[Made, ...]

    @property
    def game(self) -> Any:
        return registry.get(self.record.game)

    def states(self) -> list[Any]:
        """The state at the deal and after each move."""
        return [
            replay(self.game, msgspec.structs.replace(self.record, moves=self.record.moves[:count]))
            for count in range(len(self.moves) + 1)
        ]


def query(site: Site, sql: str, *values: Any) -> list[sqlite3.Row]:
    with closing(sqlite3.connect(site.data_dir / "upcard.sqlite3", timeout=10)) as database:
        database.row_factory = sqlite3.Row
        rows = database.execute(sql, values).fetchall()
        database.commit()
        return rows


def version_of(site: Site, code: str) -> int:
    return query(site, "select version from tables_table where code = ?", code)[0][0]


def kept(site: Site, code: str) -> Kept:
    """The newest match of a table. Raises AssertionError when its record is not whole."""
    sql = "select m.* from tables_match m join tables_table t on t.id = m.table_id where t.code = ? order by number"
    row = query(site, sql, code)[-1]
    game = registry.get(row["game"])
    moves = tuple(
        Made(
            number=move["number"],
            version=move["version"],
            seat=move["seat"],
            made_by=move["made_by"],
            move=move["move"].encode(),
            events=game.load_events(move["events"].encode()),
        )
        for move in query(site, "select * from tables_move where match_id = ? order by number", row["id"])
    )
    record = Record(
        game=row["game"],
        version=row["rules_version"],
        options=msgspec.json.decode(row["options"]),
        seats=row["seat_count"],
        first=row["first"],
        seed=bytes(row["seed"]),
        moves=tuple((move.seat, move.move) for move in moves),
    )
    match = Kept(record, row["seed_hash"], bytes(row["state"]), row["finished_at"] is not None, moves)
    check_whole(match)
    return match


def check_whole(match: Kept) -> None:
    """No move is missing or there twice: the record replays to the stored state."""
    assert [move.number for move in match.moves] == list(range(1, len(match.moves) + 1))
    versions = [move.version for move in match.moves]
    assert versions == sorted(set(versions))
    assert match.game.dump_state(match.states()[-1]) == match.state
