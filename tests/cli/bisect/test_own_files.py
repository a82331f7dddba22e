"""Files that no version contains, and that change while `whet bisect` runs."""

import subprocess
import sys

import pytest
from whet_command import Said, Whet

pytestmark = pytest.mark.slow

CULPRIT, COUNT, EDITED_AT = 6, 12, 4


def search(whet: Whet, edit: str) -> Said:
    """Search 12 commits by an oracle outside of them; ``edit`` is done in the fourth run."""
    whet.git("init", "--quiet", "--initial-branch", "main")
    for n in range(COUNT):
        whet.commit(f"c{n}", app_py=f"{'raise KeyError' if n >= CULPRIT else ''}\n# {n}\n")
    beside = whet.folder.parent
    whet.write("../data.txt", "data\n")
    whet.write("new.txt", "untracked\n")
    judge = whet.write(
        "../judge.sh",
        f"#!/bin/sh\necho x >>{beside}/calls\nruns=$(wc -l <{beside}/calls)\n"
        f"{edit.format(beside=beside, here=whet.folder, edited_at=EDITED_AT)}\n"
        "grep -q raise app.py && exit 1\nexit 0\n",
    )
    judge.chmod(0o755)
    return whet("bisect", "--jobs", "1", f"HEAD~{COUNT - 1}", "HEAD",
                "--oracle", str(judge), "--", "app.py", "new.txt", "../data.txt")  # fmt: skip


@pytest.mark.parametrize("file", ["{beside}/judge.sh", "{here}/new.txt", "{beside}/data.txt"])
def test_no_version_is_named_when_a_file_of_none_was_edited_meanwhile(
    whet: Whet, file: str
) -> None:
    said = search(whet, f"test $runs -eq {{edited_at}} && echo >>{file}")

    assert said.code == 75
    assert (
        f"`{'' if 'here' in file else '../'}{file.rpartition('/')[2]}` has changed" in said.stderr
    )
    assert "is the first bad" not in said.stdout


@pytest.mark.long
def test_what_each_run_writes_is_no_edit(whet: Whet) -> None:
    said = search(whet, "echo >>{beside}/data.txt")

    assert said.code == 0, said.stderr
    assert "changed while it ran (`../data.txt`)" in " ".join(said.stderr.split())
    assert "c6" in said.stdout


@pytest.mark.long
def test_a_tracked_file_that_is_saved_meanwhile_is_called_so(whet: Whet) -> None:
    said = search(whet, "test $runs -eq {edited_at} && echo >>{here}/app.py")

    assert said.code == 0, said.stderr
    assert "`app.py` was saved while the search ran" in said.stderr
    assert "changed while it ran" not in said.stderr


@pytest.mark.long
def test_a_program_that_was_renamed_runs_as_it_was_on_commits_from_before(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    program = "import sys\nprint({n})\nsys.exit('wrong' if {n} >= {culprit} else 0)\n"
    commits = [whet.commit(f"c{n}", old_py=program.format(n=n, culprit=CULPRIT)) for n in range(9)]
    whet.git("mv", "old.py", "new.py")
    whet.commit("renamed")

    said = whet("bisect", commits[0], "main", "--", sys.executable, "new.py")

    assert said.code == 0, said.stderr
    assert f"{commits[CULPRIT][:10]} is the first bad commit" in said.stdout
    (line,) = (each for each in said.stdout.splitlines() if each.startswith(("git -C", "sh ")))
    again = subprocess.run(["sh", "-c", line], cwd=whet.folder, capture_output=True, check=False)
    assert again.stdout.split()[-1:] == [str(CULPRIT).encode()]
    assert b"wrong" in again.stderr


@pytest.mark.long
def test_a_test_that_was_renamed_is_run_on_commits_from_before(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch", "main")
    test = "import app\n\n\ndef test_it():\n    assert app.f() == 1, 'wrong'\n"
    whet.write("tests/test_old.py", test)
    whet.write("conftest.py", "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\n")
    commits = [
        whet.commit(f"c{n}", app_py=f"def f():\n    return {1 + (n >= CULPRIT)}\n# {n}\n")
        for n in range(9)
    ]
    whet.git("mv", "tests/test_old.py", "tests/test_new.py")
    whet.commit("renamed")

    said = whet("bisect", commits[0], "main", "--", sys.executable, "-m", "pytest", "-q",
                "tests/test_new.py::test_it")  # fmt: skip

    assert said.code == 0, said.stderr
    assert f"{commits[CULPRIT][:10]} is the first bad commit" in said.stdout
    (line,) = (each for each in said.stdout.splitlines() if each.startswith(("git -C", "sh ")))
    again = subprocess.run(["sh", "-c", line], cwd=whet.folder, capture_output=True, check=False)
    assert b"wrong" in again.stdout
