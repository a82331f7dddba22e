"""A thread that waits under a key with a twin is told with both keys."""

from pathlib import Path

import pytest
from recorded_runs import line_of
from test_unended import cut_off

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.hangs.near_keys import NearKeys
from whet.evidence.provenance.run.source import Sources

WAITING = """
import threading
from collections import defaultdict

class Event(threading.Event):
    def wait(self):
        print("far", flush=True)
        super().wait()

done = defaultdict(Event)

def run(name, need):
    done[name]
    done[need].wait()

run({name!r}, {need!r})
"""


def clues(folder: Path, program: str) -> list[Clue]:
    recording = cut_off(folder, program)
    return NearKeys(recording, Sources(), Placing(str(folder))).clues()


@pytest.mark.parametrize(
    ("name", "need", "difference"),
    [
        pytest.param("Types", "types", "case", id="case"),
        pytest.param("types ", "types", "spaces", id="spaces"),
        pytest.param(3, "3", "type", id="type"),
        pytest.param("Front End", "frontend", "spelling", id="case and spaces"),
    ],
)
def test_a_key_that_differs_by_its_spelling_from_one_that_is_there_is_named(
    tmp_path: Path, name: object, need: object, difference: str
) -> None:
    program = WAITING.format(name=name, need=need)
    (clue,) = clues(tmp_path, program)

    assert clue.line == line_of(program, "done[need].wait()")
    assert f"has under {need!r}, which this line itself makes" in clue.says
    assert f"also has {name!r}: the two keys differ in their {difference} only" in clue.says
    assert clue.sureness is Sureness.SEEN


@pytest.mark.parametrize(("name", "need"), [("other", "types"), ("types", "types"), (1, 2)])
def test_another_key_is_no_twin(tmp_path: Path, name: object, need: object) -> None:
    assert clues(tmp_path, WAITING.format(name=name, need=need)) == []


def test_keys_that_both_are_the_programs_are_only_a_possible_cause(tmp_path: Path) -> None:
    program = WAITING.replace(
        "done = defaultdict(Event)",
        "done = {{each: Event() for each in ('a', 'A')}}",
    ).format(name="a", need="A")
    (clue,) = clues(tmp_path, program)

    assert clue.sureness is Sureness.POSSIBLE
