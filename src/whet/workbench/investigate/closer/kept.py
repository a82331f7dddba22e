"""What was taken and not given back, with the run that shows it: one in which it is given back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from whet.core.budget import OutOfTimeError
from whet.core.errors import WhetError
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.text.record import JsonObject
from whet.core.verdict import Verdict
from whet.evidence.clues.not_given_back import Kept, kept_in
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.investigate.closer.given_back import given_back
from whet.workbench.investigate.experiments.varied import text_to_change
from whet.workbench.trials.reproduce import Baseline

Run = Callable[[AgentTasks], tuple[int, Outcome]]


def shown_clues(
    told: Sequence[JsonObject], run: Run | None, baseline: Baseline, at: Placing
) -> list[Clue]:
    """Return what was kept: the first that ends the failure when it is given back is the cause.

    Args:
        told: what a closer look has seen.
        run: runs the command with a change of its text; None: no change is tried.
        baseline: how it fails, and what judges the runs.
        at: says where a line is.
    """
    clues: list[Clue] = []
    for each in kept_in(told, at, text_to_change):
        shown = None
        if run is not None and each.gave and baseline.reproduction.is_deterministic:
            with suppress(WhetError, OutOfTimeError):  # without a room, or time, it is what it was
                shown = _shown(each, run, baseline.oracle, at)
        if shown is not None:
            return [shown, *clues]
        clues.append(each.clue)
    return clues


def _shown(kept: Kept, run: Run, oracle: Oracle, at: Placing) -> Clue | None:
    clue = kept.clue
    source = text_to_change(clue.path)
    text, gives = given_back(source, clue.line, kept.gave)
    if not text:
        return None
    numbers: list[int] = []
    for number, outcome in _each(run, clue.path, [text, source, text]):
        wanted = Verdict.BAD if len(numbers) == 1 else Verdict.GOOD
        if oracle.judge(outcome) is not wanted:
            return None
        numbers.append(number)
    passed, failed, again = numbers
    where = at(clue.path, clue.line)
    return replace(
        clue,
        says=f"{clue.says}: with `{gives}` at {where}, too, the command passes",
        why=f"{clue.why}; trials {passed} and {again} ran with that change and passed; trial {failed} ran without it"
        " and failed",
        sureness=Sureness.SHOWN,
        trials=(*clue.trials, passed, failed, again),
        next_step=f"fix {where}, for example with a `with` or a `finally` around all ways out",
    )  # fmt: skip


def _each(run: Run, path: str, texts: Iterable[str]) -> Iterator[tuple[int, Outcome]]:
    return (run(AgentTasks(edit=(path, each))) for each in texts)
