"""The search for a smaller payload: warm where that can be, and its result proven cold."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from whet.core.budget import Budget, StopReason
from whet.core.event import Notice
from whet.core.oracle import BadIf, Oracle
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.execution.caching import CachingExecutor
from whet.execution.warm_search import WarmSearch
from whet.reduction.reducer import Reduction, reduce_payload
from whet.reduction.settings.towards import changes_towards, reduce_towards
from whet.workbench.bench import Place, RecordedExecutor, Workbench
from whet.workbench.driver import HOLDS_NO_MORE, Driver, Ended, announce, stop_reason_of
from whet.workbench.investigation import ShrunkPayload
from whet.workbench.reproduce import Baseline
from whet.workbench.shrinking import Shrinking


def why_not_warm(baseline: Baseline, trial: Trial) -> str:
    """Return why no trial of a search may run on from a frozen copy; empty if it may."""
    if any(payload.folder for payload in trial.payloads):
        return "a payload is a folder"
    if baseline.repeats > 1:
        return "it fails only sometimes: how often is measured from the start"
    if isinstance(baseline.oracle, BadIf) and baseline.oracle.condition.weighs_resources:
        return "it is judged by time or memory"
    return ""


@dataclass(slots=True, kw_only=True)
class ShrinkSearch:
    """One search for a smaller payload.

    Attributes:
        bench: the workbench.
        work: the payload.
        oracle: says what an outcome proves.
        repeats: how often each candidate is run.
        record: writes the row of a trial before it starts.
        place: wraps what runs a trial.
        jobs: trials at once.
        budget: when to stop.
        warm: runs trials on from a frozen copy; None: each runs from its start.
        why_cold: why each runs from its start.
        defaults: the document that a configuration is brought nearer to; None: it is made smaller.
    """

    bench: Workbench
    work: Shrinking
    oracle: Oracle
    repeats: int
    record: Callable[[Trial], int]
    place: Place | None
    jobs: int
    budget: Budget
    warm: WarmSearch | None
    why_cold: str = ""
    defaults: bytes | None = None
    _trials: int = 0
    _cached: int = 0
    _wall_seconds: float = 0.0

    def run(self) -> ShrunkPayload:
        """Search, prove the result, and search on from the start where it is not as it seemed."""
        is_cached = self.repeats == 1
        reason = self._search(self.warm, cached=is_cached)
        if reason is StopReason.INTERRUPTED:
            if not self.work.is_proven:
                self._say("the result was not run from the start yet; the same command does that")
        elif not (self._prove() if not self.work.is_proven else not is_cached or self._holds()):
            reason = self._search(None, cached=False)
        announce(self.bench.emit, self._ended(), reason)
        return self._result(reason)

    def _search(self, warm: WarmSearch | None, *, cached: bool) -> StopReason:
        """Search from the best payload on."""
        work, payload = self.work, self.work.payload
        with self.bench.executor(
            self.record,
            jobs=self.jobs,
            cached=cached,
            place=self.place,
            perform=warm,
        ) as executor:
            driver = self._driver(executor)
            name = payload.path.name
            search = (
                reduce_payload(work.best, name=name)
                if self.defaults is None
                else reduce_towards(work.best, self.defaults, name=name)
            )
            ended: Ended[Reduction] = driver.run(search, work.ask, work.found_bad)
            if isinstance(executor, CachingExecutor):
                self._cached += executor.hits
        self._count(ended)
        return stop_reason_of(ended, StopReason.MINIMAL)

    def _holds(self) -> bool:
        """Run the best payload once more; forget all that was found if it does not fail now.

        The result may rest on memory alone, and the world may have changed in a way that no key
        counts: a server, or a file that the command does not name.
        """
        with self.bench.executor(self.record, place=self.place) as executor:
            outcome = executor.submit(self.work.best_trial).result()
        if self.oracle.judge(outcome) is Verdict.BAD:
            return True
        self._say(HOLDS_NO_MORE)
        self.work.go_back_to(0)
        return False

    def _prove(self) -> bool:
        """Run the best payload from the start; go back to the last that fails there too.

        Returns:
            whether it is the best one itself.
        """
        work = self.work
        accepted = tuple(work.accepted)
        with self.bench.executor(self.record, place=self.place) as executor:
            driver = self._driver(executor)
            driver.jobs = 1

            def fails(steps: int) -> bool:
                digest = accepted[steps - 1]
                size = len(work.content_of(digest))
                question = work.question(digest, size, " from the start")
                return driver.ask(question) is Verdict.BAD

            try:
                good = len(accepted) if fails(len(accepted)) else last_that(fails, len(accepted))
            except KeyboardInterrupt:
                good = 0
            self._trials += driver.trials
        if good == len(accepted):
            return True
        work.go_back_to(good)
        self._say(
            "what was found fails only in a frozen copy, not when the program runs from its start:"
            f" back to the last file that does, {len(work.best)} bytes, and on without copies"
        )
        self.why_cold = "the result was another one when it was run from the start"
        return False

    def _driver(self, executor: RecordedExecutor) -> Driver:
        left = self.budget
        if left.wall_seconds is not None:
            left = replace(left, wall_seconds=max(0.0, left.wall_seconds - self._wall_seconds))
        if left.trials is not None:
            left = replace(left, trials=max(0, left.trials - self._trials))
        return Driver(
            executor=executor,
            oracle=self.oracle,
            emit=self.work.observe,
            budget=left,
            jobs=self.jobs,
            repeats=self.repeats,
            judged=lambda number, verdict: self.bench.notebook.judge(
                number, self.oracle.description, verdict, None
            ),
        )

    def _count(self, ended: Ended[Reduction]) -> None:
        self._trials += ended.trials
        self._wall_seconds += ended.wall_seconds

    def _ended(self) -> Ended[None]:
        return Ended(
            result=None, stopped=None, trials=self._trials, wall_seconds=self._wall_seconds
        )

    def _say(self, text: str) -> None:
        self.bench.emit(Notice(text=text))

    def _result(self, reason: StopReason) -> ShrunkPayload:
        work, payload = self.work, self.work.payload
        if work.best == payload.data:
            work.write_best()
        reasons = "" if self.warm is None else "; ".join(self.warm.reasons)
        return ShrunkPayload(
            original=payload.shown,
            result=str(payload.result),
            before_bytes=payload.size_of(payload.data),
            content=work.best,
            stopped=reason,
            trials=self._trials - self._cached,
            cached=self._cached,
            wall_seconds=self._wall_seconds,
            guarded_by="" if work.guard is None else work.guard.label,
            also_found=tuple(work.others.values()),
            warm=0 if self.warm is None else self.warm.warm_runs,
            cold_because=self.why_cold or reasons,
            files=payload.files_of(work.best) if payload.is_folder else None,
            changes=None
            if self.defaults is None
            else changes_towards(work.best, self.defaults, name=payload.path.name),
        )


def last_that(holds: Callable[[int], bool], count: int) -> int:
    """Return the last step up to which something holds, by halves.

    Args:
        holds: is true of all steps up to one; of 0 it is.
        count: the first step of which it is known that it does not hold.
    """
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
