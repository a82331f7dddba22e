"""A session starts, judges, writes down and tells each of its trials, and ends its investigation."""

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.budget import StopReason
from whet.core.errors import ReleaseNotInstallable
from whet.core.event import Event, Notice, TrialFinished
from whet.core.oracle import AnyFailure
from whet.core.outcome import Outcome
from whet.core.verdict import Verdict
from whet.notebook.notebook import FILE_NAME
from whet.workbench.trials.bench import Workbench, open_workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.trials.tested import Tested

FAILS = TrialRequest(command=(sys.executable, "-S", "-c", "raise SystemExit(3)"))


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, events: list[Event]
) -> Iterator[Workbench]:
    monkeypatch.chdir(tmp_path)
    inherited = {**os.environ, "WHET_DIR": str(tmp_path / "w")}
    with open_workbench(inherited, events.append) as opened:
        yield opened


def ends_in(bench: Workbench) -> list[tuple[int, str]]:
    """Return the number of each investigation that has ended, and why it did."""
    with closing(sqlite3.connect(bench.project.state / FILE_NAME)) as database:
        rows = database.execute("SELECT investigation, stop_reason FROM investigation_end")
        return [(int(number), str(reason)) for number, reason in rows]


def test_a_trial_is_judged_written_down_and_told(bench: Workbench, events: list[Event]) -> None:
    trial = bench.build_trial(FAILS)

    with open_session(bench, "bisect", FAILS, trial) as session:
        ran = session.run(trial, AnyFailure(), "one")

    entry = bench.notebook.trial(ran.own_number)
    assert (entry.verdict, entry.verb, entry.investigation) == (
        Verdict.BAD, "bisect", session.number,
    )  # fmt: skip
    assert [
        (event.number, event.verdict, event.label)
        for event in events
        if isinstance(event, TrialFinished)
    ] == [(entry.number, Verdict.BAD, "one")]
    assert session.log.begun == session.log.told == [entry.number]


def test_leaving_its_block_ends_an_investigation(bench: Workbench) -> None:
    trial = bench.build_trial(FAILS)

    with open_session(bench, "starve", FAILS, trial) as session:
        session.conclude(StopReason.MINIMAL, {"least": 4})
        assert ends_in(bench) == []

    assert ends_in(bench) == [(session.number, "MINIMAL")]


def test_an_investigation_that_an_error_ends_has_no_end(bench: Workbench) -> None:
    trial = bench.build_trial(FAILS)

    def starve() -> None:
        with open_session(bench, "starve", FAILS, trial) as session:
            session.conclude(StopReason.MINIMAL, {})
            raise ReleaseNotInstallable("the build failed", hint="none")

    with pytest.raises(ReleaseNotInstallable):
        starve()
    assert ends_in(bench) == []


def test_what_cannot_be_run_is_told_and_has_no_verdict(
    bench: Workbench, events: list[Event]
) -> None:
    trial = bench.build_trial(FAILS)
    session = Session(bench=bench, verb="bisect", request=FAILS)

    session.tell(
        Tested(
            candidate=None, trial=trial, outcome=Outcome(), verdict=Verdict.SKIP, number=None,
            label="x 1.0", skipped=ReleaseNotInstallable("the build failed", hint="none"),
        ),
        AnyFailure(),
    )  # fmt: skip

    assert events == [Notice(text="x 1.0: skipped: the build failed")]
    assert session.log.told == []


def test_a_step_shares_the_log_and_the_deadline_and_ends_on_its_own(bench: Workbench) -> None:
    trial = bench.build_trial(FAILS)

    with open_session(bench, "investigate", FAILS, trial) as whole:
        until = time.monotonic() + 60
        limited = replace(whole, deadline=until)
        with open_session(bench, "bisect", FAILS, trial, within=limited) as step:
            ran = step.run(trial, AnyFailure())
            step.conclude(StopReason.FOUND, {})

    assert whole.log.begun == [ran.number]
    assert (step.deadline, whole.end) == (until, [])
    assert bench.notebook.trial(ran.own_number).investigation == step.number
