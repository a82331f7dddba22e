"""The search for a smaller payload: warm if possible, with a result that is checked cold."""

import os
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from whet.core.budget import Budget, StopReason
from whet.core.event import Notice
from whet.core.oracle import Oracle
from whet.core.text.quantity import shown_bytes
from whet.core.verdict import Verdict
from whet.execution.warm_search import WarmSearch
from whet.reduction.edit import first_that_fails
from whet.reduction.lacking import lacking_reader
from whet.reduction.passing import is_typo, neighbours
from whet.reduction.payload_kinds import SOURCES, kinds_of, meant_by, pretty_of
from whet.reduction.preference import Preference
from whet.reduction.problem import Reduced
from whet.reduction.reducer import FRUITLESS_TRIALS, LEAST_GAIN, Reducer, reducer_of
from whet.reduction.settings.towards import changes_towards, reduce_towards
from whet.reduction.statistics import Reduction
from whet.workbench.shrink.goals import DEFAULT_FLOOR
from whet.workbench.shrink.held_order import in_any_order
from whet.workbench.shrink.same_cause import IsShown
from whet.workbench.shrink.shrinking import Shrinking
from whet.workbench.trials.driver import HOLDS_NO_MORE, Driver, Ended, Question, stop_reason_of
from whet.workbench.trials.investigation import ShrunkPayload
from whet.workbench.trials.session import Place, RecordedExecutor, Session
from whet.workbench.trials.tested import Tested

_MORE_RUNS = 9
"""How often whet reruns a result that passed its confirmation, to see whether it is flaky."""

_RUNS_IN_DOUBT = 5

_EMPTY, _OTHER = b"", b"0\n"
"""A command that fails on both of these fails on any content."""


