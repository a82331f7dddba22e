"""`whet starve`: a command under limits, and the least amount with which it succeeds."""

import os
import resource
from collections.abc import Callable, Mapping
from dataclasses import field, replace

from whet.core.budget import Budget, StopReason
from whet.core.errors import NeverSucceeds
from whet.core.executor import Executor
from whet.core.failure import Failure
from whet.core.limits import Limits, shown_size
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.room import Disk, Room
from whet.core.text.json_record import APART, Record
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.files.memory import memory_left
from whet.host.limits.sandbox.room_plan import temporary_folder
from whet.search.growth.threshold import Threshold, least_amount
from whet.search.proposal import Search
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.driver import Driver, Question, stop_reason_of
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.trials.tested import Tested

_MEMORY_STEP_BYTES = 64 << 10
_DISK_STEP_BYTES = 4 << 10
_SPACE_STEP_BYTES = 1 << 20
_GPU_STEP_BYTES = 2 << 20  # what the driver hands out
_ROUGH = 0.1  # of an amount that gets a margin anyway
_DISK_GUESS_BYTES = 1 << 20
_SILENT_SECONDS = 3.0
_CPU_STEP = 0.05
_MOST_FILES = 65_536
_MOST_PROCESSES = 32_768


@value_class(kw_only=True)
class Rationed:
    """Something of which a command may be given less and less.

    Attributes:
        name: as its option is called.
        field: of `Limits` that holds it.
        step: in what units it is searched.
        least: the least that is tried, in steps.
        most: the most that there is, in steps.
        precision: how near the answer has to be, as a share of it.
        guess: where to start after a run without the limit, in steps.
    """

    name: str
    field: str
    step: float
    least: int
    most: Callable[[], int]
    precision: float
    guess: Callable[[Outcome], int]

    def limits(self, limits: Limits, steps: int) -> Limits:
        """Return ``limits`` with this amount of it."""
        amount = self.amount(steps)
        if self.field == "disk_bytes":
            disk = Disk(path=temporary_folder(os.environ), size_bytes=int(amount))
            return replace(limits, room=replace(limits.room or Room(), disks=(disk,)))
        if self.field == "gpu_memory_bytes":
            room = replace(limits.room or Room(), gpu_memory_bytes=int(amount))
            return replace(limits, room=room)
        whole = amount if self.field == "cpus" else int(amount)
        return Limits.from_json({**limits.to_json(), self.field: whole})

    def amount(self, steps: int) -> float:
        """Return the amount that is this number of steps."""
        return round(steps * self.step, 6)

    def shown(self, steps: int) -> str:
        """Return an amount in words."""
        amount = self.amount(steps)
        is_size = self.field.endswith("_bytes")
        return shown_size(amount, tells_apart=True) if is_size else f"{amount:g}"


def _processors() -> int:
    return round(len(os.sched_getaffinity(0)) / _CPU_STEP)


def _gpu_steps() -> int:
    from whet.host.limits.gpu.gpu_caps import largest_gpu_bytes

    return largest_gpu_bytes(os.environ) // _GPU_STEP_BYTES


RATIONED: Mapping[str, Rationed] = {
    each.name: each
    for each in (
        Rationed(
            name="memory",
            field="memory_bytes",
            step=_MEMORY_STEP_BYTES,
            least=(1 << 20) // _MEMORY_STEP_BYTES,
            most=lambda: memory_left().total_bytes // _MEMORY_STEP_BYTES,
            precision=0.01,
            guess=lambda outcome: outcome.peak_rss_bytes // _MEMORY_STEP_BYTES,
        ),
        Rationed(
            name="address-space",
            field="address_space_bytes",
            step=_SPACE_STEP_BYTES,
            least=1,
            most=lambda: memory_left().total_bytes // _SPACE_STEP_BYTES,
            precision=_ROUGH,
            guess=lambda outcome: outcome.peak_rss_bytes // _SPACE_STEP_BYTES,
        ),
        Rationed(
            name="files",
            field="files",
            step=1,
            least=3,
            most=lambda: min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], _MOST_FILES),
            precision=0.0,
            guess=lambda _: 16,
        ),
        Rationed(
            name="processes",
            field="processes",
            step=1,
            least=1,
            most=lambda: _MOST_PROCESSES,
            precision=0.0,
            guess=lambda outcome: max(1, len(outcome.processes)),
        ),
        Rationed(
            name="disk",
            field="disk_bytes",
            step=_DISK_STEP_BYTES,
            least=1,
            most=lambda: memory_left().available_bytes // _DISK_STEP_BYTES,
            precision=0.01,
            guess=lambda _: _DISK_GUESS_BYTES // _DISK_STEP_BYTES,
        ),
        Rationed(
            name="gpu",
            field="gpu_memory_bytes",
            step=_GPU_STEP_BYTES,
            least=1,
            most=_gpu_steps,
            precision=0.01,
            guess=lambda _: _gpu_steps() // 4,
        ),
        Rationed(
            name="cpus",
            field="cpus",
            step=_CPU_STEP,
            least=1,
            most=_processors,
            precision=0.05,
            guess=lambda _: _processors(),
        ),
    )
}
"""The limits that `--find` knows; a new one needs a line here."""


