"""`whet compare`: run two arms in turns until it is sure whether they differ."""

import math
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from statistics import median
from typing import NoReturn

from whet.core.budget import Budget, OutOfTimeError, StopReason
from whet.core.errors import ArmFails, BadUsage, OutputsDiffer
from whet.core.event import Notice
from whet.core.oracle import AnyFailure
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.execution.futures import TrialFuture
from whet.host.kernel.counters import COUNTED, why_not_counted
from whet.host.trial.agent_tasks import AgentTasks
from whet.measurement.comparison.contest import Ruling, Sample, pairs_for
from whet.measurement.comparison.order import Order
from whet.measurement.comparison.outputs import (
    COMPARED_BYTES,
    OutputDifference,
    compare_outputs,
)
from whet.measurement.comparison.quantities import CPU, INSTRUCTIONS, MEMORY, WALL, Quantity
from whet.search.proposal import Search
from whet.workbench.compare.arms import Arm
from whet.workbench.compare.comparison import Compared, Comparison, Stop
from whet.workbench.compare.held import held
from whet.workbench.compare.times import times_that_decide
from whet.workbench.compare.warm_arms import MOST_SCOUTS, WarmArms
from whet.workbench.compare.where import where_they_differ
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.driver import Driver, Question
from whet.workbench.trials.reproduce import with_patience
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import RecordedExecutor, Session, open_session
from whet.workbench.trials.tested import Tested

A, B = "A", "B"

_LONG_SECONDS = 10.0
"""A command that takes longer is run once, not twice, before the runs that count."""

_SHORT_SECONDS = 0.005
_MOST_FAILURES = 3


@value_class(kw_only=True)
class CompareOptions:
    """How to compare.

    Attributes:
        by: the quantity that decides; empty: the time.
        measures: other quantities that are asked for.
        smallest: the smallest difference that matters, as a share.
        confidence: of the answer.
        runs: the most runs of each arm.
        any_output: the outputs, and how the runs end, may differ.
        where: where they differ, if they do.
        warm: resume both from one frozen copy, taken before their arguments are looked at.
        seed: decides the order of the runs.
        budget: when to stop.
    """

    by: str = ""
    measures: tuple[str, ...] = ()
    smallest: float = 0.01
    confidence: float = 0.95
    runs: int = 200
    any_output: bool = False
    where: bool = False
    warm: bool = False
    seed: int = 0
    budget: Budget = field(default_factory=Budget)

    @property
    def asked(self) -> tuple[str, ...]:
        """The quantities that the user names; the first one decides."""
        return tuple(word for word in (self.by, *self.measures) if word)


def compare(
    bench: Workbench, request: TrialRequest, arms: tuple[Arm, Arm], options: CompareOptions
) -> Comparison:
    """Compare two arms.

    Raises:
        OutputsDiffer: if they print different things.
        ArmFails: if one of them fails, or they end in two ways.
        BadUsage: if what should decide has no number, or no frozen copy serves both.
    """
    started = time.monotonic()
    warm = WarmArms.of(arms, bench.cleanup_journal) if options.warm else None
    for arm in arms:
        for remark in arm.remarks:
            bench.emit(Notice(text=f"{arm.label}: {remark}"))
    uncounted = _uncounted(request, options)
    counters = tuple(name for name, why in uncounted.items() if not why)
    tasks = AgentTasks(counters=counters)
    with (
        open_session(bench, "compare", request, arms[0].trial, tasks=tasks) as session,
        ExitStack() as stack,
    ):
        if warm is not None:
            executors = [stack.enter_context(session.executor(perform=warm.search))] * 2
        else:
            executors = [
                stack.enter_context(session.executor(place=held(arm.place, stack))) for arm in arms
            ]
        by_arm: dict[str, RecordedExecutor] = dict(zip((A, B), executors, strict=True))
        comparing = _Comparing(session, arms, options, by_arm, warm, uncounted)
        comparison = comparing.run(started)
        about = comparison.deciding
        if options.where and about is not None and comparison.stopped is Stop.DIFFERENT:
            comparison = _with_where(session, arms, comparison)
        session.stopped(comparison.stopped.reason, len(session.log.begun), comparison.wall_seconds)
        session.conclude(comparison.stopped.reason, facts_of(comparison))
    return comparison


