"""Whether `whet investigate` names the functions that the fix of a published bug changed.

    python -m benchmarks.evidence.published [NAME...]

The bugs are those of `published.toml`: each is a script that fails with one release of a package from the
index and passes with the next. Both are checked first. What whet says is then one of these:

- *first*: its first clue names a function that the fix changed;
- *later*: another one does, or the first names it behind others;
- *not found*: none does;
- *wrong*: the first clue names another function, and whet is sure of it (not "possible").

Beside it stands the function of the last frame in the plain traceback, whether whet names the
release that fixed the bug, and the rank of the best such function by plain Ochiai: the script is run with
each of its values and statements changed or left out, and of the functions of the package that the failing run called
those come first that passing runs called least (the middle of those that are alike). Without a package index nothing is measured, and it is said why.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from benchmarks.evidence.spectrum import (
    OTHER,
    PASSES,
    SAME,
    Executed,
    chosen,
    counted,
    ochiai,
    rank_of,
    run_traced,
)
from benchmarks.table import print_table

WHET = Path(sys.executable).with_name("whet")
"""Not `python -m whet`, which would find the modules of the program's folder before its own."""

MOST_SECONDS = 280.0
BUGS = Path(__file__).with_name("published.toml")
_FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+)', re.MULTILINE)
_NAMED = re.compile(r"`(?P<name>[\w.]+)` at (?P<file>[\w./-]+\.py):\d+")
_PLACE = re.compile(r"(?P<file>[\w./-]+\.py):(?P<line>\d+)")


class NoIndexError(Exception):
    """A release cannot be installed; the message says why."""


@dataclass(frozen=True)
class Bug:
    """A published bug.

    Attributes:
        name: what it is called here.
        package: the package that has it.
        bad: the last release with it.
        fixed: the first release without it.
        functions: what the fix changed, as ``file.py:Class.method``.
        script: a program that meets it.
    """

    name: str
    package: str
    bad: str
    fixed: str
    functions: frozenset[str]
    script: str


@dataclass(frozen=True)
class Answer:
    """What an investigation of a bug came to.

    Attributes:
        found: how the function was named: `first`, `later`, `not found`, `wrong`.
        by_traceback: whether the last frame of the traceback is in such a function.
        says_fixed: whether the first release without the bug is named.
        said: what whet says first.
        seconds: what it took.
    """

    found: str
    by_traceback: bool
    says_fixed: bool
    said: str
    seconds: float


def bugs() -> dict[str, Bug]:
    """Return all bugs by their names."""
    told = tomllib.loads(BUGS.read_text())
    return {
        name: Bug(
            name=name, package=each["package"], bad=each["bad"], fixed=each["fixed"],
            functions=frozenset(each["functions"]), script=each["script"].lstrip(),
        )
        for name, each in told.items()
    }  # fmt: skip


def install(bug: Bug, release: str, folder: Path) -> Path:
    """Install a release in an environment of its own, as a user does; return its Python.

    Raises:
        NoIndexError: if it cannot be installed.
    """
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    words = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*words, f"{bug.package}=={release}"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NoIndexError((done.stderr.strip().splitlines() or ["pip failed"])[-1])
    return python


def packages_of(python: Path) -> Path:
    """Return the folder that a Python has its packages in."""
    return next(python.parent.parent.glob("lib/*/site-packages"))


def investigate(bug: Bug, place: Path) -> Answer:
    """Check a bug with both releases, and investigate it with the bad one, as a user would.

    Raises:
        NoIndexError: if a release cannot be installed.
    """
    folder = place / "program"
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(bug.script)
    fixed = install(bug, bug.fixed, place / "fixed")
    python = install(bug, bug.bad, folder / ".venv")
    passing, failing = (_run([str(each), "main.py"], folder) for each in (fixed, python))
    assert not passing.returncode, f"{bug.name}: {bug.fixed} fails"
    assert failing.returncode, f"{bug.name}: {bug.bad} passes"
    packages = packages_of(python)
    frames = [
        each
        for each in _FRAME.finditer(failing.stderr)
        if Path(each["file"]).is_relative_to(packages)
    ]
    last = (
        _function_at(packages, Path(frames[-1]["file"]), int(frames[-1]["line"])) if frames else ""
    )
    temporary = place / "tmp"
    temporary.mkdir()
    variables = {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(place / "cache")}
    words = [str(WHET), "investigate", "--json", "--", str(python), "main.py"]
    began = time.perf_counter()
    done = _run(words, folder, variables)
    seconds = time.perf_counter() - began
    assert done.stdout.startswith("{"), done.stderr
    clues = json.loads(done.stdout)["clues"]
    return Answer(
        found=_judged(bug, clues, packages),
        by_traceback=last in bug.functions,
        says_fixed=any(f"passes since {bug.fixed}" in clue["says"] for clue in clues),
        said=clues[0]["says"] if clues else "",
        seconds=seconds,
    )