@value_class(kw_only=True)
class TriedAmount(Record):
    """One amount that was tried.

    Attributes:
        amount: how much, in bytes or pieces.
        shown: the same in words.
        verdict: whether it was enough.
        wall_seconds: the median of its runs.
        trial: number of the last one.
        failure: how it failed, in a line; empty: it did not.
        failed: the same as a value, which JSON doesn't have; None: it did not.
    """

    amount: float
    shown: str
    verdict: Verdict
    wall_seconds: float
    trial: int | None
    failure: str
    failed: Failure | None = field(default=None, metadata=APART)


@value_class(kw_only=True)
class LeastAmount:
    """The least of something with which a command succeeds.

    Attributes:
        name: of what.
        least_good: the least that was enough, in words; None: nothing was.
        most_bad: the most that was not; None: nothing was too little.
        amounts: all that was tried, the least first.
        free: how long it took without the limit, in seconds; 0: it was not run so.
        limited_by: how it was enforced.
        stopped: why the search ended.
        trials: how many were run.
        wall_seconds: how long it took.
    """

    name: str
    least_good: str | None
    most_bad: str | None
    amounts: tuple[TriedAmount, ...]
    free: float
    limited_by: tuple[str, ...]
    stopped: StopReason
    trials: int
    wall_seconds: float


@value_class(kw_only=True)
class FindOptions:
    """How to search.

    Attributes:
        name: of what.
        repeats: how often each amount has to succeed.
        budget: when to stop.
    """

    name: str
    repeats: int = 1
    budget: Budget = field(default_factory=Budget)


def find_least(bench: Workbench, request: TrialRequest, options: FindOptions) -> LeastAmount:
    """Find the least of something with which the command succeeds.

    Raises:
        NeverSucceeds: if it fails without that limit too.
    """
    rationed = RATIONED[options.name]
    trial = bench.build_trial(request)
    with open_session(bench, "starve", request, trial) as session:
        ration = Rationing(
            session=session, trial=trial, rationed=rationed, oracle=oracle_of(request.judging),
            options=options,
        )  # fmt: skip
        least = ration.from_enough()
        facts = {"least_good": least.least_good, "most_bad": least.most_bad}
        session.conclude(least.stopped, facts)
    return least


