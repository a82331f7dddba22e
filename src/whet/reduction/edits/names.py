"""Which names the lines of a Python source bind, and which they use.

A name is a key that other files and the other version of the file know too: a variable by its scope, an
attribute by its name alone, because nothing says whose it is. It is good enough to order edits: a name
too much only puts one edit before another.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeAlias

from whet.core.value_class import value_class

Key: TypeAlias = tuple[str, ...]
"""``("name", file, scope, name)``, ``("attribute", name)`` or ``("module", name)``.

A variable of a function has ``VARIABLE`` instead of ``"name"``.
"""

VARIABLE = "variable"

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_MOST_ARGUMENTS = 1_000_000


@value_class
class NameUse:
    """A name on a line.

    Attributes:
        line: number of the line.
        key: the name.
        binds: it gets its value there; else it is used.
    """

    line: int
    key: Key
    binds: bool


@value_class
class Signature:
    """How many arguments a function takes.

    Attributes:
        line: number of the line of its `def`.
        name: its name.
        scope: its name with those of what it is in.
        least: how many it needs.
        most: how many it takes.
    """

    line: int
    name: str
    scope: str
    least: int
    most: int

    def takes_more_than(self, other: "Signature") -> bool:
        """Whether it takes every number of arguments that another takes."""
        return self.least <= other.least and self.most >= other.most


@dataclass(slots=True)
class NamesOfSource:
    """The names of a source, and the signatures of its functions."""

    uses: list[NameUse] = field(default_factory=list[NameUse])
    signatures: list[Signature] = field(default_factory=list[Signature])


def names_of(path: str, source: bytes) -> NamesOfSource:
    """Return the names of a source that can be parsed."""
    names = NamesOfSource()
    reader = _Reader(path, names)
    for module in module_names(path):
        names.uses.append(NameUse(1, ("module", module), binds=True))
    tree = ast.parse(source)
    reader.enter("", _bound_in(tree))
    for statement in tree.body:
        reader.visit(statement)
    return names


def module_names(path: str) -> Iterator[str]:
    """Yield the names by which a file can be imported, without its packages."""
    pure = PurePosixPath(path)
    if pure.suffix == ".py":
        yield pure.parent.name if pure.stem == "__init__" else pure.stem


class _Reader(ast.NodeVisitor):
    def __init__(self, path: str, names: NamesOfSource) -> None:
        self._path = path
        self._names = names
        self._scopes: list[tuple[str, frozenset[str]]] = []
        self._is_class: list[bool] = []

    def enter(self, name: str, bound: frozenset[str], *, is_class: bool = False) -> None:
        outer = self._scopes[-1][0] if self._scopes else ""
        self._scopes.append((f"{outer}.{name}" if outer else name, bound))
        self._is_class.append(is_class)

    def _leave(self) -> None:
        self._scopes.pop()
        self._is_class.pop()

    def _note(self, line: int, key: Key, *, binds: bool = False) -> None:
        self._names.uses.append(NameUse(line, key, binds))

    def _note_name(self, line: int, name: str, *, binds: bool = False) -> None:
        inmost = len(self._scopes) - 1
        # The body of a class is no scope for the functions in it.
        at = next(
            (
                at
                for at in range(inmost, -1, -1)
                if name in self._scopes[at][1] and (at == inmost or not self._is_class[at])
            ),
            0,
        )
        kind = VARIABLE if at > 0 and not self._is_class[at] else "name"
        self._note(line, (kind, self._path, self._scopes[at][0], name), binds=binds)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _note_definition(self, line: int, name: str) -> None:
        """Note a name that is an attribute of its module or class as well."""
        self._note_name(line, name, binds=True)
        if len(self._scopes) == 1 or self._is_class[-1]:
            self._note(line, ("attribute", name), binds=True)

    def _function(self, node: _Function) -> None:
        self._note_definition(node.lineno, node.name)
        takes = node.args
        positional = [*takes.posonlyargs, *takes.args]
        required = sum(each is None for each in takes.kw_defaults)
        least = len(positional) - len(takes.defaults) + required
        is_open = takes.vararg is not None or takes.kwarg is not None
        most = _MOST_ARGUMENTS if is_open else len(positional) + len(takes.kwonlyargs)
        outer = self._scopes[-1][0]
        scope = f"{outer}.{node.name}" if outer else node.name
        self._names.signatures.append(Signature(node.lineno, node.name, scope, least, most))
        outside: Sequence[ast.expr | None] = [
            *node.decorator_list, *takes.defaults, *takes.kw_defaults, node.returns,
        ]  # fmt: skip
        for expression in outside:
            if expression is not None:
                self.visit(expression)
        self.enter(node.name, _bound_in(node))
        self.visit(takes)
        for statement in node.body:
            self.visit(statement)
        self._leave()

    def visit_arguments(self, node: ast.arguments) -> None:
        for each in ast.walk(node):
            if isinstance(each, ast.arg):
                self._note_name(each.lineno, each.arg, binds=True)
                if each.annotation is not None:
                    self.visit(each.annotation)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._note_definition(node.lineno, node.name)
        for expression in (
            *node.decorator_list,
            *node.bases,
            *(key.value for key in node.keywords),
        ):
            self.visit(expression)
        self.enter(node.name, _bound_in(node), is_class=True)
        for statement in node.body:
            self.visit(statement)
        self._leave()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._note_name(node.lineno, node.id)
        else:
            self._note_definition(node.lineno, node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        line = node.end_lineno or node.lineno
        binds = not isinstance(node.ctx, ast.Load)
        self._note(line, ("attribute", node.attr), binds=binds)
        self.visit(node.value)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            first, _, _ = alias.name.partition(".")
            self._note_name(alias.lineno, alias.asname or first, binds=True)
            self._note(alias.lineno, ("module", alias.name.rpartition(".")[2]))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module:
            self._note(node.lineno, ("module", node.module.rpartition(".")[2]))
        for alias in node.names:
            self._note_name(alias.lineno, alias.asname or alias.name, binds=True)
            self._note(alias.lineno, ("attribute", alias.name))
            self._note(alias.lineno, ("module", alias.name))


def _bound_in(node: ast.Module | ast.ClassDef | _Function) -> frozenset[str]:
    """Return the names that a scope binds, without those of the scopes in it."""
    bound: set[str] = set()
    elsewhere: set[str] = set()
    if not isinstance(node, ast.Module | ast.ClassDef):
        bound.update(each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg))
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(each.name)
            continue
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            bound.add(each.id)
        elif isinstance(each, ast.arg):
            bound.add(each.arg)
        elif isinstance(each, ast.alias):
            bound.add(each.asname or each.name.partition(".")[0])
        elif isinstance(each, ast.ExceptHandler) and each.name:
            bound.add(each.name)
        elif isinstance(each, ast.Global | ast.Nonlocal):
            elsewhere.update(each.names)
        waiting.extend(ast.iter_child_nodes(each))
    return frozenset(bound - elsewhere)
