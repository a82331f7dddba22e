"""`whet run` shows the sections of a program, and judges by their numbers."""

import json
import sys

import pytest
from whet_command import Whet

PROGRAM = """\
import time
import whet

with whet.section("load"):
    data = bytearray(50 << 20)
    with whet.section("parse rows"):
        time.sleep(0.05)
print("done")
"""


@pytest.fixture
def program(whet: Whet) -> list[str]:
    return [sys.executable, str(whet.write("load.py", PROGRAM))]


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("load.seconds > 0.01", 1),
        ("parse_rows.seconds > 30", 0),
        ("load.peak_memory > 50MB and load.kept_memory > 50MB", 1),
        ("load.count == 1", 1),
        ("lode.seconds > 1", 125),
    ],
)
def test_a_condition_judges_by_the_numbers_of_a_section(
    whet: Whet, program: list[str], condition: str, code: int
) -> None:
    said = whet("run", "--exit-verdict", "--bad-if", condition, "--", *program)

    assert said.code == code
    if code == 125:
        assert "no section `lode` ended" in said.stderr


def test_run_and_show_have_the_table(whet: Whet, program: list[str]) -> None:
    said = whet("run", "--", *program)
    shown = whet("show")

    for text in (said.stderr, shown.stdout):
        lines = [line.removeprefix("whet: ").split() for line in text.splitlines()]
        assert ["section", "runs", "wall", "CPU", "peak", "kept"] in lines
        (load,) = [line for line in lines if line[:1] == ["load"]]
        (parse,) = [line for line in lines if line[:2] == ["parse", "rows"]]
        assert load[1] == "1"
        assert float(load[-2]) == pytest.approx(52.4, abs=2)
        assert load[-1] == "MB"
        assert parse[-2:] == ["as", "parse_rows"]
    assert "measured" not in shown.stdout


def test_json_has_the_totals_and_the_timeline(whet: Whet, program: list[str]) -> None:
    ran = json.loads(whet("run", "--json", "--", *program).stdout)
    shown = json.loads(whet("show", "--json").stdout)

    assert [each["measure"] for each in ran["sections"]] == ["load", "parse_rows"]
    assert shown["sections"] == ran["sections"]
    assert ran["outcome"]["measurements"]["load.seconds"] == ran["sections"][0]["seconds"]
    (timeline,) = shown["timelines"]
    assert [each.get("parent", None) for each in timeline["spans"]] == [None, 0]


def test_a_section_that_a_timeout_cuts_is_said_to_be_open(whet: Whet) -> None:
    path = whet.write(
        "slow.py", "import time, whet\nwith whet.section('slow'):\n    time.sleep(60)\n"
    )

    said = whet(
        "run", "--timeout", "2", "--bad-if", "slow.seconds > 1", "--", sys.executable, str(path)
    )

    assert "no section `slow` ended" in said.stderr
    assert "note: `slow` was still open when process" in said.stderr


def test_a_program_without_sections_has_no_table(whet: Whet) -> None:
    said = whet("run", "--", sys.executable, "-c", "print(1)")

    assert "section" not in said.stderr


def test_a_diff_names_how_often_a_section_ran_and_not_each_of_its_times(whet: Whet) -> None:
    path = whet.write(
        "n.py",
        "import sys, whet\nfor _ in range(int(sys.argv[1])):\n    with whet.section('a'): pass\n",
    )
    for count in ("2", "3"):
        whet("run", "--", sys.executable, str(path), count)

    said = whet("diff", "1", "2").stdout

    assert "a.count" in said
    assert "a.seconds" not in said
