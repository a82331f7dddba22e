"""An expression of the user's, worked out in a frame of the program.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

from .beside import evaluate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from .report import Report

_OF_PYTHON = (KeyboardInterrupt,)
_ANYTHING = (BaseException,)


class FailedError:
    """What an expression has raised, instead of its value."""

    def __init__(self, error: BaseException) -> None:
        words = ""
        try:
            words = str(error)[:200]
        except _ANYTHING:
            words = "?"
        self.words = "<{}{}>".format(type(error).__name__, ": " + words if words else "")


class Expression:
    """One expression.

    Attributes:
        text: as the user wrote it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._code = compile(text.strip(), "<whet probe>", "eval", dont_inherit=True)
        self._is_nested = any(hasattr(each, "co_code") for each in self._code.co_consts)
        self._has_failed = False

    def value(self, frame: FrameType, known: dict[str, object]) -> object:
        """Return its value, or that it failed; what the program's names stand for isn't changed."""
        names = {**frame.f_locals, **known}
        try:
            if self._is_nested:
                # What is inside of a comprehension sees no names but global ones.
                return evaluate(self._code, {**frame.f_globals, **names})
            return evaluate(self._code, frame.f_globals, names)
        except _OF_PYTHON:
            raise
        except _ANYTHING as error:  # of whatever the user has asked for
            return FailedError(error)

    def holds(self, frame: FrameType, known: dict[str, object], report: Report) -> bool:
        """Whether it is true; one that fails counts as false, and whet says so once."""
        found = self.value(frame, known)
        if type(found) is not FailedError:
            try:
                return bool(found)
            except _OF_PYTHON:
                raise
            except _ANYTHING as error:  # an array has no truth
                found = FailedError(error)
        if not self._has_failed:
            self._has_failed = True
            report.say("if {}: {}".format(self.text, found.words))
        return False
