"""Where results go: what is the user's is never written over."""

import os
import sys

import pytest
from whet_command import Whet

from whet.core.errors import PayloadUnreadable, ResultInUse
from whet.host.files.claims import Claims

PYTHON = sys.executable
UNREADABLE = PayloadUnreadable.exit_code
PROG = "import sys\nif any('BOOM' in open(w).read() for w in sys.argv[1:]): raise KeyError('x')\n"


@pytest.fixture
def failing(whet: Whet) -> Whet:
    whet.write("p.py", PROG)
    whet.write("d.txt", "a\nBOOM\n")
    return whet


def shrink(whet: Whet, *words: str) -> tuple[int, str]:
    said = whet("shrink", "d.txt", *words, "--", PYTHON, "p.py", "d.txt")
    return said.code, said.stderr


@pytest.mark.parametrize("name", ["d.txt", "link", "./d.txt"])
def test_the_original_is_no_place_for_the_result(failing: Whet, name: str) -> None:
    (failing.folder / "link").symlink_to("d.txt")

    code, said = shrink(failing, "-o", name)

    assert (code, "never changes" in said) == (64, True)
    assert (failing.folder / "d.txt").read_text() == "a\nBOOM\n"


@pytest.mark.parametrize("mode", [0o750, pytest.param(0o600, marks=pytest.mark.long)])
def test_a_result_may_be_run_and_read_by_whom_the_original_may(failing: Whet, mode: int) -> None:
    (failing.folder / "d.txt").chmod(mode)

    assert shrink(failing)[0] == 0
    result = failing.folder / "d.shrunk.txt"
    assert (result.stat().st_mode & 0o777, result.read_text()) == (mode, "BOOM")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no/such/p.svg", "the folder doesn't exist"),
        (".", "is a folder"),
        ("d.txt", "never changes"),
        ("link", "never changes"),
        ("d.shrunk.txt", "would overwrite the result"),
    ],
)
def test_a_picture_that_has_no_place_is_refused_before_the_search(
    failing: Whet, name: str, words: str
) -> None:
    (failing.folder / "link").symlink_to("d.txt")

    code, said = shrink(failing, "--picture", name)

    assert (code, words in said) == (64, True)
    assert (failing.folder / "d.txt").read_text() == "a\nBOOM\n"
    assert not (failing.folder / "d.shrunk.txt").exists()


@pytest.mark.parametrize("option", ["-o", "--picture"])
@pytest.mark.parametrize("place", ["pipe", "link"])
def test_a_pipe_or_a_device_is_never_replaced_by_a_file(
    failing: Whet, option: str, place: str
) -> None:
    pipe = failing.folder / "pipe"
    os.mkfifo(pipe)
    (failing.folder / "link").symlink_to("pipe")

    code, said = shrink(failing, option, place)

    assert (code, "is a pipe, a socket or a device" in said) == (64, True)
    assert pipe.is_fifo()
    assert (failing.folder / "link").is_symlink()


@pytest.mark.long
def test_a_link_that_is_named_for_the_result_stays_a_link(failing: Whet) -> None:
    for name in ("result", "picture"):
        (failing.folder / f"{name}-link").symlink_to(name)

    code, said = shrink(failing, "-o", "result-link", "--picture", "picture-link")

    assert code == 0, said
    assert (failing.folder / "result-link").is_symlink()
    assert (failing.folder / "picture-link").is_symlink()
    assert (failing.folder / "result").read_text().strip() == "BOOM"
    assert (failing.folder / "picture").read_text().startswith("<svg")


@pytest.mark.parametrize(("output", "name"), [("a.svg", "./a.svg"), (".", "d.shrunk.txt")])
def test_a_picture_in_the_place_of_the_result_is_refused(
    failing: Whet, output: str, name: str
) -> None:
    code, said = shrink(failing, "-o", output, "--picture", name)

    assert (code, f"`--picture {name}` would overwrite the result" in said) == (64, True)


@pytest.mark.long
def test_a_file_of_the_users_with_the_results_name_stays(failing: Whet) -> None:
    mine = failing.write("d.shrunk.txt", "precious")
    for _ in range(2):
        assert shrink(failing)[0] == 0

    assert mine.read_text() == "precious"
    assert (failing.folder / "d.shrunk-2.txt").read_text().strip() == "BOOM"
    assert not (failing.folder / "d.shrunk-3.txt").exists()


