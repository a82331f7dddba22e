"""Whether the edited file is the one that ran, by the modules of a failed program."""

import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.variables.kept_failure import KeptError, KeptFailure
from whet.host.code.editing import unsaved_beside
from whet.host.inspect.stacks import is_user_code
from whet.host.python.module_search import python_files

_WHY_SHADOW = "a file of the project can take the name of one of Python's own modules"
_WHY_COPY = "editing a copy that Python doesn't load changes nothing"
_WHY_UNSAVED = "unsaved changes haven't run"
_PATH_EDIT = re.compile(r"^\s*(?:\w+\.)*path\.(?:insert|append|extend)\(|^\s*sys\.path\b.*=")
_DEFINED = re.compile(r"(?:(?:async )?def |class )?([A-Za-z]\w*)\b(?:\(|:| *=)")
_ASKED = re.compile(r"(?:\bname |')([A-Za-z]\w*)")
_IDENTIFIER = re.compile(r"[A-Za-z]\w*")
_OF_NAMES = frozenset({"ImportError", "AttributeError"})
_MOST_COPIES = 3
_NOT_BY_PATH = frozenset({"__main__", "conftest"})
"""Python doesn't search its path for these: pytest loads every `conftest.py`."""

_NEAR = 2  # a package is in the project, or in a folder of it such as `src`


def wrong_file_clues(
    failure: KeptFailure, error: KeptError, project: Path, at: Placing
) -> list[Clue]:
    """Return which files were loaded instead of others, as far as that may mislead."""
    return [
        *_shadows(failure, error, at),
        *_copies(failure, project, at),
        *_unsaved(failure, error, at),
    ]


def _shadows(failure: KeptFailure, error: KeptError, at: Placing) -> Iterator[Clue]:
    """Yield the files that have the name of a module of Python's own, and stand before it."""
    words = " ".join(str(each) for each in error.arguments)
    for name, path in _loaded(failure, error).items():
        if name not in sys.stdlib_module_names or name.startswith("_"):
            continue
        is_named = (
            re.search(rf"\bmodule '{re.escape(name)}'|from '{re.escape(name)}'", words) is not None
        )
        is_named = is_named or (error.type in _OF_NAMES and _lacks(name, path, words))
        is_told = (
            is_named
            or re.search(rf"\b{re.escape(name)}\b", words)
            or any(path == each.frame.path for each in error.frames)
        )
        if is_told:
            yield Clue(
                says=f"{at(path, 1)} hides Python's own module `{name}` from every module that imports it",
                why=_WHY_SHADOW,
                path=path,
                line=1,
                sureness=Sureness.SEEN if is_named else Sureness.POSSIBLE,
                next_step=f"give {at(path)} another name",
            )


def _lacks(name: str, path: str, words: str) -> bool:
    """Whether a message asks for what a module of Python's own defines, and a file of that name doesn't."""
    library = Path(sysconfig.get_path("stdlib"))
    genuine = [*_lines(str(library / f"{name}.py")), *_lines(str(library / name / "__init__.py"))]
    defined = {match[1] for match in map(_DEFINED.match, genuine) if match}
    own = set(_IDENTIFIER.findall("\n".join(_lines(path))))
    asked = {match[1] for match in _ASKED.finditer(words)}
    return not defined.isdisjoint(asked - own)


def _loaded(failure: KeptFailure, error: KeptError) -> dict[str, str]:
    """Return the user's modules by name, those whose import has failed too."""
    paths = {name: path for name, path in failure.modules.items() if is_user_code(path)}
    for each in error.frames:
        path = Path(each.frame.path)
        is_imported = each.frame.in_user_code and each.module != "__main__"
        if is_imported and str(path.parent) in failure.search:
            paths.setdefault(path.stem, str(path))
    return paths


def _copies(failure: KeptFailure, project: Path, at: Placing) -> Iterator[Clue]:
    """Yield the modules of which the project has another text than the one that was loaded.

    Two folders of a project may well have a module of the same name each and use their own: of
    those the one that is told of stands on the path too, and is hidden.
    """
    python_paths = python_files(project)
    searched = {os.path.realpath(Path(at.folder, each)) for each in failure.search}

    def is_foreign(path: str) -> bool:
        return not (is_user_code(path) and Path(path).is_relative_to(project))

    count = 0
    for name, path in _of_project(failure, python_paths, project).items():
        tail = name.replace(".", "/") + ("/__init__.py" if path.endswith("__init__.py") else ".py")
        for other in python_paths.get(Path(tail).name, ()):
            is_named_so = f"/{other}".endswith(f"/{tail}") and is_user_code(other)
            above = os.path.realpath(other.removesuffix(tail))
            is_meant = is_named_so and (is_foreign(path) or above in searched)
            if is_meant and count < _MOST_COPIES and _differ(path, other):
                count += 1
                yield _copy(failure, name, (path, other), at)
                break


def _of_project(
    failure: KeptFailure, python_paths: Mapping[str, Sequence[str]], project: Path
) -> dict[str, str]:
    """Return the user's modules, and what is installed of packages that the project has."""
    packages = [Path(path).parent for path in python_paths.get("__init__.py", ())]
    owned = {each.name for each in packages if len(each.relative_to(project).parts) <= _NEAR}
    return {
        name: path
        for name, path in failure.modules.items()
        if path.endswith(".py")
        and name not in _NOT_BY_PATH
        and (is_user_code(path) or name.partition(".")[0] in owned)
    }


def _copy(failure: KeptFailure, name: str, paths: tuple[str, str], at: Placing) -> Clue:
    path, other = paths
    later = ", which was saved later" if _saved(other) > _saved(path) else ""
    edit = _path_edit(failure, path)
    because = "" if edit is None else f"; {at(*edit)} changes the path"
    return Clue(
        says=f"`{name}` was loaded from {at(path, 1)}, not from {at(other)}{later}: the two files differ{because}",
        why=_WHY_COPY,
        path=path,
        line=1,
    )


def _path_edit(failure: KeptFailure, path: str) -> tuple[str, int] | None:
    """Return the line of the user's that changes where Python looks, if the file is found by it."""
    if not any(path.startswith(f"{folder}/") for folder in failure.search[:3] if folder):
        return None
    for module in failure.modules.values():
        if not is_user_code(module):
            continue
        for number, line in enumerate(_lines(module), 1):
            if _PATH_EDIT.search(line) and "path" in line:
                return module, number
    return None


def _unsaved(failure: KeptFailure, error: KeptError, at: Placing) -> Iterator[Clue]:
    own = [each.frame.path for each in error.frames if each.frame.in_user_code]
    modules = [path for path in failure.modules.values() if is_user_code(path)]
    for path in dict.fromkeys([*reversed(own), *modules]):
        buffer = unsaved_beside(path)
        if buffer:
            yield Clue(
                says=f"an editor has unsaved changes to {at(path)}: `{at(buffer)}`",
                why=_WHY_UNSAVED,
                path=path,
            )


def _differ(path: str, other: str) -> bool:
    try:
        if Path(path).samefile(other):
            return False
        return Path(path).read_bytes() != Path(other).read_bytes()
    except OSError:
        return False


def _saved(path: str) -> float:
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
