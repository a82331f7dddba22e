"""What several threads read and write without a lock in common, by the lines that do so.

The rule is that of Eraser (Savage and others, "Eraser: a dynamic data race detector for multithreaded
programs", 1997): of all accesses to a thing the locks that were held each time are kept; when none is
left, and more than one thread has come by, and one of them wrote, nothing keeps them apart. Here a
thing is an attribute of an object, an item of such, or a global, and only lines are told whose
function reads it before it writes it: a write alone is one step in Python.
"""

from __future__ import annotations

import sys

from .report_file import place, variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType
    from typing import Any, TypeAlias

    from .locks import Locks
    from .report_file import ReportLines

    Access: TypeAlias = tuple[tuple[str, ...], bool]

_MOST_THINGS = 20_000
_MOST_TOLD = 40
_PAUSE_SECONDS = 0.002
_MOST_PAUSES = 100
_MOST_LINES = 2000
_ENOUGH = 200  # calls of a function by a thread that are followed; they are slow
_SERIAL_SECONDS = 1.0
_SEVERAL = -1
_LONG_PAUSE_SECONDS, _MOST_LONG_PAUSES = 0.05, 8
_TURN_SECONDS = 1.0
_OF_FUNCTIONS = frozenset({"between", "alone", "turned"})
_STOPPING = 0x20 | 0x80 | 0x200  # generators and coroutines: what runs between isn't another call
_PAUSE, _SERIAL = "pause:", "serial:"


