"""`whet investigate`: the record without which the command passes is told, and the file stays as it is."""

import json
import re
import sys

import pytest
from whet_command import Whet

TOTALS = """
import csv

with open("paid.csv", newline="") as lines:
    rows = list(csv.DictReader(lines))
total = sum(int(row["cents"]) for row in rows)
assert total == 5150, total
"""
ROWS = [f"p{number},{100 + number}" for number in range(15)]


def investigated(whet: Whet, rows: list[str]) -> list[dict[str, object]]:
    whet.write("main.py", TOTALS)
    table = "\n".join(["payment,cents", *rows, ""])
    whet.write("paid.csv", table)
    whet("investigate", "--", sys.executable, "main.py")
    assert (whet.folder / "paid.csv").read_text() == table
    assert not [each for each in whet.folder.iterdir() if each.name.startswith("without")]
    found: list[dict[str, object]] = json.loads(
        (whet.folder / "whet-report" / "report.json").read_text()
    )["clues"]
    return found


def test_the_record_without_which_it_passes_is_the_first_that_is_possible(whet: Whet) -> None:
    total = sum(int(row.partition(",")[2]) for row in ROWS)
    rows = [*ROWS[:9], "x9,77", *ROWS[9:]]
    rows[0] = f"p0,{5150 - total + 100}"
    first = investigated(whet, rows)[0]
    assert (first["line"], first["sureness"]) == (11, "possible")
    assert "without the record at paid.csv:11 (`x9,77`) the command passes" in str(first["says"])
    trials = first["trials"]
    assert isinstance(trials, list)
    shown = [json.loads(whet("show", "--json", str(each)).stdout)["verdict"] for each in trials]
    assert shown == ["good", "bad"]
    ran = re.match(r"trials (\d+) and (\d+) ran without it and passed", str(first["why"]))
    assert ran is not None
    again = [json.loads(whet("show", "--json", each).stdout)["verdict"] for each in ran.groups()]
    assert again == ["good", "good"]


@pytest.mark.long
def test_a_record_that_stands_twice_is_told_with_its_twin(whet: Whet) -> None:
    total = sum(int(row.partition(",")[2]) for row in ROWS)
    rows = [*ROWS, ROWS[7]]
    rows[0] = f"p0,{5150 - total + 100}"
    found = investigated(whet, rows)
    assert [each["line"] for each in found[:2]] == [9, 17]
    assert "which stands in line 17, too" in str(found[0]["says"])


