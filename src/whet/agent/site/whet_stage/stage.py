"""Runs the main script so that frozen copies of the process can be taken on the way.

Only in a process that whet started for it. A *snapshot* is a forked copy that waits on a socket.
Resumed, it forks once more, and that copy runs on: with what files hold now, and with the rest of
the main script as it is now. Whether a snapshot may be resumed after an edit is decided by whet
(`whet.execution.warm`); here it is observed what each one has seen.

Standard library only, Python 3.9 or later. It leaves no name where the program could find it.
"""

from __future__ import annotations

import _socket
import os
import sys
import time
from types import FunctionType

from . import BEFORE
from .forking import stdin
from .forking.descriptors import CUDA, inherit_again, opened, skip_stdin, stdin_offset
from .forking.exit import OWN_FILES, flush, run_and_exit
from .forking.fork_safety import begin, blocker
from .forking.freeze import send
from .forking.leaving import tell_how_it_ends
from .forking.sleepers import WOKEN
from .forking.snapshot_policy import SnapshotPolicy
from .hiding.hidden_frames import caller, hidden_frame
from .hiding.private import (
    collect_again,
    hide_own,
    invalidate_caches,
    is_alone,
    is_import_replaced,
    show_own,
    stop_collecting,
)
from .hiding.started import why_absent
from .hiding.unfiltered_calls import whole
from .hiding.warned import are_any_shown
from .rewriting.debugger import open_at_failure, open_in
from .rewriting.edits import Functions
from .rewriting.script import Resumed, Script
from .rewriting.sources import Source, has_hook, key_of_code
from .waiting import Waiting, stack
from .watching.audit_listener import AuditListener
from .watching.awaited import Awaited
from .watching.code_requests import PARAMETERS, PLACE, part_asked_for
from .watching.point import Point, stack_of
from .watching.recorders import Recorders
from .watching.suites import Suite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from .forking.sleepers import Sleepers
    from .forking.taken import Taken
    from .rewriting.module_facts import Rewrite, Store
    from .watching.suites import Guard

    Load = Callable[[str, str], "CodeType | None"]
else:
    pass


def install(
    wish: str, anew: Callable[[], object], store: Store
) -> tuple[list[Load], dict[str, Guard]]:
    """Take over the main script of this process.

    Args:
        wish: lines: the number of the process that whet has started, and what that had open; how many seconds a stretch
            of the program takes that is worth a snapshot at its end; the socket at which whet
            waits for snapshots; how many of the last arguments a search varies (-1: that isn't
            what it varies); how many lines tell of a place before which there is to be one
            (`whet_stage.watching.point`), and these; the paths of the files that a search varies.
        anew: what else the agent does for a process of its own, in a resumed one.
        store: keeps the code of modules, with hooks, from one run to the next.

    Returns:
        what loads the user's modules, now and later (none: this isn't the process that whet has
        started), and what installed ones are handed to when they have been run.
    """
    first, seconds, address, words, count, *told = wish.split("\n")
    at, varied = told[: int(count)], told[int(count) :]
    pid, *given = first.split()
    why = why_absent(int(pid), given)
    if why:
        _tell(address, "absent", why)
        _forget_modules()
        return [], {}
    begin()
    stage = _Stage(address, float(seconds), (varied, int(words)), anew, store)
    stage.tell("present")
    stage.point = Point(stack_of(at), stage.before_point)
    stage.audit_listener.observe()
    stage.awaited.begin()
    sys.addaudithook(stage.audit_listener.hear)
    OWN_FILES.update(_forget_modules())
    stage.point.begin()
    return stage.loading, stage.guards


def _forget_modules() -> list[str]:
    """Leave no name where the program could find it; return the files of this package.

    The program may have an `enum.py` of its own: it must find that one, not whet's.
    """
    package = __name__.partition(".")[0]
    forgotten = {name: sys.modules[name] for name in sys.modules.keys() - BEFORE}
    hide_own((BEFORE, stop_collecting()))
    forgotten[package] = sys.modules.pop(package)
    return [
        str(module.__file__)
        for name, module in forgotten.items()
        if name.partition(".")[0] == package
    ]


