"""Kills what the site is made of while people play, and looks what is left.

    uv run python -m tests.load.chaos --seconds 300

Every few seconds one process is killed as by a power cut: a web process, a clock, PostgreSQL or Valkey. Afterwards
every match has to replay to its stored state, every move that somebody was shown has to be there once, and every page
has to show what the database says without having been loaded again.
"""

import argparse
import asyncio
import html
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import psutil
import psycopg

from tests.load import machine
from tests.load.client import Page, Socket, Visitor
from tests.site import BASE_DIR, Site

ROLES = ("web", "clock", "postgres", "valkey-server")
ANSWER_SECONDS = 6
"""As the page's script: a socket that does not answer for so long is dead."""
SETTLE_SECONDS = 25
ERRORS = (OSError, AssertionError, TimeoutError, AttributeError)


class Acknowledged(msgspec.Struct, frozen=True):
    """A move that somebody was shown as made."""

    code: str
    version: int
    """The version it was made on; it made the next one."""
    move: str


class Player:
    """One page: plays when it can, and connects again whenever it is cut off, as the page's script does."""

    def __init__(self, visitor: Visitor, code: str, rng: Random) -> None:
        self.visitor, self.code, self.rng = visitor, code, rng
        self.socket: Socket | None = None
        self.acknowledged: list[Acknowledged] = []
        self.asked: tuple[int, str] | None = None
        self.asked_at = 0.0
        self.refusals: Counter[str] = Counter()
        self.lost: Counter[int] = Counter()
        self.playing = True

    @property
    def page(self) -> Page | None:
        return self.socket.page if self.socket else None

    async def live(self) -> None:
        """Until cancelled."""
        while True:
            try:
                self.socket = await self.visitor.watch(self.code, self.heard)
                await self._stay(self.socket)
            except ERRORS:
                pass
            self.socket, self.asked = None, None
            await asyncio.sleep(0.3 + self.rng.random())

    async def _stay(self, socket: Socket) -> None:
        while not socket.ended.done():
            await asyncio.wait([socket.ended], timeout=0.5)
            if self.asked and time.monotonic() - self.asked_at > ANSWER_SECONDS:
                socket.close()
            self.play()
        self.lost[await socket.ended] += 1

    def heard(self, socket: Socket, refusal: str | None) -> None:
        if refusal:
            self.refusals[refusal] += 1
            self.asked = None
            return  # a moment later it is tried again
        if self.asked and socket.page.version > self.asked[0]:
            self.acknowledged.append(Acknowledged(self.code, *self.asked))
            self.asked = None
        self.play()

    def play(self) -> None:
        page = self.page
        if page is None or self.asked or not page.moves or not self.playing:
            return
        form = self.rng.choice(page.moves)
        self.asked, self.asked_at = (page.version, html.unescape(form[0])), time.monotonic()
        self.socket.move(form)


