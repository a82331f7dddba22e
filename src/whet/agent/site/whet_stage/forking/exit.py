"""Ends a program as Python does, without taking the interpreter apart, which takes long.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _io
import atexit
import os
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType, TracebackType

from ..hiding.hidden_frames import AS_IMPORTER, call_traced, caller, hidden_frame
from ..hiding.warned import are_any_shown
from .descriptors import are_any_written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import FrameType
    from typing import NoReturn, TextIO

    from ..hiding.warned import Warned

_LETS_GO = ("torch.library", "_del_library")
"""What takes the operators of a library out of torch's tables when Python ends: nothing is called
that could be seen, for none of them is used again. A program that has imported torch has hundreds,
which take longer than most edits' own work (15 ms)."""

_end = os._exit  # the program may put something else in its place

_SHOWN = (BaseException,)
"""What an exit handler may raise, and `atexit` shows."""

_NAMES_IN_MODULE, _NAMES_IN_CLASS = vars(ModuleType)["__dict__"], vars(type)["__dict__"]
_CLASSES = vars(type)["__mro__"]
_UNCLOSED: set[Warned] = {(ResourceWarning, "", 0)}

OWN_FILES = {__file__, AS_IMPORTER}
"""Files whose frames aren't shown as part of a program's traceback."""


@hidden_frame
def run_and_exit(
    run: Callable[..., None],
    *arguments: object,
    forget: Callable[[], None],
    has_last_words: Callable[[], bool],
    at_end: Callable[[], None] | None = None,
    leave: Callable[[int], None] | None = None,
) -> NoReturn:
    """Run the program and end the process as Python does, without taking itself apart.

    Args:
        run: runs it.
        arguments: what that is called with.
        forget: lets go of the program's objects.
        has_last_words: whether something of the program's is called when they go, or hears of all
            that is done until then.
        at_end: is called when the program has done all else.
        leave: is called with the exit code when nothing is left but to end the process at once.
    """
    code, number = 0, 0
    failed: BaseException | None = None
    try:
        run(*arguments)
    except SystemExit as leaving:
        code = _code_of(leaving)
    except BaseException as error:  # noqa: BLE001 - it is the program's
        failed = error
    if failed is not None:  # it is shown when nobody handles it any more, as Python does
        code = 1
        number = 2 if isinstance(failed, KeyboardInterrupt) else 0
        _show(failed)
        failed = None
    if not number and (sys.gettrace() or sys.getprofile()):
        forget()
        raise SystemExit(code)  # a debugger looks on: Python itself is to do the rest
    code = _finish(code, has_last_words)
    if number:
        _die_of(number)
    forget()
    if at_end is not None:
        at_end()
    if has_last_words() or _are_streams_own() or are_any_written() or _has_last_words():
        # What is still in a buffer, and what is said by `__del__`, comes out of taking the
        # interpreter apart alone. Python does that when an audit hook raises this.
        raise SystemExit(code)
    try:
        if leave is not None:
            leave(code & 0xFF)
    finally:
        _end(code & 0xFF)  # also where a signal's handler has raised something


@hidden_frame
def _finish(code: int, has_last_words: Callable[[], bool]) -> int:
    """Wait for threads, call exit handlers and flush; return the exit code."""
    threading = sys.modules.get("threading")
    if threading is not None:
        try:
            _private(threading, "_shutdown")()
        except BaseException as error:  # noqa: BLE001 - as Python does
            _show(error)
    if _LETS_GO[0] in sys.modules and not (has_last_words() or _has_last_words()):
        leave_registered()
    _call_exit_handlers()
    for stream in _streams():
        try:
            if type(stream) is _io.TextIOWrapper and not stream.closed:
                stream.flush()
        except BaseException:  # noqa: BLE001 - Python says so with an exit code of its own
            code = 120
    return code


@hidden_frame
def _call_exit_handlers() -> None:
    """Call what is registered with `atexit`, by the program and then by whet's agent.

    Up to Python 3.9 each module object of `atexit` has handlers of its own, and the program's is
    another one than the agent's, whose modules it doesn't find; and the last error that it has
    shown comes out of it, of which Python takes no notice when it ends.
    """
    theirs = sys.modules.get("atexit")
    for module in (theirs, atexit) if theirs is not atexit else (atexit,):
        call: object = getattr(module, "_run_exitfuncs", None)
        if isinstance(call, BuiltinFunctionType):  # else it is a module of the program's own
            try:
                call() if sys.version_info >= (3, 11) else _call_out_of_sight(call)
            except _SHOWN:
                pass


