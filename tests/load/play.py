"""How many moves a second reach everybody, how fast, and what that costs.

    uv run python -m tests.load.play --tables 50 --baseline
    uv run python -m tests.load.play --tables 500 --every 1
    uv run python -m tests.load.play --tables 200 --processes 2 --no-pin
    uv run python -m tests.load.play --tables 50 --url http://127.0.0.1:8000

Without ``--url`` it starts the site as `up --processes` does, with durable PostgreSQL and Valkey, on one core, and
plays from another. Closed loop: at each table the next move is sent once everybody has seen the last one. With
``--every`` it is an open loop: each table's move is due every so many seconds, and its time counts from then.
``--baseline`` measures a bare Channels consumer beside it, in turns, that sends as many bytes (baseline.py).
"""

import argparse
import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from random import Random

import psutil

from tests.load import machine
from tests.load.client import Socket, Visitor
from tests.site import BASE_DIR, Site

AT_ONCE = 8
SOURCES = 200
"""Addresses of this machine that visitors come from: what one address may do is limited."""
BREATHER = 0.1


class Meter:
    """What was measured while it runs."""

    def __init__(self) -> None:
        self.running = False
        self.delays: list[float] = []
        self.refusals: Counter[str] = Counter()

    def start(self) -> None:
        self.running, self.delays, self.refusals = True, [], Counter()

    def take(self, seconds: float) -> None:
        if self.running:
            self.delays.append(seconds)


class Match:
    """One table and the sockets of its seats, in closed or open loop."""

    def __init__(self, meter: Meter, rng: Random, *, every: float | None) -> None:
        self.meter, self.rng, self.every = meter, rng, every
        self.sockets: list[Socket] = []
        self.sent: int | None = None
        self.due: list[float] = []
        self.rematch: Callable[[], Awaitable[None]] | None = None
        self.paused = True
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        self.paused = False
        if self.every is None:
            self.play()
        else:
            asyncio.get_running_loop().call_later(self.rng.random() * self.every, self._tick)

    def _tick(self) -> None:
        if self.paused:
            return
        self.due.append(time.perf_counter())
        asyncio.get_running_loop().call_later(self.every, self._tick)
        self.play()

    def heard(self, socket: Socket, refusal: str | None) -> None:
        if refusal:
            self.meter.refusals[refusal] += 1
            self.sent = None
            asyncio.get_running_loop().call_later(BREATHER, self.play)
        elif self.sent is None:
            if socket.page.moves:
                self.play()
        elif all(each.page.version > self.sent for each in self.sockets):
            self.meter.take(time.perf_counter() - self.since)
            self.sent = None
            self.play()

    def play(self) -> None:
        """The next move, if one is due and somebody can make it."""
        if self.sent is not None or self.paused or (self.every is not None and not self.due):
            return
        newest = max(socket.page.version for socket in self.sockets)
        able = [socket for socket in self.sockets if socket.page.moves and socket.page.version == newest]
        if able:
            self.since = self.due.pop(0) if self.every is not None else time.perf_counter()
            self.sent = newest
            able[0].move(self.rng.choice(able[0].page.moves))
        elif self.rematch and all(socket.page.status == "finished" for socket in self.sockets) and not self._tasks:
            task = asyncio.ensure_future(self.rematch())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def sit_down(options: argparse.Namespace, url: str, number: int, match: Match) -> None:
    """Open a table, seat everybody, start, and watch with every seat's own language."""
    source = f"127.0.1.{1 + number % SOURCES}"
    languages = options.languages.split(",")
    people = [Visitor(url, language=languages[seat % len(languages)], source=source) for seat in range(options.seats)]
    host, *guests = people
    code = await host.open_table(options.game, **dict(pair.split("=") for pair in options.option))
    for index, guest in enumerate(guests):
        await guest.do(code, "sit", name=f"Guest {index}")
    await host.do(code, "start")
    match.rematch = lambda: host.do(code, "rematch")
    for person in people:
        match.sockets.append(await person.watch(code, match.heard))


async def sit_at_baseline(options: argparse.Namespace, url: str, number: int, match: Match) -> None:
    languages = options.languages.split(",")
    for seat in range(2):
        visitor = Visitor(url, language=languages[seat % len(languages)])
        match.sockets.append(await visitor.watch(f"t{number}", match.heard))


async def in_parallel(work: Iterable[Awaitable[None]]) -> None:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(job: Awaitable[None]) -> None:
        async with gate:
            await job

    await asyncio.gather(*map(one, work))


