"""Listens to what the interpreter says of the program: what it is about to read, what it imports.

What any code sees of the file system, and what it does, is noticed from outside
(`whet.host.spawner.syscall_decoder`); here is what only the interpreter knows.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys
from types import CodeType

from ..hiding.hidden_frames import CAN_TRACE, caller, hidden_frame, is_at_work
from ..hiding.importer import Importer
from ..hiding.typed import cast
from ..hiding.unfiltered_calls import announce
from ..rewriting.instrument import CHECKPOINT
from ..rewriting.lines import ShownLines
from .recorders import RECORDER
from .source_lookups import SourceLookups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Protocol

_IMPORTERS = ("<frozen importlib._bootstrap_external>", "<frozen importlib._bootstrap>")
_METADATA = os.path.join("importlib", "metadata", "__init__.py")
_SOURCE = (".py", ".pyc", ".pyi", ".so", ".dist-info/RECORD")
_REWRITER = os.path.join("_pytest", "assertion", "rewrite.py")
_CALLS = 4  # between the opening of a file and the rewriter: those of `pathlib`
_RUNNERS = ("<frozen runpy>", os.path.join(os.path.dirname(os.__file__), "runpy.py"))
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_SCRIPT_BEGINS = "/dev/null/begins"  # as of `whet.host.spawner.access_log`


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
"""The events that reveal a debugger, a profiler or a coverage tool."""

if TYPE_CHECKING:

    class Listener(Protocol):
        """Acts on what is heard."""

        def before_read(self, name: str) -> None:
            """Act before a file is read for the first time."""

        def run_script(self, path: str) -> None:
            """Run the main script, or return if Python itself is to."""

        def run_module(self, code: CodeType) -> None:
            """Do the same with the main module of `python -m`."""

        def before_fork(self) -> None:
            """Act on a process that is about to be forked, and that runs the program's functions."""

        def note_used(self, function: object) -> None:
            """Act on a function whose code somebody takes."""

        def has_source(self, path: str) -> bool:
            """Whether a file is a source of the program's own that is followed."""
            ...

        def mark(self, name: str) -> None:
            """Act on a checkpoint."""

        def note_recorder(self, recorder: object) -> None:
            """Note what records sections in this process."""

        def end(self, why: str) -> None:
            """Act on who is about to hear or see what whet does: a debugger, an audit hook."""


