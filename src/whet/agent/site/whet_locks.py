"""Tells at a signal which thread waits for a lock, or for another thread's end, and who has that.

Python doesn't say which thread holds a lock, nor which one a thread waits for. The source does: a
frame that is in the body of `with a:` holds `a`, one that stands at its head waits for it. What
such names stand for is looked up without running anything of the program's.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType
    from typing import Any, Tuple

    _Span = Tuple[Tuple[int, int], Tuple[int, int]]
    _Awaited = Tuple[str, Any, Any]
    """What a line calls a lock, the lock, and the object that it is an attribute of, or that itself."""

_SIGNAL = 60  # a real-time signal that nothing sends on its own; see `whet.host.inspect.lock_waits`
_SUFFIX = ".locks"
_BLANKS = {9: " ", 10: " ", 11: " "}
_TAKING = {"__enter__", "acquire", "_wait"}
_JOINING = {"join", "_wait_for_tstate_lock"}
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_HERE = os.path.dirname(os.path.abspath(__file__))
_MOST_FRAMES = 200
_MOST_PARTS = 1000
_LOCKS = {("_thread", "lock"), ("_thread", "RLock")}
_AROUND_LOCKS = {("threading", "Condition"), ("threading", "Lock"), ("threading", "RLock")}
# The last two are those of a closer look.


_PAIRS: dict[Any, Callable[[Any], Any]] = {
    list: enumerate,
    tuple: enumerate,
    dict: lambda held: held.items(),
}


def _parts(value: Any) -> list[tuple[Any, Any]]:
    pairs = _PAIRS.get(type(value))
    return [] if pairs is None else list(pairs(value))


def answering(tell: Callable[[str, bytes], None]) -> dict[str, Callable[[dict[str, Any]], None]]:
    """Return what to call when `threading` has been imported.

    Args:
        tell: writes at the end of a file of this process, which it knows by the end of its name.
    """

    def listen(module: dict[str, Any]) -> None:
        answers: list[FrameType] = []  # whet asks again where the first signal may be lost

        def answer(_number: int, frame: FrameType) -> None:
            if answers:
                return
            answers.append(frame)
            try:
                tell(_SUFFIX, _answer_text(module, frame).encode("ascii", "backslashreplace"))
            finally:
                answers.clear()

        try:
            # It must interrupt the wait for a lock: if the wait started again, Python would never get here.
            __import__("_signal").signal(_SIGNAL, answer)
        except (ValueError, OSError):
            pass  # imported in another thread

    return {"threading": listen}


def _answer_text(module: dict[str, Any], frame: FrameType) -> str:
    text = "end\n"
    before = set(sys.modules)
    try:
        text = "".join(_Waits(module, frame).lines()) + text
    except Exception:  # noqa: BLE001, S110 - anything may be half made where a signal comes
        pass
    for name in set(sys.modules) - before:
        sys.modules.pop(name, None)
    return text


class _Waits:
    """What the threads of this process wait for, and what they hold."""

    def __init__(self, module: dict[str, Any], frame: FrameType) -> None:
        self._threads: dict[int, Any] = dict(module["_active"])
        self._file = str(module["__file__"])
        self._own = module["get_ident"]()
        self._frames = dict(vars(sys)["_current_frames"]())
        self._frames[self._own] = frame  # below it this handler runs
        self._sources: dict[str, _Source] = {}
        self._holders: dict[int, set[int]] = {}

    def lines(self) -> Iterator[str]:
        """Yield a line for each thread that waits."""
        for ident in self._frames:
            for frame in self._stack(ident):
                for lock in self._source(frame).held(frame):
                    self._holders.setdefault(id(lock), set()).add(ident)
        waits = {ident: self._wait_of(ident) for ident in self._frames}
        taken = [each[0] for each in waits.values() if each is not None]
        numbers = [0, *self._frames]  # Python's own are long
        for ident, wait in waits.items():
            if wait is not None:
                awaited, holder, frame = wait
                place = (_plain(frame.f_code.co_filename), frame.f_lineno or 0)
                what = _plain(self._told_apart(awaited, taken))
                who = (numbers.index(ident), self._name(ident))
                words = (*who, what, numbers.index(holder), *place)
                yield "\t".join(("wait", *map(str, words))) + "\n"

    def _wait_of(self, ident: int) -> tuple[_Awaited, int, FrameType] | None:
        above: list[FrameType] = []
        for frame in self._stack(ident):
            if not self._is_plumbing(frame):
                awaited, holder = self._wait(frame, above)
                return None if awaited is None else (awaited, holder, frame)
            above.append(frame)
        return None

    def _told_apart(self, awaited: _Awaited, others: Sequence[_Awaited]) -> str:
        """Return what a line calls a lock, and which one that is where another one is called so."""
        name, lock, _ = awaited
        alike = {id(each[1]): each for each in others if each[0] == name}
        if lock is None or not alike.keys() - {id(lock)}:
            return name
        known = {key: self._known_as(each[2]) for key, each in alike.items()}
        if "" not in known.values() and len(set(known.values())) == len(known):
            return "{} ({})".format(name, known[id(lock)])
        return "{} ({} of {} of this name)".format(
            name, list(alike).index(id(lock)) + 1, len(alike)
        )

    def _known_as(self, owner: Any) -> str:
        """Return where a module of the program has an object; empty: nowhere that is seen at once."""
        spaces = {
            id(each.f_globals): each.f_globals for i in self._frames for each in self._stack(i)
        }
        for space in spaces.values():
            for name, value in list(space.items()):
                if value is owner:
                    return name
                for key, part in _parts(value)[:_MOST_PARTS]:
                    if part is owner and type(key) in (int, str):
                        return "{}[{!r}]".format(name, key)
        return ""

    def _wait(self, frame: FrameType, above: Sequence[FrameType]) -> tuple[_Awaited | None, int]:
        """Return what a thread waits for without end, no lock: another one's end, and who has that."""
        names = {each.f_code.co_name for each in above}
        if "join" in names and names <= _JOINING:
            if above[-1].f_locals.get("timeout") is not None:
                return None, 0
            thread = above[-1].f_locals.get("self")
            ident: int = getattr(thread, "_ident", None) or 0
            return (("", None, None), ident) if ident in self._frames else (None, 0)
        if not names <= _TAKING:
            return None, 0
        found = {id(each[1]): each for each in self._source(frame).awaited(frame)}
        if len(found) != 1:
            return None, 0
        (awaited,) = found.values()
        lock = awaited[1]
        owner = _owner_of(lock)
        known = self._holders.get(id(lock), set()) if owner is None else {owner}
        holders = known & set(self._frames)
        return awaited, next(iter(holders)) if len(holders) == 1 else 0

    def _stack(self, ident: int) -> Iterator[FrameType]:
        frame: FrameType | None = self._frames[ident]
        for _ in range(_MOST_FRAMES):
            if frame is None:
                return
            yield frame
            frame = frame.f_back

    def _is_plumbing(self, frame: FrameType) -> bool:
        path = frame.f_code.co_filename
        return path == self._file or path.startswith(_HERE)

    def _name(self, ident: int) -> str:
        return _plain(getattr(self._threads.get(ident), "_name", ident))

    def _source(self, frame: FrameType) -> _Source:
        path = frame.f_code.co_filename
        if path not in self._sources:
            self._sources[path] = _Source(frame)
        return self._sources[path]


