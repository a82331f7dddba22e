"""A program whose pools of processes work in the process itself: there all its steps can be seen."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from whet.core.errors import WhetError
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.host.inspect.presence import own_files_with
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.inspect.post_mortem import Dead
from whet.workbench.investigate.traces.origins import Recorded, recorded_failure
from whet.workbench.toggle.toggle import turned_on
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session

_POOLS = re.compile(r"\bmultiprocessing\b|\bProcessPoolExecutor\b|\bjoblib\b")
_SWITCH = "one-process"


def recorded_alone(
    session: Session,
    trial: Trial,
    baseline: Baseline,
    dead: Dead | None,
    run: Callable[[Trial, AgentTasks], tuple[int, Outcome]],
) -> Recorded | None:
    """Return the steps of a failing run, in one process if it fails the same way there.

    Args:
        session: runs it once more in one process.
        trial: what fails.
        baseline: how, and what judges it.
        dead: the failure with its frames; None: they were not kept.
        run: runs a command with other tasks; returns the trial's number and what it did.
    """
    alone = in_one_process(session, trial, baseline)
    recorded = recorded_failure(alone, baseline, dead, partial(run, alone))
    if recorded is None or alone is trial:
        return recorded
    return replace(recorded, remark=f"; it ran with `{_SWITCH}`, and failed the same way")


def in_one_process(session: Session, trial: Trial, baseline: Baseline) -> Trial:
    """Return a command as it runs in one process, if it uses pools and fails the same way then; else as it is.

    Args:
        session: runs it once more.
        trial: what fails.
        baseline: how, and what judges it.
    """
    evidence = baseline.outcome.evidence
    if not baseline.reproduction.is_deterministic or not own_files_with(_POOLS, evidence):
        return trial
    alone = turned_on(session.bench, trial, chosen([_SWITCH], known_toggles()))
    with suppress(WhetError):
        (ran,) = session.repeat(alone, baseline.oracle, "looked at", times=1)
        return alone if ran.verdict is Verdict.BAD else trial
    return trial
