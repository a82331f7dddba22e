"""`--slower-than` and `--more-memory-than`: a search for what made a program slow or large."""

import json
import sys

import pytest
from whet_command import Whet

from whet.core.errors import USAGE

pytestmark = pytest.mark.slow

PYTHON = sys.executable


def slowed(whet: Whet, count: int, slow_from: int) -> list[str]:
    """Make a line of commits of which those from ``slow_from`` on sleep longer."""
    whet.git("init", "--quiet", "--initial-branch", "main")
    text = "import time\ntime.sleep({})\nprint('done')\n# {}\n"
    return [
        whet.commit(f"commit {n}", app_py=text.format(0.15 if n >= slow_from else 0, n))
        for n in range(count)
    ]


@pytest.mark.long
def test_the_commit_that_made_it_slower_is_found(whet: Whet) -> None:
    commits = slowed(whet, 6, 3)
    said = whet(
        "bisect", "--slower-than", "25%", commits[0], commits[-1], "--", PYTHON, "app.py"
    )  # fmt: skip

    assert f"{commits[3][:10]} is the first bad commit" in said.stdout, said.stderr
    assert "each verdict is wrong in at most 1%" in said.stderr
    assert f"whet compare {commits[2][:10]} {commits[3][:10]} -- COMMAND" in said.stdout


def test_an_end_that_is_not_slower_is_said_to_be_with_its_cost(whet: Whet) -> None:
    commits = slowed(whet, 3, 1)
    said = whet(
        "bisect", "--slower-than", "100x", commits[0], commits[-1], "--", PYTHON, "app.py"
    )  # fmt: skip

    assert said.code != 0
    assert f"`{commits[-1][:10]}` should be bad, but it costs " in said.stderr
    assert f"whet compare {commits[0][:10]} {commits[-1][:10]} -- COMMAND" in said.stderr


def test_a_share_needs_something_to_compare_with(whet: Whet) -> None:
    commits = slowed(whet, 2, 1)
    said = whet("bisect", "--slower-than", "8%", "--", PYTHON, "app.py")
    wrong = whet("bisect", "--slower-than", "often", commits[0], "--", PYTHON, "app.py")

    assert "more than what? There is no good end to compare with" in said.stderr
    assert wrong.code == USAGE
    assert "is neither a share nor an amount" in wrong.stderr


@pytest.mark.long
def test_the_settings_that_take_memory_are_found(whet: Whet) -> None:
    whet.write(
        "use.py",
        "import json, sys\nc = json.load(open(sys.argv[1]))\nx = b'x' * (c['rows'] << 20)\n",
    )
    whet.write("good.json", json.dumps({"rows": 1, "name": "a", "width": 3}))
    whet.write("bad.json", json.dumps({"rows": 90, "name": "b", "width": 4}))
    said = whet(
        "delta", "--json", "--more-memory-than", "1.5x", "good.json", "bad.json", "--",
        PYTHON, "use.py", "{}",
    )  # fmt: skip

    found = json.loads(said.stdout)
    assert [each["name"] for each in found["fails"]["changes"]] == ["rows"], said.stderr


@pytest.mark.long
def test_the_smallest_input_that_takes_so_much_memory_is_found(whet: Whet) -> None:
    whet.write(
        "load.py",
        "import sys\nx = [b'x' * (14 << 20) for row in open(sys.argv[1]) if 'big' in row]\n",
    )
    whet.write("rows.txt", "small\nbig 1\nsmall\nbig 2\nsmall\n")
    said = whet(
        "shrink", "--more-memory-than", "30MB", "rows.txt", "--", PYTHON, "load.py", "rows.txt"
    )

    assert (whet.folder / "rows.shrunk.txt").read_text().count("big") == 2, said.stderr
    assert "small" not in (whet.folder / "rows.shrunk.txt").read_text()


@pytest.mark.long
def test_a_version_that_prints_something_else_is_said_to(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    text = "import time\ntime.sleep({})\nprint('{}')\n"
    commits = [
        whet.commit("first", app_py=text.format(0, "all rows")),
        whet.commit("second", app_py=text.format(0.15, "no rows")),
    ]
    said = whet(
        "bisect", "--slower-than", "25%", commits[0], commits[-1], "--", PYTHON, "app.py"
    )  # fmt: skip

    assert "but it prints `no rows` as line 1, where the good end prints `all rows`" in said.stderr
