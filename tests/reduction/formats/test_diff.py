"""Git diffs: what is left still applies, and how many calls that takes."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from odd_oracles import Judge, fails_if, odd_judges, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.documents.diff_text import DIFF, parse_diff
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.testing.reduction import check_format, check_pass

OLD = {
    "one.py": "".join(f"line {number}\n" for number in range(60)),
    "two.sql": "-- a comment\nSELECT 1;\n-- another\n-- last",
    "gone.txt": "nobody\nneeds\nthis\n",
    "moved.txt": "".join(f"text {number}\n" for number in range(20)),
}


def git(folder: Path, *arguments: str) -> bytes:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real repository with the old files."""
    folder = tmp_path_factory.mktemp("old")
    git(folder, "init", "-q")
    for name, text in OLD.items():
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "old")
    return folder


@pytest.fixture(scope="module")
def patch(old: Path) -> bytes:
    """What git says of many changes; the files themselves stay as they were."""
    text = OLD["one.py"].replace("line 5\n", "five\nand more\n").replace("line 30\n", "")
    (old / "one.py").write_text(text.replace("line 44\n", "x = crash()\n").replace("line 59", "z"))
    (old / "two.sql").write_text("SELECT 1;\n++ odd\nSELECT 2;\n-- last\n")
    (old / "gone.txt").unlink()
    (old / "moved.txt").rename(old / "elsewhere.txt")
    (old / "new.txt").write_text("quite\nnew\n")
    (old / "one.py").chmod(0o755)
    git(old, "add", "-A")
    found = git(old, "diff", "--cached", "-M")
    git(old, "reset", "-q", "--hard")
    return found


def applies(old: Path, payload: bytes) -> bool:
    command = ["git", "-C", str(old), "apply", "--check", "-"]
    return subprocess.run(command, input=payload, capture_output=True, check=False).returncode == 0


def applied(old: Path, payload: bytes) -> dict[str, bytes]:
    """Return the files after a patch."""
    subprocess.run(["git", "-C", str(old), "apply", "-"], input=payload, check=True)
    found = {each.name: each.read_bytes() for each in old.iterdir() if each.is_file()}
    git(old, "reset", "-q", "--hard")
    git(old, "clean", "-qfd")
    return found


def test_a_diff_of_git_is_read(patch: bytes) -> None:
    diff = parse_diff(patch)

    assert diff is not None
    assert [len(file.hunks) for file in diff.files] == [0, 1, 1, 4, 1]
    assert kinds_of(patch)[0].name == "diff"
    check_format(DIFF, [patch, b"From: a\n\n" + patch, patch.replace(b"\n", b"\r\n")])


def test_every_candidate_applies(old: Path, patch: bytes) -> None:
    for each in KINDS["diff"].passes:
        check_pass(each, [patch], is_valid=lambda it: not parse_diff(it) or applies(old, it))


def has_line(text: bytes) -> Callable[[bytes], bool]:
    return lambda payload: text in payload


def test_one_line_of_one_hunk_is_left(old: Path, patch: bytes) -> None:
    def holds(payload: bytes) -> bool:
        return applies(old, payload) and b"crash" in applied(old, payload)["one.py"]

    done = shrunk(patch, fails_if(holds), format_name="diff")

    smallest = done.reduction.payload
    assert re.sub(rb"index .*\n", b"", smallest) == (
        b"diff --git a/one.py b/one.py\nold mode 100644\nnew mode 100755\n"
        b"--- a/one.py\n+++ b/one.py\n"
        b"@@ -46 +46,2 @@\n+x = crash()\n line 45\n"
    )
    assert applied(old, smallest)["one.py"].splitlines()[44:47] == [
        b"line 44", b"x = crash()", b"line 45",
    ]  # fmt: skip
    assert done.calls <= 40


def test_two_lines_of_two_files_are_left(old: Path, patch: bytes) -> None:
    def holds(payload: bytes) -> bool:
        if not applies(old, payload):
            return False
        files = applied(old, payload)
        return b"and more" in files["one.py"] and b"a comment" not in files["two.sql"]

    done = shrunk(patch, fails_if(holds), format_name="diff")

    diff = parse_diff(done.reduction.payload)
    assert diff is not None
    changed = [
        bytes(line)
        for file in diff.files
        for hunk in file.hunks
        for line in hunk.lines
        if line.sign != b" "
    ]
    assert sorted(changed) == [b"+and more\n", b"--- a comment\n"]
    assert done.calls <= 60


@given(odd_judges())
def test_no_file_no_hunk_and_no_changed_line_can_go_alone(judge: Judge) -> None:
    payload = b"--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n@@ -9 +9 @@\n-x\n+y\n"
    smallest = shrunk(payload, judge, format_name="diff").reduction.payload

    again = shrunk(smallest, judge, format_name="diff")
    assert again.reduction.payload == smallest
    assert all(verdict is not Verdict.BAD for _, verdict in again.told)


@pytest.mark.parametrize(
    "payload",
    [b"", b"@@ -1 +1 @@\n-a\n+b\n", b"--- a\n+++ b\n@@ -1,5 +1,5 @@\n-a\n+b\n",
     b"diff is a program\n", b"--- a\n+++ b\nno hunk\n", b"--- a\n+++ b\n@@ -1 +1 @@\n?a\n+b\n"],
)  # fmt: skip
def test_what_is_no_diff_is_refused(payload: bytes) -> None:
    assert parse_diff(payload) is None


def test_context_between_two_changes_goes(old: Path) -> None:
    text = OLD["one.py"].replace("line 5\n", "five\n").replace("line 9\n", "nine\n")
    (old / "one.py").write_text(text)
    patch = git(old, "diff")
    git(old, "reset", "-q", "--hard")

    def holds(payload: bytes) -> bool:
        if not applies(old, payload):
            return False
        now = applied(old, payload)["one.py"]
        return b"five\n" in now and b"nine\n" in now

    diff = parse_diff(shrunk(patch, fails_if(holds), format_name="diff").reduction.payload)

    assert diff is not None
    assert [[line.sign for line in hunk.lines] for file in diff.files for hunk in file.hunks] == [
        [b"+", b" "],
        [b"+", b" "],
    ]


def test_where_a_diff_is_applied_only_what_applies_is_tried(old: Path, patch: bytes) -> None:
    def holds(payload: bytes) -> bool:
        return applies(old, payload) and b"crash" in applied(old, payload)["one.py"]

    done = shrunk(patch, fails_if(holds), name="x.diff")

    probes = [number for number, (it, _) in enumerate(done.told) if it.by_pass.startswith("probe")]
    assert len(probes) == 1
    known = {line[1:] for line in patch.splitlines(keepends=True)}
    for candidate, _ in done.told[probes[0] + 1 :]:
        diff = parse_diff(candidate.data)
        assert diff is not None
        hunks = [hunk for file in diff.files for hunk in file.hunks]
        kept = {line.text for hunk in hunks for line in hunk.lines if line.sign != b"+"}
        assert kept <= known
    assert b"crash" in applied(old, done.reduction.payload)["one.py"]


def test_a_diff_that_is_only_text_to_the_program_loses_everything_else(patch: bytes) -> None:
    done = shrunk(patch, fails_if(lambda it: b"crash" in it), name="x.diff")

    assert done.reduction.payload == b"crash"
