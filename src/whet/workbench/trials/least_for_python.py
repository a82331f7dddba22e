"""Whether a Python can start under a trial's limits, and how much it needs if it can't."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from whet.core.errors import LimitMakesNoSense
from whet.core.limits import Limits, shown_size
from whet.core.output import BytesOutput, Output
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.execution.cold import ColdExecutor
from whet.host.python.interpreters import Search as Interpreters
from whet.host.trial.capture import Capture
from whet.search.growth.threshold import least_amount
from whet.search.proposal import run_search

if TYPE_CHECKING:  # which calls this
    from whet.workbench.trials.bench import Workbench

_PAGE = 4096
_LOW: dict[str, tuple[int, int]] = {
    "memory_bytes": (64 << 20, 64 << 10),
    "address_space_bytes": (256 << 20, 1 << 20),
    "stack_bytes": (256 << 10, _PAGE),
    "files": (16, 1),
}
"""Below which amount of each limit whet checks, and the steps in which it reports the least."""


_LEAST = {"memory_bytes": 16, "files": 3}


def check_python_starts(bench: "Workbench", trial: Trial) -> None:
    """Refuse limits under which the command's Python could not even start.

    Raises:
        LimitMakesNoSense: with the least that works.
    """
    low = [name for name, (below, _) in _LOW.items() if _amount(trial.limits, name) < below]
    if not low:
        return
    search = Interpreters(cwd=os.path.abspath(trial.cwd), environment=bench.environment)
    python = search.python_of(trial.command)
    if not python:
        return
    for name in low:
        _check(bench, trial, python, name)


def _check(bench: "Workbench", trial: Trial, python: str, name: str) -> None:
    below, step = _LOW[name]

    def starts(amount: int) -> Verdict:
        limits = Limits.from_json({name: amount * step})
        bare = Trial(command=(python, "-c", "pass"), cwd=trial.cwd, limits=limits)
        return Verdict.GOOD if _passes(bench, bare) else Verdict.BAD

    amount = _amount(trial.limits, name)
    if starts(amount // step) is Verdict.GOOD:
        return
    search = least_amount(
        least=_LEAST.get(name, 1), most=2 * below // step, guess=2 * amount // step, precision=0.05
    )
    least_good = run_search(search, starts).least_good
    option = name.removesuffix("_bytes").replace("_", "-")
    if least_good is None:
        return  # it isn't for this limit that it doesn't start
    least = shown_size(least_good * step) if name.endswith("_bytes") else str(least_good)
    amount_text = shown_size(amount) if name.endswith("_bytes") else str(amount)
    raise LimitMakesNoSense(
        f"`--{option} {amount_text}` is less than `{Path(python).name}` itself needs to start",
        hint=f"the least that works is {least}",
    )


def _passes(bench: "Workbench", trial: Trial) -> bool:
    """Run a trial that nobody wants to see again."""

    def keep(capture: Capture) -> Output:
        return BytesOutput(capture.data)

    with ColdExecutor(
        classify=lambda _trial, _outcome: None,
        payload_of=bench.payload_store.payload_of,
        keep=keep,
        cleanup_journal=bench.cleanup_journal,
        scratch=bench.project.state / "scratch",
        environment=bench.environment,
    ) as executor:
        return executor.submit(trial).result().shell_exit_code == 0


def _amount(limits: Limits, name: str) -> int:
    amount: int | None = getattr(limits, name)
    return 1 << 62 if amount is None else amount
