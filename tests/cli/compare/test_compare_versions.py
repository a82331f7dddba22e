"""`whet compare` of revisions and releases: each in a checkout or environment of its own, made once."""

import json
import os
import sys
from pathlib import Path

import pytest
from local_index import LocalIndex, served
from whet_command import Whet

from whet.host.python.environments import find_uv

pytestmark = pytest.mark.slow

PYTHON = sys.executable


def slowed(whet: Whet) -> list[str]:
    """Make two commits, of which the second one sleeps longer."""
    whet.git("init", "--quiet", "--initial-branch", "main")
    return [
        whet.commit(f"sleeps {seconds}", app_py=f"import time\ntime.sleep({seconds})\n")
        for seconds in (0, 0.2)
    ]


def test_two_revisions_of_a_command_are_compared(whet: Whet) -> None:
    commits = slowed(whet)
    said = whet("compare", "--by", "wall", *commits, "--", PYTHON, "app.py")

    assert said.stdout.startswith("B takes "), said.stderr
    assert (
        f"A: {commits[0]}" in said.stdout or f"A: {commits[0]} ({commits[0][:10]})" in said.stdout
    )
    assert "whet bisect --slower-than" in said.stdout
    assert whet.git("worktree", "list").count("\n") <= 1


@pytest.mark.skipif(not find_uv(os.environ), reason="uv is not installed")
def test_two_releases_of_a_package_are_compared(whet: Whet, tmp_path: Path) -> None:
    with served(LocalIndex()) as index:
        for version, seconds in (("1.0", 0.0), ("2.0", 0.3)):
            source = f"def work():\n    import time\n    time.sleep({seconds})\n"
            index.wheel("tool", version, source=source)
        own = {
            "UV_DEFAULT_INDEX": index.url, "UV_INDEX": "", "UV_CACHE_DIR": str(tmp_path / "uv"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"), "NO_PROXY": "127.0.0.1",
        }  # fmt: skip
        user = Whet(whet.folder, {**whet.environment, **own})
        user.write("use.py", "import tool\ntool.work()\nprint('done')\n")
        said = user(
            "compare", "--json", "--by", "wall", "tool==1.0", "tool==2.0", "--", "python", "use.py"
        )

    assert said.code == 0, said.stderr
    answer = json.loads(said.stdout)
    assert (answer["a"], answer["b"]) == ("tool 1.0", "tool 2.0")
    assert (answer["ruling"], answer["pairs"]) == ("different", 7)
    wall = next(each for each in answer["quantities"] if each["decides"])
    assert wall["b"] - wall["a"] > 0.2


@pytest.mark.long
def test_the_working_tree_is_compared_with_a_baseline(whet: Whet) -> None:
    slowed(whet)
    whet.write("app.py", "import time\ntime.sleep(0.7)\n")
    said = whet("compare", "--json", "--by", "wall", "--baseline", "main", "--", PYTHON, "app.py")
    answer = json.loads(said.stdout)

    assert answer["b"] == "as it stands"
    assert answer["a"].startswith("main (")
    assert answer["ruling"] == "different"
    assert answer["quantities"][0]["a"] < 0.65 < answer["quantities"][0]["b"]


@pytest.mark.long
def test_a_recorded_trial_runs_on_the_code_that_it_ran_on(whet: Whet) -> None:
    slowed(whet)
    whet("run", "--", PYTHON, "app.py")
    whet.write("app.py", "print('other')\n")
    whet("run", "--", PYTHON, "app.py")
    said = whet("compare", "--any-output", "--by", "wall", "1", "2")

    assert "trial 1 runs on the code that it ran on" in said.stderr
    assert "different output (line 1 is" in said.stdout
    assert "than A" in said.stdout.splitlines()[0] or "as fast as A" in said.stdout.splitlines()[0]


def test_a_revision_that_does_not_exist_is_named(whet: Whet) -> None:
    slowed(whet)
    said = whet("compare", "--baseline", "nosuch", "--", PYTHON, "app.py")

    assert "nosuch" in said.stderr
    assert said.code != 0
