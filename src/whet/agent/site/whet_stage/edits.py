"""Gives a resumed program the text that its files have now.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import gc
import sys
import types

from .frames import GENERATOR_FLAGS
from .past import Comparison, key_of
from .sources import Source, codes_in, key_of_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Container, Iterable, Mapping, Sequence
    from types import CodeType, FrameType, FunctionType

    from .past import Key
    from .script import Script
else:
    from . import nodes as ast


_PARTS = ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")  # of a function that runs
_GENERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_CLASSES_KNOW_LINES = sys.version_info >= (3, 13)  # `__firstlineno__`


class OtherPastError(Exception):
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
            stack: the frames of the program, if it does not stand at a point between statements
                of the script; those cannot be made anew.
            functions: finds the living functions.
            are_lines_seen: whether the program may have looked at numbers of lines.

        Raises:
            OtherPastError: if it cannot be what the program has been so far.
        """
        self.sources: dict[str, Source] = {}
        self.nodes: dict[int, object] = {}
        self._codes: list[tuple[FunctionType, CodeType]] = []
        for path, text in changed.items():
            if path not in sources or any(each.f_code.co_filename == path for each in stack):
                raise OtherPastError
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
                raise OtherPastError  # its functions cannot be found
            moved = comparison.have_lines_moved
            if moved and (are_lines_seen or space.get("__warningregistry__")):
                raise OtherPastError
            if comparison.have_classes_moved and _CLASSES_KNOW_LINES:
                raise OtherPastError
            for then, now in comparison.pairs:
                self.nodes[id(then)] = now
                _hand_on(old, new, key_of(then), key_of(now))
            self.sources[path] = new
            self._codes += _replacements(
                functions.of(old.path, space), new, comparison, script.woven
            )
            if path == script.path and new.warned != old.warned:
                raise OtherPastError  # the compiler warns before anything runs

    def apply(self) -> None:
        """Give every function its new code."""
        for function, code in self._codes:
            function.__code__ = code


def _hand_on(old: Source, new: Source, then: Key, now: Key) -> None:
    """Let what is known of a function be known of its new text."""
    if then in old.placed and then != now:
        raise OtherPastError
    for known, known_now in (
        (old.placed, new.placed), (old.used, new.used), (old.entered, new.entered)
    ):  # fmt: skip
        if then in known:
            known_now.add(now)


def _parsed(old: Source, text: bytes) -> Source:
    try:
        new = Source(old.name, old.path, text, old.rewrite)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise OtherPastError from error
    is_alike = new.flags == old.flags and _has_annotations(new) == _has_annotations(old)
    if old.has_begun and not is_alike:
        raise OtherPastError
    new.same, new.spaces, new.hooks = old.same, old.spaces, old.hooks
    return new


def _has_annotations(source: Source) -> bool:
    """Whether its module gets `__annotations__`, which it has from the start."""
    return any(isinstance(node, ast.AnnAssign) for node in source.tree.body)


def _compare(
    comparison: Comparison, old: Source, new: Source, script: Script, *, is_at_point: bool
) -> None:
    then, now = old.tree.body, new.tree.body
    main = script.frames[0] if script.frames else None
    if is_at_point and main is not None and main.source is old:
        is_same = comparison.is_same_past(then, now, main.path, has_begun=main.has_begun)
    else:
        is_same = comparison.are_same(then, now)
    if not is_same:
        raise OtherPastError


def _replacements(
    functions: Iterable[FunctionType],
    new: Source,
    comparison: Comparison,
    woven: Container[FunctionType],
) -> list[tuple[FunctionType, CodeType]]:
    """Return the new code of each function object of a module."""
    if gc.get_freeze_count():
        raise OtherPastError  # what is frozen cannot be found
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
            raise OtherPastError
        replaced = new.clean(now) if now in new.used else hooked.get(now)
        if replaced is None or not _is_of_same_kind(code, replaced):
            raise OtherPastError
        found.append((function, replaced))
    _check_generators(function.__code__ for function, _ in found)
    return found


class Functions:
    """The living functions of the user's files. To find them takes long in a large program."""

    def __init__(self) -> None:
        self._found: dict[str, list[FunctionType]] = {}

    def find(self, spaces: Mapping[str, Mapping[str, object]]) -> None:
        """Find those of all files at once: nothing of the program may run until `forget`.

        Args:
            spaces: the namespaces that are their globals, by path.
        """
        found: dict[str, list[FunctionType]] = {path: [] for path in spaces}
        for function in gc.get_referrers(*spaces.values()):
            if isinstance(function, types.FunctionType):
                code = function.__code__
                path = code.co_filename
                # What is being run is a function, too.
                if function.__globals__ is spaces.get(path) and code.co_name != "<module>":
                    found[path].append(function)
        self._found = found

    def of(self, path: str, space: Mapping[str, object]) -> list[FunctionType]:
        """Return those of a file whose globals a namespace is."""
        if path not in self._found:
            self.find({path: space})
        return self._found[path]

    def forget(self) -> None:
        """Hold none of them any more: they are to go when the program lets them go."""
        self._found.clear()


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


def _check_generators(codes: Iterable[CodeType]) -> None:
    """Refuse if a generator or coroutine lives that would run on with old code."""
    makers = [code for code in codes if code.co_flags & GENERATOR_FLAGS]
    if makers and any(isinstance(each, _GENERATORS) for each in gc.get_referrers(*makers)):
        raise OtherPastError
