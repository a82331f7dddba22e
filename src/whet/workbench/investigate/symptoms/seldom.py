"""A failure that didn't happen in the first few runs: run the command more, then provoke the failure."""

import time
from contextlib import suppress
from dataclasses import replace
from statistics import median

from whet.core.errors import WhetError
from whet.core.room import Room
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.workbench.toggle.amplifiers import AMPLIFIERS
from whet.workbench.trials.bench import oracle_of
from whet.workbench.trials.repeated import Repeated
from whet.workbench.trials.reproduce import FEW, with_patience
from whet.workbench.trials.session import Place, Session

_MOST_RUNS, _MOST_SECONDS = 40, 15.0
_MOST_COUNTED, _LEAST_SECONDS = 60, 0.01
_FAILURES_TO_COUNT = 5
"""The plain command, and with settings that make failures more frequent."""


def seldom_failure(
    session: Session, trial: Trial, place: Place | None
) -> tuple[Trial, int, int, str] | None:
    """Return a trial that failed; None: it passes.

    With it stand how many runs it took, in how many its failures are to be counted, and what made
    it fail.

    Only what surrounds the program is changed: other processes keep the processors busy.
    """
    busy = next(each.room for each in AMPLIFIERS if each.name == "cpu-load")
    failure = _runs_until_bad(session, trial, place)
    if failure:
        return trial, *failure, "as it is"
    assert busy is not None
    room = session.bench.settled(busy.beside(trial.limits.room or Room()))
    loaded = replace(trial, limits=replace(trial.limits, room=room))
    with suppress(WhetError):  # this machine can't be kept busy
        failure = _runs_until_bad(session, loaded, place)
        if failure:
            return loaded, *failure, f"with all processors busy (`--cpu-load {busy.cpu_load}`)"
    return None


def _runs_until_bad(session: Session, trial: Trial, place: Place | None) -> tuple[int, int] | None:
    """Return how many runs it took until one was BAD, and how many take as long again; None: none was."""
    until = time.monotonic() + _MOST_SECONDS
    with session.executor(place=place) as executor:
        repeated = Repeated(
            executor=executor,
            oracle=oracle_of(session.request.judging),
            tell=session.tell,
            trial=lambda runs: (
                with_patience(trial, runs[0].outcome.wall_seconds) if runs else trial
            ),
            jobs=session.bench.jobs,
        )
        repeated.run(
            lambda verdicts: int(
                Verdict.BAD not in verdicts
                and len(verdicts) < _MOST_RUNS
                and time.monotonic() < until
            )
        )
    bad = [number for number, each in enumerate(repeated.runs, 1) if each.verdict is Verdict.BAD]
    if not bad:
        return None
    usual = median(each.outcome.wall_seconds for each in repeated.runs)
    enough = _FAILURES_TO_COUNT * (bad[0] + FEW)  # it passed that often before
    return bad[0], min(_MOST_COUNTED, enough, int(_MOST_SECONDS / max(usual, _LEAST_SECONDS)))
