"""Lines of the main script that the program shows, which `linecache` reads the whole file for.

`import torch` formats a stack, and so looks at the line of the script that imports it. If that
counted as reading the script, no edit below could be answered from a snapshot.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType

_CALLS = 8  # between the opening of a file and `linecache.getline`: its own and `tokenize`'s


class ShownLines:
    """Which lines of the main script have been asked for one by one."""

    def __init__(self, all_are: Callable[[], None]) -> None:
        """Make it ready.

        Args:
            all_are: called when the program asks for all lines at once.
        """
        self._all_are = all_are
        self._numbers: set[int] = set()
        self._path = ""

    def opens(self, path: str) -> bool:
        """Whether what is opening the script is in search of one line; then that line is noted."""
        module = sys.modules.get("linecache")
        frame: FrameType | None = vars(sys)["_getframe"](1)
        for _ in range(_CALLS):
            if module is None or frame is None:
                break
            if _is_getline(frame, module):
                if not self._path:
                    self._path = path
                    self._listen(module)
                self._numbers.add(frame.f_locals["lineno"])
                return True
            frame = frame.f_back
        return False

    def _listen(self, module: ModuleType) -> None:
        """From now on `linecache` knows the whole file: note what is taken from there."""
        original: Callable[..., list[str]] = vars(module)["getlines"]
        get_frame: Callable[[int], FrameType] = vars(sys)["_getframe"]

        def getlines(filename: str, module_globals: object = None) -> list[str]:
            if filename == self._path:
                caller = get_frame(1)
                if _is_getline(caller, module):
                    self._numbers.add(caller.f_locals["lineno"])
                else:
                    self._all_are()
            return original(filename, module_globals)

        getlines.__doc__, getlines.__module__ = original.__doc__, original.__module__
        getlines.__qualname__ = original.__qualname__
        vars(module)["getlines"] = getlines

    def are_same(self, then: bytes, now: bytes) -> bool:
        """Whether the lines that were shown are in another script what they were."""
        old, new = then.splitlines(), now.splitlines()
        return all(old[at - 1 : at] == new[at - 1 : at] for at in self._numbers if at > 0)

    def forget_text(self) -> None:
        """Let the lines of another script be read anew."""
        module = sys.modules.get("linecache")
        if module is not None and self._path:
            vars(module)["cache"].pop(self._path, None)


def _is_getline(frame: FrameType, module: ModuleType) -> bool:
    code = frame.f_code
    return code.co_name == "getline" and code.co_filename == module.__file__
