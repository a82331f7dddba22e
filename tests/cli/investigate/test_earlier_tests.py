"""An investigation says which earlier test leaves state behind."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from crossed import one_in
from whet_command import Whet

CASES = {
    "environment": (
        "import os\ndef test_sets():\n    os.environ['REGION'] = 'south'\n",
        "import os\ndef test_reads():\n    assert os.environ.get('REGION', 'north') == 'north'\n",
    ),
    "folder": (
        "import os\ndef test_sets():\n    os.chdir('/')\n",
        "import os\nHERE = os.getcwd()\ndef test_reads():\n    assert os.getcwd() == HERE\n",
    ),
    "class": (
        "import box\ndef test_sets():\n    box.Box.size = 3\n",
        "import box\ndef test_reads():\n    assert box.Box().size == 1\n",
    ),
    "cache": (
        "import box\ndef test_sets():\n    box.read().append(4)\n",
        "import box\ndef test_reads():\n    assert box.read() == []\n",
    ),
}
LEAVES = {
    "class": "leaves `box.Box.size` as `3` (it was `1`), changed at test_a.py:5:",
    "cache": "leaves `box.read` as `a cache of 1` (it was `a cache of 0`), changed at box.py:6:",
    "environment": "leaves `os.environ['REGION']` as `'south'` (it was `nothing`), changed at test_a.py:5:",
    "folder": "leaves the working folder as `'/'` (it was",
}
BOX = "from functools import lru_cache\nclass Box:\n    size = 1\n@lru_cache\ndef read():\n    return []\n"


def suite(whet: Whet, first: str, second: str) -> None:
    whet.write("box.py", BOX)
    whet.write("pytest.ini", "[pytest]\npythonpath = .\n")
    whet.write("test_a.py", f"def test_innocent():\n    pass\n{first}")
    whet.write("test_b.py", f"def test_idle():\n    pass\n{second}")


def investigated(whet: Whet, program: str = sys.executable) -> dict[str, Any]:
    whet("investigate", "--no-changes", "--", program, "-m", "pytest")
    told: dict[str, Any] = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return told


@pytest.mark.long
def test_behind_a_launcher_the_test_that_leaves_state_is_told_too(whet: Whet) -> None:
    suite(whet, *CASES["environment"])
    whet.write("run.sh", f'#!/bin/sh\nexec {sys.executable} "$@"\n').chmod(0o755)

    told = investigated(whet, "./run.sh")

    assert any("passes alone" in each["says"] for each in told["clues"])


@pytest.mark.long
@pytest.mark.parametrize("kind", one_in(4, list(CASES)))
def test_a_test_that_passes_alone_is_told_with_the_one_that_leaves_state(
    kind: str, whet: Whet
) -> None:
    suite(whet, *CASES[kind])
    told = investigated(whet)
    (clue,) = (each for each in told["clues"] if "passes alone" in each["says"])
    assert clue["sureness"] == "shown"  # it says no more: a fixture may be what leaves the state
    assert (
        "`test_b.py::test_reads` passes alone and fails after `test_a.py::test_sets`"
        in clue["says"]
    )
    assert clue["path"].endswith("test_a.py")
    assert len(clue["trials"]) == 4
    cause = told["answer"]["cause"]
    assert LEAVES[kind] in cause["says"]
    assert "put back, `test_b.py::test_reads` passes" in cause["says"]
    assert cause["next_step"].startswith("restore ")


@pytest.mark.long
def test_state_that_does_not_matter_is_not_named(whet: Whet) -> None:
    """A file that the first test leaves is no state of the process: nothing that is put back helps."""
    first = "import box\ndef test_sets():\n    box.Box.size = 3\n    open('left', 'w').close()\n"
    second = "import os\ndef test_reads():\n    assert not os.path.exists('left')\n"
    suite(whet, first, second)
    whet.write("conftest.py", "import os\nif os.path.exists('left'):\n    os.unlink('left')\n")
    assert not [each for each in investigated(whet)["clues"] if "leaves" in each["says"]]


@pytest.mark.parametrize("body", one_in(2, ["assert 1 == 2", "assert {}['key']"]))
def test_of_a_test_that_fails_alone_no_other_is_accused(body: str, whet: Whet) -> None:
    suite(whet, CASES["class"][0], f"def test_reads():\n    {body}\n")
    told = investigated(whet)
    assert not [each for each in told["clues"] if "passes alone" in each["says"]]
    script = Path(whet.folder, "whet-report/reproduce.sh").read_text()
    assert "test_b.py::test_reads" in script


@pytest.mark.long
def test_a_test_that_is_skipped_alone_does_not_pass_alone(whet: Whet) -> None:
    reads = (
        "import os\nimport pytest\ndef test_reads():\n"
        "    if 'REGION' not in os.environ:\n        pytest.skip('no region')\n    assert 1 == 2\n"
    )
    suite(whet, CASES["environment"][0], reads)
    told = investigated(whet)
    assert not [each for each in told["clues"] if "passes alone" in each["says"]]


TURNED = (
    "from pathlib import Path\n"
    "RUNS = Path(__file__).with_name('runs')\n"
    "def pytest_collection_modifyitems(config, items):\n"
    "    if any('::' in word for word in config.args) or config.option.collectonly:\n"
    "        return\n"
    "    RUNS.write_text(RUNS.read_text() + 'x' if RUNS.exists() else 'x')\n"
    "    if len(RUNS.read_text()) % 3 != 1:\n"
    "        items.reverse()\n"
)
"""A plug-in that turns the order of the tests in two of three runs."""


def turned(whet: Whet, first: str, second: str) -> dict[str, Any]:
    suite(whet, first, second)
    whet.write("pytest.ini", "[pytest]\npythonpath = .\naddopts = -p no:randomly\n")
    whet.write("conftest.py", TURNED)
    return investigated(whet)


@pytest.mark.long
def test_of_a_test_that_fails_in_some_orders_the_one_that_leaves_state_is_told(whet: Whet) -> None:
    told = turned(whet, CASES["class"][1], CASES["class"][0])

    assert 0 < told["reproduction"]["same_failures"] < told["reproduction"]["attempts"]
    (clue,) = (each for each in told["clues"] if "passes alone" in each["says"])
    assert (
        "`test_a.py::test_reads` passes alone and fails after `test_b.py::test_sets`"
        in clue["says"]
    )


@pytest.mark.long
def test_of_a_test_that_fails_by_chance_no_other_is_accused(whet: Whet) -> None:
    by_chance = (
        "from pathlib import Path\n"
        "def test_reads():\n"
        "    drawn = Path(__file__).with_name('drawn')\n"
        "    drawn.write_text(drawn.read_text() + 'x' if drawn.exists() else 'x')\n"
        "    assert len(drawn.read_text()) % 3 == 1\n"
    )
    told = turned(whet, by_chance, CASES["class"][0])

    assert not [each for each in told["clues"] if "passes alone" in each["says"]]
    (step,) = (each for each in told["steps"] if each["title"] == "Run the test alone")
    assert step["result"] == "`test_a.py::test_reads` fails alone, too"
