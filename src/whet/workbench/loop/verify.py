"""Whether a warm run gives the result of a cold one: the same trial from the start, in the background.

The cold run is in the same folder, because a copy of the folder would have other paths. So whet makes it
only if the warm run has left nothing behind: it starts from the same files and repeats no effect.
"""

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Self

from whet.core.errors import WhetError
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.output import Output
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.execution.futures import TrialFuture
from whet.execution.warm import Start
from whet.host.process.console import Console
from whet.host.process.messages import LastingEffect
from whet.workbench.trials.run import RunResult
from whet.workbench.trials.session import RecordedExecutor, Session
from whet.workbench.trials.tested import result_of

_SHARE = 0.1  # of the loop's time, for all verifications but the first
_PATIENCE, _LEAST_SECONDS = 5.0, 20.0  # times the seconds of the cold run that was measured
_RUNS = 3  # cold runs that must agree with each other before whet calls a warm one wrong
_LOOK_BYTES = 1 << 22
_WIDEST = 120
_ORACLE = "a cold run of the same trial"


class Verify(Enum):
    """When warm runs are verified."""

    OFF = "off"
    SAMPLE = "sample"
    ALWAYS = "always"


@value_class(kw_only=True)
class Disagreement:
    """One thing in which a warm run and cold ones differ.

    Attributes:
        what: ``exit``, ``failure``, ``stdout`` or ``stderr``.
        line: the first line of an output that differs; 0: it is no output.
        warm: what the warm run said, in short.
        cold: what the cold ones said.
    """

    what: str
    warm: str
    cold: str
    line: int = 0


@value_class(kw_only=True)
class Verification:
    """What became of verifying one warm run.

    Attributes:
        number: its trial.
        cold: the trials that were run to verify it.
        seconds: how long they took.
        disagreements: in what it was wrong; none: in nothing.
        unsteady: what differs from one cold run to the other, and isn't compared from now on.
        why_not: why it could not be verified; empty: it was.
    """

    number: int
    cold: tuple[int, ...] = ()
    seconds: float = 0.0
    disagreements: tuple[Disagreement, ...] = ()
    unsteady: tuple[str, ...] = ()
    why_not: str = ""


@dataclass(slots=True, kw_only=True)
class _Case:
    """A warm run that is being verified."""

    trial: Trial
    result: RunResult
    started: float
    known: frozenset[str]
    doubtful: set[str]
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    numbers: list[int] = field(default_factory=list[int])


