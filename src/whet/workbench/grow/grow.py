"""`whet grow`: the smallest number with which a command fails, and what each number costs."""

import math
import time
from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial

from whet.core.budget import Budget, OutOfTimeError, StopReason
from whet.core.event import Notice
from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.files.memory import memory_left
from whet.search.answering import answering
from whet.search.growth.law import Law, Range
from whet.search.growth.smallest import Smallest, smallest_failing
from whet.workbench.files.pasted_line import Shell, pasted_line
from whet.workbench.files.wording import Wording, stored_steps
from whet.workbench.grow.dimension import Dimension, Dimensions
from whet.workbench.grow.measured import MEMORY, TIME, Measured, Unfit, laws_of, measured, unfit_of
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.driver import HOLDS_NO_MORE, Driver, Question, stop_reason_of
from whet.workbench.trials.investigation import PastedLine
from whet.workbench.trials.reproduce import FEW, MANY, repeats_for
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.trials.tested import Tested

_ENOUGH_NUMBERS = 8
"""A law is fitted to at least as many numbers, where there are as many."""

_SHORT_SECONDS, _SHORT_RUNS = 0.5, 5
"""A run that is shorter is made as often: its time varies by chance, the shortest hardly does."""

_LEAST_EXTRA_SECONDS = 10.0
_BEYOND = 10
"""Without being asked, whet predicts the largest number; if that was run, this many times it."""


@value_class(kw_only=True)
class GrowOptions:
    """What to grow.

    Attributes:
        dimensions: one after the other; the others are at their first value meanwhile.
        predict: the numbers to say the costs of; empty: one that wasn't run.
        repeats: runs of each number; None: as many as the failure's rate asks for.
        budget: when to stop.
    """

    dimensions: tuple[Dimension, ...]
    predict: tuple[int, ...] = ()
    repeats: int | None = None
    budget: Budget = field(default_factory=Budget)


@value_class(kw_only=True)
class Prediction:
    """What a number that wasn't run would cost, by the cost."""

    number: int
    costs: Mapping[str, Range]


@value_class(kw_only=True)
class Growth:
    """What a dimension has shown.

    Attributes:
        dimension: it.
        smallest: the smallest number that fails; None: none did.
        largest_below: the largest tested one below it.
        exceptions: larger ones that don't fail.
        rows: what was tested, the smallest number first.
        laws: how the costs grow, by the cost.
        unfit: the smallest number that wasn't run; None: all were.
        predictions: what larger ones cost.
        memory_bytes: how much memory this machine has.
        line: the command with the smallest number, for a shell; None: nothing fails.
        repeats: how often a number has to pass.
        stopped: why the search ended.
        trials: how many were run for it.
        wall_seconds: how long it took.
    """

    dimension: Dimension
    smallest: int | None
    largest_below: int | None
    exceptions: tuple[int, ...]
    rows: tuple[Measured, ...]
    laws: Mapping[str, Law]
    unfit: Unfit | None
    predictions: tuple[Prediction, ...]
    memory_bytes: int
    line: PastedLine | None
    repeats: int
    stopped: StopReason
    trials: int
    wall_seconds: float

    @property
    def row(self) -> Measured | None:
        """What the smallest number that fails did."""
        return next((each for each in self.rows if each.number == self.smallest), None)


def grow(bench: Workbench, request: TrialRequest, options: GrowOptions) -> tuple[Growth, ...]:
    """Grow one dimension after the other.

    Raises:
        BadDimension: if one has no place in the command.
    """
    dimensions = Dimensions(bench, request, options.dimensions)
    deadline = None
    if options.budget.wall_seconds is not None:
        deadline = time.monotonic() + options.budget.wall_seconds
    grown: list[Growth] = []
    with open_session(bench, "grow", request, dimensions.first) as opened:
        session = replace(opened, deadline=deadline)
        for dimension in options.dimensions:
            grown.append(_Growing(session, dimensions, dimension, options).grown())
            if grown[-1].stopped in {StopReason.INTERRUPTED, StopReason.OUT_OF_TIME}:
                break
        facts = {each.dimension.place: each.smallest for each in grown}
        session.conclude(grown[-1].stopped, facts)
    return tuple(grown)


