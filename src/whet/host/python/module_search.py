"""The file that a command's Python would load for a name, from that Python itself."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired

from whet.core.errors import HostFailure
from whet.core.observations.evidence import COUNTS, Evidence
from whet.core.text.record import JsonObject, MalformedRecordError, as_record, decoded, item_at
from whet.core.value_class import value_class
from whet.host.files.agent_files import reports_in
from whet.host.process.tool import ToolMissingError, call_tool
from whet.host.python.interpreters import is_python
from whet.host.python.python_interpreter import python_for

_ASKING = Path(__file__).resolve().parents[2] / "agent" / "site" / "whet_where.py"
_SECONDS = 60.0
_HAS_SECONDS = 10.0
_HAS = """
import importlib.util, sys
try:
    there = importlib.util.find_spec(sys.argv[1]) is not None
except Exception:
    there = False
print("yes" if there else "no")
"""
_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_MOST_FOLDERS = 20_000
_LEFT_OUT = frozenset({".git", ".hg", "__pycache__", "node_modules", ".mypy_cache", ".ruff_cache"})


@value_class(kw_only=True)
class PythonStart:
    """How a command starts its Python.

    Attributes:
        python: the interpreter.
        options: its own options, such as ``-I``.
        first: what it puts first on `sys.path`; None: nothing.
        script: the main script; empty: it runs a module, or text.
    """

    python: str
    options: tuple[str, ...] = ()
    first: str | None = None
    script: str = ""


def start_of(command: Sequence[str], environment: Mapping[str, str], cwd: Path) -> PythonStart:
    """Return how a command starts Python; of no command, what `python` in this folder would do.

    Args:
        command: argument vector; may be empty.
        environment: its `PATH` finds programs.
        cwd: where it starts.
    """
    python = python_for(command or ("python",), environment, cwd)
    at = next((n for n, word in enumerate(command) if is_python(word)), None)
    if at is None:
        return PythonStart(python=python, first=_folder_of_script(command, environment, cwd))
    options: list[str] = []
    words = iter(command[at + 1 :])
    for word in words:
        if word in {"-c", "-m"} or (word[:1] == "-" and word[1:2] != "-" and word[-1:] in "cm"):
            return PythonStart(
                python=python, options=tuple(options), first=_unless_isolated(str(cwd), options)
            )
        if word[:1] != "-" or word == "-":
            script = cwd / word
            folder = os.path.dirname(os.path.realpath(script))
            return PythonStart(
                python=python,
                options=tuple(options),
                first=_unless_isolated(folder, options),
                script=str(script),
            )
        options.append(word)
        if word in _WITH_VALUE:
            options.append(next(words, ""))
    return PythonStart(python=python, options=tuple(options), first=str(cwd))


def _unless_isolated(folder: str, options: Sequence[str]) -> str | None:
    letters = "".join(option[1:] for option in options if option[:2] != "--")
    return None if "I" in letters or "P" in letters else folder


def _folder_of_script(
    command: Sequence[str], environment: Mapping[str, str], cwd: Path
) -> str | None:
    """Return the folder of a launcher's script (`torchrun train.py`), else of the launcher itself."""
    for word in command[1:]:
        if word.endswith(".py") and (cwd / word).is_file():
            return os.path.dirname(os.path.realpath(cwd / word))
    if not command:
        return str(cwd)
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        if os.access(os.path.join(folder, command[0]), os.X_OK):
            return os.path.realpath(folder)
    return None


def ask_where(
    start: PythonStart,
    environment: Mapping[str, str],
    cwd: Path,
    request: Mapping[str, object],
) -> JsonObject:
    """Ask a Python what it would load; see `whet_where.answer`.

    Raises:
        HostFailure: if it gives no answer.
    """
    told = json.dumps({**request, "first": start.first})
    # As a script: a module in this folder must not stand in for those that the asking needs.
    command = [start.python, *start.options, str(_ASKING), told]
    try:
        answer = call_tool(command, cwd=cwd, environment=environment, timeout_seconds=_SECONDS)
        return as_record(decoded(answer.stdout.splitlines()[-1]), "answer")
    except TimeoutExpired as error:
        raise HostFailure(
            f"`{start.python}` didn't answer for {_SECONDS:.0f} seconds: the module's import hangs",
            hint="look without importing it: `--no-import`",
        ) from error
    except (ToolMissingError, OSError, ValueError, IndexError) as error:
        raise HostFailure(
            f"`{start.python}` doesn't answer like a Python interpreter",
            hint=f"try `{start.python} -c 'print(1)'`",
        ) from error


def has_module(python: str, name: str) -> bool | None:
    """Whether a Python finds a module among its own and those that are installed; None: no answer.

    Args:
        python: its path.
        name: such as ``yaml`` or ``google.protobuf``, whose packages are imported.
    """
    with suppress(TimeoutExpired, ToolMissingError, OSError):
        answer = call_tool([python, "-I", "-c", _HAS, name], timeout_seconds=_HAS_SECONDS)
        return {"yes": True, "no": False}.get(answer.text)
    return None


def files_named(tail: str, folders: Sequence[Path]) -> Iterator[str]:
    """Yield files below some folders whose path ends with ``tail``, as ``pkg/mod.py``."""
    name = os.path.basename(tail)
    budget = _MOST_FOLDERS
    for top in folders:
        for folder, below, files in os.walk(top):
            below[:] = sorted(each for each in below if each not in _LEFT_OUT)
            budget -= 1
            if budget < 0:
                return
            path = os.path.join(folder, name)
            if name in files and f"/{path}".endswith(f"/{tail}"):
                yield path


def python_files(top: Path) -> dict[str, list[str]]:
    """Return the Python files below a folder by their names; of a very large one only a part."""
    by_module: dict[str, list[str]] = {}
    budget = _MOST_FOLDERS
    for folder, below, files in os.walk(top):
        below[:] = sorted(each for each in below if each not in _LEFT_OUT)
        budget -= 1
        if budget < 0:
            break
        for name in files:
            if name.endswith(".py"):
                by_module.setdefault(name, []).append(os.path.join(folder, name))
    return by_module


def counts_told(agent_folder: Path) -> Evidence:
    """Return what counting agents wrote: one line for each first time, one number for each function."""
    lines: list[JsonObject] = []
    for _, report in reports_in(agent_folder, ".where"):
        for line in report.splitlines():
            with suppress(MalformedRecordError):  # a kill may have cut it
                lines.append(as_record(decoded(line), "line"))
    counts: dict[str, memoryview] = {}
    for path, data in reports_in(agent_folder, ".where-counts"):
        counts[path.stem] = memoryview(data[: len(data) // 8 * 8]).cast("Q")
    counted_lines = [_counted(line, counts) for line in lines]
    data = json.dumps({"told": counted_lines}).encode("ascii")
    return Evidence(kind=COUNTS, detail={"lines": len(counted_lines)}, data=data)


def _counted(line: JsonObject, counts: Mapping[str, Sequence[int]]) -> JsonObject:
    """Return a line with how often its function was called, if that was counted."""
    with suppress(MalformedRecordError):
        return {**line, "count": item_at(counts.get(str(line.get("pid")), ()), line.get("number"))}
    return line
