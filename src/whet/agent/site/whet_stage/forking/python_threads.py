"""The program's Python threads, in the user's words.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _thread
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from threading import Thread
    from types import FrameType

_native_id, _own_id = _thread.get_native_id, _thread.get_ident


def is_first() -> bool:
    """Whether this is the thread that the process began with."""
    return _native_id() == os.getpid()


class Threads:
    """The Python threads beside this one, as they are when they are asked for."""

    def __init__(self, is_followed: Callable[[str], bool]) -> None:
        """Make it ready.

        Args:
            is_followed: whether a file is one of the program's own, whose functions may change.
        """
        self._is_followed = is_followed

    def description(self, among: Collection[int] | None = None) -> str:
        """Return what is to be said of one of them; empty if there is none.

        Args:
            among: only of these, by the kernel's numbers; None: of any.
        """
        active = tuple(self._active())
        for thread in active:
            if among is None or thread.native_id in among:
                return f"the thread `{thread.name}` runs{self._line_of(thread.ident)}"
        count: Callable[[], int] = vars(_thread)["_count"]
        return "another Python thread runs" if count() > len(active) else ""

    def own_description(self) -> str:
        """Return the same of one that is in a function of the program's own."""
        for thread in self._active():
            line = self._line_of(thread.ident)
            if line:
                return f"the thread `{thread.name}` runs{line}"
        known = {thread.ident for thread in self._active()}
        for number in self._frames().keys() - known - {_own_id()}:
            line = self._line_of(number)
            if line:
                return f"another Python thread runs{line}"
        return ""

    def _active(self) -> Iterator[Thread]:
        threading = sys.modules.get("threading")
        if threading is None:
            return
        active: Mapping[int, Thread] = vars(threading)["_active"]
        main = threading.main_thread()
        for thread in tuple(active.values()):
            if thread is not main and thread.is_alive():
                yield thread

    def _frames(self) -> Mapping[int, FrameType]:
        frames: Callable[[], Mapping[int, FrameType]] = vars(sys)["_current_frames"]
        return frames()

    def _line_of(self, number: int | None) -> str:
        """Return the innermost line of the program's own that a thread is at; empty: none."""
        frame = self._frames().get(number or 0)
        while frame is not None:
            if self._is_followed(frame.f_code.co_filename):
                return f" {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
            frame = frame.f_back
        return ""
