"""Who holds what was added, with the lines of the program that make and fill it."""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from whet.core.value_class import value_class
from whet.evidence.clues.memory_holder import holder_lines
from whet.host.inspect.stacks import is_user_code
from whet.workbench.leak.reports import GrownHolder, Growth

_IN_BRACKETS = re.compile(r"\[[^\]]*\]")
_MOST_FILLS = 2


@value_class(kw_only=True)
class Fill:
    """A statement that puts something into a holder.

    Attributes:
        path: its file.
        line: its number.
        source: the statement.
    """

    path: str
    line: int
    source: str


@value_class(kw_only=True)
class Holder:
    """Who holds what was added.

    Attributes:
        grown: as the agent has seen it.
        made_path: the file of the line that makes it.
        made_line: that line; 0: it isn't known.
        fills: where it is filled.
        is_result: it is a local variable that its function returns.
    """

    grown: GrownHolder
    made_path: str
    made_line: int
    fills: tuple[Fill, ...]
    is_result: bool = False

    @property
    def fills_up(self) -> bool:
        """Whether it has a bound of its own that it hasn't reached."""
        return 0 < self.grown.length < self.grown.bound


def holders_of(growth: Growth, sources: dict[str, str]) -> tuple[Holder, ...]:
    """Return the holders with their lines.

    Args:
        growth: what was added.
        sources: the user's files, by path; more are read where a holder is in another one.
    """
    return tuple(_with_lines(each, _read(each.path, sources)) for each in growth.holders)


def _with_lines(grown: GrownHolder, sources: dict[str, str]) -> Holder:
    if grown.kind == "cache" or not grown.path or not is_user_code(grown.path):
        return Holder(grown=grown, made_path=grown.path, made_line=grown.line, fills=())
    own = {path: source for path, source in sources.items() if is_user_code(path)}
    lines = holder_lines(_IN_BRACKETS.sub("", grown.label), grown.path, own)
    made = lines.made
    return Holder(
        grown=grown,
        made_path=grown.path if made is None else made.path,
        made_line=grown.line if made is None else made.number,
        fills=tuple(
            Fill(path=line.path, line=line.number, source=source)
            for line, source in lines.fills[:_MOST_FILLS]
        ),
        is_result=grown.kind == "local" and _returns(sources.get(grown.path, ""), grown),
    )


def _returns(source: str, grown: GrownHolder) -> bool:
    """Whether the function of a local variable returns it; what keeps a graph alive is more than it seems."""
    if "Tensor" in grown.item or grown.type == "graph":
        return False
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    function = grown.within.rpartition(".")[2]
    returned = [
        each.value
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function
        for each in ast.walk(node)
        if isinstance(each, ast.Return)
    ]
    values = [
        part for each in returned for part in (each.elts if isinstance(each, ast.Tuple) else [each])
    ]
    return any(isinstance(each, ast.Name) and each.id == grown.label for each in values)


def _read(path: str, sources: dict[str, str]) -> dict[str, str]:
    return {**sources, **sources_of([path])}


def sources_of(paths: Iterable[str]) -> dict[str, str]:
    """Return the texts of files that can be read."""
    found: dict[str, str] = {}
    for path in paths:
        if path.endswith(".py"):
            try:
                found[path] = Path(path).read_text("utf-8")
            except (OSError, ValueError):
                continue
    return found