def _uncounted(request: TrialRequest, options: CompareOptions) -> dict[str, str]:
    """Return what the kernel is to count, each with the reason why it doesn't; empty: it does.

    Instructions vary less than any time, so they are compared wherever they can be.
    """
    asked = {INSTRUCTIONS, *(Quantity.of_word(word).name for word in options.asked)}
    names = [name for name in COUNTED if name in asked and name not in request.measures]
    if options.warm:
        return dict.fromkeys(names, "a copy that is resumed isn't counted (`--warm`)")
    return {name: why_not_counted(name) for name in names}


def _with_where(session: Session, arms: tuple[Arm, Arm], comparison: Comparison) -> Comparison:
    """Return the comparison with the functions on which the arms differ."""
    times = [each for each in comparison.compared if each.quantity.name == WALL]
    about = comparison.deciding
    is_memory = about is not None and about.quantity.name == MEMORY
    seconds = min((each.a for each in times), default=1.0)
    question = "memory" if is_memory else "cpu"
    where, why = where_they_differ(session, arms, seconds, question=question)
    notes = (*comparison.notes, f"where: {why}") if why else comparison.notes
    return replace(comparison, where=where, notes=notes)


def facts_of(comparison: Comparison) -> Mapping[str, object]:
    """Return what the notebook keeps of a comparison."""
    return {
        "a": comparison.a,
        "b": comparison.b,
        "pairs": comparison.pairs,
        "seed": comparison.seed,
        "order": comparison.order,
        "effects": {
            each.quantity.name: [each.effect.best, each.effect.low, each.effect.high]
            for each in comparison.compared
        },
    }


@value_class
class _ByArm:
    """An executor that runs each arm in its own place; the driver names the arm first."""

    executors: Mapping[str, RecordedExecutor]
    next: list[str]

    def submit(self, trial: Trial, /) -> TrialFuture:
        """Start the run of the arm whose turn it is."""
        return self.executors[self.next[-1]].submit(trial)


