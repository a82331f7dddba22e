"""A class whose hash is made of all that its comparison compares: equal objects keep equal hashes."""

import ast

from whet.evidence.experiments.changes import parsed
from whet.evidence.experiments.single_changes import LIKELY
from whet.evidence.experiments.variations import Variation

_OBJECTS = ("self", "other")


def hashed_by_what_is_compared(source: str, line: int) -> Variation | None:
    """Return a module in which a `__hash__` takes in all that `__eq__` compares; None: that isn't seen.

    Args:
        source: the module's text.
        line: the line at which the `__hash__` begins.
    """
    for each in ast.walk(parsed(source) or ast.Module([], [])):
        methods = {e.name: e for e in getattr(each, "body", []) if isinstance(e, ast.FunctionDef)}
        hashing, equal = methods.get("__hash__"), methods.get("__eq__")
        if hashing is None or equal is None or hashing.lineno != line:
            continue
        returned = [e for e in ast.walk(hashing) if isinstance(e, ast.Return) and e.value]
        compared = _compared(equal)
        if len(returned) != 1 or not compared:
            return None
        value = returned[0].value
        assert value is not None
        own = hashing.args.args[0].arg
        names = [each.replace("\0", own) for each in compared]
        new = f"hash(({', '.join(names)},))" if len(names) == 1 else f"hash(({', '.join(names)}))"
        old = ast.get_source_segment(source, value) or ""
        if not old or new == old:
            return None
        lines = source.splitlines(keepends=True)
        before = "".join(lines[: value.lineno - 1]).encode() + lines[value.lineno - 1].encode()[: value.col_offset]  # fmt: skip
        after = lines[(value.end_lineno or 1) - 1].encode()[value.end_col_offset :] + "".join(lines[value.end_lineno :]).encode()  # fmt: skip
        text = (before + new.encode() + after).decode()
        return Variation(line=value.lineno, old=old, new=new, text=text, rank=LIKELY)
    return None


def _compared(equal: ast.FunctionDef) -> list[str]:
    """Return what an `__eq__` compares with the same of the other one; a NUL stands for the object."""
    names = [each.arg for each in equal.args.args]
    if len(names) != len(_OBJECTS):
        return []
    found: list[str] = []
    for each in ast.walk(equal):
        if isinstance(each, ast.Compare) and len(each.ops) == 1 and isinstance(each.ops[0], ast.Eq):
            sides = [
                ast.unparse(_Renamed(names).visit(ast.parse(ast.unparse(e), mode="eval").body))
                for e in (each.left, each.comparators[0])
            ]
            if sides[0] == sides[1] and "\0" in sides[0]:
                found.append(sides[0])
    return list(dict.fromkeys(found))


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: list[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name("\0", ast.Load()) if node.id in self._names else node
