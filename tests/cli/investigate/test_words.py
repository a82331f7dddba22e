"""What whet says of what it cannot know, and of where it looked."""

import json
import re
import sys

import pytest
from whet_command import Whet

PYTHON = sys.executable


@pytest.mark.slow
def test_as_many_versions_are_tested_as_there_are_at_the_most(whet: Whet) -> None:
    whet.git("init", "--quiet")
    for number in range(10):
        whet.commit(f"commit {number}", number=str(number))

    said = whet("bisect", "HEAD", "--", "sh", "-c", "test $(cat number) -lt 6")

    sentence = next(line for line in said.stdout.splitlines() if "is the first bad" in line)
    counts = re.search(r"(\d+) versions tested of (\d+)", sentence)
    assert counts is not None
    tested, of = map(int, counts.groups())
    assert tested <= of <= 10


@pytest.mark.slow
def test_a_file_that_git_ignores_is_named_as_the_cause(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.write(".gitignore", "settings.json\nwhet-report\n")
    whet.write("main.py", "import json, v\nprint(1/(json.load(open('settings.json')) + v.V))\n")
    whet.write("settings.json", "0")
    whet.commit("works", v_py="V = 1\n")
    whet.commit("breaks", v_py="V = 0\n")
    whet.commit("last")

    said = whet("investigate", "--", PYTHON, "main.py")

    assert "it needs an untracked file (`git status --ignored`)" in said.stderr


def test_without_git_changes_are_said_too(whet: Whet) -> None:
    said: list[str] = []
    for text in ("print(1)", "print(1/0)", "print( 1/0 )"):
        whet.write("p.py", text)
        said.append(whet("run", "--", PYTHON, "p.py").stderr)

    assert said[1].rstrip().endswith("p.py +1 −1 since trial 1")
    assert said[-1].rstrip().endswith("p.py +1 −1 same failure as trial 2")
    assert "+print(1/0)" in whet("diff", "1", "2").stdout


def test_where_no_code_is_kept_nothing_is_said_of_changes(whet: Whet) -> None:
    whet.folder.chmod(0o777)  # as a temporary folder: what lies there may be anybody's
    said: list[str] = []
    for text in ("print(1)", "print(1/0)", "print( 1/0 )"):
        whet.write("p.py", text)
        said.append(whet("run", "--", PYTHON, "p.py").stderr)

    assert "others can write to" in said[0]
    assert "others can write to" not in said[1]
    assert "no change" not in "".join(said)
    assert said[-1].rstrip().endswith("same failure as trial 2")
    assert "code: not recorded" in whet("diff", "1", "2").stdout


@pytest.mark.long
@pytest.mark.parametrize("good", [True, False])
def test_a_path_that_leaves_the_repository_is_found_from_a_checkout(
    whet: Whet, *, good: bool
) -> None:
    whet.git("init", "--quiet")
    commits = [whet.commit(f"commit {number}", number=str(number)) for number in range(6)]
    whet.write("../bin/check.py", "assert int(open('number').read()) < 3\n")

    ends = (commits[0], "HEAD") if good else ("HEAD",)
    said = whet("bisect", *ends, "--json", "--", PYTHON, "../bin/check.py")

    assert json.loads(said.stdout)["first_bad"] == commits[3][:10]


def test_a_notebook_further_up_does_not_take_the_trials_of_a_repository(whet: Whet) -> None:
    whet("run", "--", "echo", "above")
    below = Whet(whet.folder / "one", whet.environment)
    below.folder.mkdir()
    below.git("init", "--quiet")

    below("run", "--", "echo", "below")

    assert "below" in below("show", "1").stdout
    assert len(whet("log").stdout.splitlines()) == 1
