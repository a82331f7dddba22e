"""A run that is ended before it fails leaves the steps up to then, and the loop that it is in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_runs import SITE, line_of

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.hangs.unended import Unended
from whet.evidence.provenance.run.recording import Recording, read_recording
from whet.evidence.provenance.run.source import Sources
from whet.host.inspect.recorder import ask_for_steps
from whet.host.trial.instrumented_evidence import read_steps


def cut_off(folder: Path, program: str) -> Recording:
    """Run a program until it has said something, and return its steps up to then."""
    (folder / "main.py").write_text(program)
    told = folder / ".told"
    told.mkdir()
    variables = {
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(told),
        "WHET_PYCACHE": str(folder / ".cache"),
        "WHET_CLOSER": "steps:||0",
    }
    running = subprocess.Popen(
        [sys.executable, "main.py"], cwd=folder, env={**os.environ, **variables},
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert running.stdout is not None
        assert running.stdout.readline()
        ask_for_steps(running.pid, told)
    finally:
        running.kill()
        running.communicate()
    (steps,) = read_steps(told)
    return read_recording(steps.data)


def clues(folder: Path, program: str) -> list[Clue]:
    recording = cut_off(folder, program)
    (standing, *_) = recording.standing or ()
    stood = [(each.code.path, each.line) for each in standing.call.around]
    stood.append((standing.call.code.path, standing.line))
    return Unended(recording, Sources(), Placing(str(folder))).clues(stood)


SAY = "    if rounds == 1000: print('far', flush=True)\n    rounds += 1\n"

COUNTED = f"""
out, i, rounds = [], 0, 0
while len(out) < 4:
{SAY}
    if i % 3 == 0:
        out.append(i)
    if i < 5:
        i += 1
"""


def test_what_the_test_of_a_loop_looks_at_is_told_if_it_no_longer_changes(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, COUNTED)
    assert clue.line == line_of(COUNTED, "while")
    assert clue.sureness is Sureness.SEEN
    assert "`len(out) < 4`" in clue.says
    assert "`out` was a list of 2" in clue.says
    (step,) = clue.trail
    assert step.source == "out.append(i)"
    assert "`i % 3 == 0` at main.py:7 was false: `i` was 5" in step.says


LEFT = f"""
class Feed:
    def __init__(self):
        self.left = 3

    def take(self):
        self.left -= self.left > 1

def drain(feed):
    rounds = 0
    while True:
    {SAY.replace("    rounds", "        rounds")}
        feed.take()
        if feed.left == 0:
            break

drain(Feed())
"""


def test_a_test_that_leaves_a_loop_is_one_of_its_tests(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, LEFT)
    assert clue.line == line_of(LEFT, "if feed.left")
    assert "`feed.left` was 1" in clue.says


CHANGED = {
    "a number that steps over its end": f"""
i = rounds = 0
while i != 10:
{SAY}
    i += 3
""",
    "far inside of a list": f"""
done, rounds = [0] * 500, 0
while not all(done):
{SAY}
    done[250] = rounds
""",
    "what a function answers": f"""
rounds = 0
def waits():
    return True
while waits():
{SAY}
""",
    "a program that says that it is over in another way": f"""
rounds, flag = 0, True
while flag:
{SAY}
    if len(str(rounds)) > 99: raise SystemExit
    try:
        pass
    finally:
        rounds += 0
""",
}


@pytest.mark.parametrize("program", CHANGED.values(), ids=CHANGED)
def test_nothing_is_told_of_a_loop_that_may_end(tmp_path: Path, program: str) -> None:
    assert clues(tmp_path, program) == []


INNER = f"""
def walk(links, start):
    seen, at, rounds = [], start, 0
    while at != "end":
    {SAY.replace("    rounds", "        rounds")}
        for name in ("a", "b"):
            seen.append(name)
        at = links[start]
    return seen

walk({{"a": "b"}}, "a")
"""


def test_an_inner_loop_that_ends_each_time_is_not_the_one(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, INNER)
    assert clue.line == line_of(INNER, "while at")
    assert "`at` was 'b'" in clue.says


WAITS = """
import threading
first = threading.Lock()

def take(lock):
    print("now", flush=True)
    lock.acquire()

first.acquire()
take(first)
"""


def test_a_program_that_waits_for_a_lock_tells_where(tmp_path: Path) -> None:
    recording = cut_off(tmp_path, WAITS)
    (standing,) = recording.standing or ()
    assert standing.call.code.name == "take"
    assert standing.line in {line_of(WAITS, "print"), line_of(WAITS, "lock.acquire")}
    assert standing.call.parent is not None


def test_a_file_that_is_not_complete_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "7.steps.part").write_bytes(b'{"codes":[')
    assert read_steps(tmp_path) == ()
