"""Changes of a program for a line that puts items in an order: another order, and others as a control."""

import ast
from collections.abc import Iterator, Sequence

from whet.core.value_class import value_class
from whet.evidence.experiments.changes import Change, Edit, edit_at, expression, name_of
from whet.evidence.experiments.set_iterations import SCATTERED

_SORTING, _LISTING = (
    frozenset({"sorted", "reversed"}),
    frozenset({"listdir", "glob", "rglob", "iterdir", "list", "tuple"}),
)
_BEFORE = "list(own) if isinstance(own, (list, tuple)) or hasattr(own, '__next__') else 1 / 0"
_AS_OTHER = "(lambda names: sorted(own, key=lambda each: names.index(repr(each))))({names})"
_CONTROL = "(lambda good, some: some[1:] + some[:1] if some == good else some)({good}, sorted(own, key=lambda each: {key}))"
"""An order without a sense that isn't the good one."""
_CONTROLS = tuple(map(SCATTERED.format, "abcdefgh"))


@value_class(eq=False)
class Ordering:
    """A call that puts items in an order.

    Attributes:
        node: it.
        given: what it is given; for what lists a folder, it itself.
        is_in_place: it is a statement that changes what it is given.
        sorts: what it is given may have an order of its own.
    """

    node: ast.expr
    given: ast.expr
    is_in_place: bool
    sorts: bool

    def _edit(self, made: str, given: str) -> Edit:
        source = ast.unparse(self.given)
        text = f"(lambda own: {made})({given.replace('own', source)})"
        if self.is_in_place:
            text = f"{source}.__setitem__(slice(None), {text})"
        return edit_at(self.node, lambda _: expression(text))

    def change(self, good: str, instead: str) -> Change:
        """Return the change with another order, and others as a control."""
        control = _CONTROL.replace("{good}", good)
        return Change(
            node=self.node, what=f"the order that `{ast.unparse(self.node)}` makes decides",
            instead=f"{instead} (and at most one of {len(_CONTROLS)} other orders)",
            edit=self._edit(good, "own"),
            beside=tuple(self._edit(control.replace("{key}", key), "list(own)") for key in _CONTROLS),
            advice="so that what belongs together has one order, or is held together: in a dict or as pairs",
        )  # fmt: skip

    def as_before(self) -> Change:
        """Return the change that leaves the order of what it is given."""
        return self.change(_BEFORE, f"the order that `{ast.unparse(self.given)}` has before")

    def as_in(self, items: Sequence[str], whose: str) -> Change:
        """Return the change that puts the items in the order of others that are the same."""
        return self.change(_AS_OTHER.replace("{names}", repr(list(items))), f"the order of {whose}")


def orderings_in(tree: ast.AST) -> Iterator[Ordering]:
    """Yield the calls of a module that put items in an order."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[given]) if name in _SORTING:
                yield Ordering(node, given, is_in_place=False, sorts=not _is_listing(given))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=given, attr="sort" | "reverse"))):
                yield Ordering(node.value, given, is_in_place=True, sorts=True)
            case ast.Call(func=func) if name_of(func) in _LISTING and (
                node.args or isinstance(func, ast.Attribute)
            ):
                yield Ordering(node, node, is_in_place=False, sorts=False)
            case _:
                pass


def _is_listing(node: ast.expr) -> bool:
    """Whether what a call gives has no order of its own."""
    is_call = isinstance(node, ast.Call) and name_of(node.func) in {*_LISTING, "set", "frozenset"}
    return is_call or isinstance(node, ast.Set | ast.SetComp)
