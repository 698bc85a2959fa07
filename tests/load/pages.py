"""How many pages a second one process answers, new to the reader and known already.

    uv run python -m tests.load.pages
    uv run python -m tests.load.pages --url http://127.0.0.1:8000

Without ``--url`` it starts the site in one process on one core and asks from another. Each page is asked for over kept
connections, in closed loop: as it is, compressed, and with the tag of what the reader has.
"""

import argparse
import asyncio
import re
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from apps.games import registry
from tests.load import machine
from tests.site import Site

LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
TAG = re.compile(rb"etag: (\S+)", re.IGNORECASE)
STATUS = re.compile(rb"HTTP/1.1 (\d+)")
CHUNKED = re.compile(rb"transfer-encoding: chunked", re.IGNORECASE)
PATHS = ("/en/", "/en/rules/", *(f"/en/rules/{game.slug}/" for game in registry.all_games()), "/healthz")


class Line:
    """One kept connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "", parts.port or 80

    async def open(self) -> "Line":
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port, limit=1 << 20)
        return self

    async def ask(self, path: str, extra: str) -> tuple[int, bytes, int]:
        """(status, head, bytes)."""
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n{extra}\r\n".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = len(head)
        if length := LENGTH.search(head):
            size += len(await self.reader.readexactly(int(length[1])))
        elif CHUNKED.search(head):
            size += len(await self.reader.readuntil(b"0\r\n\r\n"))
        return int(STATUS.match(head)[1]), head, size


async def measure(url: str, path: str, extra: str, options: argparse.Namespace) -> tuple[float, list[float], int]:
    """(requests a second, seconds each took, bytes of the last answer)."""
    lines = [await Line(url).open() for _ in range(options.connections)]
    until = time.perf_counter() + options.seconds
    delays: list[float] = []
    size = 0

    async def one(line: Line) -> None:
        nonlocal size
        while (began := time.perf_counter()) < until:
            status, _, size = await line.ask(path, extra)
            assert status in {200, 304}, status
            delays.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*map(one, lines))
    for line in lines:
        line.writer.close()
    return len(delays) / (time.perf_counter() - began), delays, size


async def run(url: str, options: argparse.Namespace, pid: int | None) -> None:
    for path in PATHS:
        line = await Line(url).open()
        _, head, _ = await line.ask(path, "")
        line.writer.close()
        ways = {"plain": "", "gzip": "Accept-Encoding: gzip\r\n"}
        if tag := TAG.search(head):
            ways["known"] = f"If-None-Match: {tag[1].decode()}\r\n"
        for name, extra in ways.items():
            rates, p99, size, asked, spent = [], [], 0, 0, _spent(pid)
            for _ in range(options.rounds):
                rate, delays, size = await measure(url, path, extra, options)
                rates.append(rate)
                p99.append(statistics.quantiles(delays, n=100)[98])
                asked += len(delays)
            rate, slow = statistics.median(rates), 1000 * statistics.median(p99)
            core = asked / (_spent(pid) - spent) if pid else float("nan")
            print(
                f"{path:22} {name:6} {rate:7.0f} requests/s   {core:7.0f} a second of processor   "
                f"p99 {slow:6.1f} ms   {size:6} bytes"
            )


def _spent(pid: int | None) -> float:
    """Processor time of the site so far: what others do on this machine does not count."""
    return sum(machine.cpu_seconds(machine.family(pid)).values()) if pid else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=3, help="of one measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--url", help="of a site that runs already")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    print(machine.describe(**vars(options)))
    if options.url:
        asyncio.run(run(options.url, options, None))
        return
    directory = Path(tempfile.mkdtemp(prefix="upcard-load-"))
    machine.pin({0})
    site = Site(directory).start()
    machine.pin({1})
    try:
        asyncio.run(run(site.url, options, site.process.pid))
    finally:
        site.stop()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
