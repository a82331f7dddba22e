"""A change of a program's text: its place, its description, and the changed text."""

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress

from whet.core.text.code_lines import module_of
from whet.core.value_class import value_class

IN_PLACE = frozenset(
    {"sort", "reverse", "append", "extend", "insert", "update", "add", "clear", "shuffle"}
)
MOST_BYTES = 100_000
"""The largest text of a module: it has to fit into an environment variable."""

Edit = Callable[[ast.AST], ast.AST | list[ast.stmt] | None]


_MOST_LEVELS = 200  # copying a tree takes four of Python's 1,000 frames for each


@value_class
class Needed:
    """What a run must have had for a change to say something.

    Attributes:
        is_met_by: what one of the values of an expression is: see `needed.py`.
        expression: the expression.
        lines: where it stands.
    """

    is_met_by: str
    expression: str
    lines: tuple[int, ...]


@value_class(kw_only=True, eq=False)
class Change:
    """A change of a module, of which only the place is known before its text is asked for.

    Attributes:
        node: what stands there.
        what: what the program has there, in words.
        instead: what the changed program has instead, in words that follow "with".
        edit: makes the change in a tree of the module.
        is_telling: that a program passes with it says what was wrong. A copy instead of an
            object that was meant to be changed only takes that change away, whatever is wrong.
        needs: what the failing run must have had there for it to be tried; None: nothing.
        hides: with it the command may pass whatever line is wrong: tried last.
        is_checked: it counts only if the check that failed is still made with it.
        is_seldom: this is hardly ever what is wrong: among its like it is tried last.
        frees: it lets go of what the program may keep on purpose: it tells nothing of too much memory.
        advice: how to mend it, where that isn't to write what is there instead.
        text: all of the module with it, where no tree is edited; empty: one is.
        beside: changes of the same kind with which the command must not pass: of each eight, one may.
        place: the file and the line that it is about; None: those that it changes.
        control: another text, with which the command still fails if `what` is what is wrong; empty: there is none.
        otherwise: what is wrong where it passes with that, too.
        turned: another text, with which things go on in another order and the command passes, too, if `what`
            is what is wrong; empty: there is none.
        is_weighed: it is no more than possible if the command also passes with a likely change of another line.
    """

    node: ast.AST
    what: str
    instead: str
    edit: Edit
    is_telling: bool = True
    needs: Needed | None = None
    hides: bool = False
    is_checked: bool = False
    is_seldom: bool = False
    frees: bool = False
    advice: str = ""
    text: str = ""
    beside: tuple[Edit, ...] = ()
    place: tuple[str, int] | None = None
    control: str = ""
    otherwise: str = ""
    turned: str = ""
    is_weighed: bool = False

    @property
    def line(self) -> int:
        """The line that it changes."""
        return line_of(self.node)


def text_with(source: str, change: Change) -> str:
    """Return a module's text with a change; empty: it can't be written, or is too long to be run."""
    if change.text:
        return change.text if len(change.text.encode()) < MOST_BYTES else ""
    tree, editor = parsed(source), _Editor(change.edit)
    if tree is None:
        return ""
    with suppress(ValueError, RecursionError):  # some texts can't be in an f-string
        result = editor.visit(tree)
        if editor.is_done and isinstance(result, ast.AST):
            text = ast.unparse(result)
            return text if len(text.encode()) < MOST_BYTES else ""
    return ""


def parsed(source: str) -> ast.Module | None:
    """Return the tree of a module; None: it can't be read, or is too deep to be changed."""
    with suppress(SyntaxError, ValueError, RecursionError):
        tree = module_of(source)
        return tree if _is_shallow(tree) else None
    return None


def _is_shallow(tree: ast.AST) -> bool:
    level = [tree]
    for _ in range(_MOST_LEVELS):
        level = [below for node in level for below in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False


def replacing(node: ast.expr, what: str, made: str, shown: str = "") -> Change:
    """Return the change that puts another expression instead of one."""
    shown = shown or made.replace("__import__('copy').", "")
    return Change(
        node=node, what=what, instead=f"`{shown}`", edit=edit_at(node, lambda _: expression(made))
    )


def edit_at(node: ast.AST, edit: Edit) -> Edit:
    """Return an edit of the node in a copied tree that stands where this one does."""
    place = place_of(node)

    def edit_there(found: ast.AST) -> ast.AST | list[ast.stmt] | None:
        return edit(found) if type(found) is type(node) and place_of(found) == place else None

    return edit_there


class _Editor(ast.NodeTransformer):
    def __init__(self, edit: Edit) -> None:
        self._edit = edit
        self.is_done = False

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        if not self.is_done:
            edit = self._edit(node)
            if edit is not None:
                self.is_done = True
                return edit
        inner: ast.AST = self.generic_visit(node)
        return inner


def expression(text: str) -> ast.expr:
    """Return an expression."""
    return ast.parse(text, mode="eval").body


def place_of(node: ast.AST) -> tuple[object, ...]:
    """Return where a node begins and ends."""
    return tuple(
        getattr(node, each, None)
        for each in ("lineno", "col_offset", "end_lineno", "end_col_offset")
    )


def line_of(node: ast.AST) -> int:
    """Return the line on which a node begins."""
    return int(getattr(node, "lineno", 0))


def name_of(node: ast.expr) -> str:
    """Return the name of a variable or an attribute; empty: it is something else."""
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )


def receiver_of(call: ast.Call) -> str:
    """Return what a method is called of; of `shuffle`, what it is given."""
    if name_of(call.func) == "shuffle":
        return ast.unparse(call.args[0]) if call.args else ""
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def root_of(node: ast.AST) -> str:
    """Return the name that an expression begins with: `a` for `a.b[0].copy()` and for `list(a)`."""
    while True:
        if isinstance(node, ast.Call):
            is_method = isinstance(node.func, ast.Attribute)
            node = node.func if is_method or not node.args else node.args[0]
            if isinstance(node, ast.Attribute) and is_method:
                node = node.value
        elif isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        else:
            return node.id if isinstance(node, ast.Name) else ""


def changed_in_place(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is changed in place below a node."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            if each.func.attr in IN_PLACE | {"pop", "remove", "popitem", "discard", "setdefault"}:
                yield each.func.value
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store | ast.Del):
            yield each.value
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            yield each.target
