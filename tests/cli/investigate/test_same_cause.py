"""The smaller payload of a report fails for the cause that the report names, not for another one."""

import json
import sys

import pytest
from whet_command import Whet

LOG = """
import sys
from collections import defaultdict


def parse(line):
    stamp, level, rest = line.rstrip("\\n").split(" ", 2)
    return dict(part.split("=", 1) for part in rest.split(";"))


per_user = defaultdict(float)
for line in open(sys.argv[1]):
    fields = parse(line)
    per_user[fields["user"]] += float(fields["ms"])
print(per_user)
"""
LINES = [f"2024-05-02T05:{n:02} INFO user=u{n % 7};op=get;ms={n * 7}.25" for n in range(30)]
ODD = "2024-05-02T05:17 INFO user=u0;op=get;ms=12,5"

PLAN = """
import json, sys


def leaves(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, prefix + key + ".")
        else:
            yield prefix + key, value


def total(tree):
    return sum(value for key, value in leaves(tree) if key.endswith("cost"))


for part in json.load(open(sys.argv[1])):
    spent = total(part["items"])
    assert spent <= part["budget"], f"{part['name']} spends {spent} of {part['budget']}"
"""
PARTS = [
    {"name": f"part-{n}", "budget": 180 + n, "items": {f"i{m}": {"cost": 9 + m} for m in range(6)}}
    for n in range(8)
]


def smaller(whet: Whet, program: str, name: str, content: str) -> tuple[str, str]:
    """Return the smaller file of an investigation, and its report."""
    whet.write("main.py", program)
    whet.write(name, content)
    whet("investigate", "--budget", "40s", "--", sys.executable, "main.py", name)
    report = whet.folder / "whet-report"
    return (report / name).read_text(), (report / "report.md").read_text().replace("\\", "")


@pytest.mark.slow
def test_the_record_that_the_cause_names_stays_whole(whet: Whet) -> None:
    content, report = smaller(whet, LOG, "app.log", "\n".join([*LINES[:17], ODD, *LINES[17:], ""]))

    assert content.strip() == ODD
    assert "of `ms=12,5` at app.log:18 the command passes" in report
    assert "Each smaller file keeps `12,5` in the message and the record at app.log:18." in report
    assert "Check app.log:18" in report


@pytest.mark.long
def test_data_in_the_message_stay_and_the_bad_value_comes_from_the_same_line(whet: Whet) -> None:
    parts = json.loads(json.dumps(PARTS))
    parts[5]["items"]["i3"]["cost"] = 2300
    content, report = smaller(whet, PLAN, "plan.json", json.dumps(parts, indent=1))

    (part,) = json.loads(content)
    assert (part["name"], part["budget"]) == ("part-5", 185)
    assert "Each smaller file keeps `part-5` and `185` in the message." in report


@pytest.mark.slow
def test_a_failure_that_no_data_are_known_to_bring_keeps_nothing(whet: Whet) -> None:
    program = (
        "import sys\nrows = open(sys.argv[1]).read().split()\nraise SystemExit(3 if rows else 0)\n"
    )
    content, report = smaller(whet, program, "rows.txt", "alpha beta\ngamma delta\n")

    assert len(content) == 1
    assert "smaller file keeps" not in report


BILL = """
import csv, sys


def line_total(row):
    quantity, price = int(row["quantity"]), float(row["price"])
    share = float(row["discount"]) / 100
    return quantity * price * (1 + share)


total = 0.5
for row in csv.DictReader(open(sys.argv[1])):
    total += line_total(row)
assert round(total, 2) == 41.0, total
"""


@pytest.mark.long
def test_a_smaller_file_passes_with_the_change_that_is_the_cause_or_it_stays(whet: Whet) -> None:
    """Without any row the check fails as well, but for another reason."""
    rows = "item,quantity,price,discount\npen,3,1.5,0\nbook,2,12.0,10\ncup,1,14.4,0\n"
    content, report = smaller(whet, BILL, "lines.csv", rows)

    assert "with `1 - share` instead of `1 + share`" in report
    assert content == rows
    assert "smaller files fail for another cause" in report


@pytest.mark.long
def test_no_file_is_made_smaller_for_a_hang_whose_cause_is_known(whet: Whet) -> None:
    program = (
        "import sys, threading\n"
        "first, second = threading.Lock(), threading.Lock()\n"
        "both = threading.Barrier(2)\n\n\n"
        "def work(one, other):\n"
        "    with one:\n"
        "        both.wait()\n"
        "        with other:\n"
        "            print('done')\n\n\n"
        "names = open(sys.argv[1]).read().split()\n"
        "threads = [threading.Thread(target=work, args=pair) for pair in ((first, second), (second, first))]\n"
        "for each in threads:\n    each.start()\n"
        "for each in threads:\n    each.join()\n"
    )
    whet.write("main.py", program)
    whet.write("names.txt", "alpha beta gamma\n" * 9)
    whet("investigate", "--", sys.executable, "main.py", "names.txt")
    report = json.loads((whet.folder / "whet-report/report.json").read_text())

    assert report["answer"]["cause"] is not None
    assert not [each for each in report["steps"] if each["title"].startswith("Shrink")]
    assert any("names.txt is as it was" in each for each in report["conclusions"])


COUNTS = """
import re
import sys

known = sum(bool(re.fullmatch(r"\\w+ \\d+", line.strip())) for line in open(sys.argv[1]))
if known != 40:
    sys.exit(f"{known} visits are known, 40 were counted")
"""


@pytest.mark.long
def test_a_file_is_not_emptied_where_the_message_counts_what_it_holds(whet: Whet) -> None:
    whet.write("main.py", COUNTS)
    whet.write("visits.txt", "".join(f"page{n} {n}\n" for n in range(38)) + "page-x 1\npage-y 2\n")
    whet("investigate", "--no-changes", "--", sys.executable, "main.py", "visits.txt")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())

    assert report["payloads"] == []
    assert any("`0 visits are known, 40 were counted`" in each for each in report["conclusions"])
    assert "page37 37" in (whet.folder / "whet-report" / "reproduce.sh").read_text()
    assert not (whet.folder / "whet-report" / "visits.txt").exists()
