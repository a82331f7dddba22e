"""What only passes an answer on is not what failed: the comparison behind it is."""

from pathlib import Path

import pytest
from recorded_runs import clues, recorded

from whet.core.observations.clue import Placing
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.sentences.origin import Origin

MEASURED = """\
import os, sys
GATE = 0.85

def evaluate(found, wanted):
    same = [a == b for a, b in zip(found, wanted)]
    return sum(same) / len(same)

"""
CODE_OF_A_FUNCTION = """\
def main():
    accuracy = evaluate([1, 2, 3, 4], [1, 3, 2, 5])
    print("accuracy", accuracy)
    return 0 if accuracy >= GATE else 1

if __name__ == "__main__":
    sys.exit(main())
"""
CODE_OF_A_VARIABLE = """\
accuracy = evaluate([1, 2, 3, 4], [1, 3, 2, 5])
is_good = accuracy >= GATE
print("accuracy", accuracy)
sys.exit(0 if is_good else 1)
"""
CODE_OF_A_BRANCH = """\
def check(accuracy):
    if accuracy < GATE:
        print("too bad")
        return 1
    return 0

def main():
    accuracy = evaluate([1, 2, 3, 4], [1, 3, 2, 5])
    return check(accuracy)

raise SystemExit(main())
"""
CODE_OF_A_NEGATION = """\
def is_good(accuracy):
    return accuracy >= GATE

accuracy = evaluate([1, 2, 3, 4], [1, 3, 2, 5])
sys.exit(int(not is_good(accuracy)))
"""
ASSERTED = """\
def is_good(accuracy):
    return accuracy >= GATE

accuracy = evaluate([1, 2, 3, 4], [1, 3, 2, 5])
assert is_good(accuracy)
"""
RAISED = """\
accuracy = evaluate([1, 2, 3, 4], [1, 3, 2, 5])
is_bad = accuracy < GATE
print(is_bad)
if is_bad:
    raise ValueError("the model is too bad")
"""
DECIDED = {
    "the code of a function": (CODE_OF_A_FUNCTION, "return 0 if"),
    "the code of a variable": (CODE_OF_A_VARIABLE, "is_good = accuracy"),
    "the code of a branch": (CODE_OF_A_BRANCH, "if accuracy < GATE"),
    "the code of a negation": (CODE_OF_A_NEGATION, "return accuracy >= GATE"),
    "an assertion of a function": (ASSERTED, "return accuracy >= GATE"),
    "an error for a variable": (RAISED, "is_bad = accuracy"),
}


@pytest.mark.parametrize("name", DECIDED)
def test_the_comparison_that_decided_is_followed(name: str, tmp_path: Path) -> None:
    program, line = DECIDED[name]

    first, *_ = clues(tmp_path, MEASURED + program)

    at = next(n for n, each in enumerate((MEASURED + program).splitlines(), 1) if line in each)
    assert first.says.startswith(f"`accuracy` is 0.25 at main.py:{at}. It was made at main.py:6")


@pytest.mark.parametrize("name", DECIDED)
def test_no_line_that_passes_the_answer_on_is_a_suspect(name: str, tmp_path: Path) -> None:
    program, line = DECIDED[name]
    (tmp_path / "main.py").write_text(MEASURED + program)
    recording, _ = recorded(tmp_path)

    way = Origin(recording, Sources(), Placing(str(tmp_path)), lambda _path, _line: None).way()

    assert way is not None
    lines = (MEASURED + program).splitlines()
    suspected = [lines[at - 1].strip() for _, at in way.places if way.failing[1] != at]
    assert "return sum(same) / len(same)" in suspected
    for each in suspected:
        assert line not in each
        assert not each.startswith(("sys.exit", "raise", "assert", "return 1"))


@pytest.mark.parametrize("ending", ['"too bad"', 'f"too bad: {GATE}"', "str(GATE)", "3"])
def test_a_message_or_a_written_code_is_not_followed_and_its_test_is(
    ending: str, tmp_path: Path
) -> None:
    program = f"""\
accuracy = evaluate([1, 2, 3, 4], [1, 3, 2, 5])
if accuracy < GATE:
    sys.exit({ending})
"""

    first, *_ = clues(tmp_path, MEASURED + program)

    assert first.says.startswith("`accuracy` is 0.25 at main.py:9. It was made at main.py:6")


def test_a_code_that_another_program_gave_is_told_as_it_is(tmp_path: Path) -> None:
    program = "import subprocess\ncode = subprocess.call(['false'])\nsys.exit(code)\n"

    told = clues(tmp_path, MEASURED + program)

    assert all("GATE" not in each.says for each in told)
