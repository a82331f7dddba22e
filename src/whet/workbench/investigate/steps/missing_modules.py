"""Where a module is that an import doesn't find: in another folder, for another Python, or nowhere here."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.observations.clue import Clue, Sureness
from whet.core.outcome import Outcome
from whet.core.text.shell_words import joined, quoted
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.inspect.presence import pythons_in
from whet.host.process.git import Repository
from whet.host.python.installed_packages import python_at
from whet.host.python.interpreters import is_python
from whet.host.python.module_search import has_module, python_files, start_of
from whet.host.python.pythons import pythons_near
from whet.workbench.investigate.progress.investigating import Work, place_of
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.tested import Tested
from whet.workbench.versions.missing_packages import module_not_found

_RUNS = 2
_MOST_FOLDERS, _MOST_PYTHONS, _MOST_TRIED = 3, 16, 2
_NEAR = 0.8
_MOST_BYTES = 1 << 20
_MADE = frozenset({"site-packages", "build", "dist", ".tox", ".nox", ".eggs"})
"""Folders of what was built or installed: a copy there isn't the project's."""

_DECLARING = ("requirements*.txt", "pyproject.toml", "setup.cfg", "setup.py", "environment.y*ml", "Pipfile")  # fmt: skip
_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_WHY = "another folder or another Python may have it"


@value_class(kw_only=True)
class _Missing:
    """A module that isn't found.

    Attributes:
        name: such as ``numpy`` or ``google.protobuf``.
        python: the path of the Python that doesn't find it.
        top: the folder of the project.
        folder: where the command starts.
        environment: of the command.
    """

    name: str
    python: str
    top: Path
    folder: Path
    environment: Mapping[str, str]

    @property
    def first(self) -> str:
        """The name before the first dot."""
        return self.name.partition(".")[0]

    def shown(self, path: str | Path) -> str:
        """Return a path as it may be typed where the command starts."""
        is_inside = Path(path).is_relative_to(self.top)
        return os.path.relpath(path, self.folder) if is_inside else str(path)


def look_for_module(work: Work, baseline: Baseline) -> tuple[Clue, ...]:
    """Look for the module that the failing import names: in the project, and in other Pythons."""
    name = _missing_name(baseline.outcome)
    if not name or not baseline.reproduction.is_deterministic:
        return ()
    folder = Path(work.trial.cwd).resolve()
    environment = {**work.bench.environment, **work.trial.environment}
    python = _python_without(work, baseline, environment, name)
    if not python:
        return ()
    top = folder
    with suppress(WhetError):
        top = Repository.containing(folder).top.resolve()
    missing = _Missing(
        name=name, python=python, environment=environment, top=top, folder=folder
    )  # fmt: skip
    with work.steps.step("Look for the module", _WHY):
        clue = (
            _in_project(work, baseline, missing)
            or _for_other_python(work, baseline, missing)
            or _nowhere(work, missing)
        )
        if clue is not None:
            work.steps.conclude(clue.says)
    return () if clue is None else (clue,)


def _missing_name(outcome: Outcome) -> str:
    return "" if outcome.failure is None else module_not_found(outcome.failure)


def _python_without(
    work: Work, baseline: Baseline, environment: Mapping[str, str], name: str
) -> str:
    """Return the only Python of the command that lacks a module; empty: which it is isn't known."""
    known = {each.executable for each in pythons_in(baseline.outcome.evidence)}
    known = known or {start_of(work.trial.command, environment, Path(work.trial.cwd)).python}
    lacking = [each for each in known if has_module(each, name) is False]
    return lacking[0] if len(lacking) == 1 else ""


# ---- in the project ----


