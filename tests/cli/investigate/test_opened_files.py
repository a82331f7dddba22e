"""What shows a failure elsewhere brings along the project's small files that the program opens itself."""

import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow
PYTHON = sys.executable
PROGRAM = """
import json
from pathlib import Path

from shop import prices

Path("log.txt").write_text("begun")
found = json.loads(Path("data/prices.json").read_text())
assert prices.total(found) == 5, "wrong total"
"""


@pytest.fixture
def project(whet: Whet) -> Whet:
    whet.write("main.py", PROGRAM)
    whet.write("shop/__init__.py", "")
    whet.write("shop/prices.py", "def total(found):\n    return sum(found) + 1\n")
    whet.write("shop/other.py", "# nobody opens it\n")
    whet.write("data/prices.json", "[2, 3]")
    return whet


def script(whet: Whet) -> str:
    return (whet.folder / "whet-report" / "reproduce.sh").read_text()


def test_it_fails_in_an_empty_folder_with_the_files_that_it_opens(
    project: Whet, tmp_path: Path
) -> None:
    said = project("investigate", "--no-changes", "--", PYTHON, "main.py")

    assert "in an empty folder with" in said.stderr
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "reproduce.sh").write_text(script(project))
    for path in project.folder.rglob("*.py"):
        path.unlink()
    done = subprocess.run(
        ["sh", "reproduce.sh"], cwd=elsewhere, capture_output=True, check=False, text=True
    )
    assert "AssertionError: wrong total" in done.stderr
    assert "nobody opens it" not in script(project)
    assert "begun" not in script(project).replace('write_text("begun")', "")


def test_neither_what_git_ignores_nor_what_is_hidden_is_handed_over(project: Whet) -> None:
    project.write("main.py", PROGRAM.replace("found =", "open('.env'), open('local.cfg')\nfound ="))
    project.write(".env", "PASSWORD=hunter2\n")
    project.write("local.cfg", "key=swordfish\n")
    project.write(".gitignore", "local.cfg\n")
    project.git("init", "-q")
    project("investigate", "--no-changes", "--", PYTHON, "main.py")

    assert "hunter2" not in script(project)
    assert "swordfish" not in script(project)


@pytest.mark.long
def test_what_is_too_large_to_be_handed_over_stays_where_it_is(project: Whet) -> None:
    project.write("data/prices.json", f"[2, 3{' ' * (1 << 17)}]")
    said = project("investigate", "--no-changes", "--", PYTHON, "main.py")

    assert "whose files it needs" in said.stderr
    assert ",," not in said.stderr