class _Source:
    """The text of a file, and which locks its lines take."""

    def __init__(self, frame: FrameType) -> None:
        import ast
        import linecache

        self._ast: Any = ast
        self._text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
        try:
            self._body: Sequence[ast.stmt] = ast.parse(self._text).body
        except (SyntaxError, ValueError, RecursionError):
            self._body = ()

    def held(self, frame: FrameType) -> Iterator[Any]:
        """Yield the locks that a frame has taken and not given back."""
        held: dict[int, Any] = {}
        line = frame.f_lineno or 0
        for block, place in self._path(line):
            for each in block[:place]:
                self._take(each, frame, held)
            now: Any = block[place]
            if hasattr(now, "items") and _is_in_body(now, frame):
                for item in now.items:
                    lock = _lock_in(self._value(item.context_expr, frame))
                    held[id(lock)] = lock
        return (lock for lock in held.values() if lock is not None and _is_held(lock))

    def _take(self, done: Any, frame: FrameType, held: dict[int, Any]) -> None:
        """Note the locks that a statement before the line has taken for sure, or may have given back."""
        alone: Any = getattr(done, "value", None)
        nodes: Iterator[Any] = self._ast.walk(done)
        for node in nodes:
            called: str = getattr(getattr(node, "func", None), "attr", "")
            if called == "release":
                held.pop(id(_lock_in(self._value(node.func.value, frame))), None)
            elif called == "acquire" and alone is node and not node.args:
                lock = _lock_in(self._value(node.func.value, frame))
                held[id(lock)] = lock

    def awaited(self, frame: FrameType) -> Iterator[_Awaited]:
        """Yield the locks that a frame is just taking, however long it waits, and that aren't free."""
        places = [_span(place) for place in _positions(frame) if None not in place]
        around = [block[place] for block, place in self._path(frame.f_lineno or 0)]
        if places:
            around = [each for each in around if _is_within(places[-1], _span_of(each))]
        if not around:
            return
        nodes: Iterator[Any] = self._ast.walk(around[-1])
        calls = [each for each in nodes if hasattr(each, "func")]
        for expression in _taken_now(around[-1], calls, places, frame):
            lock = _lock_in(self._value(expression, frame))
            if lock is not None and _is_held(lock):
                is_part = isinstance(expression, self._ast.Attribute)
                owner = self._value(expression.value if is_part else expression, frame)
                name = self._ast.get_source_segment(self._text, expression) or ""
                yield name, lock, owner

    def _path(self, line: int) -> list[tuple[Sequence[Any], int]]:
        """Return the blocks of a function that a line is in, and the statement of each."""
        path: list[tuple[Sequence[Any], int]] = []
        blocks: list[Sequence[Any]] = [self._body]
        while blocks:
            block = blocks.pop()
            for place, each in enumerate(block):
                first, last = _lines_of(each)
                if first <= line <= last:
                    path.append((block, place))
                    if hasattr(each, "decorator_list") and line >= each.body[0].lineno:
                        path.clear()  # a function's frame, or a class's, is one of its own
                    blocks = [getattr(each, name, ()) for name in _BLOCKS]
                    break
        return [(block, place) for block, place in path if hasattr(block[place], "lineno")]

    def _value(self, expression: Any, frame: FrameType) -> Any:
        """Return what a name, an attribute or an item stands for; None: something would have to run."""
        if isinstance(expression, self._ast.Name):
            for space in (frame.f_locals, frame.f_globals):
                if expression.id in space:
                    return space[expression.id]
        elif isinstance(expression, self._ast.Attribute):
            return _attribute(self._value(expression.value, frame), expression.attr)
        elif isinstance(expression, self._ast.Constant):
            return expression.value
        elif isinstance(expression, self._ast.Subscript):
            owner = self._value(expression.value, frame)
            where = getattr(expression.slice, "value", expression.slice)  # Python 3.8: an `Index`
            key = where if isinstance(where, (int, str)) else self._value(where, frame)
            if type(owner) in (list, tuple, dict) and type(key) in (int, str):
                try:
                    return owner[key]
                except (LookupError, TypeError):
                    return None
        return None