def _in_project(work: Work, baseline: Baseline, missing: _Missing) -> Clue | None:
    """Say with which folder of the project on Python's path the command passes."""
    for folder, path in islice(_folders_with(missing), _MOST_FOLDERS):
        before = missing.environment.get("PYTHONPATH", "")
        search = os.pathsep.join(filter(None, (folder, before)))
        trial = replace(
            work.trial, environment={**work.trial.environment, "PYTHONPATH": search}
        )  # fmt: skip
        shown = missing.shown(folder)
        ran = _ran(work, baseline, trial, f"`PYTHONPATH={shown}`")
        after = _what_came(ran, missing)
        if not after:
            continue
        project = any((missing.top / each).is_file() for each in _PROJECTS)
        install = f", or install the project: `{quoted(missing.python)} -m pip install -e .`"
        return Clue(
            says=f"`{missing.name}` is at {missing.shown(path)}, and {shown} isn't a folder that Python"
            f" searches; with `PYTHONPATH={quoted(shown)}` the command {after}",
            why=_why(ran), sureness=_sureness(ran), trials=tuple(each.own_number for each in ran),
            path=path,
            next_step=f"Set `PYTHONPATH={quoted(shown)}`{install if project else ''}.",
        )  # fmt: skip
    return None


def _folders_with(missing: _Missing) -> Iterator[tuple[str, str]]:
    """Yield folders of the project from which Python would find the module, each with its file."""
    seen: set[Path] = set()
    for paths in python_files(missing.top).values():
        for path in map(Path, sorted(paths)):
            is_inside = path.parent.name == missing.first
            if path.name != f"{missing.first}.py" and not is_inside:
                continue
            folder = path.parent.parent if is_inside else path.parent
            if folder not in seen and not _MADE & {*folder.relative_to(missing.top).parts}:
                seen.add(folder)
                yield str(folder), str(path.parent if is_inside else path)


# ---- for another Python ----


def _for_other_python(work: Work, baseline: Baseline, missing: _Missing) -> Clue | None:
    """Say which other Python of this machine has it, and what the command does on that one."""
    others = list(islice(_pythons_with(work, missing), _MOST_TRIED))
    for other in others:
        trial, advice = _on(work.trial, other, missing)
        ran = _ran(work, baseline, trial, f"on {missing.shown(other)}")
        after = _what_came(ran, missing)
        if after:
            return Clue(
                says=f"{_lack(work, missing)}; {missing.shown(other)} has it, and on that the command"
                f" {after}",
                why=_why(ran), sureness=_sureness(ran),
                trials=tuple(each.own_number for each in ran), next_step=advice,
            )  # fmt: skip
    if not others:
        return None
    return Clue(
        says=f"{_lack(work, missing)}; {missing.shown(others[0])} has it", why=_WHY,
        sureness=Sureness.SEEN, next_step="See why this Python runs it, and not the other.",
    )  # fmt: skip


def _pythons_with(work: Work, missing: _Missing) -> Iterator[str]:
    """Yield other Pythons that have the module."""
    near = dict.fromkeys(pythons_near(missing.folder, missing.top, missing.environment))
    candidates = [each for each in near if each != missing.python and os.access(each, os.X_OK)]
    known: set[tuple[str, str]] = set()
    for each in candidates[:_MOST_PYTHONS]:
        python = python_at(each, state=work.bench.project.state)
        key = (each, "") if python is None else (python.prefix, python.version)
        if key not in known and has_module(each, missing.name):
            known.add(key)
            yield each


def _on(trial: Trial, python: str, missing: _Missing) -> tuple[Trial, str]:
    """Return the command on another Python, and how a person runs it so."""
    for number, word in enumerate(trial.command):
        if is_python(word):
            command = (*trial.command[:number], python, *trial.command[number + 1 :])
            shown = (*trial.command[:number], missing.shown(python), *trial.command[number + 1 :])
            return replace(trial, command=command), f"Run `{joined(shown)}`."
    folder = str(Path(python).parent)
    search = f"{folder}{os.pathsep}{missing.environment.get('PATH', os.defpath)}"
    activate = Path(folder, "activate")
    advice = (
        f"Activate that environment first: `. {quoted(missing.shown(activate))}`."
        if activate.is_file()
        else f"Put {missing.shown(folder)} first on `PATH`."
    )
    return replace(trial, environment={**trial.environment, "PATH": search}), advice


# ---- nowhere ----