class Room:
    """A table of people who want another match after each."""

    def __init__(self, host: Visitor, code: str, players: list[Player]) -> None:
        self.host, self.code, self.players = host, code, players

    @classmethod
    async def open(cls, url: str, game: str, seats: int, rng: Random) -> "Room":
        people = [Visitor(url, language=("en", "fr")[seat % 2]) for seat in range(seats)]
        code = await people[0].open_table(game)
        for seat, guest in enumerate(people[1:]):
            await guest.do(code, "sit", name=f"Guest {seat}")
        await people[0].do(code, "start")
        return cls(people[0], code, [Player(person, code, Random(rng.random())) for person in people])

    async def keep_playing(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            page = self.players[0].page
            if page and page.status == "finished" and self.players[0].playing:
                try:
                    await self.host.do(self.code, "rematch")
                except ERRORS:
                    continue


def victims(site: Site, roles: tuple[str, ...]) -> list[psutil.Process]:
    """What may be killed: one process of each kind that is there, and of PostgreSQL the one that starts the others."""
    parent = psutil.Process(site.process.pid)
    return [child for child in parent.children() if machine.role(child) in roles]


async def kill_now_and_then(site: Site, options: argparse.Namespace, rng: Random, killed: Counter[str]) -> None:
    until = time.monotonic() + options.seconds
    kinds: list[str] = []
    while time.monotonic() < until:
        await asyncio.sleep(options.every * (0.5 + rng.random()))
        kinds = kinds or rng.sample(ROLES, len(ROLES))
        kind = kinds.pop()
        if found := victims(site, (kind,)):
            rng.choice(found).kill()
            killed[kind] += 1


async def run(site: Site, options: argparse.Namespace) -> list[str]:
    """What went wrong."""
    rng = Random(options.seed)
    rooms = [await Room.open(site.url, options.game, options.seats, rng) for _ in range(options.tables)]
    players = [player for room in rooms for player in room.players]
    tasks = [asyncio.create_task(player.live()) for player in players]
    tasks += [asyncio.create_task(room.keep_playing()) for room in rooms]
    killed: Counter[str] = Counter()
    await kill_now_and_then(site, options, rng, killed)
    for player in players:
        player.playing = False
    behind = await settle(site, players)
    acknowledged = [move for player in players for move in player.acknowledged]
    print(f"killed {dict(killed)}; {len(acknowledged)} moves acknowledged; cut off {_sum(players, 'lost')}")
    print(f"refused {_sum(players, 'refusals')}")
    wrong = [*behind, *lost_moves(site, acknowledged), *replayed(site)]
    if not acknowledged:
        wrong.append("nobody made a move")
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return wrong


def _sum(players: list[Player], name: str) -> dict[object, int]:
    return dict(sum((getattr(player, name) for player in players), Counter()))


async def settle(site: Site, players: list[Player]) -> list[str]:
    """Wait until every page shows what the database says; which do not."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        await asyncio.sleep(1)
        behind = [each for player in players if (each := await _difference(player))]
        if not behind or time.monotonic() > deadline:
            return behind


async def _difference(player: Player) -> str:
    """How what a page shows differs from what the server shows to whoever loads it now."""
    if player.page is None:
        return f"{player.code}: a page is not connected"
    truth = Page()
    try:
        truth.take(await player.visitor.page_of(player.code))
    except ERRORS as error:
        return f"{player.code}: the page cannot be loaded: {error!r}"
    shown = player.page
    same = (shown.version, shown.status, sorted(shown.moves)) == (truth.version, truth.status, sorted(truth.moves))
    return "" if same else f"{player.code}: shows version {shown.version} {shown.status}, not {truth.version}"


def environment_of(site: Site) -> dict[str, str]:
    """The environment in which the site's processes run: it tells where the database is."""
    return victims(site, ("web",))[0].environ()


def lost_moves(site: Site, acknowledged: list[Acknowledged]) -> list[str]:
    """Moves that somebody was shown and that are not there, or not as they were."""
    address = environment_of(site)["DATABASE_URL"]
    made = "SELECT t.code, v.version, v.move FROM tables_move v JOIN tables_match m ON m.id = v.match_id"
    with psycopg.connect(address) as connection:
        newest = dict(connection.execute("SELECT code, version FROM tables_table").fetchall())
        moves = connection.execute(f"{made} JOIN tables_table t ON t.id = m.table_id").fetchall()
    by_version = {(code, version): move for code, version, move in moves}
    wrong = []
    for each in acknowledged:
        found = by_version.get((each.code, each.version + 1))
        if newest[each.code] <= each.version:
            wrong.append(f"{each.code}: version {each.version + 1} is gone")
        elif found is not None and found != json.loads(each.move):
            wrong.append(f"{each.code}: version {each.version + 1} is {found}, not {each.move}")
    return wrong


def replayed(site: Site) -> list[str]:
    command = [sys.executable, "manage.py", "replay"]
    done = subprocess.run(command, cwd=BASE_DIR, env=environment_of(site), capture_output=True, text=True, check=False)
    print(done.stdout.strip())
    return done.stderr.splitlines() if done.returncode else []


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--every", type=float, default=4, help="seconds between two kills, about")
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--game", default="high-low")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--clocks", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    options = arguments(given)
    print(machine.describe(**vars(options)))
    directory = Path(tempfile.mkdtemp(prefix="upcard-chaos-"))
    directory.chmod(0o711)
    shape = ("--processes", str(options.processes), "--clocks", str(options.clocks))
    site = Site(directory, *shape, LOG_LEVEL="WARNING").start()
    try:
        wrong = asyncio.run(run(site, options))
        for line in wrong:
            print(line)
        if wrong:
            print(site.log)
        print("something is wrong" if wrong else "nothing is lost, nothing is double, every page shows the truth")
        return 1 if wrong else 0
    finally:
        site.stop()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
