"""The steps of an investigation: each reports what it does and why."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from whet.core.budget import OutOfTimeError
from whet.core.errors import WhetError
from whet.core.event import StepFinished, StepStarted
from whet.workbench.trials.investigation import Step
from whet.workbench.trials.session import Session

_NOTHING = "nothing found"


@dataclass(slots=True, kw_only=True)
class Steps:
    """Keeps what was done.

    Attributes:
        session: whose trials they run.
        done: the steps so far.
        error: what ended the last of them, which its result names; None: nothing did.
    """

    session: Session
    done: list[Step] = field(default_factory=list[Step])
    error: BaseException | None = None
    _begun: int = 0
    _told: int = 0
    _result: str = ""
    _is_cut: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The trials of the step that is under way that were judged."""
        numbers_so_far = self.session.log.told[self._told :]
        return tuple(dict.fromkeys(each for each in numbers_so_far if each is not None))

    def conclude(self, result: str) -> None:
        """Say what came of the step that is under way."""
        self._result = result

    def cut(self) -> None:
        """Say that there was too little time for the step that is under way."""
        self._is_cut = True

    @contextmanager
    def step(self, title: str, reason: str) -> Generator[None, None, None]:
        """Do one step; without a conclusion the user reads that, and the report nothing."""
        self._restart()
        start = time.monotonic()
        self.session.emit(StepStarted(title=title, reason=reason))
        try:
            yield
            if not self._result:
                self.session.emit(StepFinished(title=title, result=_NOTHING))
        except (OutOfTimeError, KeyboardInterrupt, WhetError) as error:
            self._result = "; ".join(filter(None, (self._result, _cut_short(error))))
            self.error = error
            self._is_cut = self._is_cut or isinstance(error, OutOfTimeError)
            raise
        finally:
            self._finish(title, reason, start)

    def leave_out(self, title: str, reason: str, why: str) -> None:
        """Say of a step that it isn't begun, and why."""
        self._restart()
        self._result = f"skipped: {why}"
        self._finish(title, reason, time.monotonic())

    def _restart(self) -> None:
        log = self.session.log
        self._begun, self._told, self._result = len(log.begun), len(log.told), ""
        self._is_cut = False

    def _finish(self, title: str, reason: str, start: float) -> None:
        if not self._result:
            return
        log = self.session.log
        trials = tuple(log.begun[self._begun :])
        self.session.emit(StepFinished(title=title, result=self._result))
        self.done.append(
            Step(
                title=title,
                reason=reason,
                result=self._result,
                trials=len(trials) + log.told[self._told :].count(None),
                numbers=trials,
                wall_seconds=time.monotonic() - start,
                is_cut=self._is_cut,
            )
        )


def _cut_short(error: BaseException) -> str:
    match error:
        case OutOfTimeError():
            return "stopped: the time budget is used up"
        case KeyboardInterrupt():
            return "stopped by Ctrl-C"
        case _:
            return f"skipped: {error}"
