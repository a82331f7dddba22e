"""Opens pdb in the terminal: where the program fails, where a copy continues, or at its first line.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType

from ..hiding.private import private_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pdb import Pdb
    from types import FrameType
    from typing import Any, NoReturn, TypeAlias

    TraceFunction: TypeAlias = Callable[[FrameType, str, Any], "TraceFunction | None"]

AT_ONCE = "at once"
"""As of `whet.host.trial.process_snapshots`: pdb opens at the first line, not at a failure."""

_OWN = ("whet_stage", "whet_stage.*", "whet_probe", "whet_probe.*")
_STDIN = 0
_STDOUT = 1
_TERMINAL = "/dev/tty"


def install(wish: str) -> None:
    """Open pdb as whet wishes, if there is a terminal."""
    if not os.isatty(_STDIN):
        return
    if wish == AT_ONCE:
        sys.settrace(_first)
    open_at_failure()


def open_at_failure() -> None:
    """Open pdb when the program ends by an exception, after Python has shown it."""
    sys.addaudithook(_hear)


def open_in(frame: FrameType, line: Any = None) -> None:
    """Open pdb in a frame that runs; return when the program is to continue.

    Args:
        frame: where.
        line: what pdb reads from and writes to; None: the terminal.
    """
    pdb = _pdb(line)
    if line is not None:

        def leave_it(_argument: str) -> bool:
            pdb.set_continue()
            return True

        vars(pdb)["do_EOF"] = leave_it  # who looked on has gone: the program continues
    # Who leaves it wants to see no more: this run is nobody's trial.
    vars(pdb)["set_quit"] = _leave
    each: FrameType | None = frame
    while each is not None:
        each.f_trace = pdb.trace_dispatch
        pdb.botframe = each
        each = each.f_back
    pdb.set_step()
    pdb.interaction(frame, None)
    if pdb.breaks or pdb.stoplineno != -1:  # as `continue` leaves it
        sys.settrace(pdb.trace_dispatch)


def _pdb(line: Any = None) -> Pdb:
    reads, writes = _terminal() if line is None else (line, line)
    made: Pdb = private_import("pdb").Pdb(skip=_OWN, stdin=reads, stdout=writes, readrc=False)
    try:  # the user's own; one in a project may come from anybody
        with open(os.path.expanduser("~/.pdbrc"), encoding="utf-8") as file:
            made.rcLines.extend(file)
    except OSError:
        pass
    made.reset()
    if line is None and writes is None:
        _stay_at_terminal(made)
    return made


def _stay_at_terminal(pdb: Pdb) -> None:
    """Let it speak to the terminal also where the program will have replaced its streams."""
    try:
        pdb.stdout = _opened("w")
    except OSError:
        return
    loop = pdb.cmdloop

    def cmdloop(intro: Any = None) -> None:
        reads, writes = _terminal()
        if reads is None:
            loop(intro)
            return
        kept = sys.stdin, sys.stdout
        sys.stdin, sys.stdout = reads, writes
        try:
            loop(intro)
        finally:
            sys.stdin, sys.stdout = kept

    vars(pdb)["cmdloop"] = cmdloop


def _terminal() -> tuple[Any, Any]:
    """Return what reads from the terminal and writes to it; None: what the program has does."""
    # pytest and many a program put others in their place: a file of commands, a text in memory.
    if _is_terminal(sys.stdin, _STDIN) and _is_terminal(sys.stdout, _STDOUT):
        return None, None
    try:
        return _opened("r"), _opened("w")
    except OSError:
        return None, None


def _opened(mode: str) -> Any:
    return open(_TERMINAL, mode)


def _is_terminal(stream: Any, descriptor: int) -> bool:
    try:
        return bool(stream.fileno() == descriptor and os.isatty(descriptor))
    except (AttributeError, OSError, ValueError):  # it is none, or closed
        return False


def _leave() -> NoReturn:
    os._exit(0)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event != "sys.excepthook":
        return
    hook, _, error, trace = arguments
    if type(error).__name__ == "BdbQuit":
        return  # the program's own debugger was left
    # A text that is no Python fails without a trace.
    if isinstance(error, BaseException) and isinstance(trace, TracebackType):
        _fails(hook if callable(hook) else sys.__excepthook__, error, trace)


def _fails(show: Callable[..., object], error: BaseException, trace: TracebackType) -> None:
    try:
        show(type(error), error, trace)
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - Python calls it again, and says so
        return
    sys.settrace(None)
    errors = sys.stderr
    try:
        pdb = _pdb()  # first: what is opened may get the number of a stream that was closed
        # What fails at `interact` is shown, and is none of the failures of the trial.
        sys.stderr = _opened("w")
        pdb.interaction(None, trace)
    finally:
        sys.stderr = errors
        # PEP 578's way to say that the hook isn't to be called, whatever came of looking.
        raise RuntimeError


def _first(frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
    is_script = frame.f_globals.get("__name__") == "__main__"
    return _at_line if is_script and frame.f_code.co_name == "<module>" else None


def _at_line(frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
    if event == "line":
        sys.settrace(None)
        open_in(frame)
        return frame.f_trace
    return _at_line
