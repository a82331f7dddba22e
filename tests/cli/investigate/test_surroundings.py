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


@pytest.mark.long
def test_a_time_zone_that_a_script_sets_is_turned_behind_it(whet: Whet) -> None:
    whet.write("main.py", DUE)
    whet.write("run.sh", f"export TZ=America/Los_Angeles\nexec {sys.executable} main.py\n")
    whet("investigate", "--budget", "60s", "-o", "out", "--", "sh", "run.sh")
    answer = json.loads((whet.folder / "out" / "report.json").read_text())["answer"]
    assert "fails with `TZ=America/Los_Angeles`, which run.sh:1 sets" in answer["says"]
    assert "passes with `TZ=UTC`: the time zone decides" in answer["says"]
    assert "main.py:5" in answer["next_step"]


@pytest.mark.long
def test_a_time_zone_that_does_not_decide_is_not_named(whet: Whet) -> None:
    clues = report(whet, NOT_THE_ZONE, TZ="America/Los_Angeles")["clues"]
    assert not [each for each in clues if "decides" in each["says"]]


@pytest.mark.long
def test_a_hash_seed_of_the_shell_that_decides_is_named_with_the_set(whet: Whet) -> None:
    clues = report(whet, TAGS, PYTHONHASHSEED="3")["clues"]
    (shown,) = [each for each in clues if each["sureness"] == "shown"]
    assert "`PYTHONHASHSEED=3`" in shown["says"]
    assert "the order of sets decides" in shown["says"]
    assert shown["line"] == 1


POOL = """\
import os


def limit():
    return int(os.getenv("POOL_LIMIT", "8"))


def take(jobs):
    if jobs > limit():
        raise RuntimeError(f"{jobs} jobs, and {limit()} places")
    return os.environ.get("POOL_COLOR", "")


take(5)
"""
NAMES = """\
from pathlib import Path

names = Path("names.txt").read_text().split()
print(len(names))
"""


def answer_to(whet: Whet, *command: str, **shell: str) -> dict[str, Any]:
    whet(
        "investigate",
        "--no-changes",
        "--budget",
        "60s",
        "-o",
        "out",
        "--",
        *command,
        environment=shell,
    )
    answer: dict[str, Any] = json.loads((whet.folder / "out" / "report.json").read_text())["answer"]
    return answer


@pytest.mark.long
def test_of_the_variables_that_a_script_sets_the_one_that_decides_is_named_with_its_line(
    whet: Whet,
) -> None:
    whet.write("main.py", POOL)
    whet.write(
        "start.sh", f"export POOL_COLOR=red\nexport POOL_LIMIT=3\n{sys.executable} main.py\n"
    )
    answer = answer_to(whet, "sh", "start.sh")
    assert (
        "fails with `POOL_LIMIT=3`, which start.sh:2 sets, and passes with no `POOL_LIMIT`"
        in (answer["says"])
    )
    assert "main.py:5 reads it" in answer["says"]
    assert answer["cause"]["sureness"] == "shown"
    assert answer["next_step"] == "Check `POOL_LIMIT` at start.sh:2."


@pytest.mark.long
def test_a_variable_of_the_shell_that_the_program_reads_is_left_out(whet: Whet) -> None:
    whet.write("main.py", POOL)
    answer = answer_to(whet, sys.executable, "main.py", POOL_LIMIT="4", POOL_COLOR="red")
    assert "fails with `POOL_LIMIT=4` and passes with no `POOL_LIMIT`" in answer["says"]


@pytest.mark.slow
def test_variables_that_do_not_decide_are_not_named(whet: Whet) -> None:
    whet.write("main.py", POOL.replace("take(5)", "take(9)"))
    whet.write(
        "start.sh", f"export POOL_COLOR=red\nexport POOL_LIMIT=3\n{sys.executable} main.py\n"
    )
    assert "decides" not in answer_to(whet, "sh", "start.sh", POOL_COLOR="blue")["says"]


@pytest.mark.long
def test_an_encoding_that_a_script_sets_is_turned_although_python_reads_it_when_it_starts(
    whet: Whet,
) -> None:
    whet.write("main.py", NAMES)
    whet.write("names.txt", "Bj\u00f6rk Ann\n")
    whet.write(
        "start.sh", f"LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 {sys.executable} main.py\n"
    )
    answer = answer_to(whet, "sh", "start.sh")
    assert "start.sh:1 sets" in answer["says"]
    assert "the encoding decides" in answer["says"]
    assert "main.py:3" in answer["next_step"]


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
