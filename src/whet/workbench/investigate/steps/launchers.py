"""The variables that something between the shell and Python sets, such as a script that starts it."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath

from whet.core.observations.clue import Placing
from whet.host.trial.agent_tasks import TOGGLES_VARIABLE
from whet.workbench.investigate.progress.investigating import Work, place_of
from whet.workbench.toggle.toggle import signs_of
from whet.workbench.trials.reproduce import Baseline

_MOST, _MOST_FILE_BYTES = 12, 500_000
_MOST_SCRIPTS, _MOST_WORDS = 20, 2_000
_MAKES, _MAKEFILES = ("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")
_WORD = re.compile(r"[\w./+@-]+")
_PYTHON = re.compile(r"python[\d.]*")
_PLACE = frozenset(
    {"_", "PWD", "OLDPWD", "SHLVL", "PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED"}
)
"""What a shell keeps for itself, and what Python is started with."""
_SIGN = "variable:"


def variables_that_it_sets(
    work: Work, baseline: Baseline, around: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables that a Python of the command has and the shell hasn't, or has otherwise.

    It costs a run, unless the command itself is a Python. A value that may be a secret is empty.
    """
    if _PYTHON.fullmatch(PurePath(work.trial.command[0]).name):
        return {}
    session = replace(work.session, tasks=replace(work.session.tasks, reads_signs=True))
    environment = {**work.trial.environment, TOGGLES_VARIABLE: "environment"}
    (ran,) = session.repeat(
        replace(work.trial, environment=environment), baseline.oracle, "its variables",
        times=1, place=place_of(work),
    )  # fmt: skip
    told = [each[len(_SIGN) :] for each in signs_of(ran.outcome) if each.startswith(_SIGN)]
    values: dict[str, set[str]] = {}
    for name, _, value in (each.partition("=") for each in told):
        values.setdefault(name, set()).add(bytes.fromhex(value).decode("utf-8", "replace"))
    # Where two Pythons of the command have different values, none is that of the command.
    single = {name: next(iter(each)) for name, each in values.items() if len(each) == 1}
    changed = {
        name: value
        for name, value in single.items()
        if name not in _PLACE and value != around.get(name) and (value or name not in around)
    }
    return changed if len(changed) <= _MOST else {}


def where_set(command: Sequence[str], folder: Path, name: str) -> tuple[str, int, str]:
    """Return the only line that sets a variable, and how it is called; nothing where there are others.

    Args:
        command: the words of a command; files among them are read, and the files that these name,
            such as a script that one runs or reads with `.`; `make` has its makefile.
        folder: where it runs.
        name: the variable.
    """
    sets = re.compile(rf"(?<![\w$]){re.escape(name)}=|\bsetenv\s+{re.escape(name)}\b")
    made = re.compile(rf"^\s*(?:export\s+)?{re.escape(name)}\s*[:?+]*=|{sets.pattern}")
    lines: list[tuple[str, int]] = []
    for path, text in _scripts(command, folder):
        pattern = made if path.name in _MAKEFILES else sets
        lines += [
            (str(path), n)
            for n, each in enumerate(text.splitlines(), 1)
            if pattern.search(each) and not each.lstrip().startswith("#")
        ]
    if len(lines) != 1:
        return "", 0, ""
    return *lines[0], Placing(str(folder))(*lines[0])


def _scripts(command: Sequence[str], folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the texts that the words of a command name, and those that these name, each once."""
    first = _MAKEFILES if PurePath(command[0]).name in _MAKES else ()
    waiting = [(folder, word) for word in (*command, *first)]
    seen: set[Path] = set()
    for beside, word in waiting:  # it grows meanwhile
        if len(seen) >= _MOST_SCRIPTS:
            return
        for path in {Path(os.path.normpath(Path(each, word))): None for each in (folder, beside)}:
            with suppress(OSError, ValueError):
                if path in seen or path.suffix == ".py" or not path.is_file():
                    continue
                seen.add(path)
                if path.stat().st_size <= _MOST_FILE_BYTES:
                    text = path.read_text("utf-8")
                    yield path, text
                    words = list(dict.fromkeys(_WORD.findall(text)))
                    more = words[: max(0, _MOST_WORDS - len(waiting))]
                    waiting += [(path.parent, each) for each in more]
