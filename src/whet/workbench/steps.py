"""The steps of an investigation: each says what it does and why while it does it."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from whet.core.event import Event, StepFinished, StepStarted, TrialFinished
from whet.workbench.investigation import Step


@dataclass(slots=True, kw_only=True)
class Steps:
    """Keeps what was done.

    Attributes:
        emit: tells the observers.
        done: the steps so far.
        numbers: the notebook's numbers of the trials of the step that is under way.
    """

    emit: Callable[[Event], None]
    done: list[Step] = field(default_factory=list[Step])
    numbers: list[int] = field(default_factory=list[int])
    _trials: int = 0
    _result: str = ""

    def observe(self, event: Event) -> None:
        """Count the trials of the step that is under way, and pass the event on."""
        if isinstance(event, TrialFinished):
            self._trials += 1
            if event.number is not None:
                self.numbers.append(event.number)
        self.emit(event)

    def conclude(self, result: str) -> None:
        """Say what came of the step that is under way."""
        self._result = result

    @contextmanager
    def step(self, title: str, reason: str) -> Generator[None, None, None]:
        """Do one step; without a conclusion it leaves no trace in the report."""
        self._trials, self._result, self.numbers = 0, "", []
        started = time.monotonic()
        self.emit(StepStarted(title=title, reason=reason))
        yield
        if not self._result:
            return
        self.emit(StepFinished(title=title, result=self._result))
        self.done.append(
            Step(
                title=title,
                reason=reason,
                result=self._result,
                trials=self._trials,
                wall_seconds=time.monotonic() - started,
            )
        )
