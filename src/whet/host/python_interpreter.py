"""Which Python a command runs, and what that Python is."""

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import CommandNotFound, HostFailure
from whet.core.record import as_record, text
from whet.host.tool import ToolMissingError, call_tool

_PYTHON = re.compile(r"(python|pypy)(\d+(\.\d+)?t?)?")
_ASK = (
    "import json, platform, sys; print(json.dumps({"
    "'path': sys.executable, 'version': platform.python_version(), "
    "'implementation': sys.implementation.name}))"
)
_MAX_SHEBANG_BYTES = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFacts:
    """What a Python is.

    Attributes:
        path: where it is.
        version: such as ``3.11.7``.
        implementation: such as ``cpython``.
    """

    path: str
    version: str
    implementation: str

    @classmethod
    def ask(cls, python: str) -> "PythonFacts":
        """Ask the Python at a path or of a name.

        Raises:
            CommandNotFound: if there is none.
            HostFailure: if it gives no answer.
        """
        try:
            answer = call_tool([python, "-I", "-c", _ASK])
        except (ToolMissingError, PermissionError) as error:
            raise CommandNotFound(
                f"`{python}` is no Python that can be run", hint="check `--python` and `PATH`"
            ) from error
        try:
            facts = as_record(json.loads(answer.stdout), "facts")
            return cls(
                path=text(facts, "path"),
                version=text(facts, "version"),
                implementation=text(facts, "implementation"),
            )
        except ValueError as error:
            raise HostFailure(
                f"`{python}` does not answer as a Python does: {answer.complaint}",
                hint="name another one with `--python`",
            ) from error


def is_python(program: str) -> bool:
    """Whether the last part of a path is the name of a Python."""
    return _PYTHON.fullmatch(Path(program).name) is not None


def python_of(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> str:
    """Return the Python that ``command`` runs: its first word, or that of its first line.

    Of a command that is no Python's, the first `python3` or `python` on `PATH`, and whet's own
    if there is none.

    Args:
        command: argument vector.
        environment: its `PATH` finds programs.
        folder: where the command starts.
    """
    path = environment.get("PATH", os.defpath)
    program = command[0] if command else ""
    found = str(folder / program) if "/" in program else shutil.which(program, path=path)
    if found is not None and is_python(program):
        return found
    if found is not None and (named := _of_first_line(Path(found), path)):
        return named
    return shutil.which("python3", path=path) or shutil.which("python", path=path) or sys.executable


def _of_first_line(program: Path, path: str) -> str | None:
    """Return the Python that a script names in its first line, or None."""
    try:
        with program.open("rb") as file:
            first = file.readline(_MAX_SHEBANG_BYTES)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = os.fsdecode(first[2:]).split()
    pythons = [word for word in words[:3] if is_python(word)]
    return shutil.which(pythons[0], path=path) if pythons else None
