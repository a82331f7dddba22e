"""The file into which one process tells what was seen of it."""

from __future__ import annotations

import os
import sys
from _json import encode_basestring_ascii as _quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import FrameType
    from typing import Any
if TYPE_CHECKING or __name__.startswith("whet."):
    from whet.agent.site.whet_installed import is_library
else:
    from whet_installed import is_library

_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, see `whet.host.kernel.syscalls`
_MOST_LINES = 2000
_RESERVED_BYTES = 1 << 16
_HIGH = (1002, 502, 252, 122, 62)
number_of: Callable[[object], int] = vars(object)["__hash__"]
"""`id` without its audit event: reporting that to the hooks takes longer than everything else here."""


class ReportLines:
    """Lines of JSON, each written when it is told; the file is open before files run out."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._left = _MOST_LINES
        self._pid = 0
        self._descriptor = -1
        self._open()

    def tell(self, kind: str, **facts: Any) -> None:
        """Write one thing down; nothing is told of what goes wrong in that."""
        if self._left <= 0:
            return
        self._left -= 1
        if self._pid != os.getpid():
            self._open()  # forked: its own file
        line = as_json({"kind": kind, "pid": self._pid, **facts}) + "\n"
        try:
            os.write(self._descriptor, line.encode("ascii"))
        except OSError:
            self._left = 0

    def _open(self) -> None:
        self._pid = os.getpid()
        self._descriptor = open_high(
            os.path.join(self._folder, "{}.closer".format(self._pid)), os.O_WRONLY | os.O_CREAT
        )
        # The disk may be full by the time there is something to tell.
        reserve(self._descriptor, _RESERVED_BYTES)


def open_high(path: str, flags: int) -> int:
    """Open a file of whet's own, high up where no program looks that counts or closes the first few."""
    try:
        low = os.open(path, flags | os.O_CLOEXEC, 0o600, dir_fd=_MAGIC_FOLDER)
    except OSError:
        return -1
    for high in _HIGH:
        try:
            os.fstat(high)
        except OSError:
            try:
                os.dup2(low, high, inheritable=False)
            except OSError:
                continue
            os.close(low)
            return high
    return low


def reserve(descriptor: int, size: int) -> bool:
    """Have room on the disk for what will be written to a file; whether there is any."""
    try:
        os.posix_fallocate(descriptor, 0, size)
    except (AttributeError, OSError):
        return False
    return True


def innermost_frames() -> dict[int, FrameType]:
    """Return the innermost frame of each thread."""
    found: dict[int, FrameType] = vars(sys)["_current_frames"]()
    return found


def stack_of(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame, the one that called it, and so on."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def place(frame: FrameType) -> list[Any]:
    """Return file, line and function of a frame."""
    code = frame.f_code
    return [code.co_filename, frame.f_lineno or 0, getattr(code, "co_qualname", code.co_name)]


def variables_of(frame: FrameType) -> Mapping[str, Any]:
    """Return what the variables of a call that is traced hold.

    Python 3.12 makes None of the variables of a module's comprehensions if a trace function asks
    for all that the module holds: there they stay unknown.
    """
    code = frame.f_code
    is_function = code.co_flags & 0x1
    is_emptied = _IS_3_12 and not is_function and code.co_varnames
    return frame.f_globals if is_emptied else frame.f_locals


def is_own(path: str) -> bool:
    """Whether a file is the user's: neither Python's, nor installed, nor whet's."""
    return not (path.startswith(("<", _HERE)) or is_library(path))


def user_place(frame: FrameType | None) -> list[Any]:
    """Return the innermost place in the user's own code; empty if there is none."""
    while frame is not None:
        if is_own(frame.f_code.co_filename):
            return place(frame)
        frame = frame.f_back
    return []


def as_json(value: Any) -> str:
    """Return data as JSON; `json` itself would bring in what the program may not have."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if value.__class__ is dict:
        pairs: Iterable[tuple[str, Any]] = value.items()
        return "{" + ",".join([_quoted(k) + ":" + as_json(v) for k, v in pairs]) + "}"
    if type(value) in {list, tuple}:
        return "[" + ",".join(map(as_json, value)) + "]"
    return _quoted(value) if type(value) is str else repr(value)


_IS_3_12 = sys.version_info[:2] == (3, 12)
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
