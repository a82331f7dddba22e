"""Which functions differ between two releases of a package."""

import ast
from collections.abc import Iterator, Mapping

from whet.core.text.code_lines import module_of
from whet.core.value_class import value_class

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@value_class(kw_only=True)
class ChangedFunction:
    """A function, or what a class or a module does itself, that another release has otherwise.

    Attributes:
        file: its file, below the folder of packages.
        name: as Python qualifies it; empty: the module itself.
        line: where it begins, decorators included.
    """

    file: str
    name: str
    line: int


@value_class
class _Unit:
    line: int
    does: str


def changed_functions(
    one: Mapping[str, str], other: Mapping[str, str]
) -> tuple[ChangedFunction, ...]:
    """Return the functions of one release that the other one has otherwise, or not at all.

    Words that decide nothing, such as comments, docstrings and annotations, don't count.

    Args:
        one: name of a file to its text; a module that became a package is found.
        other: the other release.
    """
    others = {_module(name): text for name, text in other.items()}
    functions: list[ChangedFunction] = []
    for file, text in sorted(one.items()):
        if _module(file) not in others or others[_module(file)] == text:
            continue
        before, after = _units(text), _units(others[_module(file)])
        for name, unit in before.items():
            if name not in after or after[name].does != unit.does:
                functions.append(ChangedFunction(file=file, name=name, line=unit.line))
    return tuple(functions)


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__")


def _units(text: str) -> dict[str, _Unit]:
    try:
        tree = module_of(text)
        return dict(_units_in(tree, ""))
    except (SyntaxError, ValueError, RecursionError):
        return {}


def _units_in(
    node: ast.Module | ast.ClassDef | _Function, name: str
) -> Iterator[tuple[str, _Unit]]:
    for each in _nearest(node):
        yield from _units_in(each, f"{name}.{each.name}" if name else each.name)
    lines = [each.lineno for each in getattr(node, "decorator_list", ())]
    line = min([*lines, getattr(node, "lineno", 1)])
    yield name, _Unit(line=line, does=_does(node))


def _nearest(node: ast.AST) -> Iterator[ast.ClassDef | _Function]:
    """Yield the functions and classes directly in a node, not those nested in them."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, _Named):
            yield each
        else:
            yield from _nearest(each)


class _Bare(ast.NodeTransformer):
    """Leaves out what stands for itself elsewhere, and what decides nothing."""

    def __init__(self, top: ast.AST) -> None:
        self._top = top

    def _named(self, node: ast.ClassDef | _Function) -> ast.AST | None:
        return None if node is not self._top else self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _named  # noqa: N815 - called so by ast

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(arg=node.arg)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)


def _does(node: ast.Module | ast.ClassDef | _Function) -> str:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node.returns = None
    bare = _Bare(node).visit(node)
    return ast.dump(bare)
