"""`whet loop`: reruns a program after each save, from as late a step as the edit allows."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Self

from whet.core.errors import WhetError
from whet.core.failure import Failure
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.execution.futures import TrialFuture
from whet.execution.installed_packages_check import InstalledPackagesCheck
from whet.execution.recording import RecordingExecutor
from whet.execution.snapshot_pool import MOST_SNAPSHOTS, SnapshotRow
from whet.execution.warm import Start, WarmRuns
from whet.host.code.saves import Saves, changed_at, is_later, wait_until_settled, wait_until_written
from whet.host.files.file_times import SLACK_NS, Moment, whole_seconds_ns
from whet.host.process.console import Console
from whet.host.trial.keys import END_OF_INPUT, TypedLines
from whet.host.trial.process_snapshots import Debugging
from whet.workbench.loop.meanwhile import Meanwhile
from whet.workbench.loop.verify import Verification, Verifier, Verify
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.run import RunResult, judged
from whet.workbench.trials.session import RecordedExecutor, Session
from whet.workbench.trials.tested import result_of

BACK, AGAIN, QUIT = "b", "r", "q"
"""The keys that the user can type between two runs."""

_NOTHING_HAS_RUN = ("SyntaxError", "IndentationError", "TabError")


@value_class(kw_only=True)
class LoopOptions:
    """How to loop.

    Attributes:
        watch: patterns of files that count also while the program runs.
        most_runs: number of runs after which it ends; None: it ends with Ctrl-C.
        most_snapshots: how many frozen copies are kept.
        verify: when warm runs are verified by cold ones.
        debugging: when each run opens a debugger.
    """

    watch: tuple[str, ...] = ()
    most_runs: int | None = None
    most_snapshots: int = MOST_SNAPSHOTS
    verify: Verify = Verify.SAMPLE
    debugging: Debugging = Debugging.NEVER


_NOTICED_SECONDS = 0.1  # who waits less doesn't ask what was gained


@value_class(kw_only=True)
class Cycle:
    """One run of a loop.

    Attributes:
        trial: what was run.
        result: what came of it.
        start: where it began.
        wall_seconds: from the moment its save was noticed to its verdict.
        cold_seconds: how long the program takes from its start, as last measured.
        saved: the files whose save brought it; empty for the first.
        snapshot_rows: returns the frozen copies that there are now, the deepest first.
        back: the last place before the failing function was entered; empty: the start; None: the
            run has not failed, or is of no program that could be stepped through.
    """

    trial: Trial
    result: RunResult
    start: Start
    wall_seconds: float
    cold_seconds: float
    saved: tuple[str, ...] = ()
    snapshot_rows: Callable[[], tuple[SnapshotRow, ...]]
    back: str | None = None

    @property
    def gains_little(self) -> bool:
        """Whether it resumed from a copy and took half of the cold time, or more."""
        is_slow = self.wall_seconds >= _NOTICED_SECONDS
        return bool(self.start.place) and is_slow and 2 * self.wall_seconds >= self.cold_seconds


@value_class(kw_only=True)
class Overtaken:
    """A run has been given up for a save.

    Attributes:
        number: its trial.
        saved: the files that were saved.
    """

    number: int | None
    saved: tuple[str, ...]


@value_class(kw_only=True)
class Recurring:
    """Files have changed at or after the end of each run, so that they bring none any more.

    Attributes:
        files: the files.
    """

    files: tuple[str, ...]


@value_class(kw_only=True)
class Unheard:
    """The system tells nobody of saves here, so that they are looked for.

    Attributes:
        why: what it says.
        helps: what the user can do about it.
    """

    why: str
    helps: str


LoopReport = Cycle | Overtaken | Recurring | Unheard | Verification | WhetError
"""The reports of a loop."""


@dataclass(slots=True, kw_only=True)
class _Loop:
    bench: Workbench
    request: TrialRequest
    options: LoopOptions
    runs: WarmRuns
    console: Console | None
    meanwhile: Meanwhile
    tell: Callable[[Overtaken | Recurring | Unheard], None]
    cold_seconds: float = 0.0
    saved: tuple[str, ...] = ()
    typed: SimpleQueue[str] = field(default_factory=SimpleQueue[str])
    has_settled: threading.Event = field(default_factory=threading.Event)
    unheard: str = ""

    def tell_news(self, saves: Saves) -> None:
        """Say, once, which files bring no run any more, and why saves are heard of late."""
        if files := self.meanwhile.news():
            self.tell(Recurring(files=files))
        if saves.why_slow and not self.unheard:
            self.unheard = saves.why_slow
            self.tell(Unheard(why=saves.why_slow, helps=saves.what_helps))

    def end_if_told(self) -> None:
        """End whet if it was told to while a program ran."""
        if self.console is not None:
            self.console.end_if_told()


def loop(
    session: Session,
    options: LoopOptions,
    console: Console | None,
    tell: Callable[[LoopReport], None],
    offer: Callable[[Cycle | None, str], None],
) -> None:
    """Run the command now and after each save, until Ctrl-C while nothing runs.

    Args:
        session: what to run.
        options: how to loop.
        console: the user's terminal; None: nobody watches.
        tell: is given each run.
        offer: says what the user may type before the next one, after a run (None: it could not
            be started) and what he has typed that does nothing (empty: nothing).

    Raises:
        WhetError: if the first run can't be started; later ones are told of.
    """
    request = _connected(session.request, console, options.debugging)
    session, bench = replace(session, request=request), session.bench
    root = Path(os.path.abspath(request.cwd or bench.project.folder))
    early = InstalledPackagesCheck()
    has_settled = threading.Event()
    runs = WarmRuns(
        bench.cleanup_journal, most_snapshots=options.most_snapshots, debugging=options.debugging,
        early=early, settle=has_settled.wait,
    )  # fmt: skip
    state = _Loop(
        bench=bench, request=request, options=options, runs=runs, console=console, tell=tell,
        meanwhile=Meanwhile(
            root, request.command, options.watch,
            is_reset=bool(request.reset), has_found=runs.has_found,
        ),
        has_settled=has_settled,
    )  # fmt: skip
    oracle = oracle_of(request.judging)

    def judge(trial: Trial, future: TrialFuture) -> RunResult:
        return judged(session, result_of(trial, future, oracle, ""), oracle)

    with (
        early,
        Saves(root, state.meanwhile.counts) as saves,
        Verifier(
            session=replace(session, verb="verify", request=replace(request, expectations=())),
            oracle=oracle, mode=options.verify, console=console,
            wake=saves.wake, distrust=runs.distrust, why_outdated=runs.why_outdated,
        ) as verifier,
        session.executor(console=console, perform=runs) as executor,
    ):  # fmt: skip
        count, noticed_at = 0, time.monotonic()
        while options.most_runs is None or count < options.most_runs:
            cycle = None
            first_known = _Known.once_written(state.saved, noticed_at)
            try:
                trial = bench.build_trial(request, live=console is not None)
                cycle, moment = _run(state, executor, saves, trial, judge, first_known)
                if cycle is None:
                    noticed_at = time.monotonic()
                    continue
            except WhetError as error:  # the program was removed for a moment, for one
                if not count:
                    raise
                moment = Moment()
                tell(error)
            else:
                tell(cycle)
                early.look_ahead()
            state.end_if_told()
            count += 1
            pause = _Pause(
                saves, verifier, tell, state.typed,
                _Later(moment, state.meanwhile), state.meanwhile.by_others(),
            )  # fmt: skip
            if not pause.saved:
                _verify(cycle, verifier, state.meanwhile.by_nobody(), tell)
            if options.most_runs is not None and count >= options.most_runs:
                pause.lasts_until_verified()
                return
            offer(cycle, "")
            if not pause.lasts_until_a_run(
                console, partial(offer, cycle), partial(_look_back, state, executor, cycle)
            ):
                return
            state.saved = pause.saved
            noticed_at = time.monotonic()


def _verify(
    cycle: Cycle | None,
    verifier: Verifier,
    doubtful: tuple[str, ...],
    tell: Callable[[Verification], None],
) -> None:
    """Begin to verify a run that could be started, or say why it will not be."""
    if cycle is None:
        return
    refusal = verifier.begin(cycle.trial, cycle.result, cycle.start, cycle.cold_seconds, doubtful)
    if refusal:
        tell(refusal)


def _connected(
    request: TrialRequest, console: Console | None, debugging: Debugging
) -> TrialRequest:
    """Let runs show both streams in one order, and each of them read a file on standard input.

    It would be read up when the first one ends. What is typed into a debugger at a failure is
    no part of the failure: there the streams stay apart.
    """
    if console is None:
        return request
    is_apart = request.tells_streams_apart or debugging is Debugging.AT_FAILURE
    console.joins_errors = console.is_one_place and not is_apart
    if console.has_file and not request.stdin:
        return replace(request, stdin="/dev/stdin")
    return request


def _run(
    state: _Loop,
    executor: RecordedExecutor,
    saves: Saves,
    trial: Trial,
    judge: Callable[[Trial, TrialFuture], RunResult],
    file_marks: "_Known",
) -> tuple[Cycle | None, Moment]:
    """Run once; return no cycle if a save has overtaken it, and when it ended."""
    began_ns = time.monotonic_ns()
    state.has_settled.clear()
    try:
        future = executor.submit(trial)
        wait_until_settled(state.saved)
        # What was saved since the code was recorded isn't in it, though it may be what is run.
        read = Moment() if trial.code is None else file_marks.at
        if trial.code is not None and (paths := file_marks.outdated()):
            future.cancel()
            if state.console is None:
                state.tell(Overtaken(number=future.number, saved=paths))
            state.end_if_told()
            return None, read
    finally:
        state.has_settled.set()  # also if Ctrl-C comes just now: the run waits for it

    def give_up(saved: tuple[str, ...]) -> None:
        overtaken = Overtaken(number=future.number, saved=saved)
        if state.console is not None:
            state.console.at_end(partial(_tell_of_end, state, overtaken, began_ns))
        future.cancel()
        if state.console is None:
            state.tell(overtaken)  # only now: a run that is said to be ended runs no further

    meanwhile = state.meanwhile
    meanwhile.begin(lambda path: file_marks.is_older_than(path, read.ns - SLACK_NS), state.saved)

    def overtakes(path: str) -> bool:
        return meanwhile.ends_the_run(path, counts=saves.matter(path))

    state.saved, overtaken = _wait(future, saves, overtakes, state.saved, give_up)
    saves.wait_until_ready()  # whoever sees the result may save at once
    moment = Moment()
    meanwhile.end(state.runs.last, state.saved if overtaken else ())
    state.tell_news(saves)
    if overtaken:
        state.end_if_told()
        return None, moment
    return _cycle(state, trial, judge(trial, future), file_marks.noticed), moment


def _tell_of_end(state: _Loop, overtaken: Overtaken, began_ns: int) -> None:
    """Say what has ended a run, once it has ended, if the user has seen anything of it."""
    if state.console is not None and state.console.shown_at > began_ns:
        state.tell(overtaken)


def _pass_over_wake(saves: Saves) -> set[str]:
    """Take what comes up to the wake that the end of a run brings; return what was saved."""
    wake_paths = set[str]()
    while paths := saves.next(lambda _: False):
        wake_paths |= paths
    return wake_paths


class _Known:
    """What a run is of: the files whose save brings it, before anything looks at them.

    Attributes:
        at: when.
        noticed: when their save was, on the monotonic clock.
        changed: when each of them has changed last; None: it doesn't exist.
    """

    def __init__(self, saved: tuple[str, ...], noticed: float) -> None:
        self.at = Moment()
        self.noticed = noticed
        self.changed = {path: changed_at(path) for path in saved}

    @classmethod
    def once_written(cls, saved: tuple[str, ...], noticed: float) -> Self:
        """Wait until nobody writes to the files any more, but not forever."""
        wait_until_written(saved)
        return cls(saved, noticed)

    def outdated(self) -> tuple[str, ...]:
        """Return those that were saved once more since then."""
        return tuple(path for path, then in self.changed.items() if changed_at(path) != then)

    def is_older_than(self, path: str, read_ns: int) -> bool:
        """Whether a file was saved once more than is known here.

        Files were read from ``read_ns`` on, less what the clock of files is behind.
        """
        changed_ns = changed_at(path)
        if changed_ns is None:
            return True
        if doubt_ns := whole_seconds_ns(changed_ns):
            return changed_ns + doubt_ns > read_ns
        return changed_ns > read_ns and changed_ns != self.changed.get(path)


class _Later:
    """Says of a file that was saved, and might be an output of the program, whether it is none."""

    def __init__(self, than: Moment, meanwhile: Meanwhile | None = None) -> None:
        """Make it ready.

        Args:
            than: when the program has ended.
            meanwhile: knows more of it; None: nobody does.
        """
        self._than = than
        self._meanwhile = meanwhile

    def is_passing(self, path: str) -> bool:
        """Whether it may come from the program's being run once more, to verify it."""
        return self._meanwhile is not None and self._meanwhile.is_passing(path)

    def is_doubtful(self, path: str) -> bool:
        """Whether the program may have seen it before it changed."""
        return self._meanwhile is not None and self._meanwhile.may_be_by_others(path)

    def __call__(self, path: str) -> bool:
        if self._meanwhile is None:
            return is_later(path, self._than.ns)
        if is_later(path, self._than.ns):
            return not self._meanwhile.is_echo(path, self._than.age_ns)
        return self._meanwhile.is_by_others(path)


