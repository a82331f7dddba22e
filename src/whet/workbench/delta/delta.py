"""`whet delta`: the differences that decide between a case that passes and one that fails."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from whet.core.budget import Budget, StopReason
from whet.core.difference import Change
from whet.core.event import Notice
from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.reduction.two_sides import few_to_add, few_to_take_back
from whet.search.proposal import Search
from whet.search.subsets.hierarchy import Numbers
from whet.workbench.compare.weighing import weighing_for
from whet.workbench.delta.cases import FAILS, PASSES, Cases
from whet.workbench.delta.delta_ends import Settled, settled
from whet.workbench.files.pasted_line import stored_line
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.command_search import CommandOptions, CommandSearch
from whet.workbench.trials.investigation import PastedLine
from whet.workbench.trials.reproduce import held_to_site, with_patience
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session


@value_class(kw_only=True)
class Side:
    """What decides, seen from one of the cases.

    Attributes:
        changes: few differences: from the good case those that bring the failure, from the bad
            one those without which it is gone. No one of them can be left out.
        numbers: their places among all.
        trial: the case with them.
        file: where its configuration lies; empty: its command line says all.
        line: the command that shows it.
        stopped: why the search for them ended.
    """

    changes: tuple[Change, ...]
    numbers: Numbers
    trial: Trial
    file: str
    line: PastedLine
    stopped: StopReason


@value_class(kw_only=True)
class Delta:
    """What decides between two cases.

    Attributes:
        what: what differs, such as ``settings``.
        good: the case that passes.
        bad: the case that fails.
        failure: what the failure is.
        differences: how many there are.
        fails: the good case with few differences, so that it fails.
        passes: the bad case without few, so that it passes; None: the budget was spent before.
        left_out: differences that could not be switched.
        stopped: why the search ended.
        trials: how many trials were run, those of the two cases included.
        cached: how many candidates were answered from earlier trials.
        wall_seconds: how long it took.
    """

    what: str
    good: str
    bad: str
    failure: str
    differences: int
    fails: Side
    passes: Side | None
    left_out: tuple[str, ...]
    stopped: StopReason
    trials: int
    cached: int
    wall_seconds: float


def delta(
    bench: Workbench,
    request: TrialRequest,
    cases: Cases,
    options: CommandOptions,
    *,
    part_of: Session | None = None,
    within: Session | None = None,
) -> Delta:
    """Find what decides between two cases, from both of them.

    Args:
        bench: the workbench.
        request: how its trials are judged and named.
        cases: the two and what lies between them.
        options: when to stop, and how many trials run at once.
        part_of: the investigation that this is a part of; None: its own.
        within: the session that an investigation of its own is a step of.

    Raises:
        EndMisjudged: if both pass, or both fail.
    """
    if part_of is not None:
        return DeltaHunt(replace(part_of, verb="delta"), options).run(cases)
    with (
        open_session(
            bench, "delta", request, cases.trial(cases.everything), within=within
        ) as opened,
        ExitStack() as stack,
    ):
        weighing = weighing_for(bench, request.judging.bound, cases.trial(()), stack)
        if weighing is not None:
            options = replace(options, jobs=1)  # two at once would measure each other
        session = replace(opened, weighing=weighing)
        result = DeltaHunt(session, options).run(cases)
        session.conclude(result.stopped, _facts(result))
    return result


class DeltaHunt:
    """One search for what decides, under way."""

    def __init__(self, session: Session, options: CommandOptions) -> None:
        self._session = session
        self._options = options
        self._before = len(session.log.begun)
        self._cached = 0
        self._wall_seconds = 0.0

    def run(self, cases: Cases) -> Delta:
        """Check the two cases, then search from each of them."""
        for remark in cases.remarks:
            self._session.emit(Notice(text=remark))
        ends = settled(self._session, cases)
        cases = ends.cases
        oracle = held_to_site(ends.baseline, ends.trial(cases.everything))
        differences, stopped = self._search(
            ends, oracle, lambda _: few_to_add(cases.paths), cases.everything, ends.trial, _as_said
        )
        fails = self._side(ends, oracle, differences, FAILS, stopped)
        passes = None
        if stopped.is_complete:
            undone, stopped = self._search(
                ends, oracle, lambda _: few_to_take_back(cases.paths, differences), cases.everything,
                lambda numbers: ends.trial(cases.without(numbers)), _turned_over,
            )  # fmt: skip
            passes = self._side(ends, oracle, undone, PASSES, stopped)
        failure = ends.baseline.outcome.failure
        return Delta(
            what=cases.what, good=cases.good, bad=cases.bad,
            failure="it is bad" if failure is None else failure.summary,
            differences=len(cases.changes), fails=fails, passes=passes, left_out=cases.left_out,
            stopped=stopped, trials=len(self._session.log.begun) - self._before, cached=self._cached,
            wall_seconds=self._wall_seconds,
        )  # fmt: skip

    def _search(
        self,
        ends: Settled,
        oracle: Oracle,
        begin: Callable[[Numbers], Search[Numbers, Numbers]],
        best: Numbers,
        as_trial: Callable[[Numbers], Trial],
        search_verdict: Callable[[Verdict], Verdict],
    ) -> tuple[Numbers, StopReason]:
        seconds = ends.baseline.reproduction.wall_seconds
        what = ends.cases.what
        search: CommandSearch[Numbers] = CommandSearch(
            session=self._session, oracle=oracle, repeats=ends.baseline.repeats,
            options=replace(self._options, budget=self._left()), begin=begin,
            as_trial=lambda numbers: with_patience(as_trial(numbers), seconds),
            label=lambda numbers: f"{len(numbers)} {what}", best=best, told=search_verdict,
            place=ends.cases.place,
        )  # fmt: skip
        stopped = search.run()
        self._cached += search.cached
        self._wall_seconds += search.wall_seconds
        return search.best, stopped

    def _left(self) -> Budget:
        return self._options.budget.less(self._wall_seconds, 0)

    def _side(
        self, ends: Settled, oracle: Oracle, numbers: Numbers, word: str, stopped: StopReason
    ) -> Side:
        cases, is_bad = ends.cases, word == FAILS
        taken = numbers if is_bad else cases.without(numbers)
        trial = cases.trial(taken)
        result = None if cases.result is None else cases.result(taken, word)
        if result is not None:
            result.write()
        return Side(
            changes=tuple(cases.changes[number] for number in numbers), numbers=numbers, trial=trial,
            file="" if result is None else result.shown, stopped=stopped,
            line=stored_line(
                self._session, trial if result is None else result.trial, ends.baseline, oracle,
                verdict=Verdict.BAD if is_bad else Verdict.GOOD,
            ),
        )  # fmt: skip


def _as_said(verdict: Verdict) -> Verdict:
    return verdict


def _turned_over(verdict: Verdict) -> Verdict:
    """Tell a search for what passes: BAD is what it looks for."""
    return {Verdict.GOOD: Verdict.BAD, Verdict.BAD: Verdict.GOOD}.get(verdict, verdict)


def _facts(result: Delta) -> dict[str, object]:
    sides = {FAILS: result.fails, PASSES: result.passes}
    return {
        word: None if side is None else list(map(str, side.changes)) for word, side in sides.items()
    }