_MOST_TOLD = 4096
_AT_STATEMENTS = ("statement", "checkpoint")
_TRIES = 3


class _Stage:
    """The program, and the snapshots it has taken."""

    def __init__(
        self,
        address: str,
        worth_seconds: float,
        varied: tuple[list[str], int],
        anew: Callable[[], object],
        store: Store,
    ) -> None:
        self._store = store
        self._recorders = Recorders()
        self.awaited = Awaited(*varied, self._before_awaited, self._before_effect)
        self.audit_listener = AuditListener(self, first=self.awaited.hear)
        self.suite = Suite(self._load_test, lambda name: self._before("test", name))
        self.point = Point((), self.before_point)
        self._anew = anew
        self._is_search = varied != ([], -1)
        self._snapshot_policy = SnapshotPolicy(worth_seconds)
        self._script = Script(self._offer, self._snapshot_policy)
        self._sources: dict[str, Source] = {}
        self._shared: dict[str, Source] = {}
        self._told: set[str] = set()
        self._address = address
        self._pid = os.getpid()
        self._began = time.perf_counter()
        self._copy: Waiting | None = None
        self.guards = {**self.suite.guards(), **self.audit_listener.guards()}
        self.loading: list[Callable[[str, str], CodeType | None]] = [self.load]

    def load(self, name: str, path: str) -> CodeType | None:
        """Return the code of a module of the user's, so that its functions can be followed.

        Returns:
            None: Python is to do it, which says in its own words if it can't.
        """
        # What a forked process reads is held there, and not known here.
        if is_import_replaced() or not is_alone() or os.getpid() != self._pid:
            return None
        # A library that imports it stands between two statements: it may do so for long.
        self._before("reads", os.path.basename(path))
        code = self._code_of(path) if self._read(name, path) else None
        if code is not None and are_any_shown(self._sources[path].warned):
            del self._sources[path]
            return None  # whether it has warned before, Python alone knows
        return code

    def _load_test(self, code: CodeType, name: str, rewrite: Rewrite) -> CodeType:
        """Return the code of a module that pytest has compiled; itself if it isn't followed."""
        path = code.co_filename
        is_here = is_alone() and os.getpid() == self._pid
        if not is_here or not self._read(name, path, rewrite):
            return code
        self._sources[path].keep_plain(code)
        self.audit_listener.notes_rewritten(path)
        # Nothing of it has been run yet: in a resumed run it may say anything.
        self._sources[path].has_begun = False
        self._before("reads", os.path.basename(path))
        self._sources[path].has_begun = True
        return self._code_of(path) or code

    def _read(self, name: str, path: str, rewrite: Rewrite | None = None) -> bool:
        """Read a module of the user's; say whether it can be followed."""
        if path in self._sources or path in self._shared:
            # Two modules from one file aren't followed: that it was read has to be seen.
            if path in self._sources:
                self._shared[path] = self._sources.pop(path)
            return False
        self.awaited.meet(path)
        was_closed, self.audit_listener.is_closed = self.audit_listener.is_closed, True
        modules = show_own()
        try:
            text = whole(path)
            self._sources[path] = Source(name, path, text, rewrite, self._store)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return False
        else:
            return True
        finally:
            hide_own(modules)
            self.audit_listener.is_closed = was_closed

    def _code_of(self, path: str) -> CodeType | None:
        was_closed, self.audit_listener.is_closed = self.audit_listener.is_closed, True
        modules = show_own()
        try:
            return self._sources[path].code()
        except (SyntaxError, ValueError, RecursionError):
            del self._sources[path]
            return None
        finally:
            hide_own(modules)
            self.audit_listener.is_closed = was_closed

    def end(self, why: str) -> None:
        """Leave nothing of whet's that the program, or who looks on, could hear or see.

        From here on it has all code as it would cold.

        Args:
            why: what keeps whet from further snapshots.
        """
        if self.audit_listener.is_over:
            return
        self.audit_listener.is_closed = True
        if not self.audit_listener.ended_by and os.getpid() == self._pid:
            place = self._script.last_place() if self._script.frames else ""
            self.tell("hindered", place, time.perf_counter() - self._began, why)
        self.audit_listener.ended_by = self.audit_listener.ended_by or why
        try:
            nothing: dict[object, object] = {}
            self.loading[:] = [nothing.__setitem__]  # loads none, without a frame of whet's
            self.guards.clear()
            self._script.end()
            self.suite.end()
            self.awaited.end()
            self.point.end()
            stdin.end()
            self.audit_listener.end()
            for source in self._all_sources():
                space = source.module
                found = () if space is None else Functions().of(source.path, space)
                source.show_all(each for each in found if each not in self._script.woven)
        finally:
            self.audit_listener.is_closed = False

    def has_source(self, path: str) -> bool:
        return path in self._sources

    def note_recorder(self, recorder: object) -> None:
        self._recorders.add(recorder)

    def before_fork(self) -> None:
        """Note that what a forked process runs is noted there, and lost with it."""
        lines = {
            frame.f_code.co_filename: frame.f_lineno
            for frame in stack()
            if frame.f_code.co_name == "<module>"
        }
        for source in self._all_sources():
            source.note_run_unseen(lines.get(source.path, 0))

    def note_used(self, function: object) -> None:
        """Note that somebody has taken a function's code, unless he wants its parameters alone."""
        self.audit_listener.is_closed = True
        if isinstance(function, FunctionType):
            source = self._source_of(function.__code__)
            part = PARAMETERS if source is None else part_asked_for(caller())
            if source is not None and part == PLACE:
                source.placed.add(key_of_code(function.__code__))
            elif source is not None and part != PARAMETERS:
                source.show(function)
        self.audit_listener.is_closed = False

    def _all_sources(self) -> tuple[Source, ...]:
        return *self._sources.values(), *self._shared.values()

    def _source_of(self, code: CodeType) -> Source | None:
        """Return what follows a function, or has followed it until a second module had its file."""
        path = code.co_filename
        if path in self._shared and has_hook(code):
            return self._shared[path]
        return self._sources.get(path)

    def before_read(self, name: str) -> None:
        if self._snapshot_policy.is_due():
            self._offer("reads", self._reader_of(name))

    def _reader_of(self, file: str) -> str:
        """Return the name of a file, or if it is none of the user's the line of his that reads it."""
        frame: FrameType | None = caller()
        while frame is not None and not self._is_own(frame.f_code.co_filename):
            frame = frame.f_back
        folders = {os.path.dirname(path) + os.sep for path in self._sources}
        if frame is None or file.startswith(tuple(folders)):
            return file
        line = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        return f"{line} (reads {os.path.basename(file)})"

    def _before(self, kind: str, name: str) -> None:
        if self._snapshot_policy.is_due():
            self._offer(kind, name)

    def mark(self, name: str) -> None:
        """Take a snapshot where the program has asked for one."""
        if self._script.marks(name):
            frame = caller().f_back or caller()
            line = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
            self._offer("checkpoint", name or line)

    def _before_awaited(self, name: str) -> None:
        """Take a snapshot before what a search varies is seen, or say why that can't be."""
        why = self._offer("awaits", name)
        if why and not self.audit_listener.is_closed:
            self.audit_listener.is_closed = True
            where = os.path.basename(name) + (" is" if "/" in name else " are")
            self.tell("hindered", os.path.basename(name), 0.0, f"{why}, before {where} read")
            self.audit_listener.is_closed = False

    def before_point(self, place: str) -> None:
        """Take a snapshot before native code sees what a search varies."""
        if self.awaited:
            self._offer("awaits", place)

    def _before_effect(self, event: str) -> None:
        self._offer("effect", event)

    def tell(self, *facts: object) -> None:
        """Tell whet something in passing."""
        _tell(self._address, *facts)

    def _offer(self, kind: str, place: str) -> str:
        """Take a snapshot if it can be done; return why not, empty if it was taken."""
        if self.audit_listener.ended_by or self.audit_listener.is_closed:
            return self.audit_listener.ended_by or "whet itself is running"
        if self._is_search and kind != "awaits" and not self.awaited:
            return "the program has already read what the search varies"  # no other run could resume from here
        if os.getpid() != self._pid:
            self.audit_listener.ended_by = "a forked process"
            return "a forked process sees it first"
        self.audit_listener.is_closed = True
        began, pid, collecting = time.perf_counter(), self._pid, stop_collecting()
        try:
            return self._why_none(kind, place)
        finally:
            self.audit_listener.is_closed = False
            if self._pid == pid:
                at_statement = kind in _AT_STATEMENTS
                self._snapshot_policy.note(time.perf_counter() - began, at_statement=at_statement)
            else:
                self._snapshot_policy.begin()
                self._script.collecting = collecting
            collect_again(collecting)

    def _why_none(self, kind: str, place: str) -> str:
        """Take a snapshot, and let go of all that was made for it; return why there is none."""
        # Most blockers go away: a pool is closed, a child is waited for.
        seconds = time.perf_counter() - self._began
        why = WOKEN
        for _ in range(_TRIES):  # a thread may wake by chance, as a progress bar's does
            if why == WOKEN:
                self._recorders.rest()
                why, taken = blocker(self._is_own)
                why = why or self._take(kind, place, seconds, taken)
        if why:
            self._hindered(why, kind, place, seconds)
        return why

    def _hindered(self, why: str, kind: str, place: str, seconds: float) -> None:
        if why == CUDA:  # not this statement; it takes long, so that the last one is known
            last = self._script.last_place() if kind == "statement" else place
            why = self.audit_listener.ended_by = f"{why} since {last}"
        if why not in self._told:  # once for all places up to the next snapshot
            self._told.add(why)
            self.tell("hindered", place, seconds, why)

    def _is_own(self, path: str) -> bool:
        return path in self._sources or path in self._shared

    def _take(self, kind: str, place: str, seconds: float, taken: Taken) -> str:
        """Fork a copy that waits; return here, and in each copy that is resumed from it.

        Returns:
            why there can be no copy; empty if there is one, or whet doesn't want it.
        """
        try:
            taken.files, read_bytes = opened(), stdin_offset()
            waiting, woken = os.pipe()
        except OSError as error:  # the program has all descriptors that it may have
            return f"it can't open another file: {error.strerror}"
        try:
            is_original = bool(taken.fork_away())
        except OSError as error:  # no memory, or too many processes
            os.close(waiting)
            os.close(woken)
            return f"it can't start another process: {error.strerror}"
        self._told.clear()
        if is_original:
            os.close(woken)
            return self._told_by_copy(waiting, taken.sleepers)
        os.close(waiting)
        is_to_run_on = False
        try:
            why = taken.capture()
            if why:
                os.write(woken, os.fsencode(why))
                return why
            self._copy = Waiting(
                self._sources,
                self._script,
                self.audit_listener,
                self.awaited,
                become_own=self._become_own,
                touch_ahead=None if self._is_search else self._touch_last_words,
            )
            self._copy.taken = taken
            at = (kind, place, seconds)
            are_frames_new, is_debugged = self._copy.wait(self._address, woken, at)
            is_to_run_on = True
        finally:
            if not is_to_run_on:
                os._exit(0)  # the program would see what has failed here, and run on unasked
        # From here on this is the process of a resumed run.
        skip_stdin(read_bytes)
        self._run_on(self._copy, seconds)
        if is_debugged:
            self._debug(are_frames_new=are_frames_new)
        if are_frames_new:
            raise Resumed
        return ""

    def _told_by_copy(self, waiting: int, sleepers: Sleepers | None) -> str:
        """Wait until a copy is taken; return why it could not be, empty if it was."""
        # Of threads that sleep one may wake meanwhile, and what it does is to be heard.
        self.audit_listener.is_closed = sleepers is None
        told = os.read(waiting, _MOST_TOLD)
        self.audit_listener.is_closed = True
        os.close(waiting)
        if sleepers is not None:
            sleepers.let_look(begins=False)
        if told == b"\1":
            self.audit_listener.ended_by = "whet has said so"
            return ""
        return os.fsdecode(told)

    def _run_on(self, copy: Waiting, seconds: float) -> None:
        """Be the process of a run, as the original was."""
        self._anew()
        self._recorders.resume()
        inherit_again()
        if copy.worth_seconds >= 0:
            self._snapshot_policy.worth_seconds = copy.worth_seconds
        self._began = time.perf_counter() - seconds

    def _become_own(self) -> None:
        """Be a process of its own, not the one that it was forked from."""
        self._pid = os.getpid()
        self.awaited.end()  # the runs that a search continues with leave no snapshots
        self.point.end()
        self.audit_listener.forget()
        invalidate_caches()

    def _touch_last_words(self) -> None:
        self._has_last_words()

    def _debug(self, *, are_frames_new: bool) -> None:
        """Open pdb where this copy continues."""
        self.audit_listener.ended_by = "a debugger"
        open_at_failure()
        if are_frames_new:
            self._script.stop = open_in
            return
        frames = stack()
        own = (each for each in frames if each.f_code.co_filename in self._sources)
        open_in(next(own, frames[0]))

    @hidden_frame
    def run_script(self, path: str) -> None:
        if sys.gettrace() or sys.getprofile():
            return  # Python runs it, and whoever traces it sees nothing of whet
        self.audit_listener.is_closed = True
        self._script.collecting = collecting = stop_collecting()
        if self._script.prepare(path, self._sources):
            self._run(self._run_and_flush)
        collect_again(collecting)
        self.audit_listener.is_closed = False  # Python says it in its own words

    @hidden_frame
    def run_module(self, code: CodeType) -> None:
        """Run the main module of `python -m` if it is the user's; `runpy` is about to do it."""
        source = self._sources.get(code.co_filename)
        if source is not None:
            self.audit_listener.is_closed = True
            self._script.collecting = stop_collecting()
            self._script.take(source, self._sources)
            self._run(self._script.run)

    @hidden_frame
    def _run_and_flush(self, begins: Callable[[], None]) -> None:
        try:
            self._script.run(begins)
        finally:
            flush()

    @hidden_frame
    def _run(self, run: Callable[..., None]) -> None:
        try:
            run_and_exit(
                run,
                self._begin,
                forget=self._script.forget,
                has_last_words=self._has_last_words,
                at_end=self._tell_pages,
                leave=self._leave,
            )
        finally:
            self.audit_listener.is_closed = True

    def _tell_pages(self) -> None:
        """Tell whet what this run has written to, so that the next one waits for no page."""
        if self._copy is None or self.audit_listener.is_over:
            return  # a hook that the program has added would hear of it
        if self._copy.is_to_tell_pages and os.getpid() == self._pid:
            was_closed, self.audit_listener.is_closed = self.audit_listener.is_closed, True
            self.tell("wrote", self._copy.written())
            self.audit_listener.is_closed = was_closed

    def _leave(self, code: int) -> None:
        if self._copy is not None and os.getpid() == self._pid:
            self.audit_listener.is_closed = True
            tell_how_it_ends(self._address, code)

    def _has_last_words(self) -> bool:
        return self.audit_listener.is_over or any(
            source.has_last_words() for source in self._all_sources()
        )

    def _begin(self) -> None:
        self.point.begin()
        self.audit_listener.is_closed = False
        self._snapshot_policy.begin()


def _tell(address: str, *facts: object) -> None:
    try:
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            line.connect(address)
            send(line, facts)
        finally:
            line.close()
    except OSError:  # it does without
        return
