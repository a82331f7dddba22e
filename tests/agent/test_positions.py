"""Where each thread is in the user's own code is followed, from Python 3.12 on."""

import json
import subprocess
from pathlib import Path

import pytest

import whet.agent
from whet.core.text.record import as_record, decoded
from whet.measurement.profiles.positions import Positions

SITE = Path(whet.agent.__file__).parent / "site"

pytestmark = pytest.mark.parametrize(
    "python", ["3.12", pytest.param("3.13", marks=pytest.mark.long)], indirect=True
)

DRIVER = """\
import json, sys, threading, time
sys.path.insert(0, sys.argv[1])
import whet_positions
for name, most in json.loads(sys.argv[3]).items():
    setattr(whet_positions, name, most)
MARKS = []
def mark():
    frame, stack = sys._getframe(1), []
    while frame is not None:
        if frame.f_code.co_filename == sys.argv[2]:
            stack.append([frame.f_code.co_qualname, frame.f_lineno, frame.f_code.co_firstlineno])
        frame = frame.f_back
    MARKS.append([threading.get_native_id(), time.time_ns(), stack[::-1]])
    return True
positions = whet_positions.Positions()
space = {"mark": mark, "threading": threading, "begin": positions.begin}
exec(compile(open(sys.argv[2]).read(), sys.argv[2], "exec"), space)
print(json.dumps({"marks": MARKS, **positions.end()}))
"""

PROGRAM = """\
import asyncio

def numbers(count):
    for number in range(count):
        mark()
        yield number
        mark()

def fails(depth):
    if depth:
        fails(depth - 1)
    mark()
    raise KeyError(depth)

async def waits():
    mark()
    await asyncio.sleep(0)
    mark()
    return [mark() for _ in range(3)]

def main():
    total = sum(numbers(30))
    mark()
    try:
        fails(3)
    except KeyError:
        mark()
    values = [
        mark()
        for _ in range(4)
    ]
    asyncio.run(waits())
    first = next(iter(numbers(2)))
    mark()
    return total, values, first

assert begin()
mark()
main()
thread = threading.Thread(target=main)
thread.start()
main()
thread.join()
mark()
"""


Line = tuple[str, int]


def seen(
    python: str, folder: Path, **most: int
) -> list[tuple[list[Line], list[tuple[str, int, int]]]]:
    """Return for each mark the lines that were followed, and those where it was."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [python, "-c", DRIVER, str(SITE), str(program), json.dumps(most)],
        capture_output=True, check=True,
    )  # fmt: skip
    told = as_record(decoded(done.stdout), "answer")
    positions = Positions(told, 0, lambda path: path == str(program))
    found: list[tuple[list[Line], list[tuple[str, int, int]]]] = []
    for thread, moment, stack in json.loads(done.stdout)["marks"]:
        place = positions.at(thread, moment / 1e9)
        assert all(each.in_user_code for each in place)
        lines = [(each.function, each.line) for each in place]
        found.append((lines, [(name, line, first) for name, line, first in stack]))
    assert len(found) > 200
    return found


def test_a_thread_is_where_it_is_followed_to(python: str, tmp_path: Path) -> None:
    for place, stack in seen(python, tmp_path):
        assert place == [(name, line) for name, line, _ in stack]


def test_a_function_of_too_many_lines_is_followed_as_a_whole(python: str, tmp_path: Path) -> None:
    found = seen(python, tmp_path, _MOST_LINES=20)
    for place, stack in found:
        assert [name for name, _ in place] == [name for name, _, _ in stack]
        for (_, seen_at), (_, line, first) in zip(place, stack, strict=True):
            assert seen_at in {line, first}
    assert any(place[-1] == (stack[-1][0], stack[-1][2]) for place, stack in found)


def test_a_function_of_too_many_calls_is_part_of_its_callers_line(
    python: str, tmp_path: Path
) -> None:
    found = seen(python, tmp_path, _MOST_CALLS=20)
    for place, stack in found:
        rest = iter([(name, line) for name, line, _ in stack])
        assert all(each in rest for each in place)
    assert any(place and len(place) < len(stack) for place, stack in found)


def test_nothing_is_followed_any_more_after_too_many_events(python: str, tmp_path: Path) -> None:
    found = seen(python, tmp_path, _MOST_EVENTS=100)
    places = [place for place, _ in found]
    begun = places.index([])
    assert begun > 5
    assert not any(places[begun:])


ENDS = """\
import gc, os, sys, weakref
sys.path.insert(0, sys.argv[1])
import whet_positions

def one():
    positions = whet_positions.Positions()
    assert positions.begin()
    positions.end()
    return weakref.ref(positions)

ended = [one() for _ in range(3)]
gc.collect()
assert not any(each() for each in ended)
positions = whet_positions.Positions()
positions.begin()
tool = next(each for each in range(6) if sys.monitoring.get_tool(each) == "whet positions")
pid = os.fork()
if not pid:
    os._exit(sys.monitoring.get_tool(tool) is not None)
assert not os.waitpid(pid, 0)[1]
assert sys.monitoring.get_tool(tool)
seen = positions.end()
assert seen["threads"][0]["moments"]
positions._look(one.__code__)  # a thread that was on its way
positions._enters(one.__code__, 0)
positions._comes_to(one.__code__, 6)
assert positions.end()["threads"] == seen["threads"]
"""


def test_what_has_ended_holds_nothing_and_follows_no_forked_process(
    python: str, tmp_path: Path
) -> None:
    (tmp_path / "ends.py").write_text(ENDS)
    subprocess.run([python, str(tmp_path / "ends.py"), str(SITE)], check=True)
