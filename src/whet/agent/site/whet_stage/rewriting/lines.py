"""Lines of the user's sources that the program shows, which `linecache` reads whole files for.

`import torch` formats a stack, and so looks at the line of the script that imports it. If that
counted as reading the script, no edit below could be answered from a snapshot.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from ..hiding.hidden_frames import caller, hidden_frame
from ..hiding.unfiltered_calls import announce

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType, ModuleType

_SOURCE_IS_SEEN = "/dev/null/seen"  # as of `whet.host.spawner.access_log`
_CALLS = 8  # between the opening of a file and `linecache.getline`: its own and `tokenize`'s


class ShownLines:
    """Which lines of which sources have been asked for one by one."""

    def __init__(self, all_are: Callable[[str], None]) -> None:
        """Make it ready.

        Args:
            all_are: called when the program asks for all lines of a source at once.
        """
        self._all_are = all_are
        self._numbers: dict[str, set[int]] = {}
        self._original: Callable[..., list[str]] | None = None
        self._pid = os.getpid()

    def begin_process(self) -> None:
        """Note what this process shows from now on."""
        self._pid = os.getpid()

    def opens(self, path: str) -> bool:
        """Whether what is opening a source is in search of one line; then that line is noted."""
        module = sys.modules.get("linecache")
        frame: FrameType | None = caller()
        for _ in range(_CALLS):
            if module is None or frame is None:
                break
            if _is_getline(frame, module):
                if not self._numbers:
                    self._listen(module)
                self._numbers.setdefault(path, set()).add(frame.f_locals["lineno"])
                return True
            frame = frame.f_back
        return False

    def _listen(self, module: ModuleType) -> None:
        """From now on `linecache` knows the whole file: note what is taken from there."""
        original: Callable[..., list[str]] = vars(module)["getlines"]
        self._original = original

        def getlines(filename: str, module_globals: object = None) -> list[str]:
            numbers = self._numbers.get(filename)
            if numbers is not None:
                asking = caller()
                number = asking.f_locals["lineno"] if _is_getline(asking, module) else 0
                if os.getpid() != self._pid and number not in numbers:
                    announce(f"{_SOURCE_IS_SEEN}{filename}")
                elif number:
                    numbers.add(number)
                else:
                    self._all_are(filename)
            return original(filename, module_globals)

        getlines.__doc__, getlines.__module__ = original.__doc__, original.__module__
        getlines.__qualname__ = original.__qualname__
        vars(module)["getlines"] = getlines

        def forks() -> None:
            # What it forks may show the lines that it is at, and often does.
            frame: FrameType | None = caller() if os.getpid() == self._pid else None
            while frame is not None:
                if frame.f_code.co_filename in self._numbers:
                    self._numbers[frame.f_code.co_filename].add(frame.f_lineno)
                frame = frame.f_back

        os.register_at_fork(before=hidden_frame(forks))

    def end(self) -> None:
        """Listen no more."""
        module = sys.modules.get("linecache")
        if module is not None and self._original is not None:
            vars(module)["getlines"] = self._original

    def are_same(self, path: str, then: bytes, now: bytes) -> bool:
        """Whether the lines that were shown are in another text what they were."""
        old, new = then.splitlines(), now.splitlines()
        numbers = self._numbers.get(path, ())
        return all(old[at - 1 : at] == new[at - 1 : at] for at in numbers if at > 0)

    def forget_texts(self, paths: Iterable[str]) -> None:
        """Let the lines of other texts be read again."""
        module = sys.modules.get("linecache")
        for path in paths:
            if module is not None and path in self._numbers:
                vars(module)["cache"].pop(path, None)


def _is_getline(frame: FrameType, module: ModuleType) -> bool:
    code = frame.f_code
    return code.co_name == "getline" and code.co_filename == module.__file__
