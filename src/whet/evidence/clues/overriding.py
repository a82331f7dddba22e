"""Which class answers a call, if several base classes could."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.code_lines import module_of
from whet.evidence.variables.kept_failure import KeptClass, KeptError, KeptFailure, KeptFrame
from whet.evidence.variables.kept_value import value_line

_WHY_CALL = "the method that runs may not be the one you read"
_WHY_MISSING = "an attribute that is missing should have been set somewhere"
_CALL = re.compile(r"\b(?:self|cls)\.(\w+)\s*\(")
_MISSING = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
_NEAREST = 2


def overriding_clues(failure: KeptFailure, error: KeptError, at: Placing) -> list[Clue]:
    """Return what the order of inheritance says about an error: which class overrides the method it calls."""
    return [*_missing(failure, error, at), *_called(failure, error, at)]


def _called(failure: KeptFailure, error: KeptError, at: Placing) -> Iterator[Clue]:
    """Yield the methods that the failing statements call, where one overrides another."""
    own = [each for each in error.frames if each.frame.in_user_code][-_NEAREST:]
    names: set[str] = set()
    for frame in reversed(own):
        for name in _CALL.findall(_statement(failure, frame)):
            definers = _definers(failure, frame, name)
            if name not in names and len(definers) > 1 and _differ(failure, definers, name):
                names.add(name)
                yield _override(failure, definers, name, at)


def _definers(failure: KeptFailure, frame: KeptFrame, name: str) -> Sequence[KeptClass]:
    """Return the classes of a frame's object that define a method; none where it may be several objects."""
    by_definition = {
        tuple(each.name for each in definers): definers
        for line in failure.classes
        if any(_is_in(frame, each) for each in line)
        for definers in ([each for each in line if name in each.methods],)
    }
    return next(iter(by_definition.values())) if len(by_definition) == 1 else ()


def _is_in(frame: KeptFrame, owner: KeptClass) -> bool:
    """Whether a frame is of a method of a class, or of a function that is written in one."""
    if owner.methods.get(frame.name) == (frame.frame.path, frame.first_line):
        return True
    outer = frame.frame.function.partition(".<locals>")[0]
    return outer.rpartition(".")[0] == owner.name and outer.rpartition(".")[2] in owner.methods


def _differ(failure: KeptFailure, definers: Sequence[KeptClass], name: str) -> bool:
    """Whether a method takes the place of one that does something, without calling it."""
    first, second = (_function(failure, each, name) for each in definers[:2])
    if first is None or second is None or _is_abstract(second):
        return False
    return not _goes_on(first, name)


def _override(failure: KeptFailure, definers: Sequence[KeptClass], name: str, at: Placing) -> Clue:
    here, there = definers[:2]
    path, line = here.methods[name]
    one, other = (_parameters(_function(failure, each, name)) for each in (here, there))
    differs = "" if one == other else f", with other parameters ({one}; there {other})"
    line = _line_of(failure, here, name) or line
    below = _line_of(failure, there, name) or there.methods[name][1]
    return Clue(
        says=f"`self.{name}` is `{here.name}.{name}` at {at(path, line)}: it overrides"
        f" `{there.name}.{name}` at {at(there.methods[name][0], below)}{differs}",
        why=_WHY_CALL,
        path=path,
        line=line,
    )


def _missing(failure: KeptFailure, error: KeptError, at: Placing) -> Iterator[Clue]:
    """Yield where a missing attribute is set, and which override leaves that out."""
    match = _MISSING.search(value_line(error.arguments[0], 400)) if error.arguments else None
    if not error.type.endswith("AttributeError") or match is None:
        return
    attribute = match[2]
    for line in failure.classes:
        if line[0].name.rpartition(".")[2] != match[1]:
            continue
        for place, owner in enumerate(line):
            for name in owner.methods:
                number = _assigned_in(_function(failure, owner, name), attribute)
                if number:
                    says = f"`self.{attribute}` is set in `{owner.name}.{name}`"
                    path = owner.methods[name][0]
                    set_here = Clue(
                        says=f"{says} at {at(path, number)}",
                        why=_WHY_MISSING, path=path, line=number,
                    )  # fmt: skip
                    yield _unset(failure, line[: place + 1], name, set_here, at)
                    return


def _unset(
    failure: KeptFailure, line: Sequence[KeptClass], name: str, set_here: Clue, at: Placing
) -> Clue:
    """Return which override keeps a method from setting an attribute; else that it has not run."""
    chain = [each for each in line if name in each.methods]
    for each, below in pairwise(chain):
        function = _function(failure, each, name)
        if function is not None and not _goes_on(function, name):
            here, number = each.methods[name][0], _line_of(failure, each, name)
            return Clue(
                says=f"{set_here.says}, but `{each.name}.{name}` at {at(here, number)} overrides"
                f" `{below.name}.{name}` and does not call it",
                why=_WHY_MISSING,
                path=here,
                line=number,
                sureness=Sureness.SEEN,
            )
    return replace(
        set_here,
        says=f"{set_here.says}, but it's missing when the program asks for it: that line didn't "
        "run for this object, or something deleted it",
    )


def _statement(failure: KeptFailure, frame: KeptFrame) -> str:
    lines = failure.sources.get(frame.frame.path, "").splitlines()
    first, last = frame.frame.line, frame.frame.line
    if frame.position is not None:
        first, last = min(first, frame.position[0]), max(last, frame.position[1])
    return "\n".join(lines[first - 1 : last])


def _function(
    failure: KeptFailure, owner: KeptClass, name: str
) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    path, first = owner.methods[name]
    try:
        tree = module_of(failure.sources.get(path, ""))
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            starts = [node.lineno, *(each.lineno for each in node.decorator_list)]
            if first in starts:
                return node
    return None


def _line_of(failure: KeptFailure, owner: KeptClass, name: str) -> int:
    """Return the line of a method's `def`; its code begins at a decorator, if it has one."""
    function = _function(failure, owner, name)
    return owner.methods[name][1] if function is None else function.lineno


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | None) -> str:
    return "" if function is None else ast.unparse(_bare(function.args))


def _bare(arguments: ast.arguments) -> ast.arguments:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = [ast.arg(arg=each.arg) for each in every]
    return ast.arguments(
        posonlyargs=[], args=names, kwonlyargs=[], kw_defaults=[], defaults=[],
        vararg=arguments.vararg, kwarg=arguments.kwarg,
    )  # fmt: skip


def _is_abstract(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = [
        each
        for each in function.body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
    return all(
        isinstance(each, ast.Pass)
        or (isinstance(each, ast.Raise) and "NotImplemented" in ast.unparse(each))
        for each in body
    )


def _goes_on(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether a method calls that of the same name that it overrides."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == name
        and not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"})
        for node in ast.walk(function)
    )


def _assigned_in(function: ast.FunctionDef | ast.AsyncFunctionDef | None, attribute: str) -> int:
    """Return the line in which a method sets an attribute of its object; 0: it doesn't."""
    for node in ast.walk(function) if function is not None else ():
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and node.attr == attribute
            and isinstance(node.value, ast.Name)
            and node.value.id in {"self", "cls"}
        ):
            return node.lineno
    return 0
