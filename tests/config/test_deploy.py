"""The files for a real machine, as far as they can be tried on any."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from config.environment import ENVIRONMENT

DEPLOY = Path(__file__).resolve().parents[2] / "config/deploy"
UNITS = sorted(path.name for path in DEPLOY.glob("upcard*"))


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
@pytest.mark.parametrize("name", UNITS)
def test_systemd_understands_the_units(tmp_path, name):
    for unit in UNITS:
        text = (DEPLOY / unit).read_text(encoding="utf-8")
        # Only what the unit says is in question, not whether this machine has it.
        (tmp_path / unit).write_text(text.replace("/srv/upcard/.venv/bin/python", "/bin/true"), encoding="utf-8")
    given = name.replace("@.", "@1.")
    if given != name:
        shutil.copy(tmp_path / name, tmp_path / given)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / given)], capture_output=True, text=True, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if "upcard" in line]
    assert not complaints


SELF_SIGNED = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=play.example")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@pytest.mark.skipif(not NGINX, reason="there is no nginx here")
def test_nginx_understands_its_configuration(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [*SELF_SIGNED, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    site = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    site = re.sub(r"(ssl_certificate +)\S+;", rf"\1{certificate};", site)
    site = re.sub(r"(ssl_certificate_key +)\S+;", rf"\1{key};", site)
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"pid {tmp_path}/pid; error_log stderr;\nevents {{}}\nhttp {{\n{site}\n}}\n", encoding="utf-8")
    done = subprocess.run([NGINX, "-t", "-c", str(whole)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


def test_one_table_is_one_process():
    """The pattern that nginx takes a table's code with knows pages, moves, deeds and sockets alike."""
    pattern = re.search(r'"~(\^.*?)" \$code;', (DEPLOY / "nginx.conf").read_text(encoding="utf-8"))[1]
    found = re.compile(pattern.replace("(?<", "(?P<"))
    for path in ("/en/tables/abc23/", "/fr/tables/abc23/move/", "/ru/tables/abc23/sit/", "/ws/de/tables/abc23/"):
        assert found.match(path)["code"] == "abc23"
    assert not found.match("/en/rules/")


def test_the_environment_file_names_real_settings():
    lines = (DEPLOY / "environment").read_text(encoding="utf-8").splitlines()
    names = [line.partition("=")[0] for line in lines if not line.startswith("#")]
    assert set(names) <= ENVIRONMENT.names
    assert len(names) == len(set(names))
