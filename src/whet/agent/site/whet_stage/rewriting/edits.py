"""Gives a resumed program the text that its files have now.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import gc
import sys
import types

from ..hiding.hidden_frames import caller
from ..hiding.nodes import dump
from .frames import GENERATOR_FLAGS
from .prefix_check import Comparison, key_of
from .sources import Source, codes_in, has_hook, key_of_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Container, Iterable, Mapping, Sequence
    from types import CodeType, FrameType, FunctionType

    from .prefix_check import Key
    from .script import Script
else:
    from ..hiding import nodes as ast


_FROZEN_AT_START = gc.get_freeze_count()  # Python 3.12 itself freezes what it begins with
_PARTS = ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")  # of a function that runs
_GENERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_CLASSES_KNOW_LINES = sys.version_info >= (3, 13)  # `__firstlineno__`


class DivergedError(Exception):
    """With these texts the program would have done something else so far."""


class Edit:
    """New texts for some files of a program, found to have the same past."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        script: Script,
        changed: Mapping[str, bytes],
        *,
        stack: Sequence[FrameType],
        functions: Functions,
        are_lines_seen: bool,
    ) -> None:
        """Compare them with what the program has.

        Args:
            sources: the files as the program has them, by path.
            script: the main script and the stage frames.
            changed: new texts, by path.
            stack: the frames of the program, if it doesn't stand at a point between statements
                of the script; those can't be made again.
            functions: finds the living functions.
            are_lines_seen: whether the program may have looked at numbers of lines.

        Raises:
            DivergedError: if it can't be what the program has been so far.
        """
        self.sources: dict[str, Source] = {}
        self.nodes: dict[int, object] = {}
        self._codes: list[tuple[Source, FunctionType, CodeType]] = []
        self._functions = functions
        for path, text in changed.items():
            if path not in sources or any(each.f_code.co_filename == path for each in stack):
                raise DivergedError
            old, new = sources[path], _parsed(sources[path], text)
            if not old.has_begun:
                new.has_begun = False
                self.sources[path] = new
                continue
            comparison = Comparison(
                old.is_unused,
                {
                    id(frame.node): (frame.path, frame.has_begun)
                    for frame in script.frames[1:]
                    if not stack and not frame.source.is_used_elsewhere(frame.node)
                },
            )
            _compare(comparison, old, new, script, is_at_point=not stack)
            space = old.module
            if space is None:
                raise DivergedError  # its functions can't be found
            _check_places(comparison, space, are_lines_seen=are_lines_seen)
            if comparison.have_places_moved and functions.is_any_standing(path, sources):
                raise DivergedError
            are_anew = not stack and any(frame.source.path == path for frame in script.frames)
            if are_anew and functions.is_frame_held(sources):
                raise DivergedError
            for then, now in comparison.pairs:
                self.nodes[id(then)] = now
                _hand_on(old, new, key_of(then), key_of(now))
            self.sources[path] = new
            self._codes += [
                (new, function, code)
                for function, code in _replacements(
                    functions.of(old.path, space), new, comparison, script.woven
                )
            ]
            if path == script.path and new.warned != old.warned:
                raise DivergedError  # the compiler warns before anything runs
        self._check_frames(script)

    def _check_frames(self, script: Script) -> None:
        """Refuse if a frame has no place in the new text: it would go on in the old one."""
        moved = [each for each in script.frames[1:] if each.source.path in self.sources]
        if any(id(frame.node) not in self.nodes for frame in moved):
            raise DivergedError

    def apply(self) -> None:
        """Give every function its new code."""
        for source, function, code in self._codes:
            self._functions.leave(source, function.__code__)
            function.__code__ = code


def _hand_on(old: Source, new: Source, then: Key, now: Key) -> None:
    """Let what is known of a function be known of its new text."""
    if then in old.placed and then != now:
        raise DivergedError
    for known, known_now in (
        (old.placed, new.placed), (old.used, new.used), (old.entered, new.entered)
    ):  # fmt: skip
        if then in known:
            known_now.add(now)


