import pickle

import pytest

from apps.games.kernel.errors import BadMove, IllegalMove, OptionError, Refusal


@pytest.mark.parametrize("kind", [IllegalMove, BadMove, OptionError])
def test_a_refusal_is_a_code_with_its_facts(kind):
    refusal = kind("illegal", reason="must-follow", suit="H")
    assert isinstance(refusal, Refusal)
    assert refusal.code == "illegal"
    assert refusal.params == {"reason": "must-follow", "suit": "H"}
    assert str(refusal) == "illegal"


@pytest.mark.parametrize("kind", [IllegalMove, BadMove, OptionError])
def test_a_refusal_travels_between_processes(kind):
    copy = pickle.loads(pickle.dumps(kind("illegal", reason="must-follow")))  # noqa: S301
    assert type(copy) is kind
    assert (copy.code, copy.params) == ("illegal", {"reason": "must-follow"})
