"""Where a program writes into its own inputs, a clean room is offered; it is not where it does not."""

import re
import sys
from pathlib import Path

import pytest
from whet_command import Whet

_OFFER = "with `--clean` each starts from the same files"
_COUNTS = """
import sys
count = int(open("count.txt").read()) + 1
open("count.txt", "w").write(str(count))
open("new.log", "a").write("line\\n")
sys.exit("needle" in open("hay.txt").read())
"""


@pytest.fixture
def counting(whet: Whet) -> Whet:
    """Whet in a repository with a program that counts its runs in a file of the repository."""
    whet.write("counts.py", _COUNTS)
    whet.write("count.txt", "0")
    whet.write("hay.txt", "hay\nneedle\nhay\n")
    whet.git("init", "-q")
    whet.git("add", ".")
    whet.git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "first")
    return whet


@pytest.mark.parametrize(
    "verb",
    [["repeat", "--runs", "2"], ["shrink", "hay.txt", "--jobs", "1"]],
    ids=lambda verb: verb[0],
)
def test_a_program_that_changes_its_inputs_is_offered_a_clean_room(
    counting: Whet, verb: list[str]
) -> None:
    said = counting(*verb, "--", sys.executable, "counts.py", "hay.txt")
    assert said.stderr.count(_OFFER) == 1, said
    assert "(`count.txt`)" in said.stderr
    assert "new.log" not in said.stderr


def test_in_a_clean_room_nothing_is_offered(counting: Whet) -> None:
    said = counting("repeat", "--runs", "2", "--clean", "--", sys.executable, "counts.py")
    if said.code == 69:
        pytest.skip("no clean room can be made here")
    assert _OFFER not in said.stderr
    assert (counting.folder / "count.txt").read_text() == "0"


def test_what_a_program_only_adds_is_none_of_its_inputs(counting: Whet) -> None:
    counting.write("adds.py", "open('new.log', 'a').write('line')\nprint(open('hay.txt').read())\n")
    said = counting("repeat", "--runs", "2", "--", sys.executable, "adds.py")
    assert _OFFER not in said.stderr


@pytest.mark.parametrize("options", [[], ["--clean"]], ids=["as it is", "in clean rooms"])
def test_a_bisection_of_a_program_that_counts_its_runs_is_offered_clean_rooms(
    whet: Whet, options: list[str]
) -> None:
    """Each commit has a tree of its own; what lies beside them and is named is there once for all."""
    count = whet.folder.parent / "count.txt"
    count.write_text("0")
    whet.git("init", "-q")
    counts = "import sys\nplace = sys.argv[1]\ncount = int(open(place).read()) + 1\n"
    counts += "open(place, 'w').write(str(count))\nsys.exit({})\n"
    commits = [whet.commit(f"as {code}", counts_py=counts.format(code)) for code in (0, 0, 3)]
    said = whet(
        "bisect", *options, commits[0], commits[2],
        "--", sys.executable, "counts.py", str(count),
    )  # fmt: skip
    if options and said.code == 69:
        pytest.skip("no clean room can be made here")
    assert commits[2][:8] in said.stdout, said
    pasted = said.stdout + "".join(
        Path(each).read_text()
        for each in re.findall(r"^ *sh (\S+\.sh)$", said.stdout, re.MULTILINE)
    )
    assert ("whet starve --clean -- " in pasted) == bool(options), pasted  # the line to paste
    assert said.stderr.count(_OFFER) == (0 if options else 1), said
    assert ("count.txt`)" in said.stderr) == (not options)
    assert (count.read_text() == "0") == bool(options)
