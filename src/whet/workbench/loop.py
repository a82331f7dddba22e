"""`whet loop`: the same program again at each save, from as far on as the edit allows."""

import fnmatch
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.trial import Trial
from whet.execution.futures import TrialFuture
from whet.execution.ladder import MOST_SNAPSHOTS, Rung
from whet.execution.warm import Start, WarmRuns
from whet.host.console import Console
from whet.host.observation import SLACK_NS
from whet.host.saves import Saves
from whet.workbench.bench import Workbench, oracle_of
from whet.workbench.request import TrialRequest
from whet.workbench.run import RunResult, judged, recorder
from whet.workbench.verify import Verification, Verifier, Verify


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    """How to loop.

    Attributes:
        watch: patterns of files that count also while the program runs.
        most_runs: end after so many runs; None: go on until Ctrl-C.
        most_snapshots: how many frozen copies are kept.
        verify: when warm runs are verified by cold ones.
    """

    watch: tuple[str, ...] = ()
    most_runs: int | None = None
    most_snapshots: int = MOST_SNAPSHOTS
    verify: Verify = Verify.SAMPLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One run of a loop.

    Attributes:
        result: the trial.
        start: where it began.
        wall_seconds: from the moment its save was noticed to its verdict.
        cold_seconds: how long the program takes from its start, as last measured.
        saved: the files whose save brought it; empty for the first.
        rungs: returns the frozen copies that there are now, the deepest first.
    """

    result: RunResult
    start: Start
    wall_seconds: float
    cold_seconds: float
    saved: tuple[str, ...] = ()
    rungs: Callable[[], tuple[Rung, ...]]


@dataclass(slots=True, kw_only=True)
class _Loop:
    bench: Workbench
    request: TrialRequest
    options: LoopOptions
    runs: WarmRuns
    root: Path
    cold_seconds: float = 0.0
    saved: tuple[str, ...] = ()
    written: frozenset[str] = frozenset()
    _words: frozenset[str] = field(default_factory=frozenset[str])

    def counts(self, path: str) -> bool:
        """Whether a save matters also while the program runs: it is no output of the program."""
        if path in self.written:
            return False
        relative = os.path.relpath(path, self.root)
        return path in self._words or any(
            fnmatch.fnmatch(relative, pattern) for pattern in (*self.options.watch, "*.py")
        )


def loop(
    bench: Workbench,
    request: TrialRequest,
    options: LoopOptions,
    console: Console | None,
    tell: Callable[[Cycle | Verification | WhetError], None],
) -> None:
    """Run the command now and after each save, until Ctrl-C while nothing runs.

    Raises:
        WhetError: if the first run cannot be started; later ones are told of.
    """
    if console is not None and console.has_file and not request.stdin:
        request = replace(request, stdin="/dev/stdin")  # or it is read up when the first run ends
    root = Path(os.path.abspath(request.cwd or bench.project.folder))
    runs = WarmRuns(bench.belongings, most_snapshots=options.most_snapshots)
    state = _Loop(
        bench=bench, request=request, options=options, runs=runs, root=root,
        _words=frozenset(str(root / word) for word in request.command),
    )  # fmt: skip
    oracle = oracle_of(request.judging)
    record = recorder(bench, request, "loop")
    with (
        Saves(root, state.counts) as saves,
        Verifier(
            bench=bench, oracle=oracle, mode=options.verify, console=console,
            wake=saves.wake, distrust=runs.distrust,
        ) as verifier,
        bench.executor(record, console=console, perform=runs) as executor,
    ):  # fmt: skip
        done, noticed = 0, time.monotonic()
        while options.most_runs is None or done < options.most_runs:
            try:
                trial = bench.build_trial(request, live=console is not None)
                started_ns = time.time_ns()
                future = executor.submit(trial)
                state.saved, overtaken = _wait(future, saves, started_ns, state.saved)
                state.written |= {effect.partition(" ")[2] for effect in runs.last.effects}
                if overtaken:
                    noticed = time.monotonic()
                    continue
                ended_ns = time.time_ns()
                cycle = _cycle(state, trial, judged(bench, trial, request, oracle, future), noticed)
            except WhetError as error:  # the program was removed for a moment, for one
                if not done:
                    raise
                ended_ns = time.time_ns()
                tell(error)
            else:
                tell(cycle)
                refusal = verifier.begin(trial, cycle.result, cycle.start, cycle.cold_seconds)
                if refusal is not None:
                    tell(refusal)
            done += 1
            is_last = options.most_runs is not None and done >= options.most_runs
            state.saved = _next_save(saves, ended_ns, verifier, tell, is_last=is_last)
            noticed = time.monotonic()
            _settle(state.saved)


def _next_save(
    saves: Saves,
    since_ns: int,
    verifier: Verifier,
    tell: Callable[[Verification], None],
    *,
    is_last: bool,
) -> tuple[str, ...]:
    """Return what is saved next; verify the last run meanwhile. After the last one that is all."""
    while verifier.is_busy or not is_last:
        found = saves.next(since_ns=since_ns)
        if found:
            if verifier.cancel():
                _pass_over_wake(saves)
            return tuple(sorted(found))
        verification = verifier.step()
        if verification is not None:
            tell(verification)
    return ()


def _pass_over_wake(saves: Saves) -> None:
    """Take what comes up to the wake that the end of a run brings."""
    while saves.next(since_ns=sys.maxsize):
        pass


def _settle(saved: tuple[str, ...]) -> None:
    """Wait until what is saved from now on has another time than what was saved."""
    for path in saved:
        with suppress(OSError):
            left_ns = Path(path).stat().st_ctime_ns + SLACK_NS - time.time_ns()
            time.sleep(min(max(left_ns, 0), SLACK_NS) / 1e9)


def _wait(
    future: TrialFuture, saves: Saves, started_ns: int, saved: tuple[str, ...]
) -> tuple[tuple[str, ...], bool]:
    """Wait for the end of a run, or for a save that makes it pointless; say which came first."""
    future.add_done_callback(lambda _: saves.wake())
    while found := saves.next(since_ns=sys.maxsize):
        newer = {path for path in found if _is_newer(path, started_ns)}
        if newer:
            future.cancel()
            _pass_over_wake(saves)
            return tuple(sorted(newer)), True
    try:
        future.result()
    except CancelledError:
        return saved, True
    return saved, False


def _is_newer(path: str, than_ns: int) -> bool:
    try:
        return Path(path).stat().st_ctime_ns > than_ns
    except OSError:
        return True


def _cycle(state: _Loop, trial: Trial, result: RunResult, noticed: float) -> Cycle:
    start, outcome = state.runs.last, result.entry.outcome
    assert outcome is not None, trial
    state.cold_seconds = start.saved_seconds + outcome.wall_seconds
    return Cycle(
        result=result,
        start=start,
        wall_seconds=time.monotonic() - noticed,
        cold_seconds=state.cold_seconds,
        saved=state.saved,
        rungs=state.runs.rungs,
    )
