"""The Pythons of a machine: on `PATH`, from pyenv and uv, and those that uv can download."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.text.record import MalformedRecordError, as_record, decoded, items_of, text
from whet.host.process.tool import ToolMissingError, call_tool
from whet.host.python.environments import find_uv
from whet.host.python.python_interpreter import PythonFacts

_OLDEST, _NEWEST = 8, 20
Minor = tuple[int, int]
"""Such as 3 and 12."""


def minor_of(version: str) -> Minor:
    """Return the first two numbers of a version.

    Raises:
        ValueError: if it has none.
    """
    major, _, rest = version.partition(".")
    return int(major), int(rest.partition(".")[0])


def pythons_between(
    first: Minor, last: Minor, environment: Mapping[str, str]
) -> dict[Minor, PythonFacts]:
    """Return a Python of each minor version that there is on this machine, oldest first.

    Args:
        first: the oldest that is wanted.
        last: the newest.
        environment: its `PATH` and `PYENV_ROOT` say where they are.
    """
    found: dict[Minor, PythonFacts] = {}
    for path in _candidates(range(first[1], last[1] + 1), first[0], environment):
        with suppress(WhetError, OSError, ValueError):
            facts = PythonFacts.ask(path)
            minor = minor_of(facts.version)
            if first <= minor <= last:
                found.setdefault(minor, facts)
        if len(found) > last[1] - first[1]:
            break
    return dict(sorted(found.items()))


def pythons_near(folder: Path, top: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the Pythons that a command in a folder may be meant to run on, the likeliest first.

    They are those of the project's virtual environments, of the environment that is active, on `PATH`,
    and then the others of this machine. Above the project, a folder may be anybody's: `/tmp`, for example.

    Args:
        folder: where the command starts.
        top: the folder of the project.
        environment: its `PATH`, `VIRTUAL_ENV`, `CONDA_PREFIX` and `PYENV_ROOT` say where they are.
    """
    for each in (folder, *folder.parents):
        if not each.is_relative_to(top):
            break
        settings = [each / "pyvenv.cfg", *sorted(each.glob("*/pyvenv.cfg"))]
        yield from (str(path.parent / "bin" / "python") for path in settings if path.is_file())
    prefixes = filter(None, map(environment.get, ("VIRTUAL_ENV", "CONDA_PREFIX")))
    yield from (os.path.join(prefix, "bin", "python") for prefix in prefixes)
    for place in environment.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(place) and Path(place).name != "shims":
            yield from (os.path.join(place, name) for name in ("python3", "python"))
    yield from _candidates(range(_OLDEST, _NEWEST + 1), 3, environment)


def fetched_python(minor: Minor, environment: Mapping[str, str]) -> PythonFacts | None:
    """Return a Python that uv fetches now; None where it can't."""
    uv = find_uv(environment)
    if not uv:
        return None
    version = f"{minor[0]}.{minor[1]}"
    with suppress(ToolMissingError, WhetError, OSError):
        installation = call_tool(
            [uv, "python", "install", "--quiet", version], environment=environment
        )
        answer = call_tool([uv, "python", "find", "--managed-python", version],
                           environment=environment, cwd=Path("/"))  # fmt: skip
        if installation.exit_code == 0 and answer.exit_code == 0:
            return PythonFacts.ask(answer.text)
    return None


def _candidates(minors: Sequence[int], major: int, environment: Mapping[str, str]) -> Iterator[str]:
    names = [f"python{major}.{minor}" for minor in minors]
    for name in names:
        for folder in environment.get("PATH", os.defpath).split(os.pathsep):
            path = shutil.which(name, path=folder)
            # A shim of pyenv's leads to whatever is chosen; what it may lead to comes below.
            if path and Path(folder).name != "shims":
                yield path
    root = environment.get("PYENV_ROOT") or os.path.join(environment.get("HOME", ""), ".pyenv")
    for minor in minors:
        yield from map(str, sorted(Path(root).glob(f"versions/{major}.{minor}.*/bin/python")))
    yield from _of_uv(environment)


def _of_uv(environment: Mapping[str, str]) -> Iterator[str]:
    uv = find_uv(environment)
    if not uv:
        return
    answer = call_tool(
        [uv, "python", "list", "--only-installed", "--managed-python", "--output-format", "json"],
        environment=environment,
    )
    with suppress(MalformedRecordError):
        yield from paths_in(answer.stdout)


def paths_in(listed: bytes) -> list[str]:
    """Return the paths in uv's list of Pythons.

    Raises:
        MalformedRecordError: if it is no such list.
    """
    pythons = [as_record(each, "python") for each in items_of(decoded(listed))]
    return [text(each, "path") for each in pythons if each.get("path")]
