"""Hides the frames of functions from tracebacks and stacks.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _thread
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable[..., object])


_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep
AS_IMPORTER = _OWN + "importlib_bootstrap.py"


def hidden_frame(function: Function) -> Function:
    """Let no program find a frame of ``function``: cold there is none.

    CPython 3.11 and later takes a frame for incomplete, and leaves it out of `f_back`,
    `sys._getframe` and tracebacks, until it has come past the first RESUME instruction. A
    function that has none is never past it. Before 3.11 the frame stays in sight, but of
    `warnings`, which looks past the frames of the importer, and knows them by their file's name.
    """
    if sys.version_info < (3, 11):
        function.__code__ = function.__code__.replace(co_filename=AS_IMPORTER)
        return function
    resume, nothing = _numbers()
    code = function.__code__
    raw = bytearray(code.co_code)
    for at in range(0, len(raw), 2):
        if raw[at] == resume:
            raw[at : at + 2] = bytes((nothing, 0))
    function.__code__ = code.replace(co_code=bytes(raw))
    return function


def _numbers() -> tuple[int, int]:
    """Return the numbers of two instructions; look them up once."""
    if not _known:
        had_opcode = "opcode" in sys.modules
        import opcode

        _known.extend((opcode.opmap["RESUME"], opcode.opmap["NOP"]))
        if not had_opcode:
            del sys.modules["opcode"]
    return _known[0], _known[1]


_known: list[int] = []
_at_work: list[int] = []


def begin_work() -> None:
    """Let what this thread hears from the interpreter be whet's own: it takes frames and code."""
    _at_work.append(_thread.get_ident())


def end_work() -> None:
    """Let it be the program's again."""
    _at_work.remove(_thread.get_ident())


def is_at_work() -> bool:
    """Whether it is whet's own."""
    return _thread.get_ident() in _at_work


CAN_TRACE = sys.version_info < (3, 12)
"""For `__cantrace__` of an audit hook that runs the program: there is no other way to trace it.

From 3.12 on what unwinds where no frame can be seen fails if the program has a tracer, so that the
hook isn't traced, and `seen` lets continue what is.
"""


@hidden_frame
def call_traced(function: Callable[..., object], *arguments: object) -> object:
    """Call what is the program's from an audit hook, where nothing is traced."""
    if CAN_TRACE:
        return function(*arguments)
    call: Callable[[object, tuple[object, ...]], object] = vars(sys)["call_tracing"]
    return call(function, arguments)


def caller() -> FrameType:
    """Return the innermost frame that isn't whet's own."""
    begin_work()  # taking a frame is an audit event
    frame: FrameType = vars(sys)["_getframe"]()
    end_work()
    while frame.f_code.co_filename.startswith(_OWN) and frame.f_back is not None:
        frame = frame.f_back
    return frame
