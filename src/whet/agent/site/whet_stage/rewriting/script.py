"""Runs the main script so that it can be left between two statements, and continued with.

What can be left and made again are the *stage frames*: the module's, that of the function that it
has called from a statement of its own, and so on. All others are above them, and have ended.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _weakref
import os
import sys
import time
import types
from _frozen_importlib_external import SourceFileLoader

from ..hiding.hidden_frames import begin_work, call_traced, caller, end_work, hidden_frame
from ..hiding.private import (
    collect_again,
    hide_own,
    is_alone,
    is_import_replaced,
    private_import,
    show_own,
)
from ..hiding.unfiltered_calls import whole
from .frames import Frame, cells_of, function_code, may_be_entered
from .instrument import Instrumenter, bind, is_round
from .loop_guards import LoopGuard, over
from .managers import Managers
from .sources import Source, marking_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Mapping
    from types import CodeType, FrameType, FunctionType

    from ..forking.snapshot_policy import SnapshotPolicy
    from ..hiding.private import Collecting
    from .instrument import Path
    from .managers import Exit
else:
    from ..hiding import nodes as ast


_MOST_FRAMES = 6
_ENTERING_SHARE = 0.03  # of the time since the start may go into entering functions


class Resumed(BaseException):
    """The frames of the script are to be made again."""


class _Hooks:
    """What woven code calls."""

    __slots__ = (
        "again",
        "enter",
        "expect",
        "loop",
        "manager",
        "named",
        "point",
        "pop",
        "rare",
        "reenter",
        "set",
        "start",
        "stays",
    )
    again: Callable[..., object]
    enter: Callable[..., object]
    expect: Callable[..., object]
    loop: Callable[..., object]
    named: Callable[..., object]
    point: Callable[..., object]
    pop: Callable[..., object]
    manager: Callable[..., object]
    rare: Callable[..., object]
    reenter: Callable[..., object]
    set: Callable[..., object]
    start: Callable[..., object]
    stays: bool  # no frame is being left to be made again

    def __init__(self, script: Script) -> None:
        first: dict[int, bool] = {}
        self.pop, self.set = first.pop, first.__setitem__
        self.point, self.enter = script.reached, script.enter
        self.expect, self.named = script.expect, script.named
        self.loop, self.again, self.start = script.loop, script.again, script.start
        self.rare, self.manager = script.rare, script.managers.entering
        self.reenter, self.stays = script.managers.kept.pop, True


class _Going:
    """A function that continues where one was left."""

    __slots__ = ("f",)

    def __init__(self, function: FunctionType) -> None:
        self.f = function


class _Values:
    """The values of its variables. Its code holds them: they are to hold no function."""

    __slots__ = ("left", "n")

    def __init__(self) -> None:
        self.left: list[object] = []
        self.n = self.left.pop


def _keywords(code: CodeType) -> tuple[str, ...]:
    first = code.co_argcount
    return code.co_varnames[first : first + code.co_kwonlyargcount]


class Script:
    """The main script and the stage frames.

    Attributes:
        path: its file; empty until it runs.
        frames: the stage frames, the module's first.
        stop: is called once, with the frame that continues, where the script is resumed.
        collecting: how garbage was collected where it begins, or continues in frames made again.
    """

    def __init__(
        self, offer: Callable[[str, str], object], snapshot_policy: SnapshotPolicy
    ) -> None:
        self.path = ""
        self.frames: list[Frame] = []
        self._began = time.perf_counter()
        self._offer = offer
        self._snapshot_policy = snapshot_policy
        self._entering_seconds = 0.0
        self._points: list[tuple[Frame, Path]] = []
        self._iterators: dict[int, Iterable[object]] = {}
        self._loop_guards: dict[str, LoopGuard] = {}
        self.managers = Managers()
        self._loops: dict[int, Callable[[], Iterable[object] | None]] = {}
        self._going: dict[str, _Going] = {}
        self._values: dict[str, _Values] = {}
        self._sources: Mapping[str, Source] = {}
        self._woven_ones: list[_weakref.ref[FunctionType]] = []
        self.stop: Callable[[FrameType], None] | None = None
        self.collecting: Collecting | None = None
        self._hooks = _Hooks(self)
        self._code: CodeType | None = None
        self._top: FrameType | None = None
        self._expects = False
        self._name: str | None = None

    @property
    def woven(self) -> list[FunctionType]:
        """The functions of stage frames that are alive."""
        living = (each() for each in self._woven_ones)
        return [each for each in living if each is not None]

    def _note_woven(self, function: FunctionType) -> None:
        # Not a WeakSet: what it calls when one goes would be seen by a debugger.
        self._woven_ones = [each for each in self._woven_ones if each() is not None]
        self._woven_ones.append(_weakref.ref(function))

    # ---- running it ----

    def prepare(self, path: str, sources: dict[str, Source]) -> bool:
        """Read the script; say whether it can be."""
        try:
            # Python itself reads it: whether the program has seen it is another matter.
            text = whole(path)
            modules = show_own()
            try:
                source = Source("__main__", path, text)
                frame = Frame(source, source.pin())
                self._code = self._module_code(frame)
                if source.warned:
                    compile(text, path, "exec", dont_inherit=True)  # once, it warns
            finally:
                hide_own(modules)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return False  # Python says so in its own words
        module = sys.modules["__main__"].__dict__
        module["__file__"] = path
        module["__cached__"] = None
        module["__loader__"] = SourceFileLoader("__main__", path)
        self.take(source, sources, frame)
        return True

    def take(self, source: Source, sources: dict[str, Source], frame: Frame | None = None) -> None:
        """Take a source for the main script: what `__main__` is filled with."""
        self.path = source.path
        source.spaces.append(id(sys.modules["__main__"].__dict__))
        sources[source.path] = source
        self._sources = sources
        self.frames = [frame or Frame(source, source.pin())]

    @hidden_frame
    def run(self, begins: Callable[[], None]) -> None:
        """Run it in `__main__`, as Python does."""
        module = sys.modules["__main__"].__dict__
        code = self._next_code()
        while True:
            try:
                self._hooks.stays = True
                begins()
                if self.collecting is not None:  # what is left of the frames before has gone by now
                    collect_again(self.collecting)
                call_traced(exec, code, module)
            except Resumed as resumed:
                resumed.__traceback__ = None
                code = self._made_anew()
            else:
                return

    def module_code(self, frame: Frame) -> CodeType:
        """Return the code of the module from where its frame stands on."""
        modules = show_own()
        try:
            return self._module_code(frame)
        finally:
            hide_own(modules)

    def _module_code(self, frame: Frame) -> CodeType:
        source = frame.source
        weaver = Instrumenter(self._numbers(frame), marking_names(self._sources.values()))
        body = weaver.block(source.tree.body, since=frame.path, call=frame.call)
        if frame.path:
            body.insert(0, ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0))
        code = source.compiled(source.hooked(body))
        return bind(code, lambda name: self._found(name, source), source.same)

    def _found(self, name: str, source: Source) -> object:
        kind, _, number = name.partition(":")
        if name == "hooks":
            return self._hooks
        if name == "resumed":
            return Resumed
        if kind == "gate":
            return self._loop_guards.setdefault(number, LoopGuard())
        if kind == "going":
            return self._going[number]
        if kind == "values":
            return self._values[number]
        return source.hook(name)

    def _numbers(self, frame: Frame) -> Callable[[Path], int]:
        known: dict[Path, int] = {}

        def number(path: Path) -> int:
            if path not in known:
                known[path] = len(self._points)
                self._points.append((frame, path))
            return known[path]

        return number

    # ---- what woven code calls ----

    def reached(self, number: int, cells: FunctionType | None = None) -> None:
        """Stand between two statements."""
        frame, path = self._points[number]
        if len(self.frames) > frame.depth + 1:
            self._leave_above(frame)
        if self._iterators:
            self._forget_iterators(number)
        if self.stop is not None:
            stop, self.stop = self.stop, None
            stop(caller())
            return
        if self._snapshot_policy.is_due(at_statement=True, again=is_round(path)):
            self._stand(number, cells, "")

    def expect(self) -> None:
        """Note that a statement begins that seems to set a checkpoint; a point comes after it."""
        self._expects, self._name = True, None

    def marks(self, name: str) -> bool:
        """Note a checkpoint; say whether a snapshot is to be taken at once.

        In a frame that can be made again it is taken at the point that comes next.
        """
        # Many a program sets one at each step, and steps may be fast.
        if not self._snapshot_policy.is_mark_due():
            return False
        setting = caller()
        if self._expects and any(map(self._is_woven, (setting, setting.f_back))):
            self._name = name
            return False
        return True

    def _is_woven(self, frame: FrameType | None) -> bool:
        return frame is not None and any(each is self._hooks for each in frame.f_code.co_consts)

    def named(self, number: int, cells: FunctionType | None = None) -> None:
        """Stand after what seemed to set a checkpoint."""
        name, self._name, self._expects = self._name, None, False
        if name is None:
            self.reached(number, cells)
            return
        if self._iterators:
            self._forget_iterators(number)
        self._stand(number, cells, name)

    def _stand(self, number: int, cells: FunctionType | None, name: str) -> None:
        frame = self._at(number, has_begun=False)
        if cells is not None:
            self._note_woven(cells)
            frame.cells.update(cells_of(cells))
        self._top = caller()
        try:
            line = f"{os.path.basename(frame.source.path)}:{frame.line()}"
            self._offer("statement", name or line)
        finally:
            self._top = None

    def end(self) -> None:
        """Let woven code call nothing any more that a debugger or a profiler would see."""
        partial: Callable[..., Callable[..., object]] = private_import("_functools").partial
        hooks, nothing = self._hooks, dict[object, object]()
        second = partial(nothing.get)  # returns what it is given second
        hooks.point = hooks.named = hooks.enter = hooks.loop = second
        hooks.manager = second
        hooks.expect = hooks.start = hooks.rare = partial(nothing.get, None)
        hooks.again = partial(self._iterators.pop)
        hooks.pop, hooks.set = partial(hooks.pop), partial(hooks.set)
        for gate in self._loop_guards.values():
            gate.end()

    def last_place(self) -> str:
        """Return file and line of the statement that has just ended; of the first if none has."""
        frame = self.frames[-1]
        return f"{os.path.basename(frame.source.path)}:{frame.line(back=1) or 1}"

    def _at(self, number: int, *, has_begun: bool) -> Frame:
        frame, path = self._points[number]
        self._leave_above(frame)
        frame.path, frame.has_begun = path, has_begun
        return frame

    def _leave_above(self, frame: Frame) -> None:
        """Note that the frames that a frame has called have ended."""
        for left in self.frames[frame.depth + 1 :]:
            left.source.leave(left.node)
            left.forget()
        del self.frames[frame.depth + 1 :]

    def enter(self, number: int, function: object) -> object:
        """Return what to call in place of a function, so that its frame is a stage frame."""
        if is_import_replaced() or not is_alone():
            return function
        began = time.thread_time()  # what others take of a busy machine isn't its fault
        frame, _ = self._points[number]
        share = _ENTERING_SHARE * (time.perf_counter() - self._began) + 0.02
        if frame.depth >= _MOST_FRAMES or self._entering_seconds > share:
            return function
        modules = show_own()
        begin_work()
        try:
            entered = may_be_entered(function, self._sources)
            if entered is None:
                return function
            inner, source, node = entered
            new = Frame(source, node, inner, frame.depth + 1)
            woven = self._woven(new)
        except Exception:  # noqa: BLE001 - then its frame is none of the stage
            return function
        finally:
            end_work()
            hide_own(modules)
        self._at(number, has_begun=True)
        source.enter(node)
        self.frames.append(new)
        self._entering_seconds += time.thread_time() - began
        bound = getattr(function, "__self__", None)
        return woven if bound is None else types.MethodType(woven, bound)

    def _woven(self, frame: Frame) -> FunctionType:
        code = function_code(
            frame,
            self._numbers(frame),
            lambda name: self._found(name, frame.source),
            marking_names(self._sources.values()),
        )
        function = frame.function_of(code)
        self._note_woven(function)
        return function

    def start(self, number: int) -> None:
        """Begin a loop: the gate of its first round is open."""
        self._hooks.set(number, True)  # noqa: FBT003 - it is a dictionary's
        self._loop_guards[str(number)].begin()

    def rare(self, number: int) -> object:
        """Close the gate of a loop again; say whether this is its first round."""
        self._loop_guards[str(number)].refill()
        return self._hooks.pop(number, False)

    def loop(self, number: int, iterated: Iterable[object]) -> Iterable[object]:
        """Return what a loop is to iterate over, instead of ``iterated``."""
        loop = over(iterated, self._loop_guards[str(number)])
        living = _weakref.ref(loop)

        def rest() -> Iterable[object] | None:
            found = living()
            return None if found is None else found.rest()

        self._loops[number] = rest
        return loop

    def again(self, number: int) -> Iterable[object]:
        """Return what is left to a loop that continues."""
        return self.loop(number, self._iterators.pop(number))

    def _forget_iterators(self, number: int) -> None:
        """Let go of the iterators of loops that have been left."""
        at, path = self._points[number]
        for each in tuple(self._iterators):
            frame, loop = self._points[each]
            if frame.depth > at.depth or (frame is at and path[: len(loop)] != loop):
                del self._iterators[each]

    @hidden_frame
    def forget(self) -> None:
        """Hold nothing of the program's any more: its objects are to go as they would without."""
        self.frames.clear()
        self._points.clear()
        self._iterators.clear()
        self._loops.clear()
        self._loop_guards.clear()
        self.managers.exits.clear()
        self.managers.kept.clear()
        self._going.clear()
        self._values.clear()

    # ---- making the frames again ----

    def capture(self, nodes: Mapping[int, object]) -> None:
        """Note the variables of all stage frames, in a copy that is to make them again.

        Args:
            nodes: the new nodes of functions, by `id` of the old ones.

        Raises:
            CannotBeMadeAnewError: if one of them would do something else.
        """
        live = self._top
        for frame in reversed(self.frames):
            assert live is not None
            if frame.depth:
                frame.check_shared(nodes.get(id(frame.node), frame.node))
                frame.take_values(live)
            frame.iterators = self._iterators_of(frame)
            frame.exits = self._exits_of(frame)
            live = live.f_back
        self._top = None
        self.managers.leave()
        self._hooks.stays = False

    def _iterators_of(self, frame: Frame) -> dict[Path, Iterable[object]]:
        found: dict[Path, Iterable[object]] = {}
        for number, (owner, path) in enumerate(self._points):
            if (
                owner is not frame
                or frame.path[: len(path)] != path
                or len(path) == len(frame.path)
            ):
                continue
            if number in self._iterators:
                found[path] = self._iterators[number]
            elif number in self._loops:
                rest = self._loops[number]()
                if rest is not None:
                    found[path] = rest
        return found

    def _exits_of(self, frame: Frame) -> dict[Path, Exit]:
        numbers = {
            path: number for number, (owner, path) in enumerate(self._points) if owner is frame
        }
        return {path: self.managers.exit_of(numbers.get(path, -1)) for path in frame.managers()}

    def change(self, sources: Mapping[str, Source], nodes: Mapping[int, object]) -> None:
        """Let the frames stand in other texts.

        Args:
            sources: the new texts, by path.
            nodes: the new nodes of functions, by `id` of the old ones.
        """
        self.frames = [frame.moved(sources, nodes) for frame in self.frames]
        self._points.clear()
        self._loops.clear()
        self._iterators.clear()
        self._loop_guards.clear()
        self.managers.exits.clear()
        self.managers.kept.clear()
        self._going.clear()
        self._values.clear()
        self._code = self._compiled()

    def _compiled(self) -> CodeType:
        """Make the functions that continue, the deepest first, and return the module's code."""
        for frame in reversed(self.frames[1:]):
            values = self._values[str(frame.depth)] = _Values()
            woven = self._woven(frame)
            woven.__defaults__ = (None,) * woven.__code__.co_argcount  # it sets them all itself
            woven.__kwdefaults__ = dict.fromkeys(_keywords(woven.__code__))
            self._note_iterators(frame)
            values.left += [frame.values[name] for name in reversed(frame.order)]
            frame.values = {}
            self._going[str(frame.depth)] = _Going(woven)
            self.frames[frame.depth - 1].call = f"going:{frame.depth}"
        code = self.module_code(self.frames[0])
        self._note_iterators(self.frames[0])
        return code

    def _note_iterators(self, frame: Frame) -> None:
        for number, (owner, path) in enumerate(self._points):
            if owner is frame and path in frame.iterators:
                self._iterators[number] = frame.iterators[path]
            if owner is frame and path in frame.exits:
                self.managers.keep(number, frame.exits[path])
        frame.iterators, frame.exits = {}, {}

    def _made_anew(self) -> CodeType:
        for frame in self.frames:
            frame.call = None
        self._going.clear()
        self._values.clear()
        return self._next_code()

    def _next_code(self) -> CodeType:
        """Return the module's code, and keep none: it holds functions that continue."""
        code, self._code = self._code, None
        return code or self.module_code(self.frames[0])
