"""What each number cost, the laws of that, and what they predict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from statistics import median

from whet.core.failure import Failure
from whet.core.text.json_record import APART, Record
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.growth.law import Law, Range, fit_law
from whet.workbench.trials.tested import Tested

TIME, CPU, MEMORY = "time", "cpu", "memory"
COSTS = (TIME, CPU, MEMORY)


@value_class(kw_only=True)
class Measured(Record):
    """A number that was tested.

    Attributes:
        number: it.
        verdict: what its runs prove.
        runs: how many there were.
        failures: in how many it failed.
        wall_seconds: the shortest time of those that came to their end; of all, if none did.
        cpu_seconds: the least processor time of these.
        peak_bytes: the median of their peak memory: the runs' samples miss some of it, or see the start;
            0: all of them ended before whet looked.
        is_whole: one came to its end, so that its costs count for the law.
        trial: the notebook's number of a run, one that failed if any did; None: an earlier one.
        failure: how it failed, in a line; empty: it didn't.
        failed: the same as a value, which JSON doesn't have.
    """

    number: int
    verdict: Verdict
    runs: int
    failures: int
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    is_whole: bool
    trial: int | None
    failure: str
    failed: Failure | None = field(default=None, metadata=APART)

    def cost(self, name: str) -> float:
        """Return one of the costs."""
        costs = {TIME: self.wall_seconds, CPU: self.cpu_seconds, MEMORY: float(self.peak_bytes)}
        return costs[name]


def measured(number: int, runs: Sequence[Tested[int]]) -> Measured:
    """Return what the runs with one number have shown."""
    whole = [each for each in runs if each.outcome.failure is None and each.skipped is None]
    failed = [each for each in runs if each.verdict is Verdict.BAD]
    skipped = [each for each in runs if each.verdict is Verdict.SKIP]
    example = (failed or skipped or list(runs))[-1]
    outcomes = [each.outcome for each in whole or runs]
    numbers = [each.number for each in failed or runs if each.number is not None]
    return Measured(
        number=number,
        verdict=example.verdict,
        runs=len(runs),
        failures=len(failed),
        wall_seconds=min(each.wall_seconds for each in outcomes),
        cpu_seconds=min(each.cpu_seconds for each in outcomes),
        peak_bytes=int(
            median([each.peak_rss_bytes for each in outcomes if each.peak_rss_bytes] or [0])
        ),
        is_whole=bool(whole),
        trial=numbers[-1] if numbers else None,
        failure="" if example.verdict is Verdict.GOOD else example.did,
        failed=example.outcome.failure,
    )


def laws_of(rows: Iterable[Measured]) -> Mapping[str, Law]:
    """Return the law of each cost that has one; memory that whet didn't see is no cost of zero."""
    whole = [each for each in rows if each.is_whole]
    costs = {
        name: {each.number: each.cost(name) for each in whole if name != MEMORY or each.peak_bytes}
        for name in COSTS
    }
    fitted = {name: fit_law(known) for name, known in costs.items()}
    return {name: law for name, law in fitted.items() if law is not None}


@value_class(kw_only=True)
class Unfit:
    """A number that wasn't run, because this machine or the budget has too little for it.

    Attributes:
        number: it.
        what: ``time`` or ``memory``.
        needs: how much, as the law says, in seconds or bytes.
        has: how much is left.
    """

    number: int
    what: str
    needs: Range
    has: float


def unfit_of(number: int, laws: Mapping[str, Law], has: Mapping[str, float]) -> Unfit | None:
    """Return why a number doesn't fit; None: it does, as far as the laws know.

    Args:
        number: it.
        laws: those of smaller numbers.
        has: how much time and memory are left.
    """
    for name, left in has.items():
        law = laws.get(name)
        if law is None or number <= law.largest:
            continue
        needs = law.predict(number)
        # Time varies from run to run, memory hardly does.
        if (needs.best if name == MEMORY else needs.low) > left:
            return Unfit(number=number, what=name, needs=needs, has=left)
    return None
