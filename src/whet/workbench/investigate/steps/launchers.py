"""The variables that something between the shell and Python sets, such as a script that starts it."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath

from whet.core.observations.clue import Placing
from whet.core.trial import Trial
from whet.host.trial.agent_tasks import TOGGLES_VARIABLE
from whet.workbench.investigate.progress.investigating import Work, place_of
from whet.workbench.toggle.toggle import signs_of
from whet.workbench.trials.reproduce import Baseline

_MOST, _MOST_FILE_BYTES = 12, 500_000
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


def where_set(trial: Trial, name: str) -> tuple[str, int, str]:
    """Return the only line of the command's files that sets a variable, and how it is called."""
    sets = re.compile(rf"(?<!\w){re.escape(name)}=|\bsetenv\s+{re.escape(name)}\b")
    lines: list[tuple[str, int]] = []
    for word in trial.command:
        path = Path(trial.cwd, word)
        with suppress(OSError, ValueError):
            if path.is_file() and path.stat().st_size <= _MOST_FILE_BYTES:
                text = path.read_text("utf-8")
                lines += [
                    (str(path), n)
                    for n, each in enumerate(text.splitlines(), 1)
                    if sets.search(each)
                ]
    if len(lines) != 1:
        return "", 0, ""
    return *lines[0], Placing(trial.cwd)(*lines[0])
