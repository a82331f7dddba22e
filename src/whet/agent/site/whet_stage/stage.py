"""Runs the main script so that frozen copies of the process can be taken on the way.

Only in a process that whet started for it. A *snapshot* is a forked copy that waits on a socket.
Resumed, it forks once more, and that copy runs on: with what files hold now, and with the rest of
the main script as it is now. Whether a snapshot may be resumed after an edit is decided by whet
(`whet.execution.warm`); here it is observed what each one has seen.

Standard library only, Python 3.9 or later. It leaves no name where the program could find it.
"""

from __future__ import annotations

import _socket
import ast
import copy
import marshal
import os
import sys
import time
from types import FunctionType

from . import BEFORE, stdin
from .debugger import open_at_failure, open_in
from .descriptors import CUDA, offsets, reopen
from .edits import Edit, functions_of
from .exit import OWN_FILES, run_and_exit
from .freeze import Ready, fork_away, receive, send
from .hygiene import begin, hindrance
from .importer import own_read
from .private import hide_own, invalidate_caches, show_own
from .process import is_leader
from .script import Resumed, Script
from .sight import Sight
from .sources import Source
from .unseen import caller, unseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType


def install(wish: str) -> list[Callable[[str, str], CodeType | None]] | None:
    """Take over the main script of this process.

    Args:
        wish: how many seconds a stretch of the program takes that is worth a snapshot at its
            end, and the socket at which whet waits for snapshots: ``0.05:/tmp/whet-x/stage``.

    Returns:
        what loads the user's modules, now and later; None: this is not the process that whet
        has started.
    """
    if not is_leader():
        return None  # whet waits for the process that it started, and could not go on with this one
    begin()
    seconds, _, address = wish.partition(":")
    stage = _Stage(address, float(seconds))
    stage.sight.observe()
    sys.addaudithook(stage.sight.hear)
    OWN_FILES.update(_forget_modules())
    return stage.loading


def _forget_modules() -> list[str]:
    """Leave no name where the program could find it; return the files of this package.

    The program may have an `enum.py` of its own: it must find that one, not whet's.
    """
    package = __name__.partition(".")[0]
    for _ in ast.walk(copy.deepcopy(ast.parse("0"))):
        pass  # both import more when they are called first
    forgotten = {name: sys.modules[name] for name in sys.modules.keys() - BEFORE}
    hide_own(BEFORE)
    forgotten[package] = sys.modules.pop(package)
    return [
        str(module.__file__)
        for name, module in forgotten.items()
        if name.partition(".")[0] == package
    ]


