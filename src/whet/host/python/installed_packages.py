"""A Python's version and its packages, read from its folders if possible."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from whet.core.errors import WhetError
from whet.core.text.record import JsonObject, MalformedRecordError, as_record, decoded, text, texts
from whet.core.value_class import value_class
from whet.host.files.files import write_atomically
from whet.host.process.tool import ToolMissingError, call_tool

if TYPE_CHECKING:  # only who asks for it pays for its import
    from importlib.metadata import Distribution

_PROBE = """
import json, os, platform, site, sys
user = site.getusersitepackages() if site.ENABLE_USER_SITE is not None else ""
print(json.dumps({"version": platform.python_implementation() + " " + platform.python_version(),
                  "user": os.path.relpath(user, site.getuserbase()) if user else "",
                  "prefix": sys.prefix, "folders": site.getsitepackages()}))
"""
_PROBE_SECONDS = 10.0
_NORMALISED = re.compile(r"[-_.]+")  # PEP 503


@value_class(kw_only=True)
class Python:
    """An interpreter.

    Attributes:
        version: such as ``CPython 3.11.7``.
        prefix: folder that it is installed in.
        folders: its site-packages, in the order in which it searches them.
        user: the user's site-packages, from the user's base folder; empty if it has none.
    """

    version: str
    prefix: str
    folders: tuple[str, ...]
    user: str = ""

    def packages(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return name and version of every package it sees, sorted by name.

        Folders that a ``.pth`` file adds, such as editable installs, stand there by their path.
        """
        versions: dict[str, str] = {}
        for folder in self._search_path(environment):
            for name, version in _in_folder(folder):
                versions.setdefault(name, version)  # the first on the path wins
        versions.update(_of_conda(os.path.join(self.prefix, "conda-meta")))
        return dict(sorted(versions.items()))

    def _search_path(self, environment: Mapping[str, str]) -> Iterator[str]:
        yield from filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
        yield from self.site_folders(environment)

    def site_folders(self, environment: Mapping[str, str]) -> Iterator[str]:
        """Yield the folders that packages are installed in, in the order of the search."""
        if self.user and not environment.get("PYTHONNOUSERSITE"):
            home = os.path.join(environment.get("HOME", ""), ".local")
            yield os.path.join(environment.get("PYTHONUSERBASE") or home, self.user)
        yield from self.folders


def package_of(file: str, folders: Iterable[str]) -> tuple[str, str]:
    """Return name and version of the package that a file was installed with; empty if it was with none.

    Args:
        file: its path.
        folders: where packages are installed.
    """
    from importlib.metadata import distributions

    for folder in folders:
        below = file.removeprefix(folder.rstrip("/") + "/")
        if below == file:
            continue
        for each in distributions(path=[folder]):
            listing = _text_of(each, "RECORD") or _text_of(each, "installed-files.txt")
            if below in listing and below in _first_cells(listing):
                return named_by(each)
    return "", ""


def _text_of(distribution: "Distribution", name: str) -> str:
    """Return what a file of a package says of it; empty: nothing that can be read."""
    with suppress(OSError, ValueError):
        return distribution.read_text(name) or ""
    return ""


def _first_cells(listed: str) -> frozenset[str]:
    import csv

    with suppress(csv.Error):
        return frozenset(cells[0] for cells in csv.reader(listed.splitlines()) if cells)
    return frozenset()


def named_by(distribution: "Distribution") -> tuple[str, str]:
    """Return name and version of an installed package; empty: its own files don't tell."""
    with suppress(OSError, ValueError):
        metadata = distribution.metadata
        return metadata["Name"] or "", metadata["Version"] or ""
    return "", ""


def is_pure(name: str, folders: Iterable[str]) -> bool:
    """Whether an installed package is Python alone: so are its other releases, most likely."""
    from importlib.metadata import distributions

    for each in distributions(name=name, path=list(folders)):
        wheel = _text_of(each, "WHEEL")
        return (
            re.search(r"^Root-Is-Purelib: *true\b", wheel, re.MULTILINE | re.IGNORECASE) is not None
        )
    return False


def python_at(path: str, *, state: Path) -> Python | None:
    """Return what the interpreter at ``path`` is.

    A virtual environment says all in its files. Any other interpreter is started once, and its
    answer kept for as long as its file stays the same.

    Args:
        path: the interpreter, as it would be started.
        state: where answers are kept.
    """
    return _of_virtual_environment(path) or _remembered(path, state)


