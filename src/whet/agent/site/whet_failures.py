"""Sees where failures of a program come to light, so that the values of their frames can be kept.

Nothing is called until something fails: no trace, no profile, no audit hook. Python itself keeps the
error that ends the program in `sys.last_value`; threads, pytest, unittest, multiprocessing and
asyncio catch errors in one function each, which is stood in for when their module has been run.

Standard library only, Python 3.8 or later. What looks at the values (`whet_state`) is loaded at the
first failure.
"""

from __future__ import annotations

import atexit
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType
    from typing import Any, TypeAlias

    Guard: TypeAlias = Callable[[dict[str, Any]], None]

_MOST_FAILURES = 20
_MOST_BYTES = 4 << 20
_SUFFIX = ".failures"
_ANYTHING = (BaseException,)
_WORDS_OF_ERROR = "_exc_info_to_string"
_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]


class Watch:
    """Keeps the failures of this process, each in a line of a file of its own."""

    def __init__(self, tell: Callable[[str, bytes], None], hidden: dict[str, Any]) -> None:
        """Keep nothing yet; ``hidden`` are modules that whet has imported for itself."""
        self._tell = tell
        self._hidden = hidden
        self._bytes = 0
        self._last = 0
        self._count = 0
        self._capture: Callable[..., Sequence[bytes]] | None = None

    def begin(self) -> dict[str, Guard]:
        """Look when the program ends; return what is called with modules when they have been run."""
        atexit.register(self._look)
        guards: dict[str, Guard] = {
            "threading": self._watch_threads,
            "_pytest.runner": self._watch_pytest,
            "unittest.result": self._watch_unittest,
            "multiprocessing.util": self._watch_processes,
            "multiprocessing.pool": self._watch_tasks("ExceptionWithTraceback"),
            "concurrent.futures.process": self._watch_tasks("_ExceptionWithTraceback"),
            "torch._utils": self._watch_tasks("ExceptionWrapper"),
            "asyncio.base_events": self._watch_loops,
        }
        if sys.version_info >= (3, 13):
            guards["traceback"] = self._watch_shown
        return guards

    def keep(self, error: BaseException | None, where: str, thread: str = "") -> None:
        """Write down an error with the values of its frames; the program doesn't notice."""
        if error is None or self._count >= _MOST_FAILURES:
            return
        self._count += 1
        limit = sys.getrecursionlimit()
        try:
            # It may have failed because there is no more room for calls.
            sys.setrecursionlimit(limit + 500)
            if self._capture is None:
                self._capture = _load(self._hidden)
            self._write(self._capture(error, where, thread))
        except _ANYTHING:
            return  # the program is what matters
        finally:
            sys.setrecursionlimit(limit)

    def _write(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            if self._bytes + len(line) < _MOST_BYTES:
                self._bytes += len(line)
                self._tell(_SUFFIX, line)

    def _look(self) -> None:
        """Keep the error that has ended the program, which Python has shown by now."""
        error = getattr(sys, "last_value", None)
        if error is not None and id(error) != self._last:
            # Its number: held, the program's objects would not go when they would without.
            self._last = id(error)
            if isinstance(error, KeyboardInterrupt) and "re" not in sys.modules:
                return  # to bring it in would change the exit code, see `whet_state.raised`
            self.keep(error, "main")

    def _watch_threads(self, module: dict[str, Any]) -> None:
        make, shutdown = module["_make_invoke_excepthook"], module["_shutdown"]

        def _make_invoke_excepthook() -> Callable[[object], None]:
            invoke = make()

            def invoke_excepthook(thread: object) -> None:
                error = sys.exc_info()[1]
                if not isinstance(error, SystemExit):
                    self.keep(error, "thread", str(getattr(thread, "_name", "")))
                invoke(thread)

            return invoke_excepthook

        def _shutdown() -> None:
            self._look()  # before it waits for threads, maybe forever
            shutdown()

        module["_make_invoke_excepthook"] = _make_invoke_excepthook
        module["_shutdown"] = _shutdown

    def _watch_pytest(self, module: dict[str, Any]) -> None:
        # It tells whether a debugger may look: not for what is skipped, nor what fails as expected.
        tells = module["check_interactive_exception"]

        def check_interactive_exception(call: Any, report: Any) -> bool:
            is_failure: bool = tells(call, report)
            # It notes each error of a test there, expected ones too.
            self._last = id(getattr(sys, "last_value", None))
            if is_failure and call.excinfo is not None:
                self.keep(call.excinfo.value, "pytest", getattr(report, "nodeid", ""))
            return is_failure

        module["check_interactive_exception"] = check_interactive_exception

    def _watch_unittest(self, module: dict[str, Any]) -> None:
        result = module["TestResult"]
        words: Callable[..., str] = getattr(result, _WORDS_OF_ERROR)

        def _exc_info_to_string(own: object, error: Any, test: Any) -> str:
            if _frame_above(1).f_code.co_name != "addExpectedFailure":
                self.keep(error[1], "unittest", _name_of(test))
            return words(own, error, test)

        setattr(result, _WORDS_OF_ERROR, _exc_info_to_string)

    def _watch_processes(self, module: dict[str, Any]) -> None:
        # A process of multiprocessing calls this while its error is on its way to be shown.
        leave = module["_exit_function"]

        def _exit_function(*arguments: object, **named: object) -> None:
            error = sys.exc_info()[1]
            if isinstance(error, SystemExit):  # as `torch.multiprocessing` leaves after an error
                error = error.__context__ if error.code else None
            self.keep(error, "process")
            leave(*arguments, **named)

        module["_exit_function"] = _exit_function

    def _watch_shown(self, module: dict[str, Any]) -> None:
        # From 3.13 on a process of multiprocessing leaves when its error is shown and forgotten.
        show = module["print_exc"]

        def print_exc(*arguments: object, **named: object) -> None:
            if _frame_above(1).f_code.co_name == "_bootstrap":
                self.keep(sys.exc_info()[1], "process")
            show(*arguments, **named)

        module["print_exc"] = print_exc

    def _watch_tasks(self, name: str) -> Guard:
        def guard(module: dict[str, Any]) -> None:
            # What a worker of a pool makes of the error of a task, to send it to who waits for it.
            sent = module[name]
            make = sent.__init__

            def init(own: object, *given: object, **named: object) -> None:
                told = (each for each in given if isinstance(each, BaseException))
                self.keep(next(told, sys.exc_info()[1]), "process")
                make(own, *given, **named)

            sent.__init__ = init

        return guard

    def _watch_loops(self, module: dict[str, Any]) -> None:
        loop = module["BaseEventLoop"]
        tell = loop.call_exception_handler

        def call_exception_handler(own: object, context: dict[str, Any]) -> None:
            error = context.get("exception")
            if isinstance(error, BaseException):
                self.keep(error, "asyncio", str(context.get("message", "")))
            tell(own, context)

        loop.call_exception_handler = call_exception_handler


def _name_of(test: object) -> str:
    name = getattr(type(test), "__qualname__", "")
    return (
        "{}.{}".format(name, vars(test).get("_testMethodName", ""))
        if hasattr(test, "__dict__")
        else name
    )


def _load(hidden: dict[str, Any]) -> Callable[..., Sequence[bytes]]:
    """Load what looks at values, and leave no name where the program could find it."""
    if "whet_state" in hidden:
        known: Callable[..., Sequence[bytes]] = hidden["whet_state"].capture
        return known
    import _frozen_importlib
    import _frozen_importlib_external as machinery

    here = os.path.dirname(os.path.abspath(__file__))
    package, beside = "whet_state", "whet_installed"
    load, find = vars(_frozen_importlib)["_load"], machinery.PathFinder.find_spec
    try:
        load(find(beside, [here]))  # by now this folder isn't where Python looks
        capture: Callable[..., Sequence[bytes]] = load(find(package, [here])).capture
        return capture
    finally:
        sys.path_importer_cache.pop(here, None)
        for name in tuple(sys.modules):
            if name in {package, beside} or name.startswith(package + "."):
                del sys.modules[name]