def test_a_place_that_another_whet_writes_to_is_left_to_it(failing: Whet) -> None:
    other = Claims(failing.state / "claims")
    assert other.take(failing.folder / "d.shrunk.txt")
    try:
        named, said = shrink(failing, "-o", "d.shrunk.txt")
        assert (named, "another whet" in said) == (ResultInUse.exit_code, True)
        assert shrink(failing)[0] == 0
        assert (failing.folder / "d.shrunk-2.txt").read_text().strip() == "BOOM"
        assert not (failing.folder / "d.shrunk.txt").exists()
    finally:
        other.give_back_all()
    assert list((failing.state / "claims").iterdir()) == []


@pytest.mark.long
def test_two_results_need_two_files(failing: Whet) -> None:
    failing.write("e.txt", "BOOM\n")
    words = ("shrink", "d.txt", "e.txt", "-o", "out", "--", PYTHON, "p.py", "d.txt", "e.txt")
    assert failing(*words).code == 64

    (failing.folder / "out").mkdir()

    assert failing(*words).code == 0
    assert {path.name for path in (failing.folder / "out").iterdir()} == {
        "d.shrunk.txt",
        "e.shrunk.txt",
    }


def test_a_place_that_is_not_there_is_refused_before_anything_runs(failing: Whet) -> None:
    code, said = shrink(failing, "-o", "missing/x.txt")

    assert (code, "mkdir -p" in said, "run 1" in said) == (73, True, False)


@pytest.mark.long
def test_an_investigation_beside_the_files_leaves_them(failing: Whet) -> None:
    failing("investigate", "-o", ".", "--", PYTHON, "p.py", "d.txt")

    assert (failing.folder / "d.txt").read_text() == "a\nBOOM\n"


def test_a_file_without_a_part_in_the_failure_is_told(whet: Whet) -> None:
    whet.write("d.txt", "a\n")

    said = whet("shrink", "d.txt", "--", PYTHON, "-c", "raise KeyError('x')", "d.txt")

    assert "doesn't depend on this file's content" in said.stdout


def test_a_pipe_is_refused(whet: Whet) -> None:
    os.mkfifo(whet.folder / "pipe")

    said = whet("shrink", "pipe", "--", "cat", "pipe")

    assert (said.code, "a pipe" in said.stderr) == (UNREADABLE, True)


@pytest.mark.slow
def test_a_shallow_clone_says_how_to_get_the_rest(whet: Whet) -> None:
    whet.git("init", "--quiet")
    for number in range(4):
        whet.commit(f"commit {number}", number=str(number))
    whet.git("clone", "--quiet", "--depth", "2", f"file://{whet.folder}", "../shallow")

    said = Whet(whet.folder.parent / "shallow", whet.environment)("bisect", "HEAD", "--", "false")

    assert "git fetch --unshallow" in said.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "x" * 250 + ".txt",
        pytest.param("\u20ac" * 82 + ".txt", marks=pytest.mark.long),
        "\u20ac" * 79,
        pytest.param("x." + "y" * 250, marks=pytest.mark.long),
    ],
    ids=["letters", "wide letters", "a part's", "the end"],
)
def test_a_name_as_long_as_names_may_be_has_a_result_beside_it(whet: Whet, name: str) -> None:
    """The word in the result's name is one more than the file system takes; so is a part's."""
    whet.write("p.py", PROG)
    whet.write(name, "a\nBOOM\n")

    said = whet("shrink", "--json", name, "--", PYTHON, "p.py", name)

    assert said.code == 0, said.stderr
    (result,) = (path for path in whet.folder.iterdir() if ".shrunk" in path.name)
    assert result.read_text().strip() == "BOOM"


@pytest.mark.long
@pytest.mark.parametrize("kept", ["", "open('out', 'w')"])
def test_a_program_that_removes_the_folder_of_the_result(failing: Whet, kept: str) -> None:
    (failing.folder / "out").mkdir()
    failing.write(
        "p.py", f"import shutil\nshutil.rmtree('out', ignore_errors=True)\n{kept}\n{PROG}"
    )
    failing.write(".gitignore", "out\n")

    code, said = shrink(failing, "-o", "out/d.txt")

    if kept:
        assert (code, "whet itself failed" in said) == (73, False)
        assert f"whet can't write `{failing.folder}/out/d.txt`" in said
        assert "another place with `-o`" in said
        assert "stays in" not in said
    else:
        assert code == 0, said
        assert (failing.folder / "out" / "d.txt").read_text().strip() == "BOOM"
