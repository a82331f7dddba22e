"""What a program's text uses of its surroundings: local time, the locale, encodings, the order of sets."""

import ast
from collections.abc import Collection, Iterator

from whet.core.value_class import value_class

TIME_ZONE = "the time zone"
LOCALE = "the locale"
ENCODINGS = "the encoding"
SET_ORDER = "the order of sets"
HASHES = "the hash of a text"
MODES = "the umask"
WIDTH = "the size of the terminal"

_WITH_ZONE = {"now": 0, "fromtimestamp": 1, "astimezone": 0}
"""Methods that take a zone, and after how many arguments."""
_FILES = {"open", "read_text", "write_text"}
_KINDS = {
    TIME_ZONE: "localtime mktime ctime tzset today strftime timestamp",
    LOCALE: "setlocale getlocale atof atoi currency format_string strcoll strxfrm localeconv",
    SET_ORDER: "set frozenset",
    HASHES: "hash",
    MODES: "mkdir makedirs chmod touch umask",
    WIDTH: "get_terminal_size ArgumentParser",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_MODE = 1
_LEAST_PREFIX = 3


@value_class
class Use:
    """A call or a display.

    Attributes:
        kind: what it uses; of a variable of the environment its name.
        path: its file.
        line: its line.
        says: how the program writes it, in one line.
        lines: those of its statement.
    """

    kind: str
    path: str
    line: int
    says: str
    lines: tuple[int, ...]


def uses_in(path: str, text: bytes, variables: Collection[str] = ()) -> Iterator[Use]:
    """Yield what a file uses.

    Args:
        path: its path.
        text: what it holds.
        variables: names in the environment; a text that is one, or that many begin with, uses them.

    Raises:
        SyntaxError, ValueError: if it isn't Python.
    """
    tree = ast.parse(text)
    for statement in (node for node in ast.walk(tree) if isinstance(node, ast.stmt)):
        for node in _own(statement):
            for kind in filter(None, (_kind_of(node), *_named(node, variables))):
                says = " ".join(ast.unparse(node).split())
                end = node.end_lineno or node.lineno
                lines = tuple(sorted({statement.lineno, *range(node.lineno, end + 1)}))
                yield Use(kind, path, node.lineno, says, lines)


def _own(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement, and not those of the statements in it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr):
            yield node
        waiting += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)]


def _named(node: ast.expr, variables: Collection[str]) -> Iterator[str]:
    """Yield the variables that a text names, or whose names it begins, such as `"APP_"`."""
    said = node.value if isinstance(node, ast.Constant) else None
    if isinstance(said, str) and said:
        is_prefix = len(said) >= _LEAST_PREFIX and said.endswith("_")
        yield from (
            each for each in variables if each == said or (is_prefix and each.startswith(said))
        )


def _kind_of(node: ast.expr) -> str:
    if isinstance(node, ast.Set | ast.SetComp):
        return SET_ORDER
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return ""
    name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
    named = {each.arg for each in node.keywords}
    if name in _WITH_ZONE and isinstance(node.func, ast.Attribute):
        has_zone = len(node.args) > _WITH_ZONE[name] or named & {"tz", "tzinfo"}
        return "" if has_zone else TIME_ZONE
    if name in _FILES:
        return "" if "encoding" in named or _is_binary(node) else ENCODINGS
    return _KIND_OF.get(name, "")


def _is_binary(node: ast.Call) -> bool:
    given = [*node.args[_MODE:], *(each.value for each in node.keywords if each.arg == "mode")]
    return any(isinstance(each, ast.Constant) and "b" in str(each.value) for each in given)
