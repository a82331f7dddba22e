"""A search is answered from the notebook only while nothing has changed that may decide."""

import json
import sys

import pytest
from crossed import crossed
from whet_command import Whet

PYTHON = sys.executable
LOOKS_FOR = "import sys\nassert '{}' not in open(sys.argv[1]).read(), 'found'\n"
WHERE = {"beside the file": "prog.py", "outside of the project": "../elsewhere/prog.py"}


def shrunk(whet: Whet, *words: str) -> str:
    said = whet("shrink", "data.txt", *words)
    assert said.code == 0, said.stderr
    return (whet.folder / "data.shrunk.txt").read_text()


@pytest.mark.slow
@crossed(program=WHERE, in_git=[False, True])
def test_a_shrink_counts_the_program_that_it_ran(whet: Whet, program: str, *, in_git: bool) -> None:
    if in_git:
        whet.git("init", "--quiet")
    whet.write("data.txt", "a\nb\nBOOM\nBANG\n")
    for sought in ("BOOM", "BANG"):
        whet.write(program, LOOKS_FOR.format(sought))

        assert shrunk(whet, "--", PYTHON, program, "data.txt").strip() == sought


@pytest.mark.long
def test_a_shrink_counts_the_script_that_judges(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.write("data.txt", "a\nb\nBOOM\nBANG\n")
    for sought in ("BOOM", "BANG"):
        whet.write("../judge.sh", f'#!/bin/sh\ngrep -q {sought} "$1"\n').chmod(0o755)

        assert shrunk(whet, "--interesting", "../judge.sh").strip() == sought


@pytest.mark.long
def test_a_shrink_counts_what_git_ignores(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.write(".gitignore", "settings.py\n")
    whet.write("data.txt", "a\nb\nBOOM\nBANG\n")
    whet.write("prog.py", "import sys, settings\nassert settings.X not in open(sys.argv[1]).read()")
    for sought in ("BOOM", "BANG"):
        whet.write("settings.py", f"X = '{sought}'\n")

        assert shrunk(whet, "--", PYTHON, "prog.py", "data.txt").strip() == sought


@pytest.mark.long
def test_a_result_from_memory_is_run_once_more(whet: Whet) -> None:
    whet.write("data.txt", "a\nb\nBOOM\nBANG\n")
    hidden = f"import sys\nX = open('{whet.folder.parent}/hid' + 'den').read()\n"
    whet.write("prog.py", hidden + "assert X not in open(sys.argv[1]).read(), 'found'\n")
    for sought in ("BOOM", "BANG"):
        whet.write("../hidden", sought)

        assert shrunk(whet, "--", PYTHON, "prog.py", "data.txt").strip() == sought


@pytest.mark.long
@pytest.mark.parametrize("in_git", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_shrink_goes_on_where_it_stopped(whet: Whet, *, in_git: bool) -> None:
    whet.write("prog.py", LOOKS_FOR.format("BOOM"))
    whet.write("data.txt", "a\nb\nBOOM\nBANG\n" * 3)
    if in_git:
        whet.git("init", "--quiet")
        whet.commit("first")
    words = ("shrink", "data.txt", "--json", "--timeout", "20", "--", PYTHON, "prog.py", "data.txt")
    whet(*words)

    again = json.loads(whet(*words).stdout.splitlines()[-1])["payloads"][0]

    assert (again["trials"], again["cached"] > 0) == (0, True)


def counting_history(whet: Whet) -> list[str]:
    whet.git("init", "--quiet")
    return [whet.commit(f"commit {number}", number=str(number)) for number in range(8)]


@pytest.mark.long
@crossed(is_named=[True, False], good=[True, False])
def test_a_bisection_counts_the_test_that_it_ran(whet: Whet, *, is_named: bool, good: bool) -> None:
    commits = counting_history(whet)
    outside = str(whet.folder.parent / "check.py")
    check = "assert int(open('number').read()) < {}\n"
    command: tuple[str, ...] = (PYTHON, outside)
    if not is_named:
        command = (PYTHON, "-c", f"exec(open('{outside[:-3]}' + '.py').read())")
    for first_bad in (3, 6):
        whet.write("../check.py", check.format(first_bad))

        ends = (commits[0], "HEAD") if good else ("HEAD",)
        found = json.loads(whet("bisect", *ends, "--json", "--", *command).stdout)

        assert found["first_bad"] == commits[first_bad][:10]
