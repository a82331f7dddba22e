"""Documents of assignments: environment files and Python literals, read and written as plain data."""

import ast
import pprint
import re
from collections.abc import Iterator, Mapping
from typing import cast

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BEGINNING = re.compile(r"(?:export[ \t]+|declare -x[ \t]+)?(?P<name>[^\s=#'\"]+)[ \t]*=[ \t]*")
_SINGLE = re.compile(r"'(?P<text>[^']*)'")
_DOUBLE = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"', re.DOTALL)
_BARE = re.compile(r"[^\n]*")
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SAFE = re.compile(r"[\w./:,@%+=~^-]*")
_WIDTH = 100


class NoAssignmentError(ValueError):
    """A line is no assignment; the message says which."""


def read_env_file(text: str) -> dict[str, str]:
    r"""Return the variables of a ``.env`` file: names, values as a POSIX shell reads them.

    Quoted values may take several lines; a comment follows a blank. In double quotes ``\n`` is
    a line end, as the common readers of such files have it.

    Raises:
        NoAssignmentError: if a line is none.
    """
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        if not line.strip() or line.lstrip().startswith("#"):
            at = end + 1
            continue
        at += len(line) - len(line.lstrip())
        begins = _BEGINNING.match(text, at)
        if begins is None:
            number = text.count("\n", 0, at) + 1
            raise NoAssignmentError(f"line {number} is no `NAME=value`: {line.strip()[:60]}")
        found[begins["name"]], at = _value(text, begins.end())
    return found


def _value(text: str, at: int) -> tuple[str, int]:
    """Return the value that begins here, and where the line behind it begins."""
    single, double = _SINGLE.match(text, at), _DOUBLE.match(text, at)
    quoted = single or double
    if quoted is not None:
        rest = _BARE.match(text, quoted.end())
        assert rest is not None
        if not _COMMENT.sub("", rest.group()).strip():
            value = quoted["text"] if single else _ESCAPE.sub(_unescaped, quoted["text"])
            return value, rest.end() + 1
    bare = _BARE.match(text, at)
    assert bare is not None
    return _COMMENT.sub("", bare.group()).strip(), bare.end() + 1


def _unescaped(found: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r", "\n": ""}.get(found[1], found[1])


def write_env_file(data: object) -> str:
    """Return the text of a ``.env`` file that shells and the common readers take alike."""
    variables = cast("Mapping[str, object]", data)
    return "".join(f"{name}={_quoted(str(value))}\n" for name, value in variables.items())


def _quoted(value: str) -> str:
    if _SAFE.fullmatch(value):
        return value
    if "'" not in value:
        return f"'{value}'"
    return '"' + re.sub(r'(["\\$`])', r"\\\1", value) + '"'


def is_environment_name(name: str) -> bool:
    """Whether a shell takes this for the name of a variable."""
    return _NAME.fullmatch(name) is not None


def read_python_literal(text: str) -> object:
    """Return what a Python display of values stands for, such as ``{"lr": 0.1}``.

    Raises:
        ValueError: if it is none.
    """
    try:
        value: object = ast.literal_eval(text.strip())
    except (SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise ValueError(str(error)) from error
    return value


def write_python_literal(data: object) -> str:
    """Return a Python display of values."""
    return pprint.pformat(data, sort_dicts=False, width=_WIDTH) + "\n"


def read_python_names(text: str) -> dict[str, object]:
    """Return the names that a module gives literal values to, if it does nothing else.

    Raises:
        ValueError: if it does something else.
    """
    try:
        body = ast.parse(text).body
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return dict(map(_assigned, _without_docstring(body)))


def _without_docstring(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for number, statement in enumerate(body):
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if number or not is_text:
            yield statement


def _assigned(statement: ast.stmt) -> tuple[str, object]:
    target: ast.expr | None = None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if not isinstance(target, ast.Name) or value is None:
        raise ValueError(f"line {statement.lineno} does more than give a name a literal value")
    try:
        found: object = ast.literal_eval(value)
    except TypeError as error:  # a set of dictionaries
        raise ValueError(f"line {statement.lineno}: {error}") from error
    return target.id, found


def write_python_names(data: object) -> str:
    """Return a module that gives names their values."""
    names = cast("Mapping[str, object]", data)
    width = _WIDTH
    return "".join(
        f"{name} = {pprint.pformat(value, sort_dicts=False, width=width)}\n"
        for name, value in names.items()
    )
