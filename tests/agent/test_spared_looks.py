"""What a closer look has nothing to do with costs next to nothing: counted, not timed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.core.text.record import integer, text
from whet.evidence.clues.closer_look import line_of, told_in
from whet.evidence.provenance.run.recording import read_recording
from whet.host.trial.instrumented_evidence import read_closer, read_steps

SITE = Path(whet.agent.__file__).parent / "site"

COUNTED = """
import sys

counts = {"events": 0, "times": 0}


def hear(name, given):
    counts["events"] += 1


def square(number):
    return number * number


def called(rounds):
    for each in range(rounds):
        square(each)


def resumed(rounds):
    return sum(each * each for each in range(rounds))


def of(work, rounds):
    before = dict(counts)
    work(rounds)
    return [counts[name] - before[name] for name in counts]


follower = getattr(sys.gettrace(), "__self__", None)
clock = getattr(follower, "_clock", None)


def asked():
    counts["times"] += 1
    return clock()


if clock is not None:
    follower._clock = asked
sys.addaudithook(hear)
for work in (called, resumed):
    work(1000)  # each line has run as often as whet looks at it
    few, many = of(work, 1000), of(work, 3000)
    print(*(more - less for less, more in zip(few, many)))
"""


def looked_at(program: str, folder: Path, closer: str) -> subprocess.CompletedProcess[str]:
    (folder / "main.py").write_text(program)
    (folder / "agent").mkdir()
    own = {"PYTHONPATH": str(SITE), "WHET_AGENT": str(folder / "agent"), "WHET_CLOSER": closer}
    return subprocess.run(
        [sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, check=False,
        timeout=60, env={**os.environ, **own, "WHET_PYCACHE": str(folder / "cache")},
    )  # fmt: skip


@pytest.mark.parametrize("closer", ["", "steps:|x|0"], ids=["whole", "steps"])
def test_a_call_that_is_not_looked_at_is_one_audit_event_and_a_generator_that_goes_on_none(
    closer: str, tmp_path: Path
) -> None:
    done = looked_at(COUNTED, tmp_path, closer)

    assert done.stderr == ""
    (called, _), (resumed, _) = (map(int, each.split()) for each in done.stdout.splitlines())
    assert (called, resumed) == (2000, 0)


def test_no_time_is_asked_for_where_nothing_is_looked_at(tmp_path: Path) -> None:
    done = looked_at(COUNTED, tmp_path, "steps:|x|0")

    (_, called), (_, resumed) = (map(int, each.split()) for each in done.stdout.splitlines())
    assert (called, resumed) == (0, 0)


CUT = """
import os
import sys

follower = sys.gettrace().__self__
pass_over = follower.pass_over
left = [None] * 1000


def cut():
    left.pop()
    if not left:
        follower.pass_over = pass_over
        os.kill(os.getpid(), 59)  # whet's own signal, see `recording/steps.py`
    pass_over()


def rounds():
    yield from range(1000)
    follower.spend(3600)  # from here on hardly a line is looked at
    yield 1000
    follower.pass_over = cut
    yield from range(100_000)


print(sum(rounds()))
"""


def test_a_run_that_is_cut_off_where_nothing_is_looked_at_leaves_its_steps(tmp_path: Path) -> None:
    done = looked_at(CUT, tmp_path, "steps:SystemExit|x|0")

    assert (done.stdout, done.stderr) == ("5000450500\n", "")
    (steps,) = read_steps(tmp_path / "agent")
    standing = read_recording(steps.data).standing or ()
    assert [each.call.code.name for each in standing] == ["rounds"]


AGAIN = """
import asyncio

async def load(number):
    await asyncio.sleep(0)
    raise [OSError("away"), KeyError("lost")][number]

async def get():
    for number in range(2):
        try:
            return await load(number)
        except OSError:
            await asyncio.sleep(0)

asyncio.run(get())
"""


def test_a_coroutine_that_goes_on_is_the_same_call(tmp_path: Path) -> None:
    done = looked_at(AGAIN, tmp_path, "")

    assert "KeyError: 'lost'" in done.stderr
    told = told_in([read_closer(tmp_path / "agent")])
    lines = [line_of(each.get("place")) for each in told]
    calls = {
        integer(each, "call")
        for each, line in zip(told, lines, strict=True)
        if text(each, "kind") == "passed" and line is not None and line.function == "get"
    }
    assert len(calls) == 1