class _Comparing:
    """The runs of one comparison."""

    def __init__(
        self,
        session: Session,
        arms: tuple[Arm, Arm],
        options: CompareOptions,
        executors: Mapping[str, RecordedExecutor],
        warm: WarmArms | None,
        uncounted: Mapping[str, str],
    ) -> None:
        self._warm = warm
        self._uncounted = uncounted
        self._session = session
        self._options = options
        self._arms: dict[str, Arm] = dict(zip((A, B), arms, strict=True))
        self._order = Order(options.seed)
        self._turns: list[str] = []
        self._driver = Driver(
            executor=_ByArm(executors, self._turns), oracle=AnyFailure(), tell=session.tell,
            budget=options.budget, is_error_skip=False,
        )  # fmt: skip
        self._first: dict[str, list[Tested[str]]] = {A: [], B: []}
        self._pair: dict[str, Tested[str]] = {}
        self._values: dict[str, tuple[list[float], list[float]]] = {}
        self._trials: dict[str, list[int]] = {A: [], B: []}
        self._firsts = ""
        self._output = self._ends = self._so_far = ""
        self._deciding: list[Quantity] = []
        self._others: list[Quantity] = []
        self._not_measured: dict[str, str] = {}
        self._notes: list[str] = []
        self._is_queued = False
        self._dropped = 0

    def run(self, started: float) -> Comparison:
        """Run both arms until the answer is sure, or something else ends it."""
        end = self._driver.run(self._search(), self._ask, heard=self._heard)
        stop = end.result
        if stop is None:
            is_interrupted = end.stopped is StopReason.INTERRUPTED
            stop = Stop.INTERRUPTED if is_interrupted else Stop.OUT_OF_TIME
            if not self._firsts:
                raise KeyboardInterrupt if is_interrupted else OutOfTimeError
        return self._comparison(stop, time.monotonic() - started)

    # ---- the runs ----

    def _search(self) -> Search[str, Stop]:
        yield from self._begin()
        for pair in range(self._options.runs):
            arms = (A, B) if self._order.is_a_first(pair) else (B, A)
            self._pair.clear()
            for arm in arms:
                yield [arm]
            if not self._counts():
                continue
            self._firsts += arms[0]
            self._note_values()
            stop = self._decided()
            if stop is not None:
                return stop
        return Stop.RUNS

    def _begin(self) -> Search[str, None]:
        """Run each arm once or twice: to see whether both do the same, and to warm up the disk."""
        if self._warm is not None:
            yield from self._take_copy(self._warm)
        for arm in (A, B):
            yield [arm]
            self._first[arm].append(self._pair[arm])
        took = max(runs[0].outcome.wall_seconds for runs in self._first.values())
        if took < _LONG_SECONDS or not self._prints_same():
            for arm in (B, A):
                yield [arm]
                self._first[arm].append(self._pair[arm])
        self._check_ends()
        self._check_outputs()
        self._choose()
        if self._warm is not None:
            warm_seconds = min(ran.outcome.wall_seconds for ran in self._first[A])
            self._notes.append(self._warm.remark(warm_seconds))

    def _take_copy(self, warm: WarmArms) -> Search[str, None]:
        """Run A until a run resumes from a frozen copy."""
        for _ in range(MOST_SCOUTS):
            yield [A]
            if warm.is_ready(self._pair[A]):
                return
        warm.refuse()

    def _ask(self, arm: str) -> Question:
        self._turns.append(arm)
        trial = self._arms[arm].trial
        first = self._first[arm]
        if first:
            took = 0.0 if self._warm is None else self._warm.cold_seconds
            trial = with_patience(trial, max(took, first[0].outcome.wall_seconds))
        done = len(self._firsts)
        label = f"{arm}, pair {done + 1}{self._so_far}" if len(first) > 1 else f"{arm}, first look"
        return Question(trial=trial, label=label)

    def _heard(self, ran: Tested[str]) -> None:
        self._pair[ran.candidate] = ran

    def _counts(self) -> bool:
        """Whether the runs of this pair ended as the first ones did; a few may not."""
        for arm, ran in self._pair.items():
            if self._end_of(ran) == self._end_of(self._first[arm][0]):
                continue
            self._dropped += 1
            self._notes.append(f"{arm} ended otherwise in trial {ran.number}: {ran.did}")
            if self._dropped >= _MOST_FAILURES:
                self._refuse(arm, ran, f"in {self._dropped} of its runs")
            return False
        return self._warm is None or self._warm.counts(self._pair)

    # ---- before anything is measured ----

    def _end_of(self, ran: Tested[str]) -> object:
        outcome = ran.outcome
        return (outcome.shell_exit_code, outcome.signature)

    def _check_ends(self) -> None:
        """Refuse arms of which one fails, or that end in two ways.

        Raises:
            ArmFails: then.
        """
        first: dict[str, Tested[str]] = {arm: runs[0] for arm, runs in self._first.items()}
        codes = {arm: ran.outcome.shell_exit_code for arm, ran in first.items()}
        is_same = self._end_of(first[A]) == self._end_of(first[B])
        if any(ran.verdict is Verdict.BAD for ran in first.values()) or not is_same:
            self._ends = f"A exits {codes[A]} and B exits {codes[B]}"
            failing = [arm for arm in (A, B) if first[arm].verdict is Verdict.BAD]
            if not self._options.any_output and len(failing) > 1:
                self._refuse_both(first)
            if not self._options.any_output:
                arm = next(iter(failing), B)
                self._refuse(arm, first[arm], self._ends)
        for arm, runs in self._first.items():
            if len(runs) > 1 and self._end_of(runs[0]) != self._end_of(runs[1]):
                self._refuse(arm, runs[1], "only sometimes")

    def _refuse(self, arm: str, ran: Tested[str], when: str) -> NoReturn:
        raise ArmFails(
            f"{arm} (`{self._arms[arm].label}`) fails: {ran.did} ({when})",
            hint=f"`whet show {ran.number}` shows its output; `--any-output` compares what ends so in both",
        )

    def _refuse_both(self, first: Mapping[str, Tested[str]]) -> NoReturn:
        said = [f"{arm} (`{self._arms[arm].label}`): {ran.did}" for arm, ran in first.items()]
        numbers = " and ".join(f"`whet show {ran.number}`" for ran in first.values())
        raise ArmFails(
            f"both fail. {'; '.join(said)}",
            hint=f"{numbers} show their output; `--any-output` compares programs that fail, if both end in the same way",
        )

    def _prints_same(self) -> bool:
        digests = {runs[0].outcome.stdout.digest for runs in self._first.values()}
        return len(digests) == 1

    def _check_outputs(self) -> None:
        """Say whether both print the same.

        Raises:
            OutputsDiffer: if they don't, and that matters.
        """
        printed = [
            [ran.outcome.stdout.head(COMPARED_BYTES) for ran in self._first[arm]] for arm in (A, B)
        ]
        found = compare_outputs(*printed)
        if isinstance(found, str):
            self._output = found
            return
        numbers = [self._first[arm][0].number for arm in (A, B)]
        where = _difference_in_words(found)
        if not self._options.any_output:
            raise OutputsDiffer(
                f"A and B print different things: {where}",
                hint=f"`whet show {numbers[0]}` and `whet show {numbers[1]}` show both; `--any-output` compares them anyway",
            )
        self._output = f"different output ({where})"

    def _choose(self) -> None:
        """Say which quantities decide: as asked; else the time, before a difference is known.

        Raises:
            BadUsage: if what should decide has no number.
        """
        options = self._options
        asked = [Quantity.of_word(word) for word in options.asked]
        usual = [Quantity(WALL), Quantity(CPU), Quantity(MEMORY)]
        if self._uncounted.get(INSTRUCTIONS) == "":
            usual.append(Quantity(INSTRUCTIONS))
        for quantity in dict.fromkeys([*asked, *usual]):
            values = [quantity.of(run.outcome) for runs in self._first.values() for run in runs]
            if None in values or (quantity in usual and 0 in values):
                self._not_measured[quantity.name] = self._uncounted.get(quantity.name) or (
                    "a run printed no such number" if quantity in asked else "too short to be seen"
                )
                continue
            self._values[quantity.name] = ([], [])
            self._others.append(quantity)
        if asked and asked[0].name in self._not_measured:
            if why := self._uncounted.get(asked[0].name):
                raise BadUsage(
                    f"`{asked[0].name}` should decide, but {why}",
                    hint="`--by cpu` compares CPU time",
                )
            raise BadUsage(
                f"`{asked[0].name}` should decide, but a run has no such number",
                hint="let the program print it and write `--measure 'NAME=REGEX'`, or mark the part with `whet.section`",
            )
        if asked:
            self._deciding = [asked[0]]
        else:
            self._deciding = self._times()
        self._others = [each for each in self._others if each not in self._deciding]
        took = min(run.outcome.wall_seconds for runs in self._first.values() for run in runs)
        if took < _SHORT_SECONDS:
            self._notes.append(
                f"the command takes {1000 * took:.1f} ms, most of it the start of a process: let it do its work many times in one run"
            )

    def _times(self) -> list[Quantity]:
        """Return which times decide."""
        lasts = [runs[-1].outcome for runs in self._first.values()]
        quantities, remark = times_that_decide(lasts)
        self._notes += [remark] if remark else []
        self._is_queued = bool(remark)
        return [each for each in quantities if each.name in self._values]

    # ---- what the runs say ----

    def _note_values(self) -> None:
        for quantity in (*self._deciding, *self._others):
            pair = [quantity.of(self._pair[arm].outcome) for arm in (A, B)]
            for values, value in zip(self._values.get(quantity.name, ()), pair, strict=False):
                values.append(float("nan") if value is None else value)
            if None in pair:
                self._values.pop(quantity.name, None)
                self._not_measured[quantity.name] = "a run has no such number"
        for arm in (A, B):
            self._trials[arm].append(self._pair[arm].own_number)

    def _sample(self, quantity: Quantity) -> Sample | None:
        values = self._values.get(quantity.name)
        if values is None:
            return None
        return Sample(name=quantity.name, a=tuple(values[0]), b=tuple(values[1]))

    @property
    def _chance(self) -> float:
        """The chance of error of each quantity that decides: they share it."""
        return (1 - self._options.confidence) / max(1, len(self._deciding))

    def _decided(self) -> Stop | None:
        samples = [sample for each in self._deciding if (sample := self._sample(each)) is not None]
        if not samples:
            raise BadUsage(
                f"`{self._deciding[0].name}` should decide, but a run has no such number",
                hint="`whet compare --by cpu` decides by CPU time",
            )
        rulings = [sample.ruling(self._chance, self._options.smallest) for sample in samples]
        last = samples[-1]
        usual = median(last.differences)
        so_far = f"{math.expm1(usual):+.1%}" if last.is_ratio else f"{usual:+.3g}"
        self._so_far = f", B {so_far} so far in {Quantity(last.name).label}"
        if Ruling.DIFFERENT in rulings:
            return Stop.DIFFERENT
        return Stop.ALIKE if Ruling.ALIKE in rulings else None

    def _comparison(self, stop: Stop, wall_seconds: float) -> Comparison:
        others = [each for each in self._others if each.name in self._values]
        chance_of_others = (1 - self._options.confidence) / max(1, len(others))
        compared = [
            self._compared(each, self._chance, decides=True)
            for each in self._deciding
            if each.name in self._values
        ]
        compared += [self._compared(each, chance_of_others, decides=False) for each in others]
        load, _, _ = os.getloadavg()
        revisions = (self._arms[A].revision, self._arms[B].revision)
        result = Comparison(
            a=self._arms[A].label, b=self._arms[B].label, pairs=len(self._firsts),
            compared=tuple(compared), output=self._output, ends=self._ends,
            confidence=self._options.confidence, smallest=self._options.smallest,
            seed=self._options.seed, order=self._firsts,
            trials={arm: tuple(numbers) for arm, numbers in self._trials.items()}, stopped=stop,
            wall_seconds=wall_seconds, load=load, processors=self._session.bench.jobs,
            notes=tuple(self._notes), not_measured=self._not_measured,
            versions=revisions if all(revisions) else (), is_queued=self._is_queued,
        )  # fmt: skip
        about = result.deciding
        if stop in {Stop.DIFFERENT, Stop.ALIKE} or about is None or not about.is_ratio:
            return result
        more = pairs_for(about.effect, result.pairs, self._options.smallest)
        return replace(result, more_pairs=more)

    def _compared(self, quantity: Quantity, chance: float, *, decides: bool) -> Compared:
        sample = self._sample(quantity)
        assert sample is not None
        return Compared(
            quantity=quantity, a=median(sample.a), b=median(sample.b),
            effect=sample.effect(chance), is_ratio=sample.is_ratio,
            own=sample.own_effect(self._order, chance),
            ruling=sample.ruling(chance, self._options.smallest), decides=decides,
            confidence=1 - chance,
        )  # fmt: skip


def _difference_in_words(found: OutputDifference) -> str:
    shown: Sequence[str] = [
        "nothing more" if each is None else f"`{each[:60]}`" for each in (found.a, found.b)
    ]
    return f"line {found.line} is {shown[0]} in A and {shown[1]} in B"
