"""Changes by which several calls or objects that each make a lock of their own have the same one."""

import ast
from collections.abc import Iterator

from whet.core.value_class import value_class
from whet.evidence.experiments.changes import name_of
from whet.evidence.experiments.retried_otherwise import ANY, made_once, parameters_of

_LOCKS = frozenset({"BoundedSemaphore", "Condition", "Lock", "RLock", "Semaphore"})
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_MAKING = "__init__"


@value_class(eq=False)
class OwnLock:
    """A lock that a function makes.

    Attributes:
        made: the expression that makes it.
        function: the function.
        is_let_go: nothing has it any more when the function ends.
    """

    made: ast.Call
    function: ast.FunctionDef | ast.AsyncFunctionDef
    is_let_go: bool

    @property
    def says(self) -> str:
        """Who has such a lock."""
        whose = "objects" if self.function.name == _MAKING else f"calls of `{self.function.name}`"
        return f"several {whose} have each made a lock of their own, `{ast.unparse(self.made)}`"

    @property
    def instead(self) -> str:
        """Who has the same one with the change, in words."""
        if self.is_let_go or self.function.name == _MAKING:
            return "one for all of them"
        return "one for all calls with the same arguments"

    def text_of(self, source: str) -> str:
        """Return the module in which they have the same one; no line moves."""
        is_for_all = self.is_let_go or self.function.name == _MAKING
        names = [] if is_for_all else parameters_of(self.function)
        return made_once(source, self.made, names, within=ANY)


def own_locks(tree: ast.AST) -> Iterator[OwnLock]:
    """Yield the locks that the functions of a module make."""
    for function in ast.walk(tree):
        if isinstance(function, _FUNCTIONS):
            own = list(_own(function))
            for node in own:
                if isinstance(node, ast.Call) and name_of(node.func) in _LOCKS:
                    yield OwnLock(node, function, _is_let_go(node, own))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield each
            yield from _own(each)


def _is_let_go(made: ast.Call, own: list[ast.AST]) -> bool:
    """Whether a lock is only held in the function that makes it."""
    held = [each.context_expr for each in own if isinstance(each, ast.withitem)]
    if made in held:
        return True
    bound = [each for each in own if isinstance(each, ast.Assign) and each.value is made]
    names = [each.targets[0] for each in bound if len(each.targets) == 1]
    if not names or not isinstance(names[0], ast.Name):
        return False
    held += [each.value for each in own if isinstance(each, ast.Attribute)]
    uses = [each for each in own if isinstance(each, ast.Name) and each.id == names[0].id]
    return all(each is names[0] or each in held for each in uses)
