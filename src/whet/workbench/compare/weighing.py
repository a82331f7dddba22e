"""Whether a trial costs more than a bound: run in pairs with a reference until that is sure.

This is what `--slower-than` and `--more-memory-than` mean in a search. The verdict on a version is not
one run against one number, but the sequential test of `whet compare`, with a chance of error of 1 %.
"""

import math
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TypeAlias

from whet.core.cost_bound import CHANGE, COSTS_MORE, CostBound, change_in_words
from whet.core.errors import BadUsage
from whet.core.event import Event, Notice
from whet.core.measurements import NumberKind
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_count
from whet.core.trial import Trial
from whet.measurement.comparison.contest import LEAST_PAIRS, Sample
from whet.measurement.comparison.evidence import is_ruled_out
from whet.measurement.comparison.order import Order
from whet.measurement.comparison.outputs import COMPARED_BYTES, compare_outputs
from whet.measurement.comparison.quantities import MEMORY, Quantity
from whet.workbench.compare.held import held
from whet.workbench.compare.times import times_that_decide
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.reproduce import with_patience
from whet.workbench.trials.session import Place

Run: TypeAlias = Callable[[Trial], Outcome]

CHANCE = 0.01
"""The chance of a wrong verdict: a search rests on several of them."""

MOST_PAIRS = 100

_CLEARLY = 0.8
"""A run below this share of the bound shows that it isn't needed: other programs only add to it."""


@dataclass(slots=True, kw_only=True)
class CostWeighing:
    """Answers each trial by what several runs cost.

    Attributes:
        bound: what costs more is BAD.
        reference: what the others are compared with; None: the bound is an amount.
        stack: keeps the places until the search ends.
        seed: decides the order of the runs.
        emit: is told which quantity decides.
        most_pairs: after so many pairs a verdict stays open.
    """

    bound: CostBound
    reference: Trial | None
    stack: ExitStack
    seed: int
    emit: Callable[[Event], None]
    most_pairs: int = MOST_PAIRS
    _quantities: list[Quantity] = field(default_factory=list[Quantity])
    _asked: int = 0

    def hold(self, place: Place | None) -> Place | None:
        """Return a place that stays from run to run."""
        return held(place, self.stack)

    def answer(self, trial: Trial, run: Run) -> Outcome:
        """Run a trial, and the reference, until it is sure whether it costs more than the bound."""
        self._asked += 1
        if self.bound.share is None:
            return self._against_amount(trial, run)
        assert self.reference is not None
        # The first runs fill caches, and show whether there is something to compare.
        reference = run(self.reference)
        timed = with_patience(trial, (1 + self.bound.share) * reference.wall_seconds)
        first = run(timed)
        if _is_cut(first, timed, (1 + self.bound.share) * reference.wall_seconds):
            return self._judged(first, costs_more=True, change=math.inf)
        if first.failure is not None or reference.failure is not None:
            return first  # what fails has no cost: the oracle says SKIP
        self._choose([reference, first])
        order = Order(self.seed + self._asked)
        values: dict[str, tuple[list[float], list[float]]] = {
            each.name: ([], []) for each in self._quantities
        }
        last = first
        printed: tuple[list[Outcome], list[Outcome]] = ([reference], [first])
        for pair in range(self.most_pairs):
            arms = (0, 1) if order.is_a_first(pair) else (1, 0)
            outcomes = {arm: run((self.reference, timed)[arm]) for arm in arms}
            last = outcomes[1]
            for arm, outcome in outcomes.items():
                printed[arm][1:] = [outcome]
            if any(each.failure is not None for each in outcomes.values()):
                return last
            for quantity in self._quantities:
                for arm, outcome in outcomes.items():
                    values[quantity.name][arm].append(quantity.of(outcome) or 0.0)
            costs_more, change = self._is_above(values)
            if costs_more is not None or pair == self.most_pairs - 1:
                weighed = self._judged(last, costs_more=costs_more, change=change)
                count = shown_count(pair + 1, "pair")
                said = change_in_words(weighed.measurements)
                other = _other_output(*printed) if _is_same_input(trial, self.reference) else ""
                self.emit(Notice(text=f"{said} than the good end, after {count} of runs{other}"))
                return weighed
        return last

    def _is_above(
        self, values: dict[str, tuple[list[float], list[float]]]
    ) -> tuple[bool | None, float]:
        assert self.bound.share is not None
        chance = CHANCE / len(self._quantities)
        change, answer = 0.0, None
        for name, (a, b) in values.items():
            sample = Sample(name=name, a=tuple(a), b=tuple(b))
            change = median(sample.differences)
            change = math.expm1(change) if sample.is_ratio else change
            answer = sample.is_above(self.bound.share, chance)
            if answer is not None:
                break
        return answer, change

    def _against_amount(self, trial: Trial, run: Run) -> Outcome:
        """Compare runs with an amount: GOOD as soon as one is clearly below, BAD when all say so."""
        amount = self.bound.amount
        timed = with_patience(trial, amount) if self.bound.kind is NumberKind.TIME else trial
        values: list[float] = []
        last = Outcome()
        for _ in range(self.most_pairs):
            last = run(timed)
            if self.bound.kind is NumberKind.TIME and _is_cut(last, timed, amount):
                return self._judged(last, costs_more=True, change=math.inf)
            if last.failure is not None:
                return last
            if not self._quantities:
                self._choose([last])
            value = self._quantities[0].of(last) or 0.0
            values.append(value)
            change = median(values) / amount - 1
            if value < _CLEARLY * amount:
                return self._judged(last, costs_more=False, change=change)
            differences = [math.log(max(each, 1e-12) / amount) for each in values]
            if len(values) >= LEAST_PAIRS and is_ruled_out(differences, 0.0, CHANCE):
                return self._judged(last, costs_more=median(differences) > 0, change=change)
        return self._judged(last, costs_more=None, change=median(values) / amount - 1)

    def _choose(self, outcomes: Sequence[Outcome]) -> None:
        """Say once which quantity decides all verdicts of the search."""
        if self._quantities:
            return
        if self.bound.kind is NumberKind.MEMORY:
            self._quantities = [Quantity(MEMORY)]
            return
        self._quantities, remark = times_that_decide(outcomes)
        if self.bound.share is None:
            self._quantities = self._quantities[:1]
        if remark:
            self.emit(Notice(text=remark))
        if self.bound.share is not None:
            pairs = "runs each version in pairs with the good end until it is sure"
            self.emit(Notice(text=f"whet {pairs}; each verdict is wrong in at most {CHANCE:.0%}"))

    def _judged(self, outcome: Outcome, *, costs_more: bool | None, change: float) -> Outcome:
        """Return the outcome of the last run with what all of them say, for the oracle."""
        said = {CHANGE: change}
        if costs_more is not None:
            said[COSTS_MORE] = float(costs_more)
        failure = outcome.failure if math.isfinite(change) else None
        measurements = {**outcome.measurements, **said}
        return replace(outcome, measurements=measurements, failure=failure)


