"""A failing run is compared with passing ones: the first place is told where its way is its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.core.observations.clue import Placing
from whet.evidence.neighbour.divergence import Divergence, divergences
from whet.evidence.neighbour.kinds import RESULT, odd_values
from whet.evidence.neighbour.stretch import earlier_calls, stretch_of, within
from whet.evidence.neighbour.switching import switched
from whet.evidence.neighbour.telling import Telling
from whet.evidence.provenance.run.recording import Recording, read_recording
from whet.evidence.provenance.run.source import Sources
from whet.host.trial.instrumented_evidence import read_steps

SITE = Path(whet.agent.__file__).parent / "site"


def recorded(
    folder: Path, program: str, *arguments: str, until: str = "", package: str = ""
) -> Recording:
    """Run a program with its steps written down, up to an error or to its end."""
    (folder / "main.py").write_text(program)
    told = folder / f"told-{'-'.join(arguments)}"
    told.mkdir()
    variables = {
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(told),
        "WHET_PYCACHE": str(folder / ".cache"),
        "WHET_CLOSER": f"steps:{until}||0{package and f'|{package}'}",
    }
    command = [sys.executable, "main.py", *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, **variables},
    )  # fmt: skip
    assert bool(done.returncode) == bool(until), done.stderr
    (steps,) = read_steps(told)
    return read_recording(steps.data)


def parted(folder: Path, program: str, fails: str, passes: str) -> list[Divergence]:
    """Return where a program's run with one argument leaves that with another."""
    failing = recorded(folder, program, fails, until="ValueError")
    passing = recorded(folder, program, passes)
    return divergences(
        stretch_of(failing.calls), [stretch_of(passing.calls)], failing.errors[-1], Sources()
    )


def among_calls(folder: Path, program: str) -> list[Divergence]:
    """Return where the failing call leaves the way of the earlier ones."""
    failing = recorded(folder, program, until="ValueError")
    error = failing.errors[-1]
    for call, others in earlier_calls(failing, error):
        (own,), beside = within(failing, [call]), within(failing, others)
        found = divergences(
            stretch_of(own), [stretch_of(each) for each in beside], error, Sources()
        )
        if found:
            return found
    return []


RATES = """\
import sys


def rate(kind):
    if kind == "food":
        return 7
    return 19


def check(kind):
    paid = 100 + rate(kind)
    if paid != 119:
        raise ValueError(kind)


for kind in sys.argv[1:] or ["wood", "iron", "food"]:
    check(kind)
"""


def test_the_first_line_that_only_the_failing_run_goes_to_is_told(tmp_path: Path) -> None:
    (found,) = parted(tmp_path, RATES, "food", "wood")
    assert (found.function[1], found.line, found.at) == ("rate", 6, 5)
    assert found.is_extra
    assert found.was


def test_the_earlier_calls_of_a_function_in_the_same_run_are_a_passing_side(tmp_path: Path) -> None:
    (found,) = among_calls(tmp_path, RATES)
    assert (found.function[1], found.line) == ("rate", 6)


STAGES = """\
class Stage:
    def __init__(self, *parts):
        self.parts = parts

    def run(self, value):
        for part in self.parts:
            value = part(value)
        return value
"""
USES_STAGES = """\
import sys
sys.path.append("site-packages")
from stages import Stage


def half(value):
    if value % 2:
        raise ValueError(value)
    return value // 2


first, second = Stage(str, len), Stage(half)
{calls}
"""


@pytest.mark.parametrize(
    ("calls", "compared"),
    [("second.run(first.run(123))", 0), ("second.run(2); first.run(1); second.run(3)", 1)],
    ids=["another object", "the same object"],
)
def test_a_method_of_a_library_is_compared_with_calls_on_the_same_object(
    tmp_path: Path, calls: str, compared: int
) -> None:
    library = tmp_path / "site-packages" / "stages.py"
    library.parent.mkdir()
    library.write_text(STAGES)
    program = USES_STAGES.format(calls=calls)
    failing = recorded(tmp_path, program, until="ValueError", package=str(library))
    found = [
        others
        for call, others in earlier_calls(failing, failing.errors[-1])
        if call.code.short == "run"
    ]
    assert [len(each) for each in found] == [compared] * bool(compared)