@pytest.mark.long
def test_the_setting_that_the_value_came_by_is_left_out_first(whet: Whet) -> None:
    program = "import tomllib\nconf = tomllib.load(open('conf.toml', 'rb'))\nkept = 'abcdefg'[:conf['text'].get('most_kept', 9)]\n"
    whet.write("main.py", f"{program}if len(kept) < 5:\n    raise SystemExit('too short')\n")
    others = "".join(f"{name} = {number}\n" for number, name in enumerate("abcdefgh"))
    whet.write("conf.toml", f"[all]\n{others}\n[text]\nmost_kept = 3\n{others}")
    whet("investigate", "--", sys.executable, "main.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    (clue,) = (each for each in report["clues"] if "without the record" in each["says"])
    assert "conf.toml:12 (`most_kept = 3`)" in clue["says"]
    first, control = clue["trials"]
    assert first == control + 1


def test_where_no_record_decides_none_is_told(whet: Whet) -> None:
    found = investigated(whet, ROWS)
    assert not [each for each in found if "without the record" in str(each["says"])]


OVERLAID = """
import tomllib

settings = {}
for name in ("default.toml", "local.toml"):
    with open(name, "rb") as file:
        for section, values in tomllib.load(file).items():
            settings.setdefault(section, {}).update(values)
words = [each.split()[: settings["text"]["most"]] for each in ("a b good", "a b c d bad")]
rate = sum(each[-1] in ("good", "bad") for each in words) / len(words)
if rate < settings["check"]["least"]:
    raise RuntimeError(f"only {rate}")
"""


@pytest.mark.long
def test_a_setting_of_one_of_several_configurations_is_the_first_that_is_possible(
    whet: Whet,
) -> None:
    whet.write("main.py", OVERLAID)
    whet.write("default.toml", "[text]\nmost = 100\n\n[check]\nleast = 0.9\n")
    whet.write("local.toml", "# my machine\n[text]\nmost = 3\n")
    whet("investigate", "--", sys.executable, "main.py")

    (whet_says, *_) = json.loads((whet.folder / "whet-report" / "report.json").read_text())["clues"]
    assert "without the record at local.toml:3 (`most = 3`) the command passes" in whet_says["says"]


def in_history(whet: Whet, before: list[str], after: list[str]) -> dict[str, object]:
    """Investigate a program whose table one commit has changed; return the report."""
    program = TOTALS.replace("total == 5150", "total < 4000")
    whet.git("init", "--quiet", "--initial-branch=main")
    for rows in (before, after):
        whet.write("paid.csv", "\n".join(["payment,cents", *rows, ""]))
        whet.commit("table", main_py=program)
    whet("investigate", "--", sys.executable, "main.py")
    found: dict[str, object] = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    return found


@pytest.mark.long
def test_a_record_that_came_with_the_failure_and_without_which_it_goes_is_shown(whet: Whet) -> None:
    after = [*ROWS[:9], "x9,9000", *ROWS[9:14], "p14,115"]
    found = in_history(whet, ROWS, after)
    clues = found["clues"]
    assert isinstance(clues, list)
    (record,) = [each for each in clues if "without the record" in each["says"]]
    assert (record["line"], record["sureness"]) == (11, "shown")
    assert record["says"].endswith("; the change that introduces the failure put the record there")
    answer = found["answer"]
    assert isinstance(answer, dict)
    assert record["says"] in [each["says"] for each in answer["evidence"]]


@pytest.mark.long
def test_a_record_that_was_there_before_is_only_possible(whet: Whet) -> None:
    old = [*ROWS[:9], "x9,2300", *ROWS[9:]]
    clues = in_history(whet, old, [*old[:-1], "p14,500"])["clues"]
    assert isinstance(clues, list)
    records = {each["says"]: each["sureness"] for each in clues if each["line"] in {11, 17}}
    assert records
    assert records == {says: "shown" if "p14,500" in says else "possible" for says in records}


LATEST = """
import csv

newest, kept = 0, []
with open("paid.csv", newline="") as lines:
    for row in csv.DictReader(lines):
        newest = max(newest, int(row["cents"]))
        if int(row["cents"]) > newest - 10:
            kept.append(row)
assert len(kept) > 19_990, len(kept)
"""


def many(whet: Whet, program: str, odd: int) -> list[dict[str, object]]:
    rows = [f"payment-{number:06d},{number}" for number in range(20_000)]
    rows[700] = f"payment-000700,{odd}"
    whet.write("main.py", program)
    whet.write("paid.csv", "\n".join(["payment,cents", *rows, ""]))
    whet("investigate", "--", sys.executable, "main.py")
    found: list[dict[str, object]] = json.loads(
        (whet.folder / "whet-report" / "report.json").read_text()
    )["clues"]
    return found


@pytest.mark.long
def test_the_one_of_many_thousand_records_that_stands_out_is_left_out(whet: Whet) -> None:
    first, *_ = many(whet, LATEST, 90_000)
    assert (first["line"], first["sureness"]) == (702, "possible")
    assert "without the record at paid.csv:702" in str(first["says"])
    assert "its second value, 90000, is at least 89299 above those before" in str(first["says"])


@pytest.mark.long
def test_a_record_that_stands_out_and_does_no_harm_is_not_told(whet: Whet) -> None:
    program = LATEST.replace("newest = max(newest, ", "newest = (").replace("> 19_990", "> 20_000")
    assert not [each for each in many(whet, program, 90_000) if "record" in str(each["says"])]