@dataclass(slots=True, kw_only=True)
class ShrinkSearch:
    """One search for a smaller payload.

    Attributes:
        session: runs the trials.
        work: the payload.
        oracle: says what an outcome proves.
        repeats: how often each candidate is run.
        place: wraps what runs a trial.
        jobs: trials at once.
        budget: when to stop.
        warm: runs trials on from a frozen copy; None: each runs from its start.
        why_cold: why each runs from its start.
        defaults: the document that a configuration is brought nearer to; None: it is made smaller.
        floor: a candidate that fails more rarely than this doesn't count; 0: it always fails.
        preference: what decides between candidates before they are run.
        pretty: lay the result out in the end.
        is_order_held: all trials run with one hash seed, which the failure need not have.
        is_shown: whether a trial fails for the cause that is known; None: none is.
    """

    session: Session
    work: Shrinking
    oracle: Oracle
    repeats: int
    place: Place | None
    jobs: int
    budget: Budget
    warm: WarmSearch | None
    why_cold: str = ""
    defaults: bytes | None = None
    floor: float = 0.0
    preference: Preference = field(default_factory=Preference)
    pretty: bool = False
    is_order_held: bool = False
    is_shown: IsShown | None = None
    _trials: int = 0
    _cached: int = 0
    _warm: int = 0
    _wall_seconds: float = 0.0
    _reducer: Reducer | None = None
    _nearest: bytes | None = None
    _minimal_over: tuple[str, ...] = ()
    _is_laid_out: bool = False
    _needs_order: bool = False

    def run(self) -> ShrunkPayload:
        """Search, prove the result, and search on from the start where it isn't as it seemed."""
        with ExitStack() as cut_short:  # by an error, or by a signal that ends whet
            cut_short.callback(self._say_what_stays)
            result = self._searched()
            cut_short.pop_all()
        return result

    def _searched(self) -> ShrunkPayload:
        is_confirmed = False
        try:
            reason = self._search(self.warm, cached=not self.floor)
            if reason is not StopReason.INTERRUPTED and not self._is_confirmed():
                reason = self._search(None, cached=False)
            is_confirmed = reason is not StopReason.INTERRUPTED
            if is_confirmed and self._went_back_to_cause():
                reason = StopReason.OTHER_CAUSE
            if reason in {StopReason.MINIMAL, StopReason.RARER}:
                self._confirm_nearest()
                self._lay_out()
        except KeyboardInterrupt:
            reason = StopReason.INTERRUPTED
        if not is_confirmed and not self.work.is_proven:
            self._say(
                "the result hasn't run from the start yet; run the same command again to check it"
            )
        self.session.stopped(reason, self._trials - self._cached, self.work.seconds)
        return self._result(reason)

    def _search(self, warm: WarmSearch | None, *, cached: bool) -> StopReason:
        """Search from the best payload on."""
        work, payload = self.work, self.work.payload
        self._reducer = reducer_of(
            work.best,
            name=payload.path.name,
            preference=self.preference,
            may_grow=True,
        )
        self._reducer.gives_up = True
        lacking = "" if work.accepted else lacking_reader(work.best, payload.path.name)
        if lacking:
            self._say(
                f"`{payload.shown}` is shrunk as text or bytes, which takes more trials and ends larger:"
                f" {lacking}, which reads it, isn't installed; Ctrl-C, then"
                f" `{shlex.quote(sys.executable)} -m pip install 'whet[formats]'`"
            )
        elif self._reducer.is_unknown and not work.accepted:
            self._say(
                f"`{payload.shown}` {_unknown(payload.path.name)}: it tries to cut stretches,"
                f" lines and bytes, until {FRUITLESS_TRIALS} trials in a row gain less than"
                f" {LEAST_GAIN:.0%}"
            )
        self._reducer.size_of = payload.size_of
        self._minimal_over = ()
        with self.session.executor(
            jobs=self.jobs,
            cached=cached,
            place=self.place,
            perform=warm,
        ) as executor:
            driver = self._driver(executor)
            if self._is_trivial(driver):
                return StopReason.TRIVIAL
            search = (
                self._reducer.reduce()
                if self.defaults is None
                else reduce_towards(work.best, self.defaults, name=payload.path.name)
            )
            end: Ended[Reduction] = driver.run(search, work.ask, work.found_bad, work.heard)
            self._count(end)
            if end.result is not None:
                self._minimal_over = end.result.minimal_over
            if self._is_read_as_text:
                self._nearest = self._reducer.problem.passing.nearest_to(
                    work.best, is_source=self._is_source
                )
                if end.stopped is None and not self._nearest and work.best:
                    self._look_beside(executor)
        if self.defaults is None and end.result is not None and not end.result.is_minimal:
            return StopReason.FRUITLESS
        is_flaky = self.floor > 0 or self.repeats > 1
        return stop_reason_of(end, StopReason.RARER if is_flaky else StopReason.MINIMAL)

    @property
    def _is_read_as_text(self) -> bool:
        """Whether one place more or less is a byte, and nothing is brought nearer to defaults."""
        payload = self.work.payload
        return (
            self.defaults is None
            and not payload.is_folder
            and kinds_of(payload.data, name=payload.path.name)[0].is_text
        )

    @property
    def _is_source(self) -> bool:
        """Whether it is a program: what differs by a typo passes for no reason of its own."""
        payload = self.work.payload
        return kinds_of(payload.data, name=payload.path.name)[0] in SOURCES

    def _look_beside(self, executor: RecordedExecutor) -> None:
        """Look for something that passes and differs in one place: an empty file tells little."""
        driver = self._driver(executor)
        driver.told = _inverted
        best = self.work.best
        beside = (
            each for each in neighbours(best) if not (self._is_source and is_typo(each, best))
        )
        search = first_that_fails(beside)
        end: Ended[bytes | None] = driver.run(search, self.work.question_of)
        self._count(end)
        if end.stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        if end.result is not None:
            self._nearest = end.result

    def _is_trivial(self, driver: Driver) -> bool:
        """Whether it fails on nothing at all and on something else: then there is no search."""
        is_bound = self.preference.keep or self.preference.shows_nothing is not None
        is_spent = driver.budget.wall_seconds == 0
        if is_bound or is_spent or self.work.accepted or not self._is_read_as_text:
            return False
        start = driver.clock()
        fails = all(
            driver.ask(self.work.question_of(data)) is Verdict.BAD for data in (_EMPTY, _OTHER)
        )
        self._trials += driver.trials
        self._cached += driver.cached
        self._wall_seconds += driver.clock() - start
        if fails:
            self.work.found_bad(Reduced(_EMPTY, "leave nothing"))
        return fails

    def _is_confirmed(self) -> bool:
        """Run the result once more, from the start; go back to what holds if it doesn't fail."""
        if self.floor and self.work.is_proven:
            return True  # each payload was accepted after many runs
        with self.session.executor(place=self.place) as executor:
            driver = self._driver(executor)
            driver.jobs, driver.floor, driver.repeats = 1, 0.0, 1
            best = self.work.question_of(self.work.best, " from the start")
            if self._fails_in_any_order(driver, best):
                return True
            # What came otherwise in a copy may have come so by chance.
            is_doubtful = self.warm is not None and bool(self.warm.distrusted)
            runs = _RUNS_IN_DOUBT if is_doubtful else 1
            bad = 0
            while bad < runs and driver.ask(best) is Verdict.BAD:
                bad += 1
            if bad == runs:
                self._trials += 0 if self.work.is_proven else driver.trials
                return True
            if self.work.guard is None:
                bad += [driver.ask(best) for _ in range(_MORE_RUNS)].count(Verdict.BAD)
            if bad:
                self._turn_flaky(driver, bad, driver.trials)
            else:
                self._go_back(driver)
            self._trials += driver.trials
        return False

    def _fails_in_any_order(self, driver: Driver, best: Question) -> bool:
        """Whether the order of sets was held for the search alone, and the result fails without."""
        if not self.is_order_held:
            return False
        verdict = driver.ask(replace(best, trial=in_any_order(best.trial)))
        self._needs_order = verdict is not Verdict.BAD
        is_doubtful = self.warm is not None and bool(self.warm.distrusted)
        return not self._needs_order and not is_doubtful

    def _turn_flaky(self, driver: Driver, bad: int, runs: int) -> None:
        """Note that it fails only sometimes, and go back to what fails often enough."""
        self.floor = self.floor or DEFAULT_FLOOR
        self.repeats = max(self.repeats, _MORE_RUNS)
        self.why_cold = "it fails only sometimes: how often is measured from the start"
        driver.floor, driver.repeats = self.floor, self.repeats
        work = self.work
        work.go_back_to(self._last_that_fails(driver, " again"))
        self._say(
            f"flaky: the result failed in {bad} of {runs} runs; back to"
            f" {shown_bytes(len(work.best))}, and each candidate now runs until it clearly fails in {self.floor:.0%} of its runs or more"
        )

    def _go_back(self, driver: Driver) -> None:
        """Go back to the last that fails from the start, as the original does."""
        work = self.work
        if work.is_proven:
            # The result may rest on memory alone, and the world may have changed in a way that
            # no key counts: a server, or a file that the command doesn't name.
            self._say(HOLDS_NO_MORE)
            work.go_back_to(self._last_that_fails(driver, " again"))
            return
        work.go_back_to(self._last_that_fails(driver, " from the start"))
        self._say(
            "the file found fails only in a frozen copy, not when the program runs from the start: "
            f"whet returns to the last one that does, {len(work.best)} bytes, and continues "
            "without copies"
        )
        self.why_cold = "the result differed when it ran from the start"

    def _went_back_to_cause(self) -> bool:
        """Go back to the last that fails for the cause that is known, if the result doesn't."""
        work, is_shown = self.work, self.is_shown
        if is_shown is None or not work.accepted:
            return False
        accepted = tuple(work.accepted)

        def fails_so(steps: int) -> bool | None:
            digest = accepted[steps - 1]
            return is_shown(work.question(digest, len(work.content_of(digest))).trial)

        if fails_so(len(accepted)) is not False:
            return False
        work.go_back_to(last_that(lambda steps: fails_so(steps) is True, len(accepted)))
        self._nearest = None
        return True

    def _last_that_fails(self, driver: Driver, remark: str) -> int:
        """Return how many of the accepted payloads there are up to the last that fails now."""
        work = self.work
        accepted = tuple(work.accepted)

        def fails(steps: int) -> bool:
            digest = accepted[steps - 1]
            size = len(work.content_of(digest))
            return driver.ask(work.question(digest, size, remark)) is Verdict.BAD

        return last_that(fails, len(accepted))

    def _confirm_nearest(self) -> None:
        """Run what passes beside the result from the start too, if it came from a copy."""
        if self._nearest is None or self.warm is None or not self.warm.warm_runs:
            return
        if self._ask_from_start(self._nearest) is not Verdict.GOOD:
            self._nearest = None

    def _lay_out(self) -> None:
        """Write the result as it reads best, if it still fails so."""
        work, name = self.work, self.work.payload.path.name
        pretty = pretty_of(work.best, name)
        is_asked = bool(self.preference.objective)
        if not self.pretty or pretty is None or is_asked or not self.preference.allows(pretty):
            return
        if self._ask_from_start(pretty) is not Verdict.BAD:
            return
        work.put_prettily(pretty)
        self._is_laid_out = True
        passing = None if self._nearest is None else pretty_of(self._nearest, name)
        if passing is not None and self._ask_from_start(passing) is Verdict.GOOD:
            self._nearest = passing

    def _ask_from_start(self, data: bytes) -> Verdict:
        with self.session.executor(place=self.place) as executor:
            driver = self._driver(executor)
            verdict = driver.ask(self.work.question_of(data, " from the start"))
            self._trials += driver.trials
        return verdict

    def _driver(self, executor: RecordedExecutor) -> Driver:
        left = self.budget
        if left.wall_seconds is not None:
            left = replace(left, wall_seconds=max(0.0, left.wall_seconds - self._wall_seconds))
        if left.trials is not None:
            left = replace(left, trials=max(0, left.trials - self._trials))
        return Driver(
            executor=executor,
            oracle=self.oracle,
            tell=self._tell,
            budget=left,
            jobs=self.jobs,
            repeats=self.repeats,
            floor=self.floor,
        )

    def _count(self, end: Ended[Reduction] | Ended[bytes | None]) -> None:
        self._trials += end.trials
        self._cached += end.cached
        self._warm += end.warm
        self._wall_seconds += end.wall_seconds

    def _tell(self, ran: Tested[object], oracle: Oracle) -> None:
        self.work.note(ran)
        self.session.tell(ran, oracle)

    def _say_what_stays(self) -> None:
        """Name the result on disk, which whoever reads the error that follows may not expect."""
        before, *sizes = [shown_bytes(size.bytes) for size in self.work.sizes]
        result = self.work.payload.result
        if sizes and os.path.lexists(result):  # each is noted when it stands on disk
            self._say(f"the best so far stays in `{result}`: {before} → {sizes[-1]}")

    def _say(self, text: str) -> None:
        self.session.emit(Notice(text=text))

    def _result(self, reason: StopReason) -> ShrunkPayload:
        work, payload = self.work, self.work.payload
        if work.best == payload.data or not os.path.lexists(payload.result):
            work.write_best()  # there was none yet, or the program has removed it
        reasons = "" if self.warm is None else "; ".join(self.warm.reasons)
        return ShrunkPayload(
            original=payload.shown,
            result=str(payload.result),
            before_bytes=payload.size_of(payload.data),
            content=work.best,
            stopped=reason,
            trials=self._trials - self._cached,
            cached=self._cached,
            wall_seconds=work.seconds,
            guarded_by="" if work.guard is None else work.guard.label,
            also_found=work.others.worth_reading,
            warm=self._warm,
            cold_because=self.why_cold or reasons,
            files=payload.files_of(work.best) if payload.is_folder else None,
            changes=None
            if self.defaults is None
            else changes_towards(work.best, self.defaults, name=payload.path.name),
            nearest_passing=self._nearest,
            passes=work.passes if self.defaults is None else (),
            sizes=tuple(work.sizes),
            rate_at_least=self.floor,
            minimal_over=self._minimal_over if reason is StopReason.MINIMAL else (),
            is_laid_out=self._is_laid_out,
            needs_order=self._needs_order,
        )


def _inverted(verdict: Verdict) -> Verdict:
    """Return what a search for something that passes is told."""
    return Verdict.BAD if verdict is Verdict.GOOD else Verdict.GOOD


def last_that(holds: Callable[[int], bool], count: int) -> int:
    """Return the last step up to which something holds, by halves.

    Args:
        holds: is true of all steps up to one; of 0 it is.
        count: the first step of which it is known that it doesn't hold.
    """
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _unknown(name: str) -> str:
    """Return what is wrong with a file that no reader reads."""
    format_name = meant_by(name)
    return f"can't be read as {format_name}" if format_name else "isn't in a format that whet knows"
