"""`whet investigate`: a time zone, a hash seed or an encoding decides only where turning it shows that."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from whet_command import Whet

from whet.evidence.clues.surroundings import ENCODINGS, SET_ORDER, TIME_ZONE, uses_in

DUE = """\
import datetime


def day_of(stamp):
    return datetime.datetime.fromtimestamp(stamp).date()


def greeting():
    return f"It is {datetime.datetime.now():%H:%M}"


print(greeting()[:5])
due = [day_of(each).isoformat() for each in (1709118000, 1709337600)]
if due != ["2024-02-28", "2024-03-02"]:
    raise SystemExit(f"wrong days: {due}")
"""
NOT_THE_ZONE = DUE.replace("2024-03-02", "2024-03-22")
TAGS = """\
TAGS = {"alpha", "beta", "gamma", "delta", "omega", "sigma"}
first = ",".join(TAGS).split(",")[0]
if first != "alpha":
    raise RuntimeError(f"unexpected first tag {first}")
"""


def report(whet: Whet, program: str, **shell: str) -> dict[str, Any]:
    whet.write("main.py", program)
    said = whet("investigate", "--budget", "60s", "-o", "out", "--", sys.executable, "main.py",
                environment=shell)  # fmt: skip
    assert said.code in {0, 75}, said.stderr
    found: dict[str, Any] = json.loads((whet.folder / "out" / "report.json").read_text())
    return found


@pytest.mark.slow
def test_a_time_zone_that_decides_is_the_cause_with_the_line_that_uses_it(whet: Whet) -> None:
    clues = report(whet, DUE, TZ="America/Los_Angeles")["clues"]
    shown = [each for each in clues if each["sureness"] == "shown"]
    assert "fails with `TZ=America/Los_Angeles` and passes with `TZ=UTC`" in shown[0]["says"]
    assert shown[0]["line"] == 5
    assert "main.py:5" in shown[0]["next_step"]


@pytest.mark.slow
def test_a_time_zone_that_a_script_sets_is_turned_behind_it(whet: Whet) -> None:
    whet.write("main.py", DUE)
    whet.write("run.sh", f"export TZ=America/Los_Angeles\nexec {sys.executable} main.py\n")
    whet("investigate", "--budget", "60s", "-o", "out", "--", "sh", "run.sh")
    answer = json.loads((whet.folder / "out" / "report.json").read_text())["answer"]
    assert "fails with `TZ=America/Los_Angeles`, which the command itself sets" in answer["says"]
    assert "passes with `TZ=UTC`: the time zone decides" in answer["says"]
    assert "main.py:5" in answer["next_step"]


@pytest.mark.slow
def test_a_time_zone_that_does_not_decide_is_not_named(whet: Whet) -> None:
    clues = report(whet, NOT_THE_ZONE, TZ="America/Los_Angeles")["clues"]
    assert not [each for each in clues if "decides" in each["says"]]


@pytest.mark.slow
def test_a_hash_seed_of_the_shell_that_decides_is_named_with_the_set(whet: Whet) -> None:
    clues = report(whet, TAGS, PYTHONHASHSEED="3")["clues"]
    (shown,) = [each for each in clues if each["sureness"] == "shown"]
    assert "`PYTHONHASHSEED=3`" in shown["says"]
    assert "the order of sets decides" in shown["says"]
    assert shown["line"] == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("datetime.now()", TIME_ZONE), ("datetime.now(timezone.utc)", ""),
        ("datetime.fromtimestamp(x)", TIME_ZONE), ("datetime.fromtimestamp(x, tz=zone)", ""),
        ("time.localtime()", TIME_ZONE), ("date.today()", TIME_ZONE),
        ("open(path)", ENCODINGS), ("open(path, 'rb')", ""), ("open(path, encoding='utf-8')", ""),
        ("Path(x).read_text()", ENCODINGS), ("{1, 2}", SET_ORDER), ("{1: 2}", ""),
    ],
)  # fmt: skip
def test_what_a_line_uses_of_its_surroundings(text: str, kind: str, tmp_path: Path) -> None:
    path = str(tmp_path / "main.py")
    found = {each.kind for each in uses_in(path, f"def f():\n    return {text}\n".encode())}
    assert found == ({kind} if kind else set())