class Turns:
    """An experiment on the calls of one function; `is_on` unless none is asked for.

    ``between:FILE:LINE`` has some calls of the function that begins there wait between two of its
    lines, one at a time and long: of threads that all wait, none gets past another.
    ``alone:FILE:LINE`` waits as well, and lets one thread at a time into the function;
    ``turned:FILE:LINE`` does so too, and has others overtake some before they are let in.
    """

    def __init__(self, asked: str) -> None:
        kind, _, place = asked.partition(":")
        path, _, number = place.rpartition(":")
        self.is_on = kind in _OF_FUNCTIONS and number.isdigit()
        self._path = path
        self._first_line = int(number) if self.is_on else 0
        self._is_alone, self._is_turned = kind != "between", kind == "turned"
        self._calls, self._pauses, self._next, self._is_waiting = 0, 0, 1, False
        self._entered = 0
        self._turn: Any = __import__("_thread").RLock()

    def enter(self, frame: FrameType, note: Callable[..., Any]) -> Any:
        """Return what follows a function of the user's that has just been called."""
        code = frame.f_code
        if code.co_firstlineno != self._first_line or code.co_filename != self._path:
            frame.f_trace_lines = False
            return note
        if not _has_lines_between(code):
            return note
        if self._is_turned:
            self._let_others_first()
        has_turn = self._is_alone and self._turn.acquire(timeout=_TURN_SECONDS)
        left = self._lines_until_pause(code)
        frame.f_trace_lines = left > 0

        def follow(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal has_turn, left
            if event == "line":
                left -= 1
                if left == 0:
                    vars(__import__("time"))["sleep"](_LONG_PAUSE_SECONDS)
                    self._is_waiting = frame.f_trace_lines = False
            elif event == "return":
                if left > 0:  # it came to fewer lines
                    self._is_waiting, left = False, 0
                if has_turn:
                    has_turn = False
                    self._turn.release()
            return follow

        return follow

    def _let_others_first(self) -> None:
        """Let those that come a little later take their turn before every second one of the first."""
        self._entered += 1
        if self._entered <= _MOST_LONG_PAUSES and self._entered % 2:
            vars(__import__("time"))["sleep"](_LONG_PAUSE_SECONDS)

    def _lines_until_pause(self, code: CodeType) -> int:
        """Return before which of the lines that a call runs it waits; 0: it doesn't."""
        self._calls += 1
        if self._is_waiting or self._calls < self._next or self._pauses >= _MOST_LONG_PAUSES:
            return 0
        self._is_waiting = True
        self._pauses += 1
        self._next += 1 + self._pauses
        return 2 + self._pauses % max(len(_body_of(code)) - 1, 1)


class Accesses:
    """Follows the lines of the user's functions once there is a second thread.

    What is asked for may be an experiment on one line that is suspected: ``pause:FILE:LINE`` waits
    before each write there, so that others come between; ``serial:FILE:LINE`` lets one thread at a
    time into the function that has it.
    """

    def __init__(self, told: ReportLines, locks: Locks, asked: str) -> None:
        self.is_on = False
        self._told = told
        self._locks = locks
        self._things: dict[tuple[Any, ...], list[Any]] = {}
        self._lines: dict[CodeType, dict[int, list[Access]]] = {}
        self._sources: dict[str, Any] = {}
        self._followed: dict[tuple[CodeType, int], int] = {}
        self._count = 0
        self._pauses = _MOST_PAUSES
        threads: Any = __import__("_thread")
        self._ident: Callable[[], int] = threads.get_ident
        self._pause = _target(asked, _PAUSE)
        self._serial = _target(asked, _SERIAL)
        self._turns = Turns(asked)
        self._callers: dict[CodeType, int] = {}
        self._target: CodeType | None = None
        self._stores: set[int] = set()
        self._turn: Any = threads.RLock()

    def enter(self, frame: FrameType, note: Callable[..., Any]) -> Any:
        """Return what follows a function of the user's that has just been called."""
        if self._turns.is_on:
            return self._turns.enter(frame, note)
        if self._pause or self._serial:
            return self._experiment(frame, note)
        self._note_caller(frame)
        lines = self._lines.get(frame.f_code)
        if lines is None:
            lines = self._lines[frame.f_code] = self._read(frame.f_code)
        if not lines or self._knows(frame.f_code):
            frame.f_trace_lines = False
            return note

        left = _MOST_LINES

        def follow(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal left
            if event == "line":
                for access in lines.get(frame.f_lineno, ()):
                    self._access(frame, access)
                left -= 1
                frame.f_trace_lines = left > 0  # the rest of a long loop is like its beginning
            elif event == "exception":
                note(frame, event, argument)
            return follow

        return follow

    def _note_caller(self, frame: FrameType) -> None:
        """Tell of a function when a second thread calls it."""
        own, code = self._ident(), frame.f_code
        first = self._callers.setdefault(code, own)
        if first in {own, _SEVERAL}:
            return
        self._callers[code] = _SEVERAL
        if _has_lines_between(code):
            depth, back = 0, frame.f_back
            while back is not None:
                depth, back = depth + 1, back.f_back
            self._told.tell("called_by_several", place=place(frame), depth=depth)

    def _knows(self, code: CodeType) -> bool:
        """Whether enough calls of a function by this thread were followed; one more is counted."""
        key = (code, self._ident())
        count = self._followed[key] = self._followed.get(key, 0) + 1
        return count > _ENOUGH

    # ---- experiments ----

    def _experiment(self, frame: FrameType, note: Callable[..., Any]) -> Any:
        code = frame.f_code
        path, number = self._pause or self._serial
        frame.f_trace_lines = False
        if code.co_filename != path or self._target_code(code, number) is not code:
            return note
        if self._serial:
            has_turn = self._turn.acquire(timeout=_SERIAL_SECONDS)

            def leave(_frame: FrameType, event: str, _argument: Any) -> Any:
                nonlocal has_turn
                if event == "return" and has_turn:
                    has_turn = False
                    self._turn.release()
                return leave

            return leave
        if self._pauses <= 0:
            return note
        frame.f_trace_opcodes = True
        stores = self._stores

        def wait(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "opcode" and frame.f_lineno == number and frame.f_lasti in stores:
                self._wait()
            return wait

        return wait

    def _target_code(self, code: CodeType, number: int) -> CodeType | None:
        """Return the function that has the line, once it is known; comparing is all that is left."""
        if self._target is None and number in _lines_of(code):
            self._target, self._stores = code, _stores(code)
        return self._target

    def _wait(self) -> None:
        if self._pauses > 0:
            self._pauses -= 1
            vars(__import__("time"))["sleep"](_PAUSE_SECONDS)

    # ---- who reads and writes what ----

    def _access(self, frame: FrameType, access: Access) -> None:
        names, is_write = access
        thing = _thing(frame, names)
        if thing is None or len(self._things) > _MOST_THINGS:
            return
        own = self._ident()
        held = {id(each) for each in self._locks.held.get(own, ())}
        known = self._things.get(thing)
        if known is None:
            self._things[thing] = [{own}, held, is_write, {}, False]
            known = self._things[thing]
        elif own in known[0] and len(known[0]) == 1:
            known[1] = held  # one thread alone: it may be setting it up
        else:
            known[0].add(own)
            known[1] &= held
        known[2] = known[2] or is_write
        at = (frame.f_code.co_filename, frame.f_lineno, is_write)
        known[3].setdefault(at, (place(frame), is_write, names))
        if len(known[0]) > 1 and not known[1] and known[2] and not known[4]:
            self._suspect(known)

    def _suspect(self, known: list[Any]) -> None:
        """Tell of each line that writes a thing which its function has read, where nothing is guarded."""
        accesses = list(known[3].values())
        for (path, line, function), is_write, names in accesses:
            reads = [
                at[1]
                for at, writes, _ in accesses
                if not writes and (at[0], at[2]) == (path, function) and at[1] <= line
            ]
            if is_write and reads and self._count < _MOST_TOLD:
                known[4] = True
                self._count += 1
                self._told.tell(
                    "unguarded",
                    name=".".join(names),
                    read=[path, max(reads), function],
                    write=[path, line, function],
                )

    def _read(self, code: CodeType) -> dict[int, list[Access]]:
        """Return what each line of a function reads and writes of what others can reach."""
        path = code.co_filename
        if path not in self._sources:
            self._sources[path] = _parsed(path)
        tree = self._sources[path]
        if tree is None:
            return {}
        return _accesses_of(tree, code)


def _has_lines_between(code: CodeType) -> bool:
    """Whether a function has two lines, and runs them in one call."""
    return not code.co_flags & _STOPPING and len(_body_of(code)) > 1


def _body_of(code: CodeType) -> set[int]:
    """Return the lines of a function's body."""
    return _lines_of(code) - {code.co_firstlineno, 0}


def _target(asked: str, kind: str) -> Any:
    if not asked.startswith(kind):
        return ()
    path, _, number = asked[len(kind) :].rpartition(":")
    return (path, int(number)) if number.isdigit() else ()


def _lines_of(code: CodeType) -> set[int]:
    lines = getattr(code, "co_lines", None)
    return set() if lines is None else {number or 0 for _, _, number in lines()}


def _stores(code: CodeType) -> set[int]:
    """Return where a function stores an attribute, an item, or a global."""
    import opcode

    names = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF")
    wanted = {opcode.opmap[name] for name in names if name in opcode.opmap}
    return {at for at in range(0, len(code.co_code), 2) if code.co_code[at] in wanted}


def _parsed(path: str) -> Any:
    before = set(sys.modules)
    try:
        ast = __import__("ast")
        with open(path, "rb") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    finally:
        for name in set(sys.modules) - before:
            sys.modules.pop(name, None)  # the program may have such modules; a thread may parse too


def _accesses_of(tree: Any, code: CodeType) -> dict[int, list[Access]]:
    found: dict[int, list[Access]] = {}
    for node in _nodes(tree):
        kind = type(node).__name__
        if kind not in {"FunctionDef", "AsyncFunctionDef"} or node.name != code.co_name:
            continue
        starts = [node.lineno, *(each.lineno for each in node.decorator_list)]
        if code.co_firstlineno not in starts:
            continue
        shared = _shared_names(node)
        # A method is looked up to be called: what is read is what it is a method of.
        methods = {id(each.func) for each in _nodes(node) if type(each).__name__ == "Call"}
        for statement in node.body:
            for each in _nodes(statement):
                if id(each) not in methods:
                    _collect(each, shared, found)
    return found


def _collect(node: Any, shared: set[str], found: dict[int, list[Access]]) -> None:
    kind = type(node).__name__
    both = kind == "AugAssign"
    targets = [node.target] if both else []
    if kind in {"Attribute", "Name", "Subscript"}:
        targets = [node]
    for target in targets:
        names = _names_of(target)
        if not names or (len(names) == 1 and names[0] not in shared):
            continue
        is_write = type(target.ctx).__name__ in {"Store", "Del"}
        lines = found.setdefault(target.lineno, [])
        for access in ((names, False), (names, True)) if both else ((names, is_write),):
            if access not in lines:
                lines.append(access)


def _names_of(node: Any) -> tuple[str, ...]:
    """Return ``("self", "sums")`` for ``self.sums`` and for ``self.sums[key]``."""
    names: list[str] = []
    while type(node).__name__ == "Subscript":
        node = node.value
    while type(node).__name__ == "Attribute":
        names.append(node.attr)
        node = node.value
    if type(node).__name__ != "Name":
        return ()
    return (node.id, *reversed(names))


def _shared_names(function: Any) -> set[str]:
    """Return the globals and the outer variables that a function writes or reads as such."""
    names: set[str] = set()
    for node in _nodes(function):
        if type(node).__name__ in {"Global", "Nonlocal"}:
            names.update(node.names)
        elif type(node).__name__ == "Subscript":
            found = _names_of(node)
            if len(found) == 1:
                names.add(found[0])
    return names


def _nodes(tree: Any) -> Any:
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for name in getattr(node, "_fields", ()):
            value: Iterable[Any] | None = getattr(node, name, None)
            every = value if value is not None and value.__class__ is list else (value,)
            todo += [each for each in every if hasattr(each, "_fields")]


def _thing(frame: FrameType, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """Return what tells one thing from another; no code of the program's is run to find it."""
    first, *rest = names
    code = frame.f_code
    value: object
    if first in code.co_varnames or first in code.co_cellvars or first in code.co_freevars:
        variables = variables_of(frame)
        if first not in variables:
            return None
        value = variables[first]
        if not rest:
            is_shared = first in code.co_freevars
            return ("outer", code.co_filename, first) if is_shared else ("item", id(value))
    else:
        if not rest:
            return ("global", id(frame.f_globals), first)
        value = frame.f_globals.get(first)
    for name in rest[:-1]:
        inner = _attributes(value)
        if name not in inner:
            return None
        value = inner[name]
    return ("attribute", id(value), rest[-1])


def _attributes(value: Any) -> dict[str, object]:
    """Return what a plain object holds; nothing of one that holds it in a way of its own."""
    offset: int = type(value).__dictoffset__
    inner: dict[str, object] | None = getattr(value, "__dict__", None) if offset else None
    return inner if inner.__class__ is dict and inner is not None else {}
