"""The command that newcomers run, as they run it."""

import gzip
import html
import http.client
import re
import socket
import subprocess
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.site import BASE_DIR, Site, clean_environment


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    running = Site(tmp_path_factory.mktemp("site")).start()
    yield running
    running.stop()


def manage(*arguments, **env):
    """(exit code, lines of standard output, lines of standard error)."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR,
        env=clean_environment(**env),
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def fetch(site, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def shake_hands(site, path, **headers):
    """The status that answers a request for a socket."""
    asked = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    connection.request("GET", path, headers=asked | {"Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw=="} | headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_address_is_printed_and_answers(site):
    assert site.url in site.log
    response, _ = fetch(site, "/en/")
    assert response.status == 200


def test_static_files_are_served_fresh(site):
    response, body = fetch(site, "/static/css/base.css")
    assert response.status == 200
    assert body == (BASE_DIR / "static/css/base.css").read_bytes()
    assert response.headers["Cache-Control"] == "max-age=0, public"


def test_unchanged_static_file_is_not_sent_again(site):
    first, _ = fetch(site, "/static/css/base.css")
    again, body = fetch(site, "/static/css/base.css", **{"If-None-Match": first.headers["ETag"]})
    assert (again.status, body) == (304, b"")


def test_missing_static_file_is_404(site):
    assert fetch(site, "/static/../manage.py")[0].status == 404
    assert fetch(site, "/static/none.css")[0].status == 404


def test_every_response_carries_the_policies(site):
    for path in ("/en/", "/static/css/base.css", "/nothing-here"):
        headers = fetch(site, path)[0].headers
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"


def test_foreign_host_is_refused(site):
    assert fetch(site, "/en/", Host="evil.example")[0].status == 400


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null", None])
def test_socket_of_another_origin_is_refused(site, origin):
    assert shake_hands(site, "/ws/en/tables/none/", **{"Origin": origin} if origin else {}) == 403


def test_socket_of_the_same_origin_is_opened(site):
    assert shake_hands(site, "/ws/en/tables/none/", Origin=site.url) == 101
    assert shake_hands(site, "/no/such/socket", Origin=site.url) == 101


def test_visits_and_refusals_leave_the_log_as_it_was(site):
    before = site.log
    for path in ("/en/", "/nothing-here", "/static/none.css"):
        fetch(site, path)
    fetch(site, "/en/", Host="evil.example")
    assert site.log == before


def test_site_stops_cleanly_and_starts_again(tmp_path):
    site = Site(tmp_path).start()
    port = site.port
    idle = socket.create_connection(("127.0.0.1", port))
    assert site.stop() == 0
    idle.close()
    assert "Traceback" not in site.log
    assert site.start().port == port
    site.kill()
    assert site.start().port == port
    assert site.stop() == 0


def refused(*arguments, **env):
    """What `up` says, in one line, when it cannot start."""
    code, _, errors = manage("up", *arguments, **env)
    assert code != 0
    assert len(errors) == 1, errors
    return errors[0]


def test_taken_port_is_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = refused("--port", str(port), DATA_DIR=str(tmp_path))
    assert line == f"CommandError: Port {port} is taken. Choose another one with --port."


@pytest.mark.parametrize("port", ["abc", "65536", "-1", "1.5", ""])
def test_impossible_port_is_one_line(tmp_path, port):
    assert "--port must be a number" in refused(f"--port={port}", DATA_DIR=str(tmp_path))


def test_unknown_host_is_one_line(tmp_path):
    assert "Cannot listen on 192.0.2.1:0" in refused("--host", "192.0.2.1", "--port", "0", DATA_DIR=str(tmp_path))


def test_unwritable_directory_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    line = refused("--port", "0", DATA_DIR=str(tmp_path / "file" / "data"))
    assert line.startswith("Wrong setting: DATA_DIR")


def test_unusable_database_is_one_line(tmp_path):
    (tmp_path / "upcard.sqlite3").write_bytes(b"not a database" * 100)
    line = refused("--port", "0", DATA_DIR=str(tmp_path))
    assert line.endswith("upcard.sqlite3 cannot be used: file is not a database.")


@pytest.mark.parametrize(
    ("env", "line"),
    [
        ({"ENVIRONMENT": "prod"}, "Wrong setting: ENVIRONMENT must be development or production, not 'prod'."),
        ({"CPU_PACE_SECONDS": "fast"}, "Wrong setting: CPU_PACE_SECONDS must be a number, not 'fast'."),
        ({"ENVIRONMENT": "production"}, "Wrong setting: SECRET_KEY must be set in production."),
    ],
)
def test_wrong_setting_is_one_line(tmp_path, env, line):
    assert refused("--port", "0", DATA_DIR=str(tmp_path), **env) == line


@pytest.fixture(scope="module")
def production(tmp_path_factory):
    """A site as it runs behind a proxy that ends TLS."""
    data_dir = tmp_path_factory.mktemp("production")
    running = Site(
        data_dir,
        ENVIRONMENT="production",
        SECRET_KEY="correct-horse-battery-staple-and-then-thirty-more-characters",
        ALLOWED_HOSTS="play.example",
        PUBLIC_URL="https://play.example",
        DATABASE_URL=f"sqlite:///{data_dir}/upcard.sqlite3",
        TRUST_PROXY="1",
    ).start()
    yield running
    running.stop()


PROXIED = {"Host": "play.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}


def test_production_insists_on_https(production):
    response, _ = fetch(production, "/en/", Host="play.example")
    assert (response.status, response.headers["Location"]) == (301, "https://play.example/en/")
    response, _ = fetch(production, "/en/", **PROXIED)
    assert response.status == 200
    assert response.headers["Strict-Transport-Security"].startswith("max-age=31536000")


def test_production_serves_hashed_and_compressed_files(production):
    _, page = fetch(production, "/en/", **PROXIED)
    path = re.search(rb'href="(/static/css/[a-z]+\.[0-9a-f]{12}\.css)"', page)[1].decode()
    response, body = fetch(production, path, **PROXIED, **{"Accept-Encoding": "gzip"})
    assert response.headers["Cache-Control"] == "max-age=315360000, public, immutable"
    assert response.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body)


def test_production_is_asked_for_its_health_without_tls(production):
    response, body = fetch(production, "/healthz", Host="play.example")
    assert (response.status, body) == (200, b"ok")


def test_production_opens_sockets_to_its_pages_alone(production):
    assert shake_hands(production, "/ws/en/tables/none/", **PROXIED, Origin="https://play.example") == 101
    assert shake_hands(production, "/ws/en/tables/none/", **PROXIED, Origin="https://evil.example") == 403


def open_table(site, origin="", **headers):
    """(code, session) of a new table, opened by posting the form for it."""
    _, body = fetch(site, "/en/", **headers)
    link = html.unescape(re.search(r'href="(/en/tables/new/[^"]+)"', body.decode())[1])
    page, body = fetch(site, link, **headers)
    inputs = [
        dict(re.findall(r'(\w+)="([^"]*)"', tag)) | {"tag": tag} for tag in re.findall("<input[^>]*>", body.decode())
    ]
    filled = [found for found in inputs if found.get("type") != "radio" or " checked" in found["tag"]]
    fields = {found["name"]: found["value"] for found in filled if found.get("type") in {"hidden", "radio"}}
    fields["name"] = "Ann"
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    cookie = page.headers["Set-Cookie"].split(";")[0]
    form = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie, "Origin": origin or site.url}
    connection.request("POST", "/en/tables/new/", urllib.parse.urlencode(fields), headers | form)
    response = connection.getresponse()
    assert response.status == 303, response.read()
    session = "; ".join(line.split(";")[0] for line in response.headers.get_all("Set-Cookie"))
    return response.headers["Location"].rstrip("/").split("/")[-1], session


def read_to_the_end(connection):
    """Everything that comes, read as it comes: what waits unread is lost when the other side goes."""
    received = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            received += piece
    return received


def test_open_pages_are_told_that_the_site_will_be_back(tmp_path):
    site = Site(tmp_path).start()
    path = f"/ws/en/tables/{open_table(site)[0]}/"
    asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nOrigin: {site.url}\r\nConnection: Upgrade\r\n"
    asked += "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n\r\n"
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as watcher:
        watcher.sendall(asked.encode())
        stream = watcher.makefile("rb")
        assert stream.readline().startswith(b"HTTP/1.1 101")
        while stream.readline() != b"\r\n":
            pass
        assert stream.read(1)  # the table is being shown
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(read_to_the_end, watcher)
            assert site.stop() == 0
            received = reading.result()
    assert b"\x88\x02" + (4012).to_bytes(2) in received
    assert "Traceback" not in site.log