def _parsed(old: Source, text: bytes) -> Source:
    try:
        new = Source(old.name, old.path, text, old.rewrite)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise DivergedError from error
    is_alike = new.flags == old.flags and _has_annotations(new) == _has_annotations(old)
    if old.has_begun and not is_alike:
        raise DivergedError
    new.same, new.spaces, new.hooks, new.left = old.same, old.spaces, old.hooks, old.left
    return new


def _has_annotations(source: Source) -> bool:
    """Whether its module gets `__annotations__`, which it has from the start."""
    return any(isinstance(node, ast.AnnAssign) for node in source.tree.body)


def _compare(
    comparison: Comparison, old: Source, new: Source, script: Script, *, is_at_point: bool
) -> None:
    if any(frame.source is old for frame in script.frames):
        new.pin()  # frames are to stand in its nodes, which the next edit must find again
    then, now = old.tree.body, new.tree.body
    main = script.frames[0] if script.frames else None
    if is_at_point and main is not None and main.source is old:
        is_same = comparison.is_same_past(then, now, main.path, has_begun=main.has_begun)
    else:
        is_same = comparison.are_same(then, now)
    if not is_same:
        raise DivergedError


def _check_places(
    comparison: Comparison, space: Mapping[str, object], *, are_lines_seen: bool
) -> None:
    """Refuse if a number of a line that has changed is known to the program."""
    if comparison.have_lines_moved and (are_lines_seen or space.get("__warningregistry__")):
        raise DivergedError
    if comparison.have_classes_moved and _CLASSES_KNOW_LINES:
        raise DivergedError


def _replacements(
    functions: Iterable[FunctionType],
    new: Source,
    comparison: Comparison,
    woven: Container[FunctionType],
) -> list[tuple[FunctionType, CodeType]]:
    """Return the new code of each function object of a module."""
    if gc.get_freeze_count() > _FROZEN_AT_START:
        raise DivergedError  # what is frozen can't be found
    keys: dict[Key, Key | None] = {}
    for then, its_new in comparison.pairs:
        key, new_key = key_of(then), key_of(its_new)
        keys[key] = new_key if keys.get(key, new_key) == new_key else None
    hooked = codes_in(new.code())
    found: list[tuple[FunctionType, CodeType]] = []
    for function in functions:
        code = function.__code__
        if function in woven or not _has_moved(code, comparison):
            continue
        now = keys.get(key_of_code(code))
        if now is None:
            raise DivergedError
        # Without a hook it has been shown to the program, or is called often.
        replaced = hooked.get(now) if has_hook(code) else new.clean(now)
        if replaced is None or not _is_of_same_kind(code, replaced):
            raise DivergedError
        found.append((function, replaced))
    standing = _standing_codes(function.__code__ for function, _ in found)
    if standing:
        same = {key_of(now) for then, now in comparison.pairs if dump(then) == dump(now)}
        for code in standing.values():
            if key_of_code(code) not in same:
                raise DivergedError  # it would run on with old code
            new.used.update(codes_in(code).keys() & new.functions.keys())  # the old source hears it
    return [each for each in found if id(each[0].__code__) not in standing]


