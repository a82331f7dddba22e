"""A hang whose cause is what became of a task or a process that somebody waits for."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from whet_command import Whet

HANGS = Path(__file__).parents[3] / "specimens" / "hangs"


def causes(whet: Whet, program: str, *limit: str) -> list[dict[str, object]]:
    shutil.copy(HANGS / program, whet.folder)
    whet("investigate", *(limit or ("--hang", "3")), "--", sys.executable, program)
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    clues: list[dict[str, object]] = report["clues"]
    return clues


@pytest.mark.parametrize(
    ("program", "line", "says"),
    [
        pytest.param("dead_task.py", "1 / item", "`work` has ended, at dead_task.py:9, of ZeroDivisionError('division by zero') that nobody caught", id="a task that died", marks=pytest.mark.long),
        pytest.param("unread_queue.py", "filler.join()", "process `filler` has done its work and cannot end", id="a queue that is not read", marks=pytest.mark.long),
        pytest.param("forked_lock.py", "with LOCK:\n        taken", "for a lock that thread `holder` of its parent had taken", id="a lock over a fork", marks=pytest.mark.long),
        pytest.param("killed_worker.py", "pool.map(", "was killed by SIGKILL", id="a killed worker", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_what_a_hang_waits_for_in_vain_is_its_cause(
    whet: Whet, program: str, line: str, says: str
) -> None:
    first, *_ = causes(whet, program)

    assert says in str(first["says"])
    assert first["sureness"] == "seen"
    text = (HANGS / program).read_text()
    assert first["line"] == text[: text.index(line)].count("\n") + 1
    assert "MainThread" not in str(first["says"])


@pytest.mark.long
def test_a_task_that_died_apart_from_what_is_waited_for_is_a_possibility_alone(whet: Whet) -> None:
    clues = causes(whet, "dead_task_apart.py")

    said = [each for each in clues if "task `beating` has died of IndexError" in str(each["says"])]
    assert [each["sureness"] for each in said] == ["possible"]


@pytest.mark.long
def test_a_limit_of_time_shows_a_hang_as_silence_does(whet: Whet) -> None:
    first, *_ = causes(whet, "dead_task.py", "--timeout", "3")

    assert "`work` has ended, at dead_task.py:9, of ZeroDivisionError" in str(first["says"])


@pytest.mark.long
def test_what_a_call_took_and_kept_is_shown_by_a_run_in_which_it_gives_it_back(whet: Whet) -> None:
    first, *_ = causes(whet, "kept_connection.py")

    assert "left at kept_connection.py:13 without putting it back" in str(first["says"])
    assert "with `IDLE.put(connection)` at kept_connection.py:13" in str(first["says"])
    assert (first["sureness"], first["line"]) == ("shown", 13)


@pytest.mark.long
def test_a_job_that_is_tried_again_is_not_shown_to_be_kept_once_it_is_done(whet: Whet) -> None:
    assert "shown" not in {each["sureness"] for each in causes(whet, "job_tried_again.py")}