def ochiai_rank(bug: Bug, place: Path) -> str:
    """Return the rank of the best function that the fix changed, by Ochiai over variants of the script."""
    folder = place / "program"
    python = folder / ".venv" / "bin" / "python"
    packages, script = packages_of(python), folder / "main.py"
    below = packages / next(iter(bug.functions)).partition(":")[0].partition("/")[0]
    failure, found = run_traced(str(python), folder, "", ["main.py"], below=below)
    runs = [Executed(SAME, found)]
    for text in chosen(each.encode() for each in script_variants(bug.script)):
        script.write_bytes(text)
        ended, found = run_traced(str(python), folder, "", ["main.py"], below=below)
        runs.append(Executed(PASSES if not ended else SAME if ended == failure else OTHER, found))
    counts, all_ = counted([Executed(each.way, _lines(each.found)) for each in runs])
    scores = {name: ochiai(each, all_) for name, each in counts.items()}

    @cache
    def function_of(name: str) -> str:
        file, line = name.split(":")[:2]
        path = below / file if below.is_dir() else below
        return _function_at(packages, path, int(line))

    rank, among = rank_of(bug.functions.__contains__, scores, function_of)
    return f"{rank:g} of {among} ({all_.failing} fail, {all_.passing} pass)"


def _lines(found: frozenset[str]) -> frozenset[str]:
    return frozenset(each for each in found if each.endswith(":line"))


def script_variants(text: str) -> Iterator[str]:
    """Yield a script with one value changed, or one argument, element or statement left out."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            own = node.value
            for other in (0, 1, "", "a", None, True):
                if type(other) is not type(own) or other != own:
                    node.value = other
                    with suppress(ValueError):
                        yield ast.unparse(tree)
            node.value = own
        for name in ("body", "elts", "args", "keywords"):
            parts = getattr(node, name, None)
            if isinstance(parts, list):  # of a lambda it is an expression
                listed = cast("list[ast.AST]", parts)
                for at in range(len(listed)):
                    yield from _without(tree, listed, at)


def _without(tree: ast.Module, parts: list[ast.AST], at: int) -> Iterator[str]:
    """Yield a script without one part of a list of its tree."""
    part = parts.pop(at)
    if not isinstance(part, ast.Import | ast.ImportFrom | ast.arg):
        with suppress(ValueError, IndexError):
            yield ast.unparse(tree)
    parts.insert(at, part)


def _run(
    words: list[str], folder: Path, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, env={**os.environ, **(variables or {})}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=MOST_SECONDS,
    )  # fmt: skip


def _judged(bug: Bug, clues: list[dict[str, str]], packages: Path) -> str:
    named = [list(_functions_in(clue["says"], packages)) for clue in clues]
    if named and named[0] and named[0][0] in bug.functions:
        return "first"
    later = [each for functions in named for each in functions]
    plain = {each.partition(":")[2] for each in bug.functions}
    behind = any(f"`{name}`" in clue["says"] for clue in clues for name in plain)
    if bug.functions.intersection(later) or behind:
        return "later"
    is_sure = bool(named) and bool(named[0]) and clues[0]["sureness"] != "possible"
    return "wrong" if is_sure else "not found"


def _functions_in(says: str, packages: Path) -> Iterator[str]:
    """Yield the functions of the package that a sentence names, in its order."""
    for each in _NAMED.finditer(says):
        yield f"{each['file']}:{each['name']}"
    for each in _PLACE.finditer(_NAMED.sub("", says)):
        file = Path(each["file"])
        known = file if file.is_absolute() else packages / _below_packages(str(file))
        if known.is_file():
            yield _function_at(packages, known, int(each["line"]))


def _below_packages(file: str) -> str:
    return file.rpartition("site-packages/")[2]


def _function_at(packages: Path, file: Path, line: int) -> str:
    """Return the innermost function that a line stands in, as ``file.py:Class.method``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an older package may use escapes that Python warns of
        tree = ast.parse(file.read_text())
    inside = [
        each
        for each in ast.walk(tree)
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and each.lineno <= line <= (each.end_lineno or 0)
    ]
    parts = [each.name for each in sorted(inside, key=lambda each: each.lineno)]
    return f"{file.relative_to(packages)}:{'.'.join(parts)}"


def main() -> None:
    """Investigate each, and print what was named."""
    options = argparse.ArgumentParser(description="Which functions of published bugs are named")
    options.add_argument("names", nargs="*")
    chosen = options.parse_args()
    rows: list[list[str]] = []
    answers: list[Answer] = []
    for name, bug in bugs().items():
        if chosen.names and name not in chosen.names:
            continue
        place = Path(tempfile.mkdtemp(prefix="published-"))
        try:
            answer = investigate(bug, place)
            by_ochiai = ochiai_rank(bug, place)
        except NoIndexError as error:
            print(f"skipped: {name}: {error}")
            continue
        finally:
            shutil.rmtree(place)
        answers.append(answer)
        rows.append([
            name, f"{bug.bad} → {bug.fixed}", answer.found, "yes" if answer.by_traceback else "no",
            "yes" if answer.says_fixed else "no", by_ochiai, f"{answer.seconds:.1f} s",
        ])  # fmt: skip
        print(*rows[-1], answer.said, sep=" | ", file=sys.stderr, flush=True)
    if not rows:
        print("nothing was measured: no release can be installed")
        return
    head = ["bug", "releases", "function named", "last frame", "fix named", "Ochiai", "took"]
    print_table("Published bugs of packages", head, rows)
    found = [answer.found for answer in answers]
    print(
        ", ".join(
            f"{word}: {found.count(word)}" for word in ("first", "later", "not found", "wrong")
        )
    )
    traced = sum(answer.by_traceback for answer in answers)
    fixed = sum(answer.says_fixed for answer in answers)
    print(
        f"of {len(rows)}: the last frame of the traceback names {traced}; the fix is named for {fixed}"
    )


if __name__ == "__main__":
    main()
