"""A shell under a memory limit: what is started in it dies of the limit, and it lives on."""

import sys

import pytest
from laboratory import Laboratory
from starving import GROWS, MEBIBYTE, MEMORY_WAYS, need, only, python, starve

from whet.core.limits import Limits
from whet.host.limits.enforcer import Enforcer

_LIMITS = Limits(memory_bytes=64 * MEBIBYTE, spares_command=True)


@pytest.fixture(params=MEMORY_WAYS, ids=lambda way: way.way)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Enforcer:
    """One way to limit memory, the only one there is in this test."""
    chosen: Enforcer = request.param
    need(chosen, "memory", _LIMITS)
    only(monkeypatch, "memory", chosen)
    return chosen


def test_programs_that_need_too_much_die_one_after_the_other_and_the_shell_goes_on(
    laboratory: Laboratory, way: Enforcer
) -> None:
    (laboratory.work / "grow.py").write_text(GROWS)
    grows = f"{sys.executable} grow.py; echo $?"
    outcome = starve(laboratory, "sh", "-c", f"{grows}\n{grows}\necho lives", limits=_LIMITS)

    assert outcome.stdout.tail(100) == b"137\n137\nlives\n", way
    assert (outcome.exit_code, outcome.failure) == (0, None)
    (met,) = outcome.limits_met
    assert (met.name, met.was_killed) == ("memory", False)
    assert met.process.startswith("python")


def test_the_largest_dies_and_those_beside_it_live(laboratory: Laboratory, way: Enforcer) -> None:
    """One that has little reaches its end, whether or not it asked when there was no more."""
    (laboratory.work / "grow.py").write_text(GROWS)
    small = "import sys; held = b'1' * 5_000_000; sys.stdin.read(); print('small ends')"
    (laboratory.work / "small.py").write_text(small)
    script = f"{sys.executable} grow.py | {sys.executable} small.py; echo $?"
    outcome = starve(laboratory, "sh", "-c", script, limits=_LIMITS)

    assert outcome.stdout.tail(100) == b"small ends\n0\n", way
    assert [met.name for met in outcome.limits_met] == ["memory"]


def test_many_that_need_too_much_together_die_until_there_is_room(
    laboratory: Laboratory, way: Enforcer
) -> None:
    program = """
import os
reading, writing = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        os.close(writing)
        held = []
        while len(held) < 25:  # two are well within the limit, three are not
            held.append(b"1" * 1_000_000)
        os.read(reading, 1)  # holds it until enough of them are dead
        os._exit(0)
ended = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)]
os.close(writing)
ended += [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)]
print(ended[:2], ended[-1])
"""
    (laboratory.work / "many.py").write_text(program)
    outcome = starve(laboratory, "sh", "-c", f"{sys.executable} many.py; echo $?", limits=_LIMITS)
    assert outcome.stdout.tail(100) == b"[-9, -9] 0\n0\n", way


def test_a_shell_that_itself_needs_too_much_is_ended(laboratory: Laboratory, way: Enforcer) -> None:
    outcome = starve(laboratory, *python(GROWS), limits=_LIMITS)

    assert outcome.signal == 9
    (met,) = outcome.limits_met
    assert (met.name, met.was_killed) == ("memory", True), way
