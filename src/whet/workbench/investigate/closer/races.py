"""What threads share and lose: each suspicion is an experiment, with threads kept apart and let between."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whet.core.budget import OutOfTimeError
from whet.core.observations.clue import Clue, Placing
from whet.core.outcome import Outcome
from whet.core.text.record import JsonObject
from whet.core.verdict import Verdict
from whet.evidence.clues.closer_look import (
    Suspect,
    interleaving_clue,
    race_clue,
    shared_functions_in,
    suspects_in,
)
from whet.workbench.trials.reproduce import Baseline

_SUSPECTS, _BETWEEN = 3, 2
_SURE = 3
"""How many runs of an experiment must pass; more for a rare failure."""
_FUNCTIONS, _OFTEN, _SELDOM, _TURNED = 6, 3, 4, 2
"""Of so many functions, one fails in the first runs and passes in the others by chance in one of 20 cases."""

Run = Callable[[str, int, Verdict | None], list[Outcome]]
"""Runs the command with an experiment, so often or until it ends in one way."""


class Races:
    """The experiments for one failure."""

    def __init__(self, baseline: Baseline, run: Run, looked: Sequence[int]) -> None:
        """Try none yet.

        Args:
            baseline: what fails, and what judges it.
            run: runs it.
            looked: the numbers of the trials so far.
        """
        self._baseline, self._run, self._looked = baseline, run, looked

    def clues(self, reports: Sequence[JsonObject], at: Placing) -> list[Clue]:
        """Return what threads share without a lock, where keeping them apart mends the failure."""
        clues: list[Clue] = []
        for suspect in suspects_in(reports)[:_SUSPECTS]:
            before = len(self._looked)
            experiment = self._of_write(suspect)
            if experiment:
                trials = tuple(self._looked[before:])
                clues.append(replace(race_clue(suspect, at, experiment), trials=trials))
        return clues or self._of_functions(reports, at)

    def _of_functions(self, reports: Sequence[JsonObject], at: Placing) -> list[Clue]:
        """Return the innermost function in whose lines other threads may not come between, if there is one.

        Kept apart in what they are started with, threads are kept apart in all that it calls.
        """
        clue: Clue | None = None
        for function in shared_functions_in(reports)[:_FUNCTIONS]:
            before = len(self._looked)
            try:
                tried = self._of_function(f"{function.path}:{function.number}")
            except OutOfTimeError:
                if clue is None:
                    raise
                break
            if tried:
                trials = tuple(self._looked[before:])
                clue = replace(interleaving_clue(function, at, tried), trials=trials)
        return [] if clue is None else [clue]

    def _of_function(self, target: str) -> str:
        """Return what letting threads come between the lines of a function did, and keeping them apart."""
        judge = self._baseline.oracle.judge
        between = self._run(f"between:{target}", _OFTEN, Verdict.GOOD)
        if any(judge(run) is not Verdict.BAD for run in between):
            return ""
        alone = self._run(f"alone:{target}", _SELDOM, Verdict.BAD)
        if any(judge(run) is not Verdict.GOOD for run in alone):
            return ""
        # With one at a time the threads may just come in the order that passes.
        turned = self._run(f"turned:{target}", _TURNED, Verdict.BAD)
        if any(judge(run) is not Verdict.GOOD for run in turned):
            return ""
        return (
            f"with pauses between its lines, it failed in {len(between)} of {len(between)} runs; with"
            " the same pauses and one thread at a time there, whichever comes first, in 0 of"
            f" {len(alone) + len(turned)}"
        )

    def _of_write(self, suspect: Suspect) -> str:
        """Return what keeping threads apart, and letting them come between, did; empty: nothing."""
        judge, target = self._baseline.oracle.judge, f"{suspect.write.path}:{suspect.write.number}"
        most = max(_SURE, self._baseline.repeats)
        apart = self._run(f"serial:{target}", most, Verdict.BAD)
        if any(judge(run) is not Verdict.GOOD for run in apart):
            return ""
        between = self._run(f"pause:{target}", _BETWEEN, None)
        failures = sum(judge(run) is Verdict.BAD for run in between)
        if not failures:
            return ""
        return (
            f"with a pause before it, it failed in {failures} of {len(between)} runs;"
            f" with one thread at a time there, in 0 of {len(apart)}"
        )
