"""The best that an earlier search found, wherever it was stopped: it is all in the notebook."""

from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.notebook.entry import Entry
from whet.reduction.order import Order
from whet.workbench.bench import Workbench


def best_so_far(
    bench: Workbench,
    oracle: Oracle,
    order: Order,
    *,
    start: Trial,
    now: Trial,
    position: int,
) -> bytes | None:
    """Return the best payload that earlier searches of the same start accepted.

    A payload that is accepted is kept before the next candidate is run, so that a search which
    was killed has left it too.

    Args:
        bench: the workbench.
        oracle: what is BAD now; an earlier search may have looked for something else.
        order: which of two is better.
        start: the trial from which those searches started.
        now: the same with the other payloads as they are now.
        position: which payload it is about.
    """
    best: bytes | None = None
    original = start.payloads[position].digest
    for number in bench.notebook.searches_from(start, verb="shrink"):
        for entry in bench.notebook.entries(investigation=number, only_bad=True):
            if entry.outcome is None or oracle.judge(entry.outcome) is not Verdict.BAD:
                continue
            data = _payload_of(bench, entry, now, position, original)
            if data is not None and (best is None or order.is_better(data, best)):
                best = data
    return best


def _payload_of(
    bench: Workbench, entry: Entry, now: Trial, position: int, original: str
) -> bytes | None:
    """Return what the trial varied, if it was accepted and nothing else was varied."""
    payloads = entry.trial.payloads
    if len(payloads) != len(now.payloads):
        return None  # the command as it was typed
    digest = payloads[position].digest
    if digest == original or entry.trial.with_payload("", position).payloads != (
        now.with_payload("", position).payloads
    ):
        return None
    if not bench.notebook.blobs.path_of(digest).is_file():
        return None
    return bench.notebook.blobs.read(digest)
