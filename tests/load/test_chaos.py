"""The short form of what `chaos.py` does for minutes."""

import pytest

from config import servers
from tests.load import chaos


@pytest.mark.skipif(not servers.available(), reason="PostgreSQL and Valkey as wheels exist for Linux and macOS alone")
def test_nothing_is_lost_whatever_is_killed(capsys):
    code = chaos.main(["--seconds", "14", "--every", "3", "--tables", "4"])
    assert code == 0, capsys.readouterr().out
