"""`whet investigate`: the small change of the program with which its failure goes."""

import json
import re
import sys

from whet_command import Whet

SHARED = """
def add(item, basket=[]):
    basket.append(item)
    return basket


add("pear")
assert add("plum") == ["plum"], "somebody else's pear"
"""
ALIKE = """
def add(item, basket=[]):
    return [*basket, item]


add("pear")
assert add("plum") == ["pear"], "no pear"
"""


def cause(whet: Whet, text: str, *command: str, name: str = "main.py") -> dict[str, object] | None:
    whet.write(name, text)
    before = (whet.folder / name).read_bytes()
    whet("investigate", "--", sys.executable, *command)
    assert (whet.folder / name).read_bytes() == before
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    found: dict[str, object] | None = report["answer"]["cause"]
    return found


def test_what_ends_the_failure_of_a_script_is_its_cause(whet: Whet) -> None:
    found = cause(whet, SHARED, "main.py")
    assert found is not None
    assert (found["line"], found["sureness"]) == (2, "shown")
    said = re.fullmatch(
        r"trial (\d+) ran with that change and passed; trial (\d+) ran without it and failed",
        str(found["why"]),
    )
    assert said is not None
    changed, control = said.groups()
    shown = [json.loads(whet("show", "--json", each).stdout) for each in (changed, control)]
    assert [each["verdict"] for each in shown] == ["good", "bad"]


def test_no_changed_program_is_run_where_none_is_wanted(whet: Whet) -> None:
    whet.write("main.py", "open('runs', 'a').write(repr(add.__defaults__))\n".join(
        (SHARED.partition('add("pear")')[0], 'add("pear")' + SHARED.partition('add("pear")')[2])
    ))  # fmt: skip
    whet("investigate", "--no-changes", "--", sys.executable, "main.py")
    assert "Ellipsis" not in (whet.folder / "runs").read_text()
    report = whet.folder / "whet-report" / "report.json"
    assert json.loads(report.read_text())["answer"]["cause"] is None


def test_a_changed_program_runs_where_nothing_that_it_writes_stays(whet: Whet) -> None:
    text = "open('runs', 'a').write(repr(add.__defaults__))\n".join(
        (SHARED.partition('add("pear")')[0], 'add("pear")' + SHARED.partition('add("pear")')[2])
    )
    found = cause(whet, text, "main.py")
    assert found is not None
    assert found["sureness"] == "shown"
    assert "Ellipsis" not in (whet.folder / "runs").read_text()


def test_what_looks_alike_but_ends_no_failure_is_no_cause(whet: Whet) -> None:
    assert cause(whet, ALIKE, "main.py") is None


def test_what_ends_the_failure_of_a_test_is_its_cause(whet: Whet) -> None:
    text = SHARED.replace('add("pear")\n', 'def test_add():\n    add("pear")\n').replace(
        "\nassert", "\n    assert"
    )
    found = cause(whet, text, "-m", "pytest", "-q", "test_it.py", name="test_it.py")
    assert found is not None
    assert (found["line"], found["sureness"]) == (2, "shown")
