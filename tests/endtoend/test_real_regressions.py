r"""Real regressions of real packages, in histories of git made of their releases on PyPI.

- lark-parser/lark#343, "v. 0.7 - random parsing", and #1061: an ambiguous text that was parsed
  the same way each time up to 0.6.7 is parsed by chance from 0.7.0 on. The order of a set
  decides, so it follows from the seed of Python's hashes, a new one in each run: flaky.
- astanin/python-tabulate#239, "Can not tabulate table with pd.NA", from 0.9.0 on. The releases
  0.7.7 to 0.8.7, most of those between, cannot be imported by Python 3.10 or newer (#104), as
  they ask whether it is at least "3.3" by comparing texts.
- mangiucugna/json_repair#135, "string index out of range", of 0.47.0 to 0.47.3: the old end
  fails, the new one passes, and what is searched is the release that mended it.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_real_bugs import ROOT, SPECIMENS, index_answers

pytestmark = [pytest.mark.network, pytest.mark.long]

AMBIGUOUS = '''
from lark import Lark

GRAMMAR = """
    start: statement*
    statement: a | aa | aaa
    a: "a"
    aa: "aa"
    aaa: "aaa"
    %import common.WS
    %ignore WS
"""
tree = Lark(GRAMMAR).parse("a aa aaa")
found = [statement.children[0].data for statement in tree.children]
assert found == ["a", "aa", "aaa"], "parsed as something else"
'''

NOT_KNOWN = '''
from tabulate import tabulate

class NotKnown:
    """As pandas.NA: what is compared with it is not known either, and neither true nor false."""
    def __eq__(self, other):
        return NotKnown()
    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

tabulate([[NotKnown(), 1]])
'''


@pytest.fixture
def place(tmp_path: Path) -> Path:
    if not index_answers():
        pytest.skip("the package index cannot be reached")
    return tmp_path


def history(place: Path, package: str, first: str, last: str) -> dict[str, str]:
    """Make the history; return the commits by release."""
    script = ("-m", "benchmarks.histories.release_history")
    done = subprocess.run(
        [sys.executable, *script, package, place / "project", "--from", first, "--to", last],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    commits: dict[str, str] = json.loads(done.stdout)
    return commits


def bisect(place: Path, *words: str, program: str) -> dict[str, Any]:
    """Search with a program beside the repository; return what was found."""
    (place / "repro.py").write_text(program)
    project = place / "project"
    done = subprocess.run(
        [sys.executable, "-m", "whet", "bisect", *words, "--json", "--env",
         f"PYTHONPATH={project}", "--", sys.executable, "-W", "ignore", place / "repro.py"],
        cwd=project,
        env={name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"},
        capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert len(git(project, "worktree", "list").splitlines()) == 1
    assert git(project, "status", "--porcelain") == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", folder, *words], capture_output=True, check=True, text=True
    ).stdout


def test_a_release_from_which_on_a_text_is_parsed_by_chance(place: Path) -> None:
    commits = history(place, "lark-parser", "0.6.3", "0.8.4")

    # So sure that this test is wrong once in thousands of runs.
    sure = ("--confidence", "99.95%")
    found = bisect(place, commits["0.6.3"], "main", *sure, program=AMBIGUOUS)

    assert found["first_bad"] == commits["0.7.0"][:10]
    assert found["good"] == commits["0.6.7"][:10]
    assert found["noisy"]["probability"] >= 0.9995
    low, high = found["noisy"]["fails_if_bad_between"]
    assert low < 0.95  # so few runs may all have failed
    assert high > 0.2
    assert found["noisy"]["fails_if_good_between"][0] == 0


def test_a_release_behind_a_stretch_that_this_python_cannot_import(place: Path) -> None:
    commits = history(place, "tabulate", "0.7.4", "0.9.0")

    found = bisect(place, commits["0.7.4"], "main", program=NOT_KNOWN)

    assert found["first_bad"] == commits["0.9.0"][:10]
    skipped = [each for each in found["tested"] if each["verdict"] == "skip"]
    assert skipped
    assert all("cannot import name 'Iterable'" in each["remark"] for each in skipped)


def test_the_release_that_mended_a_failure_is_found_without_a_word_that_it_is_mended(
    place: Path,
) -> None:
    commits = history(place, "json_repair", "0.47.1", "0.53.1")
    specimen = SPECIMENS / "json_repair_135"
    shutil.copy(specimen / "driver.py", place)
    subprocess.run([sys.executable, specimen / "make_input.py", place / "input.txt"], check=True)
    program = f"import runpy, sys\nsys.argv = ['driver.py', {str(place / 'input.txt')!r}]\n"
    program += f"runpy.run_path({str(place / 'driver.py')!r})\n"

    found = bisect(place, commits["0.47.1"], "main", program=program)

    assert found["terms"] == ["broken", "fixed"]
    assert found["first_bad"] == commits["0.47.4"][:10]