def _nowhere(work: Work, missing: _Missing) -> Clue | None:
    """Say what is known of a module that no folder and no Python here has."""
    lacks = _lack(work, missing)
    if missing.first in sys.stdlib_module_names:
        return Clue(
            says=lacks, why="the standard library differs between versions", sureness=Sureness.SEEN,
            next_step="Run it on a Python that has it, or import what took its place.",
        )  # fmt: skip
    declared = declared_in(missing.top, missing.first)
    install = f"`{quoted(missing.python)} -m pip install"
    if declared is not None:
        path, line = declared
        is_list = path.suffix == ".txt"
        words = "-r " if is_list else "-e "
        words += quoted(missing.shown(path if is_list else path.parent))
        return Clue(
            says=f"{lacks}; {missing.shown(path)}:{line} asks for it", why="the file names what the project needs",
            path=str(path), line=line, sureness=Sureness.SEEN, next_step=f"Run {install} {words}`.",
        )  # fmt: skip
    near = get_close_matches(missing.first, _names(work, missing), n=1, cutoff=_NEAR)
    if near:
        return Clue(
            says=f"nothing here is called `{missing.first}`; `{near[0]}` is there, and its name is nearly the same",
            why="a name may be mistyped", next_step="Compare the two names.",
        )  # fmt: skip
    return Clue(
        says=f"{lacks}, and no other Python here that answered whet has it",
        why="an import needs an installed package",
        next_step=f"Install the package that brings it, such as {install} {missing.first}`, if that is its name.",
    )  # fmt: skip


def _lack(work: Work, missing: _Missing) -> str:
    """Say which Python lacks it."""
    if missing.first not in sys.stdlib_module_names:
        return f"`{missing.name}` isn't installed for {missing.python}, which runs this"
    python = python_at(missing.python, state=work.bench.project.state)
    version = "" if python is None else python.version.rpartition(" ")[2]
    own = ".".join(map(str, sys.version_info[:2]))
    is_same = version.startswith(f"{own}.")
    lacks = "was installed without it" if is_same else f"is Python {version} and hasn't got it"
    return (
        f"`{missing.first}` belongs to the standard library of Python {own}, and {missing.python},"
        f" which runs this, {lacks}"
    )


def declared_in(top: Path, name: str) -> tuple[Path, int] | None:
    """Return the file and the line that ask for a package of this name, in the folder of a project."""
    words = r"[-_.]+".join(map(re.escape, re.split(r"[-_.]+", name)))
    end = r"""["']?\s*(?:$|[\[<>=!~;,@\]#"'])"""
    asks = re.compile(rf"""\s*(?:-\s+|dependencies\s*=\s*\[\s*)?["']?{words}{end}""", re.IGNORECASE)
    for path in (each for pattern in _DECLARING for each in sorted(top.glob(pattern))):
        with suppress(OSError, UnicodeDecodeError):
            if not path.is_file() or path.stat().st_size > _MOST_BYTES:
                continue  # a pipe would wait for ever
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                if asks.match(line):
                    return path, number
    return None


def _names(work: Work, missing: _Missing) -> list[str]:
    """Return the modules that there are: the project's, the standard library's, the installed ones."""
    python = python_at(missing.python, state=work.bench.project.state)
    names = [path.removesuffix(".py") for path in python_files(missing.top)]
    names += sorted(sys.stdlib_module_names)
    for folder in () if python is None else python.site_folders(missing.environment):
        with suppress(OSError):
            names += [each.stem for each in Path(folder).iterdir() if "-" not in each.name]
    return names


# ---- trials ----


def _ran(work: Work, baseline: Baseline, trial: Trial, label: str) -> list[Tested[None]]:
    return work.session.repeat(
        trial, baseline.oracle, label,
        times=_RUNS, until=lambda ran: ran.verdict is not Verdict.GOOD, place=place_of(work),
    )  # fmt: skip


def _what_came(ran: list[Tested[None]], missing: _Missing) -> str:
    """Return what a command does with the module at hand; empty: it still doesn't find it."""
    if _is_good(ran):
        return "passes"
    outcome = ran[-1].outcome
    failure = outcome.failure
    if failure is None or _missing_name(outcome).partition(".")[0] == missing.first:
        return ""
    return f"fails in another way: {failure.summary}"


def _is_good(ran: list[Tested[None]]) -> bool:
    return all(each.verdict is Verdict.GOOD for each in ran)


def _sureness(ran: list[Tested[None]]) -> Sureness:
    return Sureness.SHOWN if _is_good(ran) else Sureness.SEEN


def _why(ran: list[Tested[None]]) -> str:
    return "each run with it passed" if _is_good(ran) else "with it, the failure is another one"
