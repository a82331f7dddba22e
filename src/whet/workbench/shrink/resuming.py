"""The best result of an earlier, interrupted search, from the notebook."""

from collections import Counter

from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.notebook.entry import Entry
from whet.reduction.problem import ReductionProblem
from whet.workbench.trials.bench import Workbench


@value_class(kw_only=True)
class Wanted:
    """What a payload must be to resume from; an earlier search may have looked for something else.

    Attributes:
        oracle: what is BAD now.
        problem: what must be kept, and which of two is better.
        floor: what failed in a smaller part of its runs was taken back, if it was ever accepted.
    """

    oracle: Oracle
    problem: ReductionProblem
    floor: float


def best_so_far(
    bench: Workbench, request: Wanted, *, start: Trial, now: Trial, position: int
) -> bytes | None:
    """Return the best payload that earlier searches of the same start accepted.

    A payload that is accepted is kept before the next candidate is run, so that a search which
    was killed has left it too.

    Args:
        bench: the workbench.
        request: which payloads count.
        start: the trial from which those searches started.
        now: the same with the other payloads as they are now.
        position: which payload it is about.
    """
    original = start.payloads[position].digest
    runs: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for number in bench.notebook.searches_from(start, verb="shrink"):
        for entry in bench.notebook.entries(investigation=number):
            digest = _digest_of(entry, now, position)
            if entry.outcome is not None and digest not in {"", original}:
                runs[digest] += 1
                bad[digest] += request.oracle.judge(entry.outcome) is Verdict.BAD
    best: bytes | None = None
    for digest, count in bad.items():
        if not count or count < request.floor * runs[digest]:
            continue
        if not bench.notebook.blobs.path_of(digest).is_file():
            continue  # it was not accepted
        data, problem = bench.notebook.blobs.read(digest), request.problem
        if problem.allows(data) and (best is None or problem.order.is_better(data, best)):
            best = data
    return best


def _digest_of(entry: Entry, now: Trial, position: int) -> str:
    """Return what stands for the payload that the trial varied; empty if it varied another."""
    payloads = entry.trial.payloads
    if len(payloads) != len(now.payloads):
        return ""  # the command as it was typed
    if entry.trial.with_payload("", position).payloads != now.with_payload("", position).payloads:
        return ""
    return payloads[position].digest
