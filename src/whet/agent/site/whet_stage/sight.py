"""Listens to what the interpreter says of the program: what it is about to read, what it imports.

What any code sees of the file system, and what it does, is noticed from outside
(`whet.host.noticed`); here is what only the interpreter knows.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from .importer import Importer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_IMPORTERS = ("<frozen importlib._bootstrap_external>", "<frozen importlib._bootstrap>")
_SOURCE = (".py", ".pyc", ".pyi", ".so")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Sight:
    """What the interpreter says of the program since it started or was resumed.

    Attributes:
        is_closed: whet itself is at work.
        ended_by: why no snapshot is taken any more; empty: nothing speaks against it.
    """

    def __init__(
        self, before_read: Callable[[str], None], run_script: Callable[[str], None]
    ) -> None:
        self.is_closed = False
        self.ended_by = ""
        self._before_read = before_read
        self._run_script = run_script
        self._importer = Importer()
        self._first_reads: dict[str, int] = {}
        self._own_reads = 0
        self._cache = os.environ.get("WHET_PYCACHE") or "\0"

    def facts(self) -> tuple[list[str], list[str], dict[str, int], int]:
        """Return what `whet.host.channel` calls sighted."""
        importer = self._importer
        return (
            sorted(importer.places), sorted(importer.modules), importer.listings, self._own_reads
        )  # fmt: skip

    def forget(self) -> None:
        """Begin anew: what was seen so far is known to whet."""
        self._importer.forget()
        self._own_reads = 0

    def observe(self) -> None:
        """Begin to note what the importer looks for."""
        self._importer.observe()

    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Listen to the interpreter: its audit events (PEP 578)."""
        if self.is_closed:
            return
        if event == "open":
            self._opens(arguments[0], arguments[2])
        elif event == "sys.addaudithook":
            self.ended_by = self.ended_by or event
        elif event == "cpython.run_file":
            script = _absolute(arguments[0])
            # Python itself asks first whether it is an archive.
            self._own_reads = self._first_reads.get(script, 0)
            self._run_script(script)

    def _opens(self, path: object, flags: object) -> None:
        if isinstance(path, int) or path is None:
            return
        name = _absolute(path)
        self._first_reads[name] = self._first_reads.get(name, 0) + 1
        if not (isinstance(flags, int) and flags & _WRITES) and self._is_data(name):
            self._before_read(name)

    def _is_data(self, name: str) -> bool:
        """Whether a file may be what the user works on: one of the project, or a named one."""
        return (
            not name.endswith(_SOURCE)
            and "site-packages" not in name
            and not name.startswith(
                (sys.base_prefix, sys.prefix, "/proc/", "/sys/", "/dev/", self._cache)
            )
            and _caller(3) not in _IMPORTERS
        )


def _absolute(path: object) -> str:
    try:
        return os.path.join(os.getcwd(), os.fsdecode(path))  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError):
        return "\0"  # it will not be found either


def _caller(depth: int) -> str:
    """Return the file of the code that many calls above the caller of this function."""
    frame: FrameType = getattr(sys, "_getframe")(depth + 1)  # noqa: B009 - type checkers take it for private
    return frame.f_code.co_filename