@hidden_frame
def _call_out_of_sight(call: Callable[[], object]) -> None:
    """Call exit handlers so that no error tells of whet's frame.

    Python 3.10 adds the calling frame to an error in a handler that is no Python function, such as
    `os.remove`; cold there is none.
    """
    hook = sys.unraisablehook

    def tell(error: sys.UnraisableHookArgs) -> None:
        trace, value = error.exc_traceback, error.exc_value
        is_own = trace is not None and trace.tb_frame.f_code.co_filename in OWN_FILES
        if value is not None and is_own:
            value.__traceback__ = None
            facts = (error.exc_type, value, None, error.err_msg, error.object)
            error = _made(type(error), facts)
        hook(error)

    sys.unraisablehook = tell
    try:
        call()
    finally:
        if sys.unraisablehook is tell:
            sys.unraisablehook = hook


def _made(
    kind: Callable[..., sys.UnraisableHookArgs], facts: tuple[object, ...]
) -> sys.UnraisableHookArgs:
    return kind(facts)


def leave_registered() -> None:
    """Take what only lets go of operators (`_LETS_GO`) from what is called when Python ends."""
    finalize: type | None = getattr(sys.modules.get("weakref"), "finalize", None)
    registry: dict[object, object] | None = getattr(finalize, "_registry", None)
    if finalize is None or type(registry) is not dict:
        return
    try:
        kept = {key: info for key, info in registry.items() if not _only_lets_go(info)}
    except RuntimeError:  # a thread is at work there
        return
    if len(kept) < len(registry):
        type.__setattr__(finalize, "_registry", kept)
        # To take the old one apart would write to each of its objects.
        _LEFT.append(registry)


_LEFT: list[object] = []


def _only_lets_go(info: object) -> bool:
    function = getattr(info, "func", None)
    if type(function) is not FunctionType:
        return False
    return (function.__module__, function.__qualname__) == _LETS_GO


@hidden_frame
def _die_of(number: int) -> None:
    # Not `signal`: a debugger would see it being imported.
    module = sys.modules["_signal"]
    let: Callable[[int, int], object] = vars(module)["signal"]
    let(number, 0)  # SIG_DFL
    os.kill(os.getpid(), number)


@hidden_frame
def flush() -> None:
    """Flush the standard streams, as Python does when a script has ended in whatever way."""
    for stream in reversed(_streams()):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S110 - as Python does
            pass


@hidden_frame
def _streams() -> list[TextIO]:
    """Return standard output and standard error, those that the program has left there."""
    found: list[TextIO] = []
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name, None)
        if stream is not None:
            found.append(stream)
    return found


def _are_streams_own() -> bool:
    """Whether Python would call methods of the program's own when it flushes the streams."""
    return any(type(each) is not _io.TextIOWrapper for each in _streams())


def touch_last_words() -> None:
    """Look at what is looked at when the program ends.

    A forked process gets a page of its own when it first counts a reference to something there.
    """
    _has_last_words()
    finalize: type | None = getattr(sys.modules.get("weakref"), "finalize", None)
    registry: dict[object, object] = getattr(finalize, "_registry", {})
    for info in tuple(registry.values()):
        arguments: tuple[Iterable[object], ...] = getattr(info, "args", None) or ()
        for each in arguments:
            if type(each) in {dict, list, set}:
                tuple(each)


class _Known:
    """The modules that there were when a copy of the process was taken.

    To look at each of a thousand costs a forked process hundreds of pages of its own. They are
    noted by their names: the program may let go of any of them.

    Attributes:
        newest: the one that was imported last; None: nothing is known.
        count: how many there were.
        own: those of the program.
    """

    newest: str | None = None
    count = 0
    own: tuple[str, ...] = ()


def note_modules() -> None:
    """Note which modules are the program's own, so that no forked process asks all of them."""
    names = tuple(sys.modules)
    _Known.own = tuple(name for name in names if _is_own(sys.modules.get(name)))
    _Known.newest, _Known.count = names[-1] if names else None, len(names)


def _own_modules() -> Iterator[ModuleType | None]:
    """Yield the modules of the program, not of libraries."""
    names: tuple[str, ...] = tuple(sys.modules) if _Known.newest is None else _names_to_look_at()
    return filter(_is_own, map(sys.modules.get, names))


