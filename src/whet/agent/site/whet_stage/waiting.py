"""A snapshot: a forked copy of the program that waits, and forks the copies that run on from it.

What comes in and goes out on the line is told of at the other end, `whet.host.spawner.frozen`.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _socket
import marshal
import os

from .forking.descriptors import Streams
from .forking.exit import note_modules, touch_last_words
from .forking.freeze import Ready, receive, send
from .forking.prefault import Pages
from .hiding.hidden_frames import caller
from .hiding.private import hide_own, show_own
from .rewriting.edits import Edit, Functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from .forking.taken import Taken
    from .rewriting.script import Script
    from .rewriting.sources import Source
    from .watching.audit_listener import AuditListener
    from .watching.awaited import Awaited

    Given = tuple[int, list[bytes], bool, float]
    Place = tuple[str, str, float]
else:
    pass


class Waiting:
    """One snapshot, and in each copy that runs on from it what is left of it there.

    Attributes:
        is_to_tell_pages: whether whet wants to know what the copy that runs on has written to.
        worth_seconds: how long a stretch is worth another snapshot; below zero: as it was.
        taken: what each copy that runs on gets that a fork alone would not give it.
    """

    def __init__(
        self,
        sources: dict[str, Source],
        script: Script,
        audit_listener: AuditListener,
        awaited: Awaited,
        *,
        become_own: Callable[[], None],
        touch_ahead: Callable[[], None] | None,
    ) -> None:
        """Make it ready, in the copy.

        Args:
            sources: the modules that are followed, by path; it holds what they say from then on.
            script: the main script.
            audit_listener: what the program has seen.
            awaited: what a search varies.
            become_own: is called in each copy that is to run on.
            touch_ahead: looks at what is looked at when the program ends; None: a run from here
                comes right after the last one, and nothing is done ahead of it.
        """
        self.is_to_tell_pages = False
        self.worth_seconds = -1.0
        # What a copy that it comes from has written to was mapped otherwise.
        self._pages: Pages | None = None
        self._sources = sources
        self._script = script
        self._audit_listener = audit_listener
        self._awaited = awaited
        self._become_own = become_own
        self.taken: Taken | None = None
        self._touch_ahead = touch_ahead

    def wait(self, address: str, woken: int, place: Place) -> tuple[bool, bool]:
        """Be a snapshot; return in a copy that runs on.

        Args:
            address: the socket at which whet waits for snapshots.
            woken: where the original, which waits, is told to run on.
            place: the kind of the place, its name, and how long it took to get there.

        Returns:
            whether its stage frames are to be made again, and whether it is to be debugged.
        """
        os.setsid()
        line = self._report(address, place)
        # The original runs on when whet knows of this copy and has taken in all its output.
        answer = receive(line)[0]
        if not answer or marshal.loads(answer) == "no":
            os.write(woken, b"\1" if answer else b"")
            os._exit(0)
        os.close(woken)
        # A frozen process must not keep the streams of a run that has ended.
        held, nothing = Streams(), os.open(os.devnull, os.O_RDWR)
        held.give([nothing] * 3)
        os.close(nothing)
        ready = Ready()
        while True:
            order, streams = receive(line)
            if not order:
                os._exit(0)
            changed, given, is_debugged, pages = _wish(order)
            self._expect(pages)
            if streams:
                send(line, ready.go(streams, given))
                continue
            is_to_change = bool(changed) or is_debugged
            # If somebody has killed the one that was ready, another one takes its place.
            told = ready.tell(order, is_to_change=is_to_change) if ready.is_fresh else 0
            if told or ready.begin():
                send(line, told or ready.tell(order, is_to_change=is_to_change))
            else:
                line.close()
                return self._get_ready(ready, held, at_point=place[0] == "statement")

    def written(self) -> bytes:
        """Return the pages that this copy has written to, as whet hands them on."""
        return b"" if self._pages is None else self._pages.written()

    def _expect(self, pages: bytes) -> None:
        """Note once what each run from here would find out again, at a cost."""
        if self._pages is None:
            self._pages = Pages()
            note_modules()
        if pages:
            self._pages.expect(pages)

    def _get_ready(self, ready: Ready, held: Streams, *, at_point: bool) -> tuple[bool, bool]:
        """Be a copy that is to run on; return as `wait` does when it is."""
        prepared, is_debugged, functions, is_new = "same", False, Functions(), True
        self._become_own()
        while True:
            order, streams = ready.wait()
            if streams:
                functions.forget()
                terminal, words, self.is_to_tell_pages, self.worth_seconds = _given(order)
                self._awaited.words.become(list(map(os.fsdecode, words)))
                if self.taken is not None:
                    self.taken.wake()
                ready.become(held, streams, terminal)
                return prepared == "changed", is_debugged
            changed, _, is_debugged, _ = _wish(order)
            if changed:
                prepared = self._prepared(changed, functions, at_point=at_point)
            ready.answer(is_done=bool(prepared))
            if not prepared:
                os._exit(0)
            if is_new and self._pages is not None:
                self._pages.prefault(ready.is_asked)
            is_new = False
            if not changed and self._touch_ahead is not None:
                self._look_ahead(functions)
                self._touch_ahead()

    def _look_ahead(self, functions: Functions) -> None:
        """Do now what takes long: nobody waits, the next edit has not been saved yet."""
        modules = show_own()
        spaces = {path: source.module for path, source in self._sources.items()}
        functions.find({path: space for path, space in spaces.items() if space is not None})
        functions.find_standing(self._sources)
        hide_own(modules)
        touch_last_words()

    def _report(self, address: str, place: Place) -> _socket.socket:
        """Tell whet where the program is and what it has seen; return the line to whet."""
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        line.connect(address)
        texts = {path: source.text for path, source in self._sources.items()}
        named = [_named(frame) for frame in reversed(stack()) if not _is_importer(frame)]
        send(line, (*place, self._audit_listener.facts(), texts, named))
        return line

    def _prepared(self, changed: dict[str, bytes], functions: Functions, *, at_point: bool) -> str:
        """Take on what files say now; say ``same`` or ``changed``, empty if that can't be."""
        lines, modules = self._audit_listener.lines, show_own()
        try:
            if not all(
                lines.are_same(path, self._sources[path].text, now) for path, now in changed.items()
            ):
                return ""
            edit = Edit(
                self._sources,
                self._script,
                changed,
                stack=[] if at_point else stack(),
                functions=functions,
                are_lines_seen=self._audit_listener.are_lines_seen,
            )
            needs_frames = any(frame.source.path in changed for frame in self._script.frames)
            if needs_frames:
                self._script.capture(edit.nodes)
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


def stack() -> list[FrameType]:
    """Return all frames of the program, the innermost first."""
    found: list[FrameType] = []
    frame: FrameType | None = caller()
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def _wish(order: bytes) -> tuple[dict[str, bytes], Given, bool, bytes]:
    """Return what files say now, what the run is given, if a debugger is to open, and pages."""
    wish: tuple[dict[str, bytes], Given, bool, bytes] = marshal.loads(order)
    return wish


def _given(order: bytes) -> Given:
    """Return which stream is a terminal, what varies, if pages are to be told, what is worth it."""
    given: Given = marshal.loads(order)
    return given


def _named(frame: FrameType) -> tuple[str, str]:
    return frame.f_code.co_filename, frame.f_code.co_name


def _is_importer(frame: FrameType) -> bool:
    """Whether no traceback shows a frame."""
    return frame.f_code.co_filename.startswith("<frozen importlib")