def test_the_branch_in_which_the_failing_line_stands_tells_nothing(tmp_path: Path) -> None:
    program = RATES.replace("return 7", 'raise ValueError("food")')
    assert parted(tmp_path, program, "food", "wood") == []


def test_a_line_that_only_what_passes_goes_to_is_told(tmp_path: Path) -> None:
    program = """\
import sys

rows = []
for word in sys.argv[1:]:
    if word != "last":
        rows.append(word)
if not rows:
    raise ValueError("no rows")
"""
    (found, *_) = parted(tmp_path, program, "last", "other")
    assert (found.line, found.at, found.is_extra, found.was) == (6, 5, False, False)


def test_what_each_of_the_passing_calls_does_not_do_is_not_missed(tmp_path: Path) -> None:
    program = RATES.replace("return 19", 'if kind == "iron":\n        kind = "ore"\n    return 19')
    assert [each.line for each in among_calls(tmp_path, program)] == [6]


def test_the_functions_that_only_the_failing_way_calls_are_named(tmp_path: Path) -> None:
    program = RATES.replace("return 7", "return low()").replace(
        "def check", "def low():\n    return 7\n\n\ndef check"
    )
    (found,) = parted(tmp_path, program, "food", "wood")
    assert found.calls == ("low",)


def test_the_clue_names_both_lines_and_what_the_test_looked_at(tmp_path: Path) -> None:
    failing = recorded(tmp_path, RATES, "food", until="ValueError")
    passing = recorded(tmp_path, RATES, "wood")
    (found,) = divergences(
        stretch_of(failing.calls), [stretch_of(passing.calls)], failing.errors[-1], Sources()
    )
    telling = Telling(recording=failing, sources=Sources(), at=Placing(str(tmp_path)))
    clue = telling.clue(found, "with `wood` the command passes")
    assert clue.says == (
        'only what fails goes to main.py:6 (`return 7`), as `kind == "food"` at main.py:5'
        " was true in it (`kind` was 'food'); with `wood` the command passes"
    )
    assert (clue.path, clue.line) == (str(tmp_path / "main.py"), 6)


def test_a_test_is_turned_and_no_line_moves(tmp_path: Path) -> None:
    (found,) = parted(tmp_path, RATES, "food", "wood")
    text = switched(RATES, found)
    assert text.splitlines()[4] == '    if (False and (kind == "food")):'
    assert [*text.splitlines()[:4], *text.splitlines()[5:]] == [
        *RATES.splitlines()[:4],
        *RATES.splitlines()[5:],
    ]


def test_the_same_way_with_another_kind_of_value_is_told(tmp_path: Path) -> None:
    program = """\
import sys


def level(text):
    return {"low": 1, "high": 2}.get(text)


def check(text):
    found = level(text)
    if not found:
        raise ValueError(text)


for text in sys.argv[1:]:
    check(text)
"""
    failing = recorded(tmp_path, program, "mid", until="ValueError")
    passing = recorded(tmp_path, program, "low")
    found, *_ = odd_values((failing, failing.calls), (passing, passing.calls), failing.errors[-1])
    assert (found.line, found.name, found.kind, found.others) == (5, RESULT, "None", ("int",))


LEFT_BY_AN_ERROR = """\
import sys


def emit(listeners):
    count = 0
    for listener in listeners:
        listener()
        count += 1
    return count


def bad():
    raise ValueError("bad")


emit([bad] if sys.argv[1] == "bad" else [print])
"""


def test_a_loop_that_an_error_left_is_not_said_to_have_had_nothing_to_go_over(
    tmp_path: Path,
) -> None:
    assert parted(tmp_path, LEFT_BY_AN_ERROR, "bad", "good") == []