def _is_same_input(one: Trial, other: Trial) -> bool:
    """Whether two trials run the same command on the same files, so that they should print the same."""
    return (one.command, one.stdin, one.payloads) == (other.command, other.stdin, other.payloads)


def _other_output(reference: Sequence[Outcome], version: Sequence[Outcome]) -> str:
    """Return what a version prints that the good end doesn't, for the end of a sentence; empty: nothing."""
    printed = [[each.stdout.head(COMPARED_BYTES) for each in runs] for runs in (reference, version)]
    found = compare_outputs(*printed)
    if isinstance(found, str):
        return ""
    lines = ["nothing" if each is None else f"`{each[:60]}`" for each in (found.b, found.a)]
    return (
        f"; but it prints {lines[0]} as line {found.line}, where the good end prints {lines[1]}:"
        " it may do other work"
    )


def _is_cut(outcome: Outcome, trial: Trial, bound_seconds: float) -> bool:
    """Whether a run was ended because it took longer than a limit, and that is above the bound."""
    limit = trial.limits.wall_seconds
    is_over = outcome.timed_out and outcome.hung_seconds is None
    return is_over and limit is not None and limit >= bound_seconds


def weighing_for(
    bench: Workbench, bound: CostBound | None, reference: Trial | None, stack: ExitStack
) -> CostWeighing | None:
    """Return what weighs the trials of a search by what they cost; None: each is judged by a run.

    Args:
        bench: the workbench.
        bound: what costs more is BAD.
        reference: the good end; None: there is none.
        stack: keeps the places of both.

    Raises:
        BadUsage: if the bound is a share and nothing is there to compare with.
    """
    if bound is None:
        return None
    if bound.share is not None and reference is None:
        what = "2s" if bound.kind is NumberKind.TIME else "500MB"
        raise BadUsage(
            f"`{bound.text}` more than what? There is no good end to compare with",
            hint=f"name a good version, or write an amount such as `{what}`",
        )
    seed = int.from_bytes(os.urandom(4))
    return CostWeighing(bound=bound, reference=reference, stack=stack, seed=seed, emit=bench.emit)
