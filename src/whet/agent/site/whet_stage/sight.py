"""Listens to what the interpreter says of the program: what it is about to read, what it imports.

What any code sees of the file system, and what it does, is noticed from outside
(`whet.host.noticed`); here is what only the interpreter knows.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from .importer import Importer
from .lines import ShownLines
from .unseen import AT_WORK, caller, unseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_IMPORTERS = ("<frozen importlib._bootstrap_external>", "<frozen importlib._bootstrap>")
_METADATA = os.path.join("importlib", "metadata", "__init__.py")
_SOURCE = (".py", ".pyc", ".pyi", ".so")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


# They take the globals of the frame that calls them, or its name.
_NO_LINES = frozenset(
    os.path.join(os.path.dirname(os.__file__), *parts)
    for parts in (
        ("collections", "__init__.py"), ("typing.py",), ("enum.py",), ("dataclasses.py",),
        ("functools.py",), ("abc.py",), ("argparse.py",), ("doctest.py",), ("types.py",),
    )
)  # fmt: skip


TRACERS = frozenset(
    ("sys.settrace", "sys.setprofile", "sys.monitoring.register_callback")
)  # fmt: skip
"""The events by which a debugger, a profiler or a measure of coverage makes itself known."""


class Sight:
    """What the interpreter says of the program since it started or was resumed.

    Attributes:
        is_closed: whet itself is at work.
        ended_by: why no snapshot is taken any more; empty: nothing speaks against it.
        are_lines_seen: whether the program may have looked at numbers of lines.
        lines: of the user's sources, those that were shown.
    """

    def __init__(
        self,
        before_read: Callable[[str], None],
        run_script: Callable[[str], None],
        uses: Callable[[object], None],
        is_source: Callable[[str], bool],
        steps_aside: Callable[[str], None],
    ) -> None:
        self.is_closed = False
        self.ended_by = ""
        self.are_lines_seen = False
        self.lines = ShownLines(all_are=self._sees_source)
        self._before_read = before_read
        self._run_script = run_script
        self._uses = uses
        self._steps_aside = steps_aside
        self._is_source = is_source
        self._importer = Importer()
        self._first_reads: dict[str, int] = {}
        self._own_reads: dict[str, int] = {}
        self._cache = os.environ.get("WHET_PYCACHE") or "\0"
        self._ears: dict[str, Callable[[str, tuple[object, ...]], None]] = {
            "open": self._hears_open,
            "sys.addaudithook": self._hears_hook,
            "sys._getframe": self._hears_frame,
            "object.__getattr__": self._hears_attribute,
            "cpython.run_file": self._hears_script,
            "os.listdir": self._hears_listing,
            "sys.excepthook": self._hears_failure,
            **dict.fromkeys(TRACERS, self._hears_tracer),
        }

    def facts(self) -> tuple[list[str], list[str], dict[str, int], dict[str, int]]:
        """Return what `whet.host.channel` calls sighted."""
        importer = self._importer
        return (
            sorted(importer.places), sorted(importer.modules), importer.listings, self._own_reads
        )  # fmt: skip

    def forget(self) -> None:
        """Begin anew: what was seen so far is known to whet."""
        self._importer.forget()
        self._own_reads = {}

    def observe(self) -> None:
        """Begin to note what the importer looks for."""
        self._importer.observe()
        # A hook is not traced, nor is what runs inside: the script, which runs inside this one.
        vars(Sight.hear)["__cantrace__"] = True

    def end(self) -> None:
        """Leave no function of whet's where the program's way leads through."""
        self._importer.end()
        self.lines.end()

    @unseen
    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Listen to the interpreter: its audit events (PEP 578)."""
        if self.is_closed:
            return
        ear = self._ears.get(event)
        if ear is not None:
            ear(event, arguments)

    def _hears_open(self, _event: str, arguments: tuple[object, ...]) -> None:
        self._opens(arguments[0], arguments[2])

    def _hears_listing(self, _event: str, arguments: tuple[object, ...]) -> None:
        if caller().f_code.co_filename.endswith(_METADATA):
            # It looks for a few names alone, as the importer does; see `whet.host.marks`.
            self._importer.lists(_absolute("." if arguments[0] is None else arguments[0]))

    def _sees_source(self, path: str) -> None:
        if not self.is_closed:
            self._own_reads[path] = -1

    def _hears_hook(self, event: str, _arguments: tuple[object, ...]) -> None:
        self.ended_by = self.ended_by or event

    def _hears_tracer(self, event: str, _arguments: tuple[object, ...]) -> None:
        self._steps_aside(event)

    def _hears_failure(self, _event: str, _arguments: tuple[object, ...]) -> None:
        self.ended_by = self.ended_by or "the program has failed"

    def _hears_attribute(self, _event: str, arguments: tuple[object, ...]) -> None:
        if arguments[1] == "__code__" and not AT_WORK:
            self._uses(arguments[0])

    @unseen
    def _hears_script(self, _event: str, arguments: tuple[object, ...]) -> None:
        script = _absolute(arguments[0])
        # Python itself asks first whether it is an archive.
        self._own_reads = {script: self._first_reads.get(script, 0)}
        vars(Sight.hear)["__cantrace__"] = False
        self._run_script(str(arguments[0]))

    def _hears_frame(self, _event: str, _arguments: tuple[object, ...]) -> None:
        """Note that somebody has taken a frame, unless he is known to want no line of it."""
        if not AT_WORK:
            file = caller().f_code.co_filename
            if not file.startswith("<frozen ") and file not in _NO_LINES:
                self.are_lines_seen = True

    def _opens(self, path: object, flags: object) -> None:
        if isinstance(path, int) or path is None:
            return
        name = _absolute(path)
        self._first_reads[name] = self._first_reads.get(name, 0) + 1
        if not (isinstance(flags, int) and flags & _WRITES) and self._is_data(name):
            self._before_read(name)
        if self._is_source(name) and self.lines.opens(name):
            self._own_reads[name] = self._own_reads.get(name, 0) + 1

    def _is_data(self, name: str) -> bool:
        """Whether a file may be what the user works on: one of the project, or a named one."""
        return (
            not name.endswith(_SOURCE)
            and "site-packages" not in name
            and not name.startswith(
                (sys.base_prefix, sys.prefix, "/proc/", "/sys/", "/dev/", self._cache)
            )
            and caller().f_code.co_filename not in _IMPORTERS
        )


def _absolute(path: object) -> str:
    try:
        return os.path.join(os.getcwd(), os.fsdecode(path))  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError):
        return "\0"  # it will not be found either