class _Stage:
    """The program, and the snapshots it has taken."""

    def __init__(self, address: str, worth_seconds: float) -> None:
        self.sight = Sight(
            self._before_read, self._run_script, self._note_used,
            is_source=self._has_source, steps_aside=self._step_aside,
        )  # fmt: skip
        self._script = Script(self._offer, worth_seconds)
        self._sources: dict[str, Source] = {}
        self._shared: set[str] = set()
        self._address = address
        self._worth_seconds = worth_seconds
        self._pid = os.getpid()
        self._began = time.perf_counter()
        self._is_aside = False
        self.loading: list[Callable[[str, str], CodeType | None]] = [self.load]

    def load(self, name: str, path: str) -> CodeType | None:
        """Return the code of a module of the user's, so that its functions can be followed.

        Returns:
            None: Python is to do it, which says in its own words if it cannot.
        """
        if path in self._sources or path in self._shared:
            # Two modules from one file are not followed: that it was read has to be seen.
            self._shared.add(path)
            self._sources.pop(path, None)
            return None
        was_closed, self.sight.is_closed = self.sight.is_closed, True
        modules = show_own()
        try:
            text = own_read(path)
            source = Source(name, path, text, ast.parse(text, path))
            code = source.code()
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None
        else:
            self._sources[path] = source
            return code
        finally:
            hide_own(modules)
            self.sight.is_closed = was_closed

    def _step_aside(self, event: str) -> None:
        """Make room for a debugger: from here on the program has all code as it would cold."""
        if self._is_aside or self._pid != os.getpid():
            return
        self.sight.is_closed = self._is_aside = True
        self.sight.ended_by = self.sight.ended_by or f"the program is traced ({event})"
        try:
            nothing: dict[object, object] = {}
            self.loading[:] = [nothing.__setitem__]  # loads none, without a frame of whet's
            self._script.step_aside()
            stdin.end()
            self.sight.end()
            for source in self._sources.values():
                space = source.module
                found = () if space is None else tuple(functions_of(source.path, space))
                source.show_all(each for each in found if each not in self._script.woven)
        finally:
            self.sight.is_closed = False

    def _has_source(self, path: str) -> bool:
        return path in self._sources

    def _note_used(self, function: object) -> None:
        """Note that somebody has taken a function's code, unless he wants its parameters alone."""
        self.sight.is_closed = True
        if isinstance(function, FunctionType):
            source = self._sources.get(function.__code__.co_filename)
            if source is not None and not _is_signature(caller().f_code):
                source.show(function)
        self.sight.is_closed = False

    def _before_read(self, name: str) -> None:
        if time.perf_counter() - self._script.since >= self._worth_seconds:
            self._offer("reads", name)

    def _offer(self, kind: str, place: str) -> None:
        """Take a snapshot if it can be done."""
        if self.sight.ended_by or self.sight.is_closed:
            return
        if os.getpid() != self._pid:
            self.sight.ended_by = "a forked process"
            return
        self.sight.is_closed = True
        try:
            # Most hindrances go away: a pool is closed, a child is waited for.
            why = hindrance()
            if not why:
                self._take(kind, place, time.perf_counter() - self._began)
            elif why == CUDA:  # not this statement; it takes long, so that the last one is known
                last = self._script.last_place() if kind == "statement" else place
                self.sight.ended_by = f"{why} since {last}"
        finally:
            self.sight.is_closed = False
            self._script.since = time.perf_counter()

    def _take(self, kind: str, place: str, seconds: float) -> None:
        """Fork a copy that waits; return here, and in each copy that is resumed from it."""
        of = offsets()
        waiting, woken = os.pipe()
        try:
            is_original = bool(fork_away())
        except OSError:  # no memory, or too many processes: then there is no snapshot
            is_original = True
        if is_original:
            os.close(woken)
            if os.read(waiting, 1):
                self.sight.ended_by = "whet has said so"
            os.close(waiting)
            return
        os.close(waiting)
        are_frames_new, is_debugged = self._wait(woken, kind, place, seconds)
        # From here on this is the process of a resumed run.
        self._pid = os.getpid()
        reopen(of)
        self.sight.forget()
        self._began = time.perf_counter() - seconds
        invalidate_caches()
        if is_debugged:
            self._debug(are_frames_new=are_frames_new)
        if are_frames_new:
            raise Resumed

    def _debug(self, *, are_frames_new: bool) -> None:
        """Open pdb where this copy goes on."""
        self.sight.ended_by = "a debugger"
        open_at_failure()
        if are_frames_new:
            self._script.stop = open_in
            return
        frames = _stack()
        own = (each for each in frames if each.f_code.co_filename in self._sources)
        open_in(next(own, frames[0]))

    def _wait(self, woken: int, kind: str, place: str, seconds: float) -> tuple[bool, bool]:
        """Be a snapshot; return in a copy that runs on.

        Returns:
            whether its stage frames are to be made anew, and whether it is to be debugged.
        """
        os.setsid()
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        line.connect(self._address)
        texts = {path: source.text for path, source in self._sources.items()}
        stack = [_named(frame) for frame in reversed(_stack()) if not _is_importer(frame)]
        send(line, (kind, place, seconds, self.sight.facts(), texts, stack))
        # The original runs on when whet knows of this copy and has taken in all its output.
        answer = receive(line)[0]
        if not answer or marshal.loads(answer) == "no":
            os.write(woken, b"\1" if answer else b"")
            os._exit(0)
        os.close(woken)
        # A frozen process must not keep the streams of a run that has ended.
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
        ready = Ready()
        while True:
            order, streams = receive(line)
            if not order:
                os._exit(0)
            wish: tuple[dict[str, bytes], int, bool] = marshal.loads(order)
            changed, terminal, is_debugged = wish
            if streams:
                send(line, ready.go(streams, terminal))
            elif ready.begin():
                send(line, ready.answer())
            else:
                line.close()
                ready.become(self._prepared(changed, at_point=kind == "statement"))
                return ready.is_changed, is_debugged

    def _prepared(self, changed: dict[str, bytes], *, at_point: bool) -> str:
        """Take on what files say now; say ``same`` or ``changed``, empty if that cannot be."""
        if not changed:
            return "same"
        lines, modules = self.sight.lines, show_own()
        try:
            if not all(
                lines.are_same(path, self._sources[path].text, now) for path, now in changed.items()
            ):
                return ""
            stack = [] if at_point else _stack()
            edit = Edit(
                self._sources,
                self._script,
                changed,
                stack=stack,
                are_lines_seen=self.sight.are_lines_seen,
            )
            needs_frames = any(frame.source.path in changed for frame in self._script.frames)
            if needs_frames:
                self._script.capture()
            edit.apply()
            lines.forget_texts(changed)
            self._sources.update(edit.sources)
            if needs_frames:
                self._script.change(self._sources, edit.nodes)
        except Exception:  # noqa: BLE001 - whatever it is, an earlier snapshot has to do
            return ""
        finally:
            hide_own(modules)
        return "changed" if needs_frames else "same"

    @unseen
    def _run_script(self, path: str) -> None:
        if sys.gettrace() or sys.getprofile():
            return  # Python runs it, and whoever traces it sees nothing of whet
        self.sight.is_closed = True
        if self._script.prepare(path, self._sources):
            try:
                run_and_exit(self._script.run, self._begin, has_last_words=self._has_last_words)
            finally:
                self.sight.is_closed = True
        self.sight.is_closed = False  # Python says it in its own words

    def _has_last_words(self) -> bool:
        self._script.forget()
        return any(source.has_last_words() for source in self._sources.values())

    def _begin(self) -> None:
        self.sight.is_closed = False
        self._script.since = time.perf_counter()


def _is_signature(code: CodeType) -> bool:
    return os.path.basename(code.co_filename) == "inspect.py" and code.co_name in {
        "_signature_from_function", "_has_code_flag", "_signature_from_callable",
    }  # fmt: skip


def _named(frame: FrameType) -> tuple[str, str]:
    return frame.f_code.co_filename, frame.f_code.co_name


def _is_importer(frame: FrameType) -> bool:
    """Whether no traceback shows a frame."""
    return frame.f_code.co_filename.startswith("<frozen importlib")


def _stack() -> list[FrameType]:
    """Return all frames of the program, the innermost first."""
    found: list[FrameType] = []
    frame: FrameType | None = caller()
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found
