"""Random programs and random edits: what is answered warm is what a cold run would answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from program_edits import KINDS, Change, Edit, Session, sessions
from program_twins import FIRST, Tally, Twins, shown, twins
from workshop import every_python, python_of

_QUICK_SESSIONS, _LONG_SESSIONS = 5, 100
_SLOW_TO_DRAW = (HealthCheck.too_slow, HealthCheck.data_too_large)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Twins]:
    with twins(tmp_path) as pair:
        yield pair


def agree(pair: Twins, session: Session, tally: Tally) -> None:
    for case in pair.play(session):
        tally.add(case)
        assert case.is_unsteady or not case.difference, shown(session, case)


def played(pair: Twins, most_sessions: int) -> Tally:
    """Play random sessions, each of which must agree; return how often what was tried."""
    tally = Tally()

    @settings(max_examples=most_sessions, suppress_health_check=_SLOW_TO_DRAW)
    @given(sessions())
    def holds(session: Session) -> None:
        agree(pair, session, tally)

    holds()
    return tally


@pytest.mark.slow
def test_warm_and_cold_agree(pair: Twins) -> None:
    tally = played(pair, _QUICK_SESSIONS)

    assert tally.warm_share > 0.1, tally  # of so few


@pytest.mark.long
def test_warm_and_cold_agree_thousands_of_times(pair: Twins) -> None:
    tally = played(pair, settings().max_examples)

    assert tally.warm_share > 0.5, tally
    assert tally.unsteady.total() < tally.cases.total() / 100, tally
    if tally.cases[FIRST] >= 1000:
        assert [kind for kind in KINDS if tally.cases[kind] < 50] == []


@pytest.mark.long
@every_python
def test_warm_and_cold_agree_under_every_python(tmp_path: Path, minor: int) -> None:
    with twins(tmp_path, python=python_of(minor)) as pair:
        tally = played(pair, _LONG_SESSIONS)

    assert tally.warm_share > 0.5, tally
    assert tally.unsteady.total() < tally.cases.total() / 100, tally


@pytest.mark.slow
def test_a_stale_answer_would_be_seen(pair: Twins, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison is worth something only if an engine that sees no change fails it."""
    monkeypatch.setattr(
        "whet.host.trial.process_snapshots.Snapshot.spoilt_by", lambda _snapshot: ""
    )
    start = {"main.py": "text = open('data').read()\nprint(text)\nprint('end')\n", "data": "old"}
    session = Session(("main.py",), {**start}, (Edit("data file", (Change("data", "new"),)),))

    cases = list(pair.play(session))

    assert [bool(case.difference) for case in cases] == [False, True]
    assert not cases[1].is_unsteady


@pytest.mark.slow
def test_a_program_that_is_not_steady_proves_nothing(pair: Twins) -> None:
    start = {"main.py": "import os\nprint(os.urandom(8))\n"}

    cases = list(pair.play(Session(("main.py",), {**start}, ())))

    assert [case.is_unsteady for case in cases] == [True]
