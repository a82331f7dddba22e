"""The Python that a command runs: its path and its version."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from whet.core.errors import CommandNotFound, HostFailure
from whet.core.text.record import as_record, decoded, text
from whet.core.value_class import value_class
from whet.host.process.tool import ToolMissingError, call_tool
from whet.host.python.interpreters import Search

_ASK = (
    "import json, platform, sys; print(json.dumps({"
    "'path': sys.executable, 'version': platform.python_version(), "
    "'implementation': sys.implementation.name}))"
)


@value_class(kw_only=True)
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
                f"whet can't run `{python}` as Python", hint="check `--python` and `PATH`"
            ) from error
        try:
            facts = as_record(decoded(answer.stdout), "facts")
            return cls(
                path=text(facts, "path"),
                version=text(facts, "version"),
                implementation=text(facts, "implementation"),
            )
        except ValueError as error:
            raise HostFailure(
                f"`{python}` doesn't answer like a Python interpreter: {answer.complaint}",
                hint="name another one with `--python`",
            ) from error


def python_for(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> str:
    """Return the Python that ``command`` runs; of one that runs none, the first on `PATH`.

    That is `python3` before `python`, and whet's own if there is neither.

    Args:
        command: argument vector.
        environment: its `PATH` finds programs.
        folder: where the command starts.
    """
    search = Search(cwd=os.path.abspath(folder), environment=environment)
    candidates = (tuple(command), ("python3",), ("python",))
    pythons = (search.python_of(candidate) for candidate in candidates)
    return next((path for path in pythons if path), sys.executable)