@value_class(kw_only=True)
class Rationing:
    """A search for the least of something with which a trial succeeds.

    Attributes:
        session: runs its trials.
        trial: with the limits that hold all the while.
        rationed: what is searched.
        oracle: says whether it succeeds.
        options: how to search.
    """

    session: Session
    trial: Trial
    rationed: Rationed
    oracle: Oracle
    options: FindOptions

    def from_enough(self) -> LeastAmount:
        """Search from a run without the limit on.

        Raises:
            NeverSucceeds: if that fails too.
        """
        rationed = self.rationed
        with self.session.executor() as executor:
            driver = self._driver(executor)
            label = f"without a limit of {rationed.name}"
            free = driver.settle(self.trial, driver.submit(self.trial), label)
            if free.verdict is not Verdict.GOOD:
                raise _never(free, rationed)
            search = least_amount(
                least=rationed.least,
                most=rationed.most(),
                guess=rationed.guess(free.outcome),
                precision=rationed.precision,
            )
            least = self._giving_up(free.outcome).search_on(driver, search)
        return replace(least, free=free.outcome.wall_seconds, trials=least.trials + 1)

    def _giving_up(self, free: Outcome) -> "Rationing":
        """Return this search with runs that are given up when they wait forever.

        A program that can't start its last thread leaves the others waiting. How long it may be
        silent is told by how long it takes when it has enough.
        """
        limits = self.trial.limits
        if self.trial.hang_seconds is not None or limits.wall_seconds is not None:
            return self
        silent = max(_SILENT_SECONDS, 2 * free.wall_seconds)
        return replace(self, trial=replace(self.trial, hang_seconds=silent, hangs_if_idle=True))

    def from_too_little(self, most_steps: int) -> LeastAmount:
        """Search upwards from the trial's own limit, which is too little, to ``most_steps``."""
        amount: float = getattr(self.trial.limits, self.rationed.field)
        steps = round(amount / self.rationed.step)
        with self.session.executor() as executor:
            search = least_amount(
                least=steps + 1,
                most=max(most_steps, steps + 1),
                guess=2 * steps,
                precision=self.rationed.precision,
            )
            return self.search_on(self._driver(executor), search)

    def least_up_to(self, most_steps: int) -> int | None:
        """Search from an eighth of ``most_steps``; None: no amount up to that is enough."""
        with self.session.executor() as executor:
            search = least_amount(
                least=self.rationed.least,
                most=most_steps,
                guess=most_steps // 8,
                precision=self.rationed.precision,
            )
            amounts = _Amounts(self.rationed)
            end = self._driver(executor).run(search, self._ask, heard=amounts.note)
            reason = stop_reason_of(end, StopReason.THRESHOLD)
            self.session.stopped(reason, end.trials, end.wall_seconds)
            return (end.result or amounts.threshold()).least_good

    def enough(self, steps: int) -> Outcome | None:
        """Return the trial's outcome with this amount; None: it isn't enough."""
        with self.session.executor() as executor:
            driver = self._driver(executor)
            trial = replace(
                self.trial, limits=self.rationed.limits(self.trial.limits, max(steps, 1))
            )
            label = f"{self.rationed.name} {self.rationed.shown(steps)}"
            ran = driver.settle(trial, driver.submit(trial), label)
            return ran.outcome if ran.verdict is Verdict.GOOD else None

    def _driver(self, executor: Executor) -> Driver:
        return Driver(
            executor=executor,
            oracle=self.oracle,
            tell=self.session.tell,
            budget=self.options.budget,
            repeats=self.options.repeats,
        )

    def _ask(self, steps: int) -> Question:
        limits = self.rationed.limits(self.trial.limits, steps)
        label = f"{self.rationed.name} {self.rationed.shown(steps)}"
        return Question(trial=replace(self.trial, limits=limits), label=label)

    def search_on(self, driver: Driver, search: Search[int, Threshold]) -> LeastAmount:
        """Run a search to its end, and return what it has found."""
        amounts = _Amounts(self.rationed)
        end = driver.run(search, self._ask, heard=amounts.note)
        reason = stop_reason_of(end, StopReason.THRESHOLD)
        self.session.stopped(reason, end.trials, end.wall_seconds)
        least = end.result or amounts.threshold()
        in_words = self.rationed.shown
        return LeastAmount(
            name=self.rationed.name,
            least_good=None if least.least_good is None else in_words(least.least_good),
            most_bad=None if least.most_bad is None else in_words(least.most_bad),
            amounts=amounts.amounts(),
            free=0.0,
            limited_by=amounts.limited_by,
            stopped=reason,
            trials=end.trials,
            wall_seconds=end.wall_seconds,
        )


def _never(free: Tested[object], rationed: Rationed) -> NeverSucceeds:
    failure = "" if free.outcome.failure is None else f": {free.did}"
    return NeverSucceeds(
        f"the command also fails with all available {rationed.name}{failure}",
        hint=f"fix that first, or remove the other limits; then `--find {rationed.name}`",
    )


class _Amounts:
    """Keeps what each amount did, by how many steps it is."""

    def __init__(self, rationed: Rationed) -> None:
        self._rationed = rationed
        self._tried: dict[int, list[Tested[int]]] = {}
        self.limited_by: tuple[str, ...] = ()

    def note(self, ran: Tested[int]) -> None:
        """Keep what came of an amount that could be tried."""
        if ran.skipped is None:
            self._tried.setdefault(ran.candidate, []).append(ran)
            self.limited_by = ran.outcome.limited_by

    def amounts(self) -> tuple[TriedAmount, ...]:
        """Return what was tried, the least amount first."""
        return tuple(self._tried_amount(steps, self._tried[steps]) for steps in sorted(self._tried))

    def _tried_amount(self, steps: int, runs: list[Tested[int]]) -> TriedAmount:
        failures = [each for each in runs if each.verdict is not Verdict.GOOD]
        last = (failures or runs)[-1]
        seconds = sorted(each.outcome.wall_seconds for each in runs)
        return TriedAmount(
            amount=self._rationed.amount(steps),
            shown=self._rationed.shown(steps),
            verdict=last.verdict,
            wall_seconds=seconds[len(seconds) // 2],
            trial=last.number,
            failure="" if last.outcome.failure is None else last.did,
            failed=last.outcome.failure,
        )

    def threshold(self) -> Threshold:
        """Return what is known when the search was stopped before its end."""
        verdicts = {
            round(each.amount / self._rationed.step): each.verdict for each in self.amounts()
        }
        good = [steps for steps, verdict in verdicts.items() if verdict is Verdict.GOOD]
        bad = [steps for steps, verdict in verdicts.items() if verdict is not Verdict.GOOD]
        return Threshold(
            least_good=min(good, default=None), most_bad=max(bad, default=None), tested=()
        )
