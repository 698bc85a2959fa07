"""Sockets of the real server: what no frame may do to it."""

import json
import time

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.site import Site
from tests.tables.pages import PATIENCE, code_of, forms
from tests.tables.test_restart import Browser


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    running = Site(tmp_path_factory.mktemp("wire")).start()
    yield running
    running.kill()


@pytest.fixture
def line(site, slug):
    """A socket at a table, its first message read."""
    browser = Browser(site)
    fields = {"game": slug, "mode": "same_device", "names": "Ada"}
    address, _ = browser.post("/en/tables/new/", fields, after="/en/tables/new/")
    path = f"{site.url.replace('http', 'ws')}/ws/en/tables/{code_of(address)}/"
    with connect(path, origin=site.url, close_timeout=1, max_size=None) as opened:
        assert "data-full" in opened.recv(PATIENCE)
        yield opened


def refusals_of(line):
    """Codes of refusals until the answer to a resync; where it is too early for one, it is asked for again."""
    codes = []
    while True:
        line.send(json.dumps({"resync": "0"}))
        try:
            while "data-full" not in (frame := line.recv(1)):
                codes.append(forms(frame).refused)
        except TimeoutError:
            continue
        return codes


def test_a_hundred_messages_a_second_leave_socket_and_log_as_they_were(site, line):
    before = site.log
    began = time.monotonic()
    for number in range(300):
        line.send(json.dumps({"move": "{}", "version": "1"}))
        time.sleep(max(0, began + number / 100 - time.monotonic()))
    codes = refusals_of(line)
    assert codes.count("too-fast") == 1
    assert set(codes) <= {"too-fast", "bad-message"}
    assert site.log == before


def read_on(line):
    while True:
        line.recv(PATIENCE)


@pytest.mark.parametrize("size", [70_000, 1_000_000])
def test_a_frame_that_is_too_long_ends_the_socket_and_nothing_else(site, line, slug, size):
    before = site.log
    line.send("x" * size)
    with pytest.raises(ConnectionClosed):
        read_on(line)
    assert site.log == before
    assert forms(Browser(site).get(f"/en/tables/new/?game={slug}")[1]).identities


def test_frames_of_bytes_and_of_nonsense_are_refused(site, line):
    before = site.log
    for frame in (b"\x00\xff", "", "[" * 4000, '{"move":', "\x00"):
        line.send(frame)
    assert refusals_of(line) == ["bad-message"] * 5
    assert site.log == before
