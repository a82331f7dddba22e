"""Where a file stands in a command."""

from pathlib import Path

import pytest

from whet.core.errors import BadUsage, PayloadNotInCommand
from whet.core.trial import put_path
from whet.workbench.trials.payload import bind_payloads

CASES = {
    "its name": (["p", "d.txt"], "p /copy"),
    "another way to write it": (["p", "./sub/../d.txt"], "p /copy"),
    "twice": (["p", "d.txt", "./d.txt"], "p /copy /copy"),
    "an option's value": (["p", "--in=d.txt", "-x"], "p --in=/copy -x"),
    "a mark": (["p", "--in={}"], "p --in=/copy"),
    "two marks": (["p", "{}", "{}"], "p /copy /copy"),
    "a mark in a word": (["p", "-f{}"], "p -f/copy"),
    "a mark beside braces of the program's own": (["p", "d={}; f()", "{}"], "p d={}; f() /copy"),
    "its name beside braces": (["p", "d={}", "d.txt"], "p d={} /copy"),
    "a shell's text": (["sh", "-c", "p d.txt d.txt"], "sh -c p /copy /copy"),
    "a shell's text with other files": (
        ["sh", "-c", "p <d.txt dd.txt sub/d.txt d.txt.bak ./d.txt"],
        "sh -c p </copy dd.txt sub/d.txt d.txt.bak /copy",
    ),
    "the name of a test in it": (["p", "d.txt::test_a"], "p /copy::test_a"),
}


FOLDERS = {
    "its name": (["p", "sub"], "p /copy"),
    "with a slash": (["p", "./sub/"], "p /copy/"),
    "a file in it": (["p", "sub/d.txt"], "p /copy/d.txt"),
    "a test in it": (["p", "./sub/d.txt::test_a"], "p /copy/d.txt::test_a"),
    "an option's value": (["p", "--in=sub/d.txt"], "p --in=/copy/d.txt"),
    "a shell's text": (["sh", "-c", "cd sub && p ../d.txt"], "sh -c cd /copy && p ../d.txt"),
    "a shell's text with files in it": (
        ["sh", "-c", "p sub/d.txt sub/more/x subs/d.txt other/sub/d.txt"],
        "sh -c p /copy/d.txt /copy/more/x subs/d.txt other/sub/d.txt",
    ),
    "a mark": (["p", "{}/d.txt"], "p /copy/d.txt"),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_a_folder_is_found_where_files_in_it_are_named(folder: Path, case: str) -> None:
    command, expected = FOLDERS[case]

    assert bound(folder, command, "sub")[0] == expected


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    for name in ("d.txt", "dd.txt", "sub/d.txt", "data", "e.txt"):
        (tmp_path / name).write_text("x")
    return tmp_path


def bound(folder: Path, command: list[str], *files: str, stdin: str = "") -> tuple[str, bool]:
    """Return the command with each file's copy in place, and whether one is its stdin."""
    words, named = list(command), [(file, f"digest of {file}") for file in files]
    bindings = bind_payloads(tuple(command), folder, named, stdin=stdin)
    for number, binding in enumerate(bindings):
        binding.put("/copy" + str(number or ""), words)
    return " ".join(words), any(binding.argument is None for binding in bindings)


@pytest.mark.parametrize(("command", "result"), CASES.values(), ids=CASES.keys())
def test_a_file_is_found_in_every_place(folder: Path, command: list[str], result: str) -> None:
    assert bound(folder, command, "d.txt") == (result, False)


def test_standard_input_comes_before_a_name_that_another_word_holds(folder: Path) -> None:
    words = ["python", "load_data.py"]

    assert bound(folder, words, "data", stdin="data") == ("python load_data.py", True)
    assert bound(folder, ["p", "data"], "data", stdin="data") == ("p /copy", True)


def test_each_mark_is_for_the_next_file_without_a_place(folder: Path) -> None:
    words = ["p", "--a={}", "--b={}"]

    assert bound(folder, words, "d.txt", "e.txt") == ("p --a=/copy --b=/copy1", False)
    assert bound(folder, ["p", "{}", "e.txt"], "d.txt", "e.txt") == ("p /copy /copy1", False)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (["p", "d.txt"], ["d.txt", "./d.txt"]),
        (["p", "{}"], ["d.txt", "e.txt"]),
        (["p", "{}", "{}", "{}"], ["d.txt", "e.txt"]),
    ],
)
def test_what_is_not_clear_is_refused(folder: Path, command: list[str], files: list[str]) -> None:
    with pytest.raises(BadUsage):
        bound(folder, command, *files)


@pytest.mark.parametrize("word", ["load_data.py", "data.csv", "data/x", "my-data", "x/data"])
def test_a_part_of_another_name_is_no_place(folder: Path, word: str) -> None:
    with pytest.raises(PayloadNotInCommand):
        bound(folder, ["p", word], "data")


def test_a_path_is_put_for_whole_paths_alone() -> None:
    assert put_path("a b/a a.c a. a-b", "a", "X") == "X b/a a.c X. a-b"