class _Pause:
    """The time between two runs: the user saves a file or types a word; the last run is verified.

    Attributes:
        saved: the files that were saved; empty if the user has asked for a run.
    """

    def __init__(
        self,
        saves: Saves,
        verifier: Verifier,
        tell: Callable[[Verification], None],
        typed: SimpleQueue[str],
        is_later: "_Later",
        saved: tuple[str, ...],
    ) -> None:
        self.saved = saved
        self._saves = saves
        self._verifier = verifier
        self._tell = tell
        self._is_later = is_later
        self._typed = typed  # who types several words at once means them one after the other

    def lasts_until_a_run(
        self,
        console: Console | None,
        offer: Callable[[str], None],
        look_back: Callable[[], bool],
    ) -> bool:
        """Wait; say whether there is to be another run."""
        while True:
            with TypedLines(console, self._hear):
                while not self.saved and self._typed.empty():
                    self._wait()
            self._stop_verifying()
            word = "" if self._typed.empty() else self._typed.get()
            if self.saved or word == AGAIN:
                return True
            if word in {QUIT, END_OF_INPUT}:
                return False
            if word == BACK and look_back():
                self._is_later = _Later(Moment())
                offer("")
            elif word:
                offer(word)

    def lasts_until_verified(self) -> None:
        """Wait until the run is verified, or a save makes that pointless."""
        while self._verifier.is_busy and not self.saved:
            self._wait()
        self._stop_verifying()

    def _wait(self) -> None:
        self.saved = tuple(sorted(self._saves.next(self._is_meant)))
        verification = None if self.saved else self._verifier.step()
        if verification is not None:
            self._tell(verification)

    def _is_meant(self, path: str) -> bool:
        if self._verifier.is_busy and self._is_later.is_passing(path):
            return False
        is_meant = self._is_later(path)
        if not is_meant and self._is_later.is_doubtful(path):
            self._verifier.doubt(path)
        return is_meant

    def _stop_verifying(self) -> None:
        if self._verifier.cancel():
            self.saved = tuple(sorted({*self.saved, *_pass_over_wake(self._saves)}))

    def _hear(self, word: str) -> None:
        self._typed.put(word)
        self._saves.wake()


