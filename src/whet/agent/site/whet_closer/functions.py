"""Which functions of a package are called, in the order of their first calls."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from .report_file import ReportLines


class Functions:
    """Tells each function of the files below a folder when it is called for the first time."""

    def __init__(self, told: ReportLines, folder: str) -> None:
        self._told = told
        self._folder = folder
        self._seen: set[CodeType] = set()

    def begin(self) -> None:
        """Watch what this thread calls from now on."""
        sys.setprofile(self._called)

    def watch_threads(self, module: dict[str, Any]) -> None:
        """Watch what other threads call."""
        module["_profile_hook"] = self._called

    def _called(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code in self._seen:
            return
        self._seen.add(code)
        if code.co_filename.startswith(self._folder):
            self._told.tell("function", file=code.co_filename, line=code.co_firstlineno)
