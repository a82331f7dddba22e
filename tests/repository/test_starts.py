"""What a start of whet's processes doesn't load, since every trial and every command waits for it."""

import subprocess
import sys
from pathlib import Path

import pytest

import whet

SOURCES = str(Path(whet.__file__).parents[1])
STARTS = {
    "spawner": (
        "from whet.host.spawner.guardian import stand_guard; from whet.host.spawner.spawner import main",
        ["collections", "enum", "functools", "re", "typing", "whet.core", "whet.host.spawner.observer"],
    ),
    "help": ("import whet.cli.main", ["json", "whet.core.trial", "whet.host.trial.known_secrets"]),
    "run": (
        "import whet.cli.main, whet.cli.verbs.trials.run",
        ["concurrent.futures.thread", "tempfile", "whet.cli.display.sections", "whet.execution.caching",
         "whet.execution.several_runs", "whet.execution.warm", "whet.host.trial.process_snapshots",
         "whet.host.trial.sections", "whet.reduction"],
    ),
    "repeat": ("import whet.cli.main, whet.cli.verbs.trials.repeat", ["whet.reduction.reducer"]),
}  # fmt: skip


@pytest.mark.parametrize("start", STARTS)
def test_a_start_loads_nothing_that_only_some_uses_need(start: str) -> None:
    code, needless = STARTS[start]
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c",
         f"import sys; sys.path[:0] = {[*sys.path, SOURCES]}; {code}; print(*sys.modules)"],
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip

    assert sorted({*needless} & {*loaded}) == []
