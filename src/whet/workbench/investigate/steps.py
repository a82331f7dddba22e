"""The steps of an investigation: each says what it does and why while it does it."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from whet.core.budget import OutOfTimeError, StopReason
from whet.core.errors import WhetError
from whet.core.event import Event, SearchStopped, StepFinished, StepStarted, TrialFinished
from whet.workbench.trials.investigation import Step


@dataclass(slots=True, kw_only=True)
class Steps:
    """Keeps what was done.

    Attributes:
        emit: tells the observers.
        done: the steps so far.
        numbers: the notebook's numbers of the trials of the step that is under way.
        is_interrupted: Ctrl-C has ended a search.
    """

    emit: Callable[[Event], None]
    done: list[Step] = field(default_factory=list[Step])
    numbers: list[int] = field(default_factory=list[int])
    is_interrupted: bool = False
    _began: dict[int, None] = field(default_factory=dict[int, None])
    _answered: int = 0
    _result: str = ""

    def observe(self, event: Event) -> None:
        """Count the trials of the step that is under way, and pass the event on."""
        if isinstance(event, TrialFinished):
            if event.number is None:
                self._answered += 1
            else:
                self.numbers.append(event.number)
                self.began(event.number)
        if isinstance(event, SearchStopped) and event.reason is StopReason.INTERRUPTED:
            self.is_interrupted = True
        self.emit(event)

    def began(self, number: int) -> None:
        """Count a trial of the step that is under way, whoever tells of it."""
        self._began[number] = None

    def conclude(self, result: str) -> None:
        """Say what came of the step that is under way."""
        self._result = result

    @contextmanager
    def step(self, title: str, reason: str) -> Generator[None, None, None]:
        """Do one step; without a conclusion it leaves no trace in the report."""
        self._restart()
        started = time.monotonic()
        self.emit(StepStarted(title=title, reason=reason))
        try:
            yield
        except (OutOfTimeError, KeyboardInterrupt, WhetError) as error:
            self._result = "; ".join(filter(None, (self._result, _cut_short(error))))
            raise
        finally:
            self._finish(title, reason, started)

    def leave_out(self, title: str, reason: str, why: str) -> None:
        """Say of a step that it is not begun, and why."""
        self._restart()
        self._result = f"not done: {why}"
        self._finish(title, reason, time.monotonic())

    def _restart(self) -> None:
        self._began, self._answered, self._result, self.numbers = {}, 0, "", []

    def _finish(self, title: str, reason: str, started: float) -> None:
        if not self._result:
            return
        self.emit(StepFinished(title=title, result=self._result))
        self.done.append(
            Step(
                title=title,
                reason=reason,
                result=self._result,
                trials=len(self._began) + self._answered,
                numbers=tuple(self._began),
                wall_seconds=time.monotonic() - started,
            )
        )


def _cut_short(error: BaseException) -> str:
    match error:
        case OutOfTimeError():
            return "stopped: the time budget is spent"
        case KeyboardInterrupt():
            return "stopped by Ctrl-C"
        case _:
            return f"not done: {error}"