class _Growing:
    """The trials of one dimension."""

    def __init__(
        self, session: Session, dimensions: Dimensions, dimension: Dimension, options: GrowOptions
    ) -> None:
        self._session = session
        self._dimensions = dimensions
        self._dimension = dimension
        self._options = options
        self._others = {each.place: each.least for each in options.dimensions}
        self._runs: dict[int, list[Tested[int]]] = {}
        self._oracle: Oracle = oracle_of(session.request.judging)
        self._driver: Driver | None = None
        self._unfit: Unfit | None = None
        self._cached = 0
        self._repeats = 1
        self._memory_bytes = memory_left().total_bytes
        self._began = time.monotonic()

    def grown(self) -> Growth:
        """Search the smallest number that fails, then measure what is short of a law."""
        repeats = self._options.repeats or 1
        found, reason = self._search(repeats, cached=repeats == 1)
        if reason.is_complete and self._options.repeats is None and found.fails is not None:
            found, reason = self._rechecked(found, reason)
        if reason.is_complete:
            reason = self._measure(reason)
        line = self._line(found.fails)
        wall_seconds = time.monotonic() - self._began
        trials = sum(map(len, self._runs.values()))
        self._session.stopped(reason, trials, wall_seconds)
        rows = self._rows()
        laws = laws_of(rows)
        return Growth(
            dimension=self._dimension,
            smallest=found.fails,
            largest_below=found.largest_below,
            exceptions=found.exceptions,
            rows=rows,
            laws=laws,
            unfit=self._unfit,
            predictions=self._predictions(laws),
            memory_bytes=self._memory_bytes,
            line=line,
            repeats=self._repeats,
            stopped=reason,
            trials=trials,
            wall_seconds=wall_seconds,
        )

    # ---- the search ----

    def _search(self, repeats: int, *, cached: bool) -> tuple[Smallest, StopReason]:
        self._runs.clear()
        self._repeats = repeats
        dimension = self._dimension
        search = smallest_failing(
            least=dimension.least, most=dimension.most, enough=_ENOUGH_NUMBERS
        )
        with self._session.executor(cached=cached) as executor:
            driver = self._driver = Driver(
                executor=executor,
                oracle=self._oracle,
                tell=self._session.tell,
                repeats=repeats,
            )
            end = driver.run(
                answering(search, self._answer), self._ask, self._found_bad, self._heard
            )
        self._cached = end.cached
        if end.result is None:
            return self._known(), stop_reason_of(end, StopReason.SMALLEST)
        if end.result.fails is not None:
            return end.result, StopReason.SMALLEST
        is_short = self._unfit is not None and self._unfit.what == TIME
        return end.result, StopReason.OUT_OF_TIME if is_short else StopReason.NO_FAILURE

    def _ask(self, number: int) -> Question:
        return Question(trial=self._trial(number), label=self._label(number))

    def _answer(self, number: int) -> Verdict | None:
        """Return what is told of a number that isn't run, because it doesn't fit."""
        if self._unfit is None or number < self._unfit.number:
            unfit = self._is_unfit(number)
            if unfit is None:
                return None
            self._unfit = unfit
        return Verdict.SKIP

    def _found_bad(self, number: int) -> None:
        """From the first failure on, only the same one counts."""
        reference = next(each.outcome for each in self._runs[number] if each.verdict is Verdict.BAD)
        self._oracle = oracle_of(self._session.request.judging, reference)
        assert self._driver is not None
        self._driver.oracle = self._oracle

    def _heard(self, ran: Tested[int]) -> None:
        if ran.skipped is not None and not self._runs:
            raise ran.skipped  # the first number can't be run: nothing says that others can
        self._runs.setdefault(ran.candidate, []).append(ran)

    def _known(self) -> Smallest:
        """Return what is known of a search that was stopped."""
        tested = tuple((each.number, each.verdict) for each in self._rows())
        bad = [number for number, verdict in tested if verdict is Verdict.BAD]
        return Smallest(fails=min(bad, default=None), tested=tested)

    def _rechecked(self, found: Smallest, reason: StopReason) -> tuple[Smallest, StopReason]:
        """Run both sides of the answer again; search again, with more runs, if they disagree."""
        number, below = found.fails, found.largest_below
        assert number is not None
        try:
            failing = self._again(number, FEW - 1)
            passing = [] if below is None else self._again(below, FEW - 1)
            is_failing = all(each.verdict is Verdict.BAD for each in failing)
            if is_failing and not any(each.verdict is Verdict.BAD for each in passing):
                return found, reason
            failing += self._again(number, MANY - len(failing))
        except OutOfTimeError:
            return found, StopReason.OUT_OF_TIME
        except KeyboardInterrupt:
            return found, StopReason.INTERRUPTED
        failures = sum(each.verdict is Verdict.BAD for each in failing)
        if self._cached and not failures:
            self._session.emit(Notice(text=HOLDS_NO_MORE))
            self._oracle = oracle_of(self._session.request.judging)
            return self._search(1, cached=False)
        repeats = repeats_for(max(failures, 1) / (len(failing) + 1))
        self._session.emit(
            Notice(
                text=f"it fails only sometimes: {failures + 1} of {len(failing) + 1} runs with"
                f" {self._label(number)}; whet runs each number up to {repeats} times"
            )
        )
        return self._search(repeats, cached=False)

    def _again(self, number: int, times: int) -> list[Tested[int]]:
        trial, label = self._trial(number), self._label(number)
        runs = self._session.repeat(trial, self._oracle, label, times=times)
        again = [each.of(number) for each in runs]
        for each in again:
            self._heard(each)
        return again

    # ---- the costs ----

    def _measure(self, reason: StopReason) -> StopReason:
        """Run the shortest ones again, for the law: their times vary the most."""
        most_seconds = max(_LEAST_EXTRA_SECONDS, time.monotonic() - self._began)
        until = time.monotonic() + most_seconds
        try:
            # In turns: where time ends it, all were run about as often.
            for turn in range(2, _SHORT_RUNS + 1):
                for row in self._rows():
                    is_short = row.is_whole and row.wall_seconds < _SHORT_SECONDS
                    if is_short and row.runs < turn and time.monotonic() < until:
                        self._again(row.number, 1)
        except OutOfTimeError:
            pass
        except KeyboardInterrupt:
            return StopReason.INTERRUPTED
        return reason

    def _is_unfit(self, number: int) -> Unfit | None:
        """Return why a number isn't run; None: it is."""
        has = {MEMORY: math.inf, TIME: math.inf}
        if self._session.request.limits.memory_bytes is None:
            has[MEMORY] = memory_left().available_bytes
        if self._session.deadline is not None:
            has[TIME] = self._session.deadline - time.monotonic()
        return unfit_of(number, laws_of(self._rows()), has)

    def _predictions(self, laws: Mapping[str, Law]) -> tuple[Prediction, ...]:
        largest = self._dimension.most
        beyond = largest if largest not in self._runs else _BEYOND * max(1, largest)
        numbers = self._options.predict or (beyond,)
        return tuple(
            Prediction(
                number=number, costs={name: law.predict(number) for name, law in laws.items()}
            )
            for number in numbers
        )

    # ---- one number ----

    def _trial(self, number: int) -> Trial:
        return self._dimensions.trial({**self._others, self._dimension.place: number})

    def _line(self, number: int | None) -> PastedLine | None:
        """Return the line that shows the smallest number's failure, run just now."""
        if number is None:
            return None
        runs = self._runs[number]
        shell = Shell(
            session=self._session, trial=self._trial(number), oracle=self._oracle,
            repeats=self._repeats, usual_seconds=runs[-1].outcome.wall_seconds,
        )  # fmt: skip
        bench = self._session.bench
        wording = Wording(bench=bench, write=partial(stored_steps, bench))
        return pasted_line(shell, wording, f"{self._label(number)}: {runs[-1].did}")

    def _label(self, number: int) -> str:
        return f"{self._dimension.name} = {number}"

    def _rows(self) -> tuple[Measured, ...]:
        return tuple(measured(number, self._runs[number]) for number in sorted(self._runs))