def _of_virtual_environment(path: str) -> Python | None:
    prefix = os.path.dirname(os.path.dirname(path))
    settings_path = os.path.join(prefix, "pyvenv.cfg")
    try:
        with open(settings_path, encoding="utf-8") as file:
            lines = [line.partition("=") for line in file]
        if os.stat(path).st_mtime > os.stat(settings_path).st_mtime:
            return None  # the Python below was replaced since: the version may be another
        names = os.listdir(os.path.join(prefix, "lib"))
    except (OSError, UnicodeDecodeError):
        return None
    settings = {name.strip().lower(): value.strip() for name, _, value in lines}
    version = settings.get("version") or settings.get("version_info", "")
    short = ".".join(version.split(".")[:2])
    library = next((name for name in names if name in {f"python{short}", f"pypy{short}"}), "")
    micro = re.match(r"\d+\.\d+\.\d+", version)
    is_open = settings.get("include-system-site-packages", "").lower() == "true"
    if not library or micro is None or is_open:
        return None
    implementation = "PyPy" if library.startswith("pypy") else "CPython"
    return Python(
        version=f"{settings.get('implementation', implementation)} {micro.group()}",
        prefix=prefix,
        folders=(os.path.join(prefix, "lib", library, "site-packages"),),
    )


def _remembered(path: str, state: Path) -> Python | None:
    try:
        status = os.stat(path)
        key = f"{path} {status.st_size} {status.st_mtime_ns}"
        settings = os.path.join(os.path.dirname(os.path.dirname(path)), "pyvenv.cfg")
        if os.path.exists(settings):
            key += f" {os.stat(settings).st_mtime_ns}"
    except OSError:
        return None
    memory = state / "interpreters.json"
    memories = _recall(memory)
    if key not in memories:
        answer = _ask(path)
        if answer is None:
            return None
        memories = {k: v for k, v in memories.items() if not k.startswith(f"{path} ")} | {
            key: answer
        }
        with suppress(OSError, WhetError):  # then it is asked again next time
            write_atomically(memory, json.dumps(memories).encode("ascii"))
    return _python(as_record(memories[key], key))


def _recall(path: Path) -> dict[str, object]:
    try:
        record = as_record(decoded(path.read_bytes()), "interpreters")
        for key, answer in record.items():
            _python(as_record(answer, key))
    except (OSError, ValueError, MalformedRecordError):
        return {}
    return dict(record)


def _ask(path: str) -> JsonObject | None:
    from subprocess import TimeoutExpired

    # -I: nothing of the folder or the environment that whet was called in has a say.
    # `python_of` may name a program that only looks like a Python: any answer is possible.
    try:
        answer = call_tool([path, "-I", "-c", _PROBE], timeout_seconds=_PROBE_SECONDS)
        data = as_record(decoded(answer.stdout), path)
        _python(data)
    except (OSError, ToolMissingError, TimeoutExpired, ValueError, MalformedRecordError):
        return None
    return data


def _python(data: JsonObject) -> Python:
    return Python(
        version=text(data, "version"),
        prefix=text(data, "prefix"),
        folders=texts(data, "folders"),
        user=text(data, "user"),
    )


def _in_folder(folder: str) -> Iterator[tuple[str, str]]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            project, dash, version = name.rpartition(".")[0].partition("-")
            if not dash:
                version = _version_in(os.path.join(folder, name, "PKG-INFO"))
            # An egg's name ends in the Python it is for: `foo-1.0-py3.11.egg-info`.
            yield _NORMALISED.sub("-", project).lower(), version.partition("-")[0]
        elif name.endswith(".pth"):
            for path in _paths_in(os.path.join(folder, name)):
                yield path, "editable"


def _version_in(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(r"^Version: *(\S+)", file.read(), re.MULTILINE)
    except OSError:
        return ""
    return match.group(1) if match else ""


def _paths_in(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.startswith("/") and os.path.isdir(line.strip())]


def _of_conda(folder: str) -> dict[str, str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return {}
    parts = [name.removesuffix(".json").rsplit("-", 2) for name in names if name.endswith(".json")]
    complete = [part for part in parts if len(part) == len(("name", "version", "build"))]
    return {f"{name} (conda)": f"{version} {build}" for name, version, build in complete}