def _lines_of(node: Any) -> tuple[int, int]:
    """Return the first and the last line of a statement, or of a `case`."""
    if hasattr(node, "lineno"):
        return node.lineno, node.end_lineno
    body = getattr(node, "body", None)
    return (body[0].lineno, body[-1].end_lineno) if body else (0, -1)


def _positions(frame: FrameType) -> list[tuple[int | None, ...]]:
    """Return where the instructions of a frame are, up to the one it is at; none: Python doesn't know."""
    positions = getattr(frame.f_code, "co_positions", None)
    return [] if positions is None else list(positions())[: frame.f_lasti // 2 + 1]


def _is_in_body(statement: Any, frame: FrameType) -> bool:
    """Whether a frame is past the head of a `with`."""
    first = statement.body[0]
    if first.lineno != statement.lineno:
        return bool((frame.f_lineno or 0) >= first.lineno)
    for line, _, column, _ in _positions(frame)[-1:]:
        return bool((line or 0, column or 0) >= (first.lineno, first.col_offset))
    return False


def _taken_now(
    statement: Any, calls: Sequence[Any], places: Sequence[_Span], frame: FrameType
) -> Sequence[Any]:
    """Return what a frame is taking as a lock: by a call of `acquire`, or at the head of a `with`.

    Args:
        statement: the innermost one that the frame is at.
        calls: all calls in it.
        places: where the frame's instructions are, up to the one it is at; none: Python doesn't know.
        frame: the frame.
    """
    heads = [item.context_expr for item in getattr(statement, "items", ())]
    # With an argument it may give up.
    acquires = [
        each
        for each in calls
        if getattr(each.func, "attr", "") == "acquire" and not (each.args or each.keywords)
    ]
    if not places:  # by lines alone: only where nothing else can be meant
        if heads:
            is_plain = len(heads) == 1 and statement.body[0].lineno > statement.lineno
            return heads if is_plain and not _is_in_body(statement, frame) else []
        return [each.func.value for each in acquires] if len(calls) == 1 else []
    now = places[-1]
    if heads and now == _span_of(
        statement
    ):  # Python 3.11 and 3.12: the last one that was looked up
        looked_up = (
            each for at in reversed(places) for each in heads if _is_within(at, _span_of(each))
        )
        return [each for each in [next(looked_up, None)] if each is not None]
    return [
        *(each for each in heads if _span_of(each) == now),
        # Of a chain over several lines the call begins where its last name does.
        *(
            each.func.value
            for each in acquires
            if _span_of(each)[1] == now[1] and _is_within(now, _span_of(each))
        ),
    ]


def _span(place: Sequence[Any]) -> _Span:
    first, last, column, end = place
    return (first, column), (last, end)


def _span_of(node: Any) -> _Span:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _is_within(inner: _Span, outer: _Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _attribute(owner: Any, name: str) -> Any:
    """Return an attribute that is kept as it is, in an object or in its class."""
    try:
        space: Any = object.__getattribute__(owner, "__dict__")
        if space.__class__ is dict and name in space:
            return space[name]
    except AttributeError:
        pass
    kinds: Sequence[Any] = (owner if isinstance(owner, type) else owner.__class__).__mro__
    for kind in kinds:
        value: Any = type.__getattribute__(kind, "__dict__").get(name)
        if value is not None:
            is_slot = type(value).__name__ == "member_descriptor"
            return value.__get__(owner) if is_slot else value
    return None


def _lock_in(value: Any) -> Any:
    """Return the lock of `_thread` that a value is or wraps; None: it isn't a lock."""
    for _ in range(3):
        kind: type = value.__class__
        name = (kind.__module__, kind.__name__)
        if name in _LOCKS:
            return value
        value = getattr(value, "_lock", None) if name in _AROUND_LOCKS else None
    return None


def _is_held(lock: Any) -> bool:
    return repr(lock).startswith("<locked")


def _owner_of(lock: Any) -> int | None:
    """Return the thread that holds a reentrant lock; None: the lock doesn't know."""
    owner = repr(lock).partition(" owner=")[2].partition(" ")[0]
    return int(owner) if owner.isdigit() else None


def _plain(name: object) -> str:
    return str(name).translate(_BLANKS)
