"""A version of the code may have a link where another has a folder: whet writes and removes nothing behind it."""

import shutil
import sys
from pathlib import Path

import pytest
from whet_command import Whet

READS = "import sys; sys.exit('bad' in open('data/x.csv').read())\n"
ABOVE = 'import pathlib; assert "bad" not in pathlib.Path("code.txt").read_text()\n'


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder of the user's that a link leads to."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "x.csv").write_text("bad, and the only copy")
    (folder / "y").write_text("kept")
    return folder


def test_a_command_never_runs_in_a_folder_outside_that_an_old_version_has_a_link_to(
    whet: Whet, outside: Path
) -> None:
    whet.git("init", "--quiet")
    whet.write("code.txt", "good")
    (whet.folder / "tests").symlink_to(outside)
    whet.commit("with a link")
    good = whet.commit("still good", t_py="")
    (whet.folder / "tests").unlink()
    whet.commit("without the link", **{"tests/other.txt": ""})
    bad = whet.commit("bad", **{"code.txt": "bad"})
    inside = Whet(whet.folder / "tests", whet.environment)
    before = contents(outside)
    said = inside("bisect", good, bad, "--", "sh", "-c", "> y; ! grep -q bad ../code.txt")
    assert contents(outside) == before
    assert "a link leads out" in said.stderr + said.stdout


def contents(folder: Path) -> dict[str, str]:
    """Return what is in a folder."""
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("is_link_new", [True, False])
def test_a_folder_that_a_link_replaces_is_compared_and_what_it_leads_to_stays(
    whet: Whet, outside: Path, *, is_link_new: bool
) -> None:
    whet.git("init", "--quiet")
    for makes_link in (not is_link_new, is_link_new):
        if (whet.folder / "data").is_symlink():
            (whet.folder / "data").unlink()
        shutil.rmtree(whet.folder / "data", ignore_errors=True)
        if makes_link:
            (whet.folder / "data").symlink_to(outside)
        else:
            whet.write("data/x.csv", "good" if is_link_new else "worse")
            whet.write("data/z.csv", "more")
        whet.commit("one more", t_py=READS)
        whet("run", "--", sys.executable, "t.py")
    before = contents(outside)
    words = ("1", "2") if is_link_new else ("2", "1")
    said = whet("delta", *words)
    assert contents(outside) == before
    assert "internal-fault" not in said.stderr


@pytest.mark.parametrize("how", ["named", "carried"])
def test_a_file_that_a_search_copies_into_an_old_version_goes_nowhere_else(
    whet: Whet, outside: Path, how: str
) -> None:
    whet.git("init", "--quiet")
    whet.write("code.txt", "good")
    (whet.folder / "tests").symlink_to(outside)
    whet.commit("with a link")
    good = whet.commit("still good", t_py="")
    (whet.folder / "tests").unlink()
    whet.commit("without the link", **{"tests/other.txt": ""})
    whet.commit("good 2", **{"code.txt": "good 2"})
    whet.commit("bad 1", **{"code.txt": "bad 1"})
    bad = whet.commit("bad 2", **{"code.txt": "bad 2"})
    whet.write("tests/new/check.py", ABOVE)
    before = contents(outside)
    words = ["--carry", "tests/new"] * (how == "carried")
    program = ["-c", ABOVE] if how == "carried" else ["tests/new/check.py"]
    said = whet("bisect", good, bad, *words, "--", sys.executable, *program)
    assert contents(outside) == before
    assert "internal-fault" not in said.stderr
    assert "a link leads out" in said.stderr + said.stdout