class Side:
    """The site, or the baseline, with its tables: measured again and again."""

    def __init__(self, name: str, pid: int | None, options: argparse.Namespace) -> None:
        self.name, self.pid, self.options = name, pid, options
        self.meter = Meter()
        rng = Random(options.seed)
        self.matches = [Match(self.meter, Random(rng.random()), every=options.every) for _ in range(options.tables)]
        self.results: list[dict[str, float]] = []
        self.spent: dict[str, float] = {}

    @property
    def processes(self) -> list[psutil.Process]:
        return machine.family(self.pid) if self.pid else []

    async def open(self, url: str, sit: Callable[..., Awaitable[None]]) -> None:
        before = machine.memory(self.processes, "web")
        began = time.perf_counter()
        await in_parallel(sit(self.options, url, number, match) for number, match in enumerate(self.matches))
        await asyncio.sleep(1)
        grown = machine.memory(self.processes, "web") - before
        print(f"{self.name}: {len(self.matches)} tables open after {time.perf_counter() - began:.0f} s")
        if grown:
            viewers = sum(len(match.sockets) for match in self.matches)
            per_table, per_viewer = grown / len(self.matches) / 1024, grown / viewers / 1024
            print(f"{self.name}: {per_table:.0f} KiB of memory a table, {per_viewer:.0f} KiB a connection")

    async def measure(self) -> None:
        for match in self.matches:
            match.begin()
        await asyncio.sleep(self.options.warm)
        sockets = [socket for match in self.matches for socket in match.sockets]
        sent = sum(socket.bytes for socket in sockets)
        cpu, own = machine.cpu_seconds(self.processes), time.process_time()
        self.meter.start()
        began = time.perf_counter()
        await asyncio.sleep(self.options.seconds)
        self.meter.running = False
        seconds = time.perf_counter() - began
        moves = len(self.meter.delays)
        spent = {name: value - cpu.get(name, 0) for name, value in machine.cpu_seconds(self.processes).items()}
        self.spent = {**spent, "client": time.process_time() - own}
        size = (sum(socket.bytes for socket in sockets) - sent) / max(1, moves * self.options.seats)
        for match in self.matches:
            match.paused = True
        await asyncio.sleep(1)
        self._keep(moves / seconds, size, moves)

    def _keep(self, rate: float, size: float, moves: int) -> None:
        cut = statistics.quantiles(self.meter.delays, n=100) if moves > 1 else [float("nan")] * 99
        self.results.append({"rate": rate, "p50": cut[49], "p95": cut[94], "p99": cut[98], "bytes": size})
        costs = ", ".join(f"{name} {1000 * value / max(1, moves):.2f}" for name, value in self.spent.items() if value)
        refused = f"; refused {dict(self.meter.refusals)}" if self.meter.refusals else ""
        print(
            f"{self.name:9} {rate:7.0f} moves/s   p50 {1000 * cut[49]:6.1f}  p95 {1000 * cut[94]:6.1f}  "
            f"p99 {1000 * cut[98]:6.1f} ms   {size:6.0f} bytes an update   CPU s per 1,000 moves: {costs}{refused}"
        )

    def median(self, key: str) -> float:
        return statistics.median(result[key] for result in self.results)


def start_site(options: argparse.Namespace, directory: Path) -> Site:
    """The site as it runs for real, on the first core."""
    processes = "--processes", str(options.processes)
    quiet = {"LOG_LEVEL": "WARNING"}
    return Site(directory, *processes, **quiet).start()


def start_baseline(size: int, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.load.baseline", str(port), str(size)]
    return subprocess.Popen(command, cwd=BASE_DIR)


async def listening(port: int) -> None:
    """Wait until somebody accepts connections there."""
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise TimeoutError(f"nobody listens on {port}")


async def run(options: argparse.Namespace, url: str, pid: int | None) -> None:
    site = Side("site", pid, options)
    await site.open(url, sit_down)
    await site.measure()
    if not options.baseline:
        for _ in range(options.rounds - 1):
            await site.measure()
        report(site)
        return
    if not options.no_pin:
        machine.pin({0})
    bare = start_baseline(round(site.median("bytes")), options.baseline_port)
    if not options.no_pin:
        machine.pin({1})
    try:
        await listening(options.baseline_port)
        other = Side("baseline", bare.pid, options)
        await other.open(f"http://127.0.0.1:{options.baseline_port}", sit_at_baseline)
        await other.measure()
        for _ in range(options.rounds - 1):
            await site.measure()
            await other.measure()
        report(site)
        report(other)
        print(f"ratio     {site.median('rate') / other.median('rate'):.2f} × the baseline's moves a second")
    finally:
        bare.terminate()
        bare.wait()


def report(side: Side) -> None:
    figures = "  ".join(f"{key} {1000 * side.median(key):.1f} ms" for key in ("p50", "p95", "p99"))
    print(f"median    {side.name}: {side.median('rate'):.0f} moves/s  {figures}  {side.median('bytes'):.0f} bytes")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--languages", default="en,fr", help="of the seats, in turn")
    parser.add_argument("--game", default="high-low")
    parser.add_argument("--option", action="append", default=["turns=10"], help="a setting of the game: name=value")
    parser.add_argument("--every", type=float, help="open loop: seconds from one move of a table to the next")
    parser.add_argument("--seconds", type=float, default=10, help="of one measurement")
    parser.add_argument("--warm", type=float, default=3, help="seconds before it")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1, help="web processes of the site")
    parser.add_argument("--url", help="of a site that runs already")
    parser.add_argument("--baseline", action="store_true")
    parser.add_argument("--baseline-port", type=int, default=8499)
    parser.add_argument("--no-pin", action="store_true", help="let server and clients have all cores")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    print(machine.describe(**vars(options)))
    if options.url:
        asyncio.run(run(options, options.url, None))
        return
    directory = Path(tempfile.mkdtemp(prefix="upcard-load-"))
    directory.chmod(0o711)
    if not options.no_pin:
        machine.pin({0})
    site = start_site(options, directory)
    if not options.no_pin:
        machine.pin({1})
    try:
        asyncio.run(run(options, site.url, site.process.pid))
    finally:
        site.stop()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
