"""Small changes of a program for methods that take the place of one of a base class, and don't call it."""

import ast
from collections.abc import Iterator

from whet.evidence.experiments.changes import Change, Needed, edit_at, expression, line_of

HAS_RUN = "has run"
_NO_CALL = "lambda *own, **named: None"
_OF_BASE = "(lambda own: own if type(own).__name__ == 'method' else {nothing})(getattr(super(), {name!r}, None))"
"""What a base class of the program's own has under this name; `object` has methods that aren't written in Python."""
_BOTH = (
    "(lambda base, own: base and own if base in (True, False) and own in (True, False) else 1 / 0)"
    "({call}, {own})"
)
"""Two answers, both of which must be true."""
_IN_VAIN = "assert {call} is None"
"""A method that returns something is replaced on purpose: called beside the other, it only does more."""


def inherited_otherwise(node: ast.ClassDef) -> Iterator[Change]:
    """Yield the calls of the base class that the methods of a class leave out."""
    if not node.bases:
        return
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.decorator_list and not _goes_on(each):
            call = _call_of_base(each)
            if call:
                yield from _with_call(node, each, call)


def _goes_on(method: ast.FunctionDef) -> bool:
    """Whether a method calls one of its name, or anything of its base class."""
    return any(
        (isinstance(node, ast.Name) and node.id == "super")
        or (
            isinstance(node, ast.Attribute)
            and node.attr == method.name
            and not _is_self(node.value)
        )
        for node in ast.walk(method)
    )


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def _call_of_base(method: ast.FunctionDef) -> str:
    """Return the call with what the method itself was given; empty: it isn't the method of an object."""
    given = method.args
    named = [each.arg for each in (*given.posonlyargs, *given.args)]
    if named[:1] != ["self"]:
        return ""
    words = [
        *named[1:],
        *([f"*{given.vararg.arg}"] if given.vararg else []),
        *(f"{each.arg}={each.arg}" for each in given.kwonlyargs),
        *([f"**{given.kwarg.arg}"] if given.kwarg else []),
    ]
    return f"({', '.join(words)})"


def _with_call(owner: ast.ClassDef, method: ast.FunctionDef, call: str) -> Iterator[Change]:
    base = _OF_BASE.format(nothing=_NO_CALL, name=method.name)
    *_, last = method.body
    if isinstance(last, ast.Return) and last.value is not None:
        answer = _BOTH.format(call=base + call, own=ast.unparse(last.value))
        yield Change(
            node=last,
            what=f"`{owner.name}.{method.name}` overrides `{method.name}` of its base class and doesn't ask it",
            instead=f"`super().{method.name}{call} and …` in it",
            edit=edit_at(last, lambda _: ast.Return(expression(answer))),
            needs=Needed(HAS_RUN, method.name, (line_of(method),)),
        )
        return
    (added,) = ast.parse(_IN_VAIN.format(call=base + call)).body

    def first(found: ast.AST) -> ast.AST:
        assert isinstance(found, ast.FunctionDef)
        has_words = ast.get_docstring(found) is not None
        found.body.insert(1 if has_words else 0, added)
        return found

    yield Change(
        node=method,
        what=f"`{owner.name}.{method.name}` overrides `{method.name}` of its base class and doesn't call it",
        instead=f"`super().{method.name}{call}` in it",
        edit=edit_at(method, first),
        needs=Needed(HAS_RUN, method.name, (line_of(method),)),
    )