@dataclass(slots=True, kw_only=True)
class Verifier:
    """Runs trials cold, one at a time, beside a loop; a context manager.

    Attributes:
        session: whose trials they are.
        oracle: judges them.
        mode: when.
        console: the loop's own; None: it has none.
        wake: is called when one has ended, by any thread; then ask `step`.
        distrust: is told why no snapshot may be used any more.
        why_outdated: says what has changed since the warm run has seen it; empty: nothing.
    """

    session: Session
    oracle: Oracle
    mode: Verify
    console: Console | None
    wake: Callable[[], None]
    distrust: Callable[[str], None]
    why_outdated: Callable[[], str]
    _stack: ExitStack = field(default_factory=ExitStack)
    _executor: "RecordedExecutor | None" = None
    _began: float = field(default_factory=time.monotonic)
    _spent_seconds: float = 0.0
    _has_verified: bool = False
    _unsteady: set[str] = field(default_factory=set[str])
    _case: _Case | None = None
    _future: TrialFuture | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        self._stack.close()

    @property
    def is_busy(self) -> bool:
        """Whether a trial is being run."""
        return self._future is not None

    def begin(
        self,
        trial: Trial,
        result: RunResult,
        start: Start,
        cold_seconds: float,
        doubtful: Collection[str] = (),
    ) -> Verification | None:
        """Begin to verify a run if it is its turn; return at once why it can't be, if so.

        Args:
            trial: what was run.
            result: what came of it.
            start: where it began.
            cold_seconds: how long a cold run takes, as far as is known.
            doubtful: files that it may have seen before they changed.
        """
        if not start.place or not self._is_its_turn(cold_seconds):
            return None
        number = result.entry.number
        if trial.reset:
            return Verification(number=number, why_not="its reset steps would change files again")
        if start.effects:
            return Verification(number=number, why_not=f"it {_brief(start.effects)}")
        self._has_verified = True
        seconds = max(cold_seconds * _PATIENCE, _LEAST_SECONDS)
        limit = trial.limits.wall_seconds
        limits = replace(trial.limits, wall_seconds=min(limit or seconds, seconds))
        trial = replace(trial, limits=limits)
        unsteady = frozenset(self._unsteady)
        self._case = _Case(
            trial=trial, result=result, started=time.monotonic(), known=unsteady,
            doubtful=set(doubtful),
        )  # fmt: skip
        self._run()
        return None

    def doubt(self, path: str) -> None:
        """Say that a file has changed that the warm run may have seen, and the cold one may not."""
        if self._case is not None:
            self._case.doubtful.add(path)

    def cancel(self) -> bool:
        """Give up what runs; say whether anything did, which brings a last `wake`."""
        future, self._future, case, self._case = self._future, None, self._case, None
        if future is None or case is None:
            return False
        self._spent_seconds += time.monotonic() - case.started
        future.cancel()
        return True

    def step(self) -> Verification | None:
        """Take in a trial that has ended; return what came of it all, None if it continues."""
        future, case = self._future, self._case
        if future is None or case is None or not future.done():
            return None
        self._future = None
        error = future.exception()
        if isinstance(error, WhetError):
            return self._ended(case, why_not=f"whet couldn't start a cold run: {error}")
        ran = result_of(case.trial, future, self.oracle, "")
        outcome = ran.outcome
        self.session.judge(ran, self.oracle)
        case.outcomes.append(outcome)
        case.numbers.append(ran.own_number)
        if outcome.timed_out or outcome.interrupted:
            why = f"a cold run had not ended after {outcome.wall_seconds:.0f} seconds"
            return self._ended(case, why_not=why)
        self._note_unsteady(case)
        if self._disagreements(case) and len(case.outcomes) < _RUNS:
            self._run()
            return None
        return self._ended(case, why_not=self._why_doubtful(case))

    # ---- inside ----

    def _is_its_turn(self, cold_seconds: float) -> bool:
        if self.mode is Verify.SAMPLE and self._has_verified:
            allowed = (time.monotonic() - self._began) * _SHARE
            return self._spent_seconds + cold_seconds <= allowed
        return self.mode is not Verify.OFF

    def _run(self) -> None:
        case = self._case
        assert case is not None
        if self._executor is None:
            console = None if self.console is None else self.console.silent()
            making = self.session.executor(console=console, record=self._record)
            self._executor = self._stack.enter_context(making)
        self._future = self._executor.submit(case.trial)
        self._future.add_done_callback(lambda _: self.wake())

    def _record(self, trial: Trial) -> int:
        assert self._case is not None
        note = f"verifies trial {self._case.result.entry.number}"
        return self.session.bench.notebook.begin(trial, verb="verify", note=note)

    def _note_unsteady(self, case: _Case) -> None:
        first, last = _facts(case.outcomes[0]), _facts(case.outcomes[-1])
        self._unsteady |= {what for what in first if first[what] != last[what]}

    def _why_doubtful(self, case: _Case) -> str:
        """Return why a disagreement proves nothing; empty: it does, or there is none."""
        if not self._disagreements(case):
            return ""
        names = ", ".join(sorted(Path(path).name for path in case.doubtful))
        # Of what is saved in another folder nobody else tells.
        return f"{names} has changed" if names else self.why_outdated()

    def _disagreements(self, case: _Case) -> tuple[Disagreement, ...]:
        warm = case.result.entry.outcome
        assert warm is not None
        cold = case.outcomes[0]
        was, is_now = _facts(warm), _facts(cold)
        return tuple(
            _disagreement(what, warm, cold)
            for what in was
            if was[what] != is_now[what] and what not in self._unsteady
        )

    def _ended(self, case: _Case, *, why_not: str = "") -> Verification:
        self._case = None
        seconds = time.monotonic() - case.started
        self._spent_seconds += seconds
        disagreements = () if why_not else self._disagreements(case)
        number = case.result.entry.number
        if disagreements:
            self._has_verified = False  # the next warm answer is looked at in any case
            self.distrust("the last warm answer was wrong")
            what = " and ".join(each.what for each in disagreements)
            description = f"{_ORACLE}: trial {case.numbers[0]} differs in {what}"
            # What was run warm proves nothing.
            self.session.bench.notebook.judge(number, description, Verdict.SKIP, None)
        return Verification(
            number=number,
            cold=tuple(case.numbers),
            seconds=seconds,
            disagreements=disagreements,
            unsteady=tuple(sorted(self._unsteady - case.known)),
            why_not=why_not,
        )


def _facts(outcome: Outcome) -> Mapping[str, object]:
    return {
        "exit": (outcome.exit_code, outcome.signal),
        "failure": outcome.signature,
        "stdout": outcome.stdout.digest,
        "stderr": outcome.stderr.digest,
    }


def _disagreement(what: str, warm: Outcome, cold: Outcome) -> Disagreement:
    if what == "exit":
        return Disagreement(what=what, warm=_exit(warm), cold=_exit(cold))
    if what == "failure":
        return Disagreement(what=what, warm=_failure(warm), cold=_failure(cold))
    streams = (warm.stdout, cold.stdout) if what == "stdout" else (warm.stderr, cold.stderr)
    line, was, is_now = _first_other_line(*streams)
    return Disagreement(what=what, warm=was, cold=is_now, line=line)


def _first_other_line(warm: Output, cold: Output) -> tuple[int, str, str]:
    """Return number and texts of the first line that differs."""
    was = warm.head(_LOOK_BYTES).splitlines()
    is_now = cold.head(_LOOK_BYTES).splitlines()
    same = next(
        (n for n, pair in enumerate(zip(was, is_now, strict=False)) if len({*pair}) > 1), -1
    )
    number = min(len(was), len(is_now)) if same < 0 else same
    texts = (lines[number] if number < len(lines) else b"" for lines in (was, is_now))
    first, second = (text.decode("utf-8", "backslashreplace")[:_WIDEST] for text in texts)
    return number + 1, first, second


def _exit(outcome: Outcome) -> str:
    return f"signal {outcome.signal}" if outcome.signal else f"exit {outcome.exit_code}"


def _failure(outcome: Outcome) -> str:
    return "none" if outcome.failure is None else outcome.failure.summary[:_WIDEST]


def _brief(effects: tuple[LastingEffect, ...]) -> str:
    more = len(effects) - 1
    return f"{effects[0]}{f' and {more} more' if more else ''}"
