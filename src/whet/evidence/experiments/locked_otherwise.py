"""Changes by which several calls or objects that each make a lock of their own have the same one."""

import ast
from collections.abc import Iterator

from whet.core.value_class import value_class
from whet.evidence.experiments.changes import name_of
from whet.evidence.experiments.retried_otherwise import ANY, made_once, parameters_of

_LOCKS = frozenset({"BoundedSemaphore", "Condition", "Lock", "RLock", "Semaphore"})
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_MAKING = "__init__"
_LATE = """
import asyncio, inspect, time
class Late:
    def __init__(self, own):
        self._own, self._waits = own, iter([0.04, 0.02, 0.01, 0.005, 0.002])
    def _wait(self):
        seconds = next(self._waits, 0)
        if seconds:
            time.sleep(seconds)
    def __getattr__(self, name):
        return getattr(self._own, name)
    def __enter__(self):
        self._wait()
        return self._own.__enter__()
    def __exit__(self, *error):
        return self._own.__exit__(*error)
    async def __aenter__(self):
        await self.acquire()
    async def __aexit__(self, *error):
        self._own.release()
    def acquire(self, *given, **named):
        if inspect.iscoroutinefunction(self._own.acquire):
            return self._acquire()
        self._wait()
        return self._own.acquire(*given, **named)
    async def _acquire(self):
        await asyncio.sleep(next(self._waits, 0))
        return await self._own.acquire()
"""
"""A lock before which those that come first wait longest."""
_MADE_LATE = (
    f"(lambda kept: ('Late' in kept or exec({_LATE!r}, kept), kept['Late'])[1])"
    "(__import__('sys').__dict__.setdefault('whet_late', {}))(MADE)"
)


@value_class(eq=False)
class OwnLock:
    """A lock that a function makes.

    Attributes:
        made: the expression that makes it.
        function: the function.
        is_let_go: nothing has it any more when the function ends.
        name: of the variable or the attribute that holds it; empty: not known.
    """

    made: ast.Call
    function: ast.FunctionDef | ast.AsyncFunctionDef
    is_let_go: bool
    name: str

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

    def text_of(self, source: str, *, turned: bool = False) -> str:
        """Return the module in which they have the same one; no line moves.

        Args:
            source: the module.
            turned: who comes first has it last.
        """
        is_for_all = self.is_let_go or self.function.name == _MAKING
        names = [] if is_for_all else parameters_of(self.function)
        instead = _MADE_LATE if turned else "MADE"
        return made_once(source, self.made, names, within=ANY, instead=instead)


def own_locks(tree: ast.AST) -> Iterator[OwnLock]:
    """Yield the locks that the functions of a module make."""
    for function in ast.walk(tree):
        if isinstance(function, _FUNCTIONS):
            own = list(_own(function))
            for node in own:
                if isinstance(node, ast.Call) and name_of(node.func) in _LOCKS:
                    yield OwnLock(node, function, _is_let_go(node, own), _name(node, own))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield each
            yield from _own(each)


def _name(made: ast.Call, own: list[ast.AST]) -> str:
    for each in own:
        if isinstance(each, ast.Assign) and each.value is made and len(each.targets) == 1:
            return name_of(each.targets[0])
    return ""


def held_in(tree: ast.AST, name: str) -> Iterator[ast.expr]:
    """Yield where a module takes a lock, as it calls it, which ends with a name."""
    for node in ast.walk(tree):
        held = node.context_expr if isinstance(node, ast.withitem) else None
        if isinstance(node, ast.Attribute) and node.attr == "acquire":
            held = node.value
        if held is not None and name and name_of(held) == name:
            yield held


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
