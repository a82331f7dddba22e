"""A file that the user asks for: what stands in its place is not lost, and a link leads out of no clone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Whet

PYTHON = sys.executable
PROGRAM = "import sys\nassert 'x' not in open(sys.argv[1]).read()\n"
ASKED = {
    "make": ("make", "text", "-o", "out.txt"),
    "sample": ("sample", "data.txt", "-n", "1", "-o", "out.txt"),
    "shrink": ("shrink", "data.txt", "-o", "out.txt", "--", PYTHON, "p.py", "data.txt"),
    "a picture of shrink": (
        "shrink", "data.txt", "--picture", "out.txt", "--", PYTHON, "p.py", "data.txt",
    ),
    "a picture of starve": ("starve", "--find", "files", "--picture", "out.txt", "--", "true"),
    "a log of bisect": ("bisect", "--log", "out.txt", "--", PYTHON, "p.py", "data.txt"),
    "a picture of bisect": ("bisect", "--picture", "out.txt", "--", PYTHON, "p.py", "data.txt"),
    "a page of profile": ("profile", "--html", "out.txt", "--", PYTHON, "p.py", "data.txt"),
    "an export of profile": (
        "profile", "--export", "out.collapsed", "--", PYTHON, "p.py", "data.txt",
    ),
    "annotate": ("annotate", "--vendor", "out.txt"),
}  # fmt: skip
asked = pytest.mark.parametrize("words", ASKED.values(), ids=ASKED)


@pytest.fixture
def clone(whet: Whet) -> Whet:
    whet.git("init", "--quiet")
    whet.write("p.py", PROGRAM)
    whet.write("data.txt", "a\nx\n")
    return whet


def place_in(whet: Whet, words: tuple[str, ...]) -> Path:
    """Return where the file goes that is asked for."""
    return whet.folder / next(word for word in words if word.startswith("out"))


@asked
@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_out_of_a_clone_is_not_written_through(
    clone: Whet, tmp_path: Path, words: tuple[str, ...], *, is_there: bool
) -> None:
    yours = tmp_path / "authorized_keys"
    if is_there:
        yours.write_text("yours")
    place_in(clone, words).symlink_to(yours)

    said = clone(*words)

    assert said.code == 73, said
    assert f"is a link out of this project, to `{yours}`" in said.stderr
    assert (yours.read_text() if is_there else yours.exists()) == ("yours" if is_there else False)
    assert place_in(clone, words).is_symlink()


@asked
def test_a_pipe_is_neither_opened_nor_replaced(clone: Whet, words: tuple[str, ...]) -> None:
    os.mkfifo(place_in(clone, words))

    said = clone(*words)

    assert (said.code, "is a pipe, a socket or a device" in said.stderr) == (64, True)
    assert place_in(clone, words).is_fifo()


@asked
def test_a_link_in_a_circle_is_refused(clone: Whet, words: tuple[str, ...]) -> None:
    place_in(clone, words).symlink_to(place_in(clone, words).name)

    said = clone(*words)

    assert (said.code, "is a link in a circle" in said.stderr) == (73, True)


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_a_report_asked_for_where_no_folder_stands_is_refused(clone: Whet, kind: str) -> None:
    place = clone.folder / "out"
    if kind == "file":
        place.write_text("yours")
    else:
        place.symlink_to("nowhere")

    said = clone("investigate", "-o", "out", "--", PYTHON, "p.py", "data.txt")

    assert (said.code, "`-o out` isn't a folder" in said.stderr) == (73, True)
    assert place.is_symlink() or place.read_text() == "yours"


def test_a_stand_alone_file_says_how_to_import_it_only_if_python_can(clone: Whet) -> None:
    assert "from mine import section" in clone("annotate", "--vendor", "mine.py").stderr
    assert "can't import a file of this name" in clone("annotate", "--vendor", "my-own.py").stderr


def test_the_line_that_makes_the_folder_of_a_file_makes_it(clone: Whet) -> None:
    said = clone("annotate", "--vendor", "no such/mine.py")
    line = said.stderr.partition("create it: `")[2].partition("`")[0]

    subprocess.run(["sh", "-c", line], cwd=clone.folder, check=True)

    assert clone("annotate", "--vendor", "no such/mine.py").code == 0
