"""A search gives no candidate more time than what failed so far makes likely."""

import os
import sys
import time
from pathlib import Path

import pytest

from whet.core.event import Event, TrialFinished
from whet.workbench.shrink.shrink import ShrinkOptions, shrink
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest

pytestmark = pytest.mark.slow

SLOW_WITH_MANY_LINES = """\
import sys, time
text = open(sys.argv[1]).read()
time.sleep(0.011 * text.count("\\n"))
assert "needle" not in text
"""

HANGS_ONCE = """\
import pathlib, sys, time
count = pathlib.Path("count")
count.write_text(count.read_text() + ".")
if len(count.read_text()) == 2:
    time.sleep(600)
assert "needle" not in open(sys.argv[1]).read()
"""


def limits_of(program: str, payload: str, folder: Path) -> list[float | None]:
    """Shrink; return the limit of each trial, in order."""
    Path("main.py").write_text(program)
    Path("hay.txt").write_text(payload)
    events: list[Event] = []
    request = TrialRequest(command=(sys.executable, "main.py", "hay.txt"))
    with open_workbench({**os.environ, "WHET_DIR": str(folder / "w")}, events.append) as bench:
        (result,) = shrink(bench, request, ShrinkOptions(files=("hay.txt",), jobs=1, cold=True))
    assert b"needle" in result.content
    trials = [event.trial for event in events if isinstance(event, TrialFinished)]
    return [trial.limits.wall_seconds for trial in trials]


def test_the_limit_falls_with_what_the_payload_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    limits = limits_of(SLOW_WITH_MANY_LINES, "hay\n" * 150 + "needle\n", tmp_path)

    given = [limit for limit in limits if limit is not None]
    assert given[0] >= 16
    assert given[-1] == 4
    assert len(set(given)) <= 4  # each new one makes new keys


@pytest.mark.long
def test_a_first_look_that_hangs_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "count").write_text("")
    started = time.monotonic()

    limits_of(HANGS_ONCE, "needle", tmp_path)

    assert time.monotonic() - started < 120
