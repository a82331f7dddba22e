"""Which files are a library's: Python's own, or what an installer put there, wherever that is.

Each folder above a file may be one in which Python looks for modules: such a folder holds a
`*.dist-info` with a list of the installed files. A file that is on none of these lists is the user's:
it may lie beside them (`pip install --target .`), and an editable installation lists no sources.

In the program only the folders count in which its Python has looked for modules, as its importer
remembers them: nothing is looked up there. whet itself looks at each folder once.

Standard library only, Python 3.8 or later; it imports nothing that isn't loaded.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CYTHON = (".pyx", ".pxi", ".pxd")
_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, see `whet.host.kernel.syscalls`
_PACKAGES = {"site-packages", "dist-packages"}
_LIBRARY_FOLDERS = {"lib", "lib64"}
_PYTHONS = ("python", "pypy")
_IS_IN_PROGRAM = not __name__.startswith("whet.")
_MOST_ENTRIES = 20_000
_PART = 1 << 20
_STANDARD = os.path.dirname(os.__file__) + os.sep

_files: dict[str, bool] = {}
_names: dict[tuple[str, str], bool] = {}
_infos: dict[str, tuple[str, ...]] = {}


def is_library(path: str) -> bool:
    """Whether a file is Python's own or of an installed package."""
    found = _files.get(path)
    if found is None:
        _files[path] = False  # reading a list may call what asks for this file
        found = _files[path] = _is_library(path)
    return found


def is_of_python(path: str) -> bool:
    """Whether a file is of the standard library of the Python that runs this."""
    is_within = path.startswith(_STANDARD)
    return path.startswith("<frozen ") or (
        is_within and not any(f"/{folder}/" in path for folder in _PACKAGES)
    )


def _is_library(path: str) -> bool:
    if path.startswith(("<frozen ", _STANDARD)):
        return True
    if path.endswith(_CYTHON) and not os.path.isabs(path):
        # So an extension module names its source, from where it was built.
        return _IS_IN_PROGRAM or not os.path.exists(path)
    parts = path.replace("\\", "/").split("/")
    before = ""
    for part in parts[:-1]:
        if part in _PACKAGES or (before in _LIBRARY_FOLDERS and _is_of_a_python(part)):
            return True
        if part.endswith(".egg") or (part.startswith("python") and _is_zip_of_python(part)):
            return True
        before = part
    return path[:1] == "/" and _is_listed(parts)


def _is_of_a_python(part: str) -> bool:
    for name in _PYTHONS:
        if part.startswith(name):
            version = part[len(name) :]
            rest = version[:-1] if version[-1:] == "t" else version
            return version[:1].isdigit() and rest.replace(".", "").isdigit()
    return False


def _is_zip_of_python(part: str) -> bool:
    return part.endswith(".zip") and part[len("python") : -len(".zip")].isdigit()


def _is_listed(parts: list[str]) -> bool:
    """Whether an installer's list beside a module, or its package, has it."""
    for at in range(len(parts) - 1, 0, -1):
        name = parts[at].partition(".")[0]
        if not name.isidentifier():
            return False  # no module is imported through such a folder
        folder = "/".join(parts[:at]) or "/"
        if not (infos := _lists_in(folder)):
            continue
        top = parts[at]
        known = _names.get((folder, top))
        if known is None:
            # A package whose parts come from several places has no such file.
            first = top if at == len(parts) - 1 else top + "/__init__.py"
            known = _names[folder, top] = _has(folder, infos, first)
        if known or (at < len(parts) - 1 and _has(folder, infos, "/".join(parts[at:]))):
            return True
    return False


def _lists_in(folder: str) -> tuple[str, ...]:
    """Return the folders with the facts of the distributions that are installed in a folder."""
    found = _infos.get(folder)
    if found is None:
        try:
            names = _entries(folder)
        except (OSError, ValueError):  # a name that no folder can have
            names = []
        found = _infos[folder] = tuple(name for name in names if name.endswith(".dist-info"))
    return found


def _entries(folder: str) -> list[str]:
    archive = _archive(folder)
    if archive is not None:
        return list({name.partition("/")[0] for name in archive})
    if _IS_IN_PROGRAM:
        finder = sys.path_importer_cache.get(folder)
        return list(getattr(finder, "_path_cache", ()))
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    descriptor = os.open(folder, flags, dir_fd=_MAGIC_FOLDER)
    try:
        names: list[str] = []
        with os.scandir(descriptor) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) == _MOST_ENTRIES:
                    break
    finally:
        os.close(descriptor)
    return names


def _archive(path: str) -> dict[str, Any] | None:
    """Return what is in an archive from which Python has imported something; None: it is none."""
    archives: Any = getattr(sys.modules.get("zipimport"), "_zip_directory_cache", {})
    found: dict[str, Any] | None = archives.get(path)
    return found


def _has(folder: str, infos: tuple[str, ...], name: str) -> bool:
    """Whether one of the lists in a folder has a file."""
    wanted = name.encode("utf-8", "surrogateescape")
    plain = name.partition("/")[0].partition(".")[0].lower()
    # That of the same name first: most need no other.
    for info in sorted(infos, key=lambda each: each.lower().replace("-", "_").find(plain) != 0):
        text = _read(folder, info)
        if text.startswith(wanted + b",") or b"\n" + wanted + b"," in text:
            return True
    return False


def _read(folder: str, info: str) -> bytes:
    path = f"{folder}/{info}/RECORD"
    if _archive(folder) is not None:
        try:
            zipimport: Any = sys.modules["zipimport"]
            data: bytes = zipimport.zipimporter(folder).get_data(path)
        except (OSError, ImportError):
            return b""
        return data
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=_MAGIC_FOLDER)
    except OSError:
        return b""
    try:
        parts = [os.read(descriptor, _PART)]
        while parts[-1]:
            parts.append(os.read(descriptor, _PART))
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return b"".join(parts)