def _names_to_look_at() -> tuple[str, ...]:
    """Return the names of modules that may be the program's own; all if that can't be told."""
    newer = len(sys.modules) - _Known.count
    found = [*_Known.own]
    try:
        for index, name in enumerate(reversed(sys.modules)):
            found.append(name)
            if index == newer and name == _Known.newest:
                return tuple(found)
    except (RuntimeError, TypeError):  # a thread imports; it is no dictionary any more
        pass
    return tuple(sys.modules)


def _is_own(module: ModuleType | None) -> bool:
    file = _names_in(module).get("__file__")
    if not isinstance(file, str) or not file:
        return False
    return not file.startswith((sys.prefix, sys.base_prefix)) and "site-packages" not in file


def _names_in(module: ModuleType | None) -> dict[str, object]:
    """Return the names that a module holds, without asking one that is lazy, which imports."""
    if not issubclass(type(module), ModuleType):
        return {}
    names: dict[str, object] | None = _NAMES_IN_MODULE.__get__(module)
    return names or {}


def _has_last_words() -> bool:
    """Whether something of the program's, not of a library, is called or said when objects go."""
    if are_any_shown(_UNCLOSED):
        return True
    for module in _own_modules():
        names = _names_in(module)
        for value in tuple(names.values()):
            # `isinstance` would ask the value what class it is of: a proxy answers for another.
            if issubclass(type(value), type) and _says_last(value, names.get("__name__")):
                return True
    return False


def _says_last(kind: object, module: object) -> bool:
    """Whether a class has `__del__`; one that a module itself defines may have inherited it."""
    own: Mapping[str, object] = _NAMES_IN_CLASS.__get__(kind)
    if own.get("__module__") != module:
        return "__del__" in own
    # That of a file calls `close`, which may be the program's.
    classes: tuple[type, ...] = _CLASSES.__get__(kind)
    return any("__del__" in _NAMES_IN_CLASS.__get__(each) for each in classes)


@hidden_frame
def _code_of(leaving: SystemExit) -> int:
    code = leaving.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    _say(f"{code}\n")
    return 1


@hidden_frame
def _show(error: BaseException) -> None:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in OWN_FILES:
        trace = trace.tb_next
    if isinstance(error, KeyboardInterrupt):
        _end_at_program(trace)
    below: FrameType | None = caller()
    while below is not None and below.f_code.co_filename not in OWN_FILES:
        # Cold it would have passed through what runs the program: `runpy`.
        trace = TracebackType(trace, below, below.f_lasti, below.f_lineno)
        below = below.f_back
    error = error.with_traceback(trace)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = vars(sys).get("excepthook", _MISSING)
    is_called = False
    try:
        try:
            heard = None if hook is _MISSING else hook
            sys.audit("sys.excepthook", heard, type(error), error, trace)
        except RuntimeError:
            return  # PEP 578: a listener has shown it
        is_called = hook is not _MISSING
        if is_called:
            call_traced(hook, type(error), error, trace)
            return
        _say("sys.excepthook is missing\n")
    except SystemExit:
        raise
    except BaseException as wrong:  # noqa: BLE001 - as Python does
        if is_called:
            _show_wrong_hook(wrong, trace if wrong is error else None)
    sys.__excepthook__(type(error), error, trace)


def _show_wrong_hook(wrong: BaseException, original: TracebackType | None) -> None:
    trace = wrong.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in OWN_FILES:
        trace = trace.tb_next
    if original is not None and sys.version_info < (3, 12):
        trace = original  # what is raised again gets the lines of the hook when it is caught
    _say("Error in sys.excepthook:\n")
    sys.__excepthook__(type(wrong), wrong.with_traceback(trace), trace)
    _say("\nOriginal exception was:\n")


_MISSING = object()


def _say(text: str) -> None:
    errors = getattr(sys, "stderr", None)
    if errors is None:
        os.write(2, os.fsencode(text))
    else:
        errors.write(text)


def _end_at_program(trace: TracebackType | None) -> None:
    """Let a traceback end at the program's own line where whet was at work behind it."""
    last = trace
    while trace is not None:
        if trace.tb_frame.f_code.co_filename not in OWN_FILES:
            last = trace
        trace = trace.tb_next
    if last is not None:
        last.tb_next = None


def _private(module: object, name: str) -> Callable[[], object]:
    """Return what the interpreter itself calls, where there is no public way."""
    function: Callable[[], object] = getattr(module, name)
    return function