def _look_back(state: _Loop, executor: RecordedExecutor, cycle: Cycle | None) -> bool:
    """Open a debugger before the failing function is entered; that is no trial of the loop.

    Return whether there was anything to look back on.
    """
    outcome = None if cycle is None or cycle.back is None else cycle.result.entry.outcome
    if cycle is None or outcome is None or outcome.failure is None:
        return False
    assert isinstance(executor, RecordingExecutor), "a loop takes no result from the notebook"
    with state.runs.looking_back(outcome.failure), suppress(CancelledError):
        executor.inner.submit(cycle.trial).result()
    state.end_if_told()
    return True


def _wait(
    future: TrialFuture,
    saves: Saves,
    overtakes: Callable[[str], bool],
    saved: tuple[str, ...],
    give_up: Callable[[tuple[str, ...]], None],
) -> tuple[tuple[str, ...], bool]:
    """Wait for the end of a run, or for a save that makes it pointless; say which came first."""
    future.add_done_callback(lambda _: saves.wake())
    # A wake may be of something that was typed before the run: only its end ends the waiting.
    while (found := saves.next(lambda _: True)) or not future.done():
        newer = {path for path in found if overtakes(path)}
        if newer:
            give_up(tuple(sorted(newer)))
            _pass_over_wake(saves)
            return tuple(sorted(newer)), True
    try:
        future.result()
    except CancelledError:
        return saved, True
    return saved, False


def _back(state: _Loop, failure: Failure | None) -> str | None:
    if failure is None or failure.signature.exception in _NOTHING_HAS_RUN:
        return None
    if not state.runs.last.is_followed:
        return None  # it has no debugger
    return next((snapshot.place for snapshot in state.runs.before(failure)), "")


def _cycle(state: _Loop, trial: Trial, result: RunResult, noticed_at: float) -> Cycle:
    start, outcome = state.runs.last, result.entry.outcome
    assert outcome is not None, trial
    state.cold_seconds = start.saved_seconds + outcome.wall_seconds
    return Cycle(
        trial=trial,
        result=result,
        start=start,
        wall_seconds=time.monotonic() - noticed_at,
        cold_seconds=state.cold_seconds,
        saved=state.saved,
        snapshot_rows=state.runs.snapshot_rows,
        back=_back(state, outcome.failure),
    )
