"""Changes by which something that each attempt of the same work makes again is made once."""

import ast
from collections.abc import Iterable, Iterator

from whet.evidence.experiments.changes import expression

_MADE = ast.Call | ast.Await | ast.JoinedStr | ast.BinOp
_SCOPES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_KEPT = (
    "__import__('sys').__dict__.setdefault('whet_kept', {}).setdefault("
    "(PLACE, id(FRAME), *((each if isinstance(each,"
    " (str, int, float, bytes, type(None))) else id(each)) for each in (NAMES))),"
    " ((MADE), FRAME, (NAMES)))[0]"
)
_FRAME = "__import__('sys')._getframe()"
OWN, CALLER, ANY = _FRAME, f"{_FRAME}.f_back", "None"
"""In whose calls something is made once: the function's own, what calls it, or any."""
_ANEW = "(__import__('sys').__dict__.__setitem__('whet_kept', {}), (MADE))[1]"
"""What was made the first time in the same frame for the same things; these are kept, so that no other one gets
their numbers. It is made anew each time, as before, and not used."""


def made_in(body: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Yield what some statements make, without the functions in them: the outer expressions first."""
    for node in body:
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(
            node.value, ast.Attribute | ast.Subscript
        ):
            yield node.value
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from made_in(ast.iter_child_nodes(node.value))
            continue
        if isinstance(node, _MADE):
            yield node
        if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
            yield from made_in(ast.iter_child_nodes(node.value))
        elif not isinstance(node, ast.JoinedStr):  # before Python 3.12 places in it are wrong
            yield from made_in(ast.iter_child_nodes(node))


def made_once(
    source: str,
    made: ast.expr,
    names: Iterable[str],
    rounds: ast.expr | None = None,
    *,
    within: str,
    instead: str = "MADE",
) -> str:
    """Return a module in which an expression is what it was at first for the same frame and the same things.

    No line moves.

    Args:
        source: the module.
        made: the expression.
        names: what tells one piece of work from another one in the same frame.
        rounds: what a loop goes through that begins a piece of work; None: there is none.
        within: whose frame that is.
        instead: what is kept of what was made, `MADE`.
    """
    place = made.lineno, made.col_offset
    kept = _KEPT.replace("PLACE", f"{place}").replace("FRAME", within).replace("MADE", instead)
    parts = [(made, kept)]
    parts += [] if rounds is None else [(rounds, _ANEW)]
    given = "".join(f"{each}, " for each in names)
    return replaced(source, [(node, text.replace("NAMES", given)) for node, text in parts])


def replaced(source: str, parts: Iterable[tuple[ast.expr, str]]) -> str:
    """Return a module with other expressions in the place of some; `MADE` in them is the one that was there."""
    lines = [each.encode() for each in source.splitlines(keepends=True)]
    for node, instead in sorted(parts, key=lambda each: _begin(each[0]), reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        own, end = b"".join(lines[first : last + 1]), len(lines[last]) - (node.end_col_offset or 0)
        text = own[node.col_offset : len(own) - end].decode()
        new = instead.replace("MADE", text)
        lines[first] = own[: node.col_offset] + f"({new})".encode() + own[len(own) - end :]
        lines[first + 1 : last + 1] = [b""] * (last - first)
    return b"".join(lines).decode()


def _begin(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def parameters_of(function: ast.AST) -> list[str]:
    """Return what reads each argument of a function."""
    if not isinstance(function, _FUNCTIONS):
        return []
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names += [f"*{given.vararg.arg}"] if given.vararg is not None else []
    return names + ([f"*{given.kwarg.arg}.values()"] if given.kwarg is not None else [])


def retrying_loops(
    node: ast.AST, *, is_in_loop: bool = False
) -> Iterator[tuple[ast.For | ast.While, ast.Try]]:
    """Yield each loop of a function that may try the same again, with what it tries."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.For | ast.While):
            targets = set(_names(each.target)) if isinstance(each, ast.For) else set[str]()
            # What a loop without a beginning has made isn't made anew in the next round around it.
            is_endless = is_in_loop and isinstance(each, ast.While)
            for tried in () if is_endless else _tries(each.body):
                inside = {name for part in tried.body for name in _names(part)}
                if tried.handlers and inside.isdisjoint(targets):
                    yield each, tried
        if not isinstance(each, _SCOPES):
            is_loop = is_in_loop or isinstance(each, ast.For | ast.While)
            yield from retrying_loops(each, is_in_loop=is_loop)


def _tries(body: Iterable[ast.AST]) -> Iterator[ast.Try]:
    for each in body:
        if isinstance(each, ast.Try):
            yield each
        if not isinstance(each, (*_SCOPES, ast.For, ast.While)):
            yield from _tries(ast.iter_child_nodes(each))


def _names(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def is_whole(source: str, made: ast.expr) -> bool:
    """Whether an expression stands in a text as its tree says."""
    segment = ast.get_source_segment(source, made)
    if segment is None:
        return False
    try:
        return ast.dump(expression(f"({segment})")) == ast.dump(made)
    except (SyntaxError, ValueError):
        return False
