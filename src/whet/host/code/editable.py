"""Installations that import from the user's working tree.

`pip install -e .` leaves a path in an environment. Then Python imports today's code, whatever commit
is checked out elsewhere, unless it searches the checkout's own folder first.
"""

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from whet.host.python.installed_packages import Python, python_at
from whet.host.python.python_interpreter import python_for

# As setuptools writes it where one folder on the search path would show too much.
_FINDER = re.compile(r"__editable__.*_finder\.py$")
_MAPPING = re.compile(r"^MAPPING\b[^=]*=\s*(\{.*\})\s*$", re.MULTILINE)


def editable_folders(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], *, state: Path, top: Path
) -> tuple[str, ...]:
    """Return the folders inside ``top`` in which the command's Python looks for packages.

    Args:
        command: argument vector.
        cwd: where it starts.
        environment: what it inherits.
        state: where answers of interpreters are kept.
        top: the user's working tree.
    """
    python = python_at(python_for(command, environment, cwd), state=state)
    if python is None:
        return ()
    real = os.path.realpath(top)
    listed = python.packages({**environment, "PYTHONPATH": ""})
    folders = [name for name, version in listed.items() if version == "editable"]
    found = (os.path.realpath(folder) for folder in (*folders, *_mapped(python)))
    return tuple(dict.fromkeys(each for each in found if Path(each).is_relative_to(real)))


def _mapped(python: Python) -> Iterator[str]:
    for folder in python.folders:
        names = os.listdir(folder) if os.path.isdir(folder) else []
        for name in filter(_FINDER.match, names):
            with suppress(OSError, ValueError, SyntaxError):
                text = Path(folder, name).read_text("utf-8")
                for literal in _MAPPING.findall(text):
                    yield from _parents_in(literal)


def _parents_in(literal: str) -> Iterator[str]:
    """Return the folders from which the packages of a mapping, name to path, are found."""
    tree = ast.parse(literal, mode="eval").body
    pairs = zip(tree.keys, tree.values, strict=True) if isinstance(tree, ast.Dict) else ()
    for name, path in pairs:
        if isinstance(name, ast.Constant) and isinstance(path, ast.Constant):
            # A package `a.b` at `/src/a/b` is found from `/src`.
            yield str(Path(str(path.value)).parents[str(name.value).count(".")])
