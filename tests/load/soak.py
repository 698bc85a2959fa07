"""Whether memory and connections stay where they are while people come and go, round after round.

    uv run python -m tests.load.soak                    # 20 rounds of 200
    uv run python -m tests.load.soak --minutes 60

In each round so many pages are opened, half of them of somebody who plays, and then all are closed: every second one as
a browser does, the others by cutting the wire, some in mid-message. The last round has to end within a tenth of the
memory of the fifth, and the database's connections where they were before the first.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

import psutil
import psycopg

from tests.load import machine
from tests.load.chaos import environment_of
from tests.load.client import Socket, Visitor
from tests.site import Site

WARM = 5
"""Rounds after which memory has to stay."""
ALLOWED = 1.1
QUIET_SECONDS = 4
AT_ONCE = 20
PACE = 0.2


def database_connections(address: str) -> int:
    with psycopg.connect(address) as connection:
        counted = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return int(counted.fetchone()[0])


def play_on(socket: Socket, refusal: str | None) -> None:
    """Take the first move there is, whenever there is one, as fast as people never do."""
    if socket.page.moves and not refusal:
        asyncio.get_running_loop().call_later(PACE, socket.move, socket.page.moves[0])


def look_on(socket: Socket, refusal: str | None) -> None:
    """Watch."""


async def open_pages(visitors: list[tuple[Visitor, str]], number: int) -> list[Socket]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(index: int) -> Socket:
        visitor, code = visitors[index % len(visitors)]
        async with gate:
            while True:
                try:
                    return await visitor.watch(code, play_on if index < len(visitors) else look_on)
                except OSError:
                    await asyncio.sleep(1)

    return list(await asyncio.gather(*map(one, range(number))))


def leave(sockets: list[Socket]) -> None:
    for number, socket in enumerate(sockets):
        if number % 2:
            socket.close()
            continue
        if number % 4:
            socket.transport.write(b"\x81\xfe\x10\x00")  # the beginning of a long message
        socket.transport.abort()


async def run(site: Site, options: argparse.Namespace) -> bool:
    processes = machine.family(site.process.pid)
    address = environment_of(site)["DATABASE_URL"]
    visitors = []
    for _ in range(options.tables):
        people = [Visitor(site.url), Visitor(site.url, language="fr")]
        code = await people[0].open_table(options.game)
        await people[1].do(code, "sit", name="Guest")
        await people[0].do(code, "start")
        visitors += [(person, code) for person in people]
    await asyncio.sleep(QUIET_SECONDS)
    before, used = database_connections(address), []
    until = time.monotonic() + 60 * options.minutes
    while len(used) < options.rounds or time.monotonic() < until:
        sockets = await open_pages(visitors, options.connections)
        full = machine.memory(processes, "web")
        await asyncio.sleep(options.hold)
        leave(sockets)
        await asyncio.sleep(QUIET_SECONDS)
        used.append(machine.memory(processes, "web"))
        report(len(used), full, used[-1], database_connections(address), processes)
    await asyncio.sleep(options.patience)
    after = database_connections(address)
    first = min(WARM, len(used))
    grown = used[-1] / used[first - 1]
    print(f"memory {grown:.3f} × that of round {first}; {before} database connections before, {after} after")
    return grown <= ALLOWED and after <= before


def report(number: int, full: int, empty: int, connections: int, processes: list[psutil.Process]) -> None:
    webs = [process for process in processes if machine.role(process) == "web"]
    files = sum(process.num_fds() for process in webs)
    print(f"round {number:3}  {full >> 20} MiB full, {empty >> 20} MiB empty, {connections} connections, {files} files")


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--hold", type=float, default=2, help="seconds that pages stay open")
    parser.add_argument("--patience", type=float, default=10, help="seconds until connections have to be back")
    parser.add_argument("--game", default="high-low")
    parser.add_argument("--processes", type=int, default=1)
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    options = arguments(given)
    print(machine.describe(**vars(options)))
    directory = Path(tempfile.mkdtemp(prefix="upcard-soak-"))
    directory.chmod(0o711)
    site = Site(directory, "--processes", str(options.processes), LOG_LEVEL="WARNING").start()
    try:
        return 0 if asyncio.run(run(site, options)) else 1
    finally:
        print(site.log)
        site.stop()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