class Functions:
    """The living functions of the user's files. To find them takes long in a large program."""

    def __init__(self) -> None:
        self._found: dict[str, list[FunctionType]] = {}
        self._bodies: dict[str, list[FunctionType]] = {}
        self._standing: dict[str, bool] = {}
        self._is_frame_held = False

    def find(self, spaces: Mapping[str, Mapping[str, object]]) -> None:
        """Find those of all files at once: nothing of the program may run until `forget`.

        Args:
            spaces: the namespaces that are their globals, by path.
        """
        found: dict[str, list[FunctionType]] = {path: [] for path in spaces}
        bodies: dict[str, list[FunctionType]] = {path: [] for path in spaces}
        for function in gc.get_referrers(*spaces.values()):
            if isinstance(function, types.FunctionType):
                code = function.__code__
                path = code.co_filename
                # What is being run, or remembers where it failed, is a function, too.
                if function.__globals__ is spaces.get(path):
                    (bodies if code.co_name == "<module>" else found)[path].append(function)
        self._found, self._bodies = found, bodies

    def of(self, path: str, space: Mapping[str, object]) -> list[FunctionType]:
        """Return those of a file whose globals a namespace is."""
        if path not in self._found:
            self.find({path: space})
        return self._found[path]

    def find_standing(self, sources: Mapping[str, Source]) -> None:
        """Find out in which files something stands still on a line, such as a generator.

        What failed and is remembered does, too: its traceback names the line. All these keep the
        code that they had, whatever the function gets.
        """
        codes: dict[int, CodeType] = {}
        spaces = {path: source.module for path, source in sources.items()}
        known = {path: space for path, space in spaces.items() if space is not None}
        if known.keys() - self._found.keys():
            self.find(known)  # all at once: each look goes through all objects that there are
        for path, source in sources.items():
            space = spaces[path]
            if space is not None:
                functions = self.of(path, space) + self._bodies.get(path, [])
                mine = [*(each.__code__ for each in functions), *source.left]
                codes.update((id(each), each) for each in mine if source.may_stand(each))
        running = _running(sources)
        found = dict.fromkeys(sources, False)
        for each in gc.get_referrers(*codes.values(), *running.values()):
            if id(each) not in running and (path := _stands_in(each)) in found:
                found[path] = True
                self._is_frame_held |= _is_of_locals(each, running)
        self._standing = found

    def is_any_standing(self, path: str, sources: Mapping[str, Source]) -> bool:
        """Whether something stands still on a line of a file."""
        if not self._standing:
            self.find_standing(sources)
        return self._standing[path]

    def is_frame_held(self, sources: Mapping[str, Source]) -> bool:
        """Whether a traceback holds the frame of a function that runs, and with it all that is in there."""
        if not self._standing:
            self.find_standing(sources)
        return self._is_frame_held

    def leave(self, source: Source, code: CodeType) -> None:
        """Let a function of a file have another code than this one."""
        if self._standing.get(source.path, True):
            source.left.append(code)
        else:
            source.left.clear()

    def forget(self) -> None:
        """Hold none of them any more: they are to go when the program lets them go."""
        self._found.clear()
        self._bodies.clear()


def _running(paths: Container[str]) -> dict[int, FrameType]:
    """Return the frames of some files that are being run, by `id`."""
    found: dict[int, FrameType] = {}
    frame: FrameType | None = caller()
    while frame is not None:
        if frame.f_code.co_filename in paths:
            found[id(frame)] = frame
        frame = frame.f_back
    return found


def _is_of_locals(found: object, running: Container[int]) -> bool:
    if not isinstance(found, types.TracebackType) or id(found.tb_frame) not in running:
        return False
    return found.tb_frame.f_code.co_name != "<module>"


def _stands_in(found: object) -> str:
    """Return the file in which a generator, a frame or a traceback stands; empty: it is no such thing."""
    if isinstance(found, types.TracebackType):
        found = found.tb_frame
    if isinstance(found, types.FrameType):
        return found.f_code.co_filename
    if isinstance(found, types.GeneratorType):
        return found.gi_code.co_filename
    if isinstance(found, types.CoroutineType):
        return found.cr_code.co_filename
    if isinstance(found, types.AsyncGeneratorType):
        return found.ag_code.co_filename
    return ""


def _has_moved(code: CodeType, comparison: Comparison) -> bool:
    if code.co_name in _PARTS:
        return comparison.have_lines_moved
    # Many of them may stand in one line.
    return code.co_name != "<lambda>" or comparison.have_lambdas_moved


def _is_of_same_kind(code: CodeType, replaced: CodeType) -> bool:
    if replaced.co_freevars != code.co_freevars:
        return False
    # Somebody may have asked whether it makes a generator.
    return not (replaced.co_flags ^ code.co_flags) & GENERATOR_FLAGS


def _standing_codes(codes: Iterable[CodeType]) -> dict[int, CodeType]:
    """Return those of which a generator or coroutine lives, by `id`."""
    makers = {id(code): code for code in codes if code.co_flags & GENERATOR_FLAGS}
    found: list[object] = gc.get_referrers(*makers.values()) if makers else []
    names = ("gi_code", "cr_code", "ag_code")
    living = {
        id(getattr(each, name, None))
        for each in found
        if type(each) in _GENERATORS
        for name in names
    }
    return {at: code for at, code in makers.items() if at in living}
