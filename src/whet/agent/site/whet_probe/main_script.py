"""Runs the main script from code that was made for it; the program sees nothing of who runs it.

Python itself compiles the main script, and asks nobody. But it says that it is about to (the audit
event `cpython.run_file`), and whoever hears that may run it.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys
from _frozen_importlib_external import SourceFileLoader

from .beside import CAN_TRACE, OWN_FILES, call_traced, execute, flush, hidden_frame, run_and_exit
from .instrument import Mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

_CAN_TRACE, _RUNS = "__cantrace__", "cpython.run_file"
_CLOSER = "whet_closer."
_hooks: list[Callable[..., None]] = []
hidden_frame(vars(Mark)["__call__"])


class MainScript:
    """The main script of this process."""

    def __init__(self, made: Callable[[str], CodeType | None]) -> None:
        """Make it ready.

        Args:
            made: returns the code of the script by its path; None: Python is to run it.
        """
        self._made = made
        self._is_over = False

    def begin(self) -> None:
        """Take it over."""
        # Only what is imported by now: no frame of any of it is the program's.
        OWN_FILES.update(
            str(module.__file__)
            for name, module in sys.modules.items()
            if name.partition(".")[0]
            in {"whet_probe", "whet_stage", "whet_count", "whet_leak", "whet_lines"}
        )

        # No method, here and below `whet_closer`: to call one takes Python several times as long.
        @hidden_frame
        def hear(event: str, arguments: tuple[object, ...]) -> None:
            if event == _RUNS and not self._is_over:
                self._is_over = True
                for each in _hooks:
                    vars(each)[_CAN_TRACE] = False
                self._run_script(str(arguments[0]))

        # A hook isn't traced, nor is what runs inside: the main script runs inside this one.
        vars(hear)[_CAN_TRACE] = CAN_TRACE
        _hooks.append(hear)
        sys.addaudithook(hear)

    @hidden_frame
    def _run_script(self, path: str) -> None:
        tracer = sys.gettrace()
        is_whets = getattr(tracer, "__module__", "").startswith(_CLOSER)
        if (tracer and not is_whets) or sys.getprofile():
            return  # Python runs it, and whoever traces it sees nothing of whet
        code = self._made(path)
        if code is None:
            return
        module = vars(sys.modules["__main__"])
        module["__file__"] = path
        module["__cached__"] = None
        module["__loader__"] = SourceFileLoader("__main__", path)
        run_and_exit(self._run, code, module, forget=_nothing, has_last_words=_always)

    @hidden_frame
    def _run(self, code: CodeType, module: dict[str, Any]) -> None:
        try:
            call_traced(execute, code, module)
        finally:
            flush()


def whole(path: str) -> bytes:
    """Return what a file says."""
    with open(path, "rb") as file:
        return file.read()


def _nothing() -> None:
    """Let go of nothing."""


def _always() -> bool:
    """Have Python take the interpreter apart, as it does on its own."""
    return True