class AuditListener:
    """What the interpreter says of the program since it started or was resumed.

    Attributes:
        is_closed: whet itself is at work.
        is_over: nothing is to be heard any more.
        ended_by: why no snapshot is taken any more; empty: nothing speaks against it.
        are_lines_seen: whether the program may have looked at numbers of lines.
        lines: of the user's sources, those that were shown.
    """

    def __init__(
        self, listener: Listener, first: Callable[[str, tuple[object, ...]], None]
    ) -> None:
        """Make it ready.

        Args:
            listener: who acts on what is heard.
            first: hears each event before anybody else.
        """
        self.is_closed = self.is_over = False
        self.ended_by = ""
        self.are_lines_seen = False
        self.lines = ShownLines(all_are=self._sees_source)
        self._listener = listener
        self._first = first
        self._importer = Importer()
        self._looks = SourceLookups(listener.has_source)
        self._own_reads: dict[str, int] = {}
        self._rewritten: dict[str, int] = {}
        self._forgotten: list[tuple[object, ...]] = []
        self._cache = os.environ.get("WHET_PYCACHE") or "\0"
        self._ears: dict[str, Callable[[str, tuple[object, ...]], None]] = {
            "open": self._hears_open,
            "sys.addaudithook": self._hears_hook,
            "sys._getframe": self._hears_frame,
            "object.__getattr__": self._hears_attribute,
            "gc.get_referents": self._hears_referents,
            "cpython.run_file": self._hears_script,
            "cpython.run_module": self._hears_module,
            "os.listdir": self._hears_listing,
            CHECKPOINT: self._hears_checkpoint,
            RECORDER: self._hears_recorder,
            **dict.fromkeys(("os.fork", "os.forkpty"), self._hears_fork),
            "subprocess.Popen": self._hears_process,
            "sys.excepthook": self._hears_failure,
            **dict.fromkeys(TRACERS, self._hears_tracer),
        }

    def facts(
        self,
    ) -> tuple[
        list[str],
        list[str],
        dict[str, int],
        dict[str, int],
        dict[str, int],
        dict[str, tuple[int, ...]],
    ]:
        """Return what `whet.host.process.channel` calls sighted."""
        importer = self._importer
        return (
            sorted(importer.places), sorted(importer.modules), importer.listings, self._own_reads,
            self._looks.facts(), importer.marks,
        )  # fmt: skip

    def guards(self) -> dict[str, Callable[[dict[str, object]], None]]:
        """Return what is to be called with the namespaces of modules when they have been run."""
        return {"pathlib": self._looks.watch_paths}

    def forget(self) -> None:
        """Start over: whet knows what was seen so far."""
        self._importer.forget()
        self._forgotten.append((self._own_reads, self._looks.own))
        self._own_reads = {}
        self._looks.begin_process()
        self.lines.begin_process()

    def observe(self) -> None:
        """Begin to note what the importer looks for."""
        self._importer.observe()
        self._looks.observe()
        # A hook isn't traced, nor is what runs inside: the main script, which runs inside this one.
        vars(AuditListener.hear)["__cantrace__"] = CAN_TRACE

    def end(self) -> None:
        """Be still for good, and leave no function of whet's where the program comes through."""
        self.is_over = True
        self._importer.end()
        self._looks.end()
        self.lines.end()

    @hidden_frame
    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Listen to the interpreter: its audit events (PEP 578)."""
        if self.is_closed or self.is_over:
            return
        self._first(event, arguments)
        ear = self._ears.get(event)
        if ear is not None:
            ear(event, arguments)

    def _hears_open(self, _event: str, arguments: tuple[object, ...]) -> None:
        self._opens(arguments[0], arguments[2])

    def _hears_listing(self, _event: str, arguments: tuple[object, ...]) -> None:
        if caller().f_code.co_filename.endswith(_METADATA):
            # It looks for a few names alone, as the importer does; see `whet.host.files.marks`.
            self._importer.lists(_absolute("." if arguments[0] is None else arguments[0]))

    def notes_rewritten(self, path: str) -> None:
        """Note that pytest's rewriter has read a module, as Python reads others."""
        self._own_reads[path] = self._own_reads.get(path, 0) + self._rewritten.pop(path, 0)
        self._looks.free.add(path)

    def _sees_source(self, path: str) -> None:
        if not (self.is_closed or self.is_over):
            self._own_reads[path] = -1

    def _hears_hook(self, _event: str, _arguments: tuple[object, ...]) -> None:
        self._listener.end("it has an audit hook (sys.addaudithook)")

    def _hears_tracer(self, event: str, _arguments: tuple[object, ...]) -> None:
        if not is_at_work():
            self._listener.end(f"a tracer is active ({event})")

    def _hears_fork(self, _event: str, _arguments: tuple[object, ...]) -> None:
        self.are_lines_seen = True  # or may be, there
        self._listener.before_fork()

    def _hears_process(self, _event: str, _arguments: tuple[object, ...]) -> None:
        if caller().f_locals.get("preexec_fn") is not None:
            self._hears_fork("os.fork", ())

    def _hears_failure(self, _event: str, _arguments: tuple[object, ...]) -> None:
        self.ended_by = self.ended_by or "the program has failed"

    def _hears_attribute(self, _event: str, arguments: tuple[object, ...]) -> None:
        if arguments[1] == "__code__" and not is_at_work():
            self._listener.note_used(arguments[0])

    def _hears_referents(self, _event: str, arguments: tuple[object, ...]) -> None:
        for each in cast("tuple[object, ...]", arguments[0]):
            self._listener.note_used(each)

    @hidden_frame
    def _hears_script(self, _event: str, arguments: tuple[object, ...]) -> None:
        script = _absolute(arguments[0])
        vars(AuditListener.hear)["__cantrace__"] = False  # what this hook hears is whet's own again
        # Python itself asks first whether it is an archive.
        announce(_SCRIPT_BEGINS + script)
        self._own_reads = {}
        self._listener.run_script(str(arguments[0]))

    def _hears_recorder(self, _event: str, arguments: tuple[object, ...]) -> None:
        if arguments:
            self._listener.note_recorder(arguments[0])

    def _hears_checkpoint(self, _event: str, arguments: tuple[object, ...]) -> None:
        name = arguments[0] if arguments else None
        if type(name) is str:  # others may have methods of their own
            self._listener.mark(name)

    def _hears_module(self, _event: str, _arguments: tuple[object, ...]) -> None:
        self._ears["exec"] = self._hears_exec

    @hidden_frame
    def _hears_exec(self, _event: str, arguments: tuple[object, ...]) -> None:
        code, runs = arguments[0], caller().f_code
        if runs.co_name == "_run_code" and runs.co_filename in _RUNNERS:
            del self._ears["exec"]
            vars(AuditListener.hear)["__cantrace__"] = False
            if isinstance(code, CodeType):
                self._listener.run_module(code)

    def _hears_frame(self, _event: str, _arguments: tuple[object, ...]) -> None:
        """Note that somebody has taken a frame, unless he is known to want no line of it."""
        if not is_at_work():
            file = caller().f_code.co_filename
            if not file.startswith("<frozen ") and file not in _NO_LINES:
                self.are_lines_seen = True

    def _opens(self, path: object, flags: object) -> None:
        if isinstance(path, int) or path is None:
            return
        if type(path) is str and path.endswith(".pyc") and path.startswith("/"):
            return  # it stands for its source: two hundred of them are read in a start
        name = _absolute(path)
        if not (isinstance(flags, int) and flags & _WRITES) and self._is_data(name):
            self._listener.before_read(name)
        if name.endswith(".py") and _is_rewriter(caller()):
            self._rewritten[name] = self._rewritten.get(name, 0) + 1
        if self._listener.has_source(name) and self.lines.opens(name):
            self._own_reads[name] = self._own_reads.get(name, 0) + 1
            self._looks.at_line(name)

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


def _is_rewriter(frame: FrameType | None) -> bool:
    """Whether it is pytest that reads a module to compile it."""
    for _ in range(_CALLS):
        if frame is None:
            break
        if frame.f_code.co_filename.endswith(_REWRITER):
            return frame.f_code.co_name in {"_rewrite_test", "_read_pyc"}
        frame = frame.f_back
    return False


def _absolute(path: object) -> str:
    try:
        return os.path.join(os.getcwd(), os.fsdecode(cast("str", path)))
    except (OSError, TypeError, ValueError):
        return "\0"  # it will not be found either
