"""A call that can be made again: the function and the arguments of a frame that has just begun.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import builtins
import copy
import gc
import os
import sys
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

_VARARGS, _VARKEYWORDS = 0x04, 0x08
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200
_COPYABLE = ("list_iterator", "tuple_iterator", "range_iterator", "str_iterator",
             "str_ascii_iterator", "dict_keyiterator")  # fmt: skip
_SHOWN = 200
_ANYTHING = (Exception,)
_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class UnrepeatableError(Exception):
    """Why a call can't be made again."""


class Call:
    """One call of the user's function."""

    def __init__(self, frame: FrameType) -> None:
        """Take it from the frame in which the function has just begun.

        Raises:
            UnrepeatableError: if the function isn't to be had.
        """
        code = frame.f_code
        held = dict(frame.f_locals)
        functions = [
            each
            for each in gc.get_referrers(code)
            if type(each) is FunctionType and each.__code__ is code
        ]
        fitting = [each for each in functions if _fits(each, held)]
        if not (fitting or functions):
            raise UnrepeatableError("its function isn't to be had")
        self._function: Any = (fitting or functions)[0]
        self._flags = code.co_flags
        count = code.co_argcount
        names = code.co_varnames
        more = code.co_kwonlyargcount
        self._positional = [held[name] for name in names[:count]]
        self._named = {name: held[name] for name in names[count : count + more]}
        at = count + more
        if self._flags & _VARARGS:
            self._positional += held[names[at]]
            at += 1
        if self._flags & _VARKEYWORDS:
            self._named.update(held[names[at]])
        self._rewinds: list[tuple[Any, int]] = []
        self._fresh: list[tuple[int | str, Any]] = []
        self.consumed: list[str] = []
        given: list[tuple[int | str, Any]] = [*enumerate(self._positional), *self._named.items()]
        for place, value in given:
            name = names[place] if isinstance(place, int) and place < count else str(place)
            self._note(place, name, value)

    def _note(self, place: int | str, name: str, value: Any) -> None:
        """Note how an argument that the call uses up can be had again."""
        kind: Any = vars(builtins)["type"](value)
        if not hasattr(kind, "__next__"):
            return
        if hasattr(kind, "seek") and hasattr(kind, "tell"):
            try:
                if value.seekable():
                    self._rewinds.append((value, value.tell()))
                    return
            except _ANYTHING:
                pass
        if kind.__name__ in _COPYABLE:
            self._fresh.append((place, copy.copy(value)))
            return
        self.consumed.append("{} ({})".format(name, kind.__name__))

    def facts(self) -> dict[str, object]:
        """Return what it is, as data."""
        code = self._function.__code__
        return {
            "function": self._function.__qualname__,
            "path": code.co_filename,
            "line": code.co_firstlineno,
            "consumed": self.consumed,
            "is_async": bool(self._flags & (_COROUTINE | _ASYNC_GENERATOR)),
        }

    # ---- again ----

    def repeat(self, called: Callable[[], bool]) -> str | None:
        """Call until it is enough; return the error that a call has raised, if one has.

        Args:
            called: is told of each call, and says whether there is to be another one.
        """
        try:
            if self._flags & (_COROUTINE | _ASYNC_GENERATOR):
                self._repeat_async(called)
            else:
                while True:
                    result = self._function(*self._arguments(), **self._named)
                    if self._flags & _GENERATOR:
                        for _ in result:
                            pass
                    result = None
                    if not called():
                        break
        except _ANYTHING as error:
            return "{}: {}".format(type(error).__name__, str(error)[:_SHOWN])
        except SystemExit as error:
            return "SystemExit: {}".format(error.code)
        return None

    def _arguments(self) -> list[Any]:
        for file, position in self._rewinds:
            file.seek(position)
        arguments = list(self._positional)
        for place, value in self._fresh:
            if isinstance(place, int):
                arguments[place] = copy.copy(value)
            else:
                self._named[str(place)] = copy.copy(value)
        return arguments

    def _repeat_async(self, called: Callable[[], bool]) -> None:
        """Call a coroutine function in a loop of its own: the program's own one waits for this call."""
        asyncio: Any = sys.modules["asyncio"]

        async def calls() -> None:
            while True:
                result = self._function(*self._arguments(), **self._named)
                if self._flags & _COROUTINE:
                    await result
                else:
                    async for _ in result:
                        pass
                result = None
                if not called():
                    break

        events = vars(sys.modules["asyncio.events"])
        outer = events["_get_running_loop"]()
        events["_set_running_loop"](None)
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(calls())
        finally:
            events["_set_running_loop"](outer)


def _fits(function: Any, held: dict[str, Any]) -> bool:
    """Whether a function's closure is what a frame sees."""
    names: tuple[str, ...] = function.__code__.co_freevars
    for at, cell in enumerate(function.__closure__ or ()):
        name = names[at]
        try:
            if name in held and held[name] is not cell.cell_contents:
                return False
        except ValueError:  # nothing is in it yet
            continue
    return True
