"""Changes of a program for a default that takes the place of a value that was given.

A default of an option of the command line looks like a given value; a dict of defaults that is merged last
wins; `or` takes a zero, an empty text or a false that was given as missing.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace

from whet.core.value_class import value_class
from whet.evidence.experiments.changes import Change, Edit, edit_at, expression, name_of, replacing

_OPTIONS = frozenset({"add_argument", "option"})
_FLAGS = {"store_true": "False", "store_false": "True"}
MISSING = ("None", "__import__('argparse').SUPPRESS")
_JOINED, _CHAINED, _UPDATED = "joined", "chained", "updated"
_FALSE = "(lambda own: {default} if own is None else own)({given})"


@value_class(eq=False)
class Option:
    """An option of the command line with a default.

    Attributes:
        call: what makes it.
        name: what the program calls its value.
        default: the source of the default.
    """

    call: ast.Call
    name: str
    default: str

    def without(self, missing: str) -> Edit:
        """Return the edit with which it has no default, but one of `MISSING`."""

        def edit(found: ast.AST) -> ast.AST:
            assert isinstance(found, ast.Call)
            found.keywords = [each for each in found.keywords if each.arg != "default"]
            found.keywords.append(ast.keyword(arg="default", value=expression(missing)))
            return found

        return edit_at(self.call, edit)


@value_class(eq=False)
class Merge:
    """An expression, or a statement, that makes one dict of several.

    Attributes:
        node: it.
        sides: what it is made of; a later one wins.
        kind: how it is written.
    """

    node: ast.expr
    sides: tuple[ast.expr, ...]
    kind: str

    def keeping(self, key: str, side: int) -> Edit:
        """Return the edit with which an earlier side wins for a key."""
        kept = f"{key}: s[{side}][{key}]"
        given = ", ".join(map(ast.unparse, self.sides))
        spread = ", ".join(f"**s[{place}]" for place in range(len(self.sides)))
        made = f"(lambda *s: {{{spread}, {kept}}})({given})"
        if self.kind == _CHAINED:
            assert isinstance(self.node, ast.Call)
            made = f"(lambda *s: {ast.unparse(self.node.func)}({{{kept}}}, *s[::-1]))({given})"
        elif self.kind == _UPDATED:
            made = f"(lambda *s: s[0].update({{**s[1], {kept}}}))({given})"
        return edit_at(self.node, lambda _: expression(made))


def options_in(tree: ast.AST) -> Iterator[Option]:
    """Yield the options with a default, or a flag, which has one."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or name_of(node.func) not in _OPTIONS:
            continue
        named = {each.arg: each.value for each in node.keywords}
        names = [each.value for each in node.args if isinstance(each, ast.Constant)]
        texts = [each for each in names if isinstance(each, str) and each.startswith("-")]
        action, dest, default = (named.get(each) for each in ("action", "dest", "default"))
        implied = _FLAGS.get(str(action.value), "") if isinstance(action, ast.Constant) else ""
        written = ast.unparse(default) if default is not None else implied
        if texts and written not in {"", "None"} and not written.endswith("SUPPRESS"):
            long = next((each for each in texts if each.startswith("--")), texts[0])
            name = long.lstrip("-").partition("/")[0].replace("-", "_")
            name = str(dest.value) if isinstance(dest, ast.Constant) else name
            yield Option(node, name, written)


def merges_in(tree: ast.AST) -> Iterator[Merge]:
    """Yield what makes one dict of several."""
    for node in ast.walk(tree):
        match node:
            case ast.Dict(keys=keys, values=sides) if len(keys) > 1 and not any(keys):
                yield Merge(node, tuple(sides), _JOINED)
            case ast.BinOp(left=one, op=ast.BitOr(), right=other):
                yield Merge(node, (one, other), _JOINED)
            case ast.Call(
                func=ast.Name(id="dict"), args=[one], keywords=[ast.keyword(None, other)]
            ):
                yield Merge(node, (one, other), _JOINED)
            case ast.Call(func=func, args=sides, keywords=[]) if name_of(func) == "ChainMap":
                yield Merge(node, tuple(reversed(sides)), _CHAINED)
            case ast.Call(func=ast.Attribute(value=one, attr="update"), args=[other], keywords=[]):
                yield Merge(node, (one, other), _UPDATED)
            case _:
                pass


def literals_in(tree: ast.Module) -> dict[str, tuple[ast.Dict, int]]:
    """Return the dicts that a module writes out, by the names that it gives them, with their lines."""
    return {
        target.id: (node.value, node.lineno)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def choices_in(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
    """Yield the expressions that take one value if it is there, and another one otherwise."""
    for node in ast.walk(tree):
        match node:
            case ast.BoolOp(op=ast.Or(), values=[one, *_, other]):
                yield node, one, other
            case ast.IfExp(test=ast.Compare(left=one, ops=[ast.IsNot()]), orelse=other):
                yield node, one, other
            case ast.IfExp(test=ast.Compare(left=one, ops=[ast.Is()]), body=other):
                yield node, one, other
            case ast.IfExp(test=ast.Name() | ast.Attribute() as one, orelse=other):
                yield node, one, other
            case _:
                pass


def false_kept(tree: ast.AST) -> Iterator[Change]:
    """Yield the choices of a default, which take a value that is there but false as missing."""
    for node in ast.walk(tree):
        match node:
            case ast.BoolOp(op=ast.Or(), values=[given, default]) if _is_default(default):
                pass
            case ast.IfExp(test=given, body=body, orelse=default) if _is_default(
                default
            ) and ast.unparse(given) == ast.unparse(body):
                pass
            case _:
                continue
        source, other = ast.unparse(given), ast.unparse(default)
        made = _FALSE.replace("{default}", other).replace("{given}", source)
        what = (
            f"`{ast.unparse(node)}` takes what is given as missing where it is zero, empty or false"
        )
        change = replacing(node, what, made)
        yield replace(change, instead=f"`{other}` only for `None`", is_checked=True)


def _is_default(node: ast.expr) -> bool:
    """Whether an expression is a number, a text, or a constant by its name."""
    if isinstance(node, ast.Constant):
        return bool(node.value)
    return isinstance(node, ast.Name | ast.Attribute) and name_of(node).isupper()
