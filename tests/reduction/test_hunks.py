"""A file with some hunks of its diff made is what `git apply` makes of it."""

import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from whet.reduction.formats.documents.diff_text import Hunk, parse_diff, with_hunks

lines = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"-- x", b"\r"]), max_size=8)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    text = b"\n".join(draw(lines))
    return text + b"\n" if draw(st.booleans()) else text


def _ended(text: bytes) -> bytes:
    """Let the last line end: without context git takes one that does not for another one."""
    return text if text.endswith(b"\n") or not text else text + b"\n"


def hunks_between(folder: Path, old: bytes, new: bytes) -> tuple[Hunk, ...]:
    (folder / "old").write_bytes(old)
    (folder / "new").write_bytes(new)
    words = ("git", "diff", "--no-index", "--unified=0", "--text", "old", "new")
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
    diff = parse_diff(done.stdout)
    return () if diff is None else diff.files[0].hunks


@settings(max_examples=40)
@given(old=files(), new=files(), data=st.data())
def test_all_hunks_make_the_new_file_and_none_leaves_the_old_one(
    old: bytes, new: bytes, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        hunks = hunks_between(Path(folder), old, new)

    assert with_hunks(old, ()) == old
    assert with_hunks(old, hunks) == new
    chosen = [hunk for hunk in hunks if data.draw(st.booleans())]
    with tempfile.TemporaryDirectory() as folder:
        again = hunks_between(Path(folder), old, with_hunks(old, chosen))
    added = sum(line.sign == b"+" for hunk in again for line in hunk.lines)
    assert added <= sum(line.sign == b"+" for hunk in chosen for line in hunk.lines)


@settings(max_examples=25)
@given(old=files().map(_ended), new=files().map(_ended), data=st.data())
def test_some_hunks_make_what_git_apply_makes_of_them(
    old: bytes, new: bytes, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        hunks = hunks_between(folder, old, new)
        chosen = [hunk for hunk in hunks if data.draw(st.booleans())]
        patch = [b"--- a/old\n+++ b/old\n"]
        shift = 0
        for hunk in chosen:
            gone = sum(line.sign == b"-" for line in hunk.lines)
            come = sum(line.sign == b"+" for line in hunk.lines)
            at = hunk.old + shift + (gone == 0) - (come == 0)
            patch.append(b"@@ -%d,%d +%d,%d @@\n" % (hunk.old, gone, at, come))
            patch += [bytes(line) for line in hunk.lines]
            shift += come - gone
        if chosen:
            words = ("git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
            subprocess.run(words, cwd=folder, input=b"".join(patch), check=True)

        assert with_hunks(old, chosen) == (folder / "old").read_bytes()
