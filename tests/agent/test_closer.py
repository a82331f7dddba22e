"""A closer look changes nothing that a program says, and tells no secrets."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.core.observations.clue import Placing
from whet.core.text.record import JsonObject, as_record, integer, records, text
from whet.evidence.clues.closer_look import line_of, lock_clues, told_in
from whet.host.trial.instrumented_evidence import read_closer

SITE = Path(whet.agent.__file__).parent / "site"

LOCKS = """\
import queue, threading
from concurrent.futures import ThreadPoolExecutor

lock, again = threading.Lock(), threading.RLock()
print(lock.acquire(), lock.locked(), lock.acquire(False), lock.acquire(timeout=0.01))
lock.release()
try:
    lock.release()
except RuntimeError as error:
    print(error)
with again, again:
    print("twice")
ready = threading.Condition(again)
seen = []

def wait():
    with ready:
        while not seen:
            ready.wait()
        seen.append("woken")

waiter = threading.Thread(target=wait)
waiter.start()
with ready:
    seen.append("set")
    ready.notify_all()
waiter.join()
box = queue.Queue()
with ThreadPoolExecutor(4) as pool:
    list(pool.map(box.put, range(20)))
print(seen, sorted(box.get() for _ in range(20)), isinstance(lock, object), bool(lock))
"""
FOREIGN = """\
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.strlen.restype = ctypes.c_size_t
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def order(one, other):
    return one[0] - other[0]
numbers = (ctypes.c_int * 4)(3, 1, 2, 0)
libc.qsort(numbers, 4, 4, order)
print(libc.strlen(b"four"), list(numbers), libc.open(b"/nowhere", 0), ctypes.get_errno() != 0)
try:
    libc.no_such_function
except AttributeError:
    print("not there")
"""
ERRORS = """\
import asyncio, sys
def fails():
    raise KeyError("a")
async def main():
    task = asyncio.create_task(asyncio.sleep(0))
    await task
    return await asyncio.gather(asyncio.to_thread(fails), return_exceptions=True)
print(asyncio.run(main()), next(iter([]), "none"))
for each in (1 / n for n in (1, 0)):
    print(each)
"""
COMPREHENSIONS = """\
import threading
def twice(number):
    return number * 2
threading.Thread(target=twice, args=(1,)).start()
class Table:
    widths = [
        (twice(width),
         width)
        for width in (1.5, 2.5)
    ]
print(Table.widths, [
    (twice(each),
     each,
     {twice(inner):
      inner
      for inner in (each, 2.0)})
    for each in (1.0, float("nan"))
])
"""


def run(program: str, folder: Path, *, closer: str | None) -> subprocess.CompletedProcess[str]:
    """Run a program with the agent in it."""
    path = folder / "program.py"
    path.write_text(program)
    (folder / "agent").mkdir(exist_ok=True)
    asked = {} if closer is None else {"WHET_CLOSER": closer}
    own = {"PYTHONPATH": str(SITE), "WHET_AGENT": str(folder / "agent")}
    cache = {"WHET_PYCACHE": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, **own, **cache, **asked},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def told(folder: Path) -> list[JsonObject]:
    return told_in([read_closer(folder / "agent")])


def errors_in(folder: Path) -> list[tuple[str, int, int]]:
    """Return what was told of errors: how, of which, on what line."""
    found: list[tuple[str, int, int]] = []
    for each in told(folder):
        line = line_of(each.get("place"))
        if each["kind"] in {"raised", "passed"} and line is not None:
            found.append((text(each, "kind"), integer(each, "number"), line.number))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("closer", ["", "numbers", "steps:|x|0"], ids=["", "numbers", "steps"])
def test_what_a_comprehension_goes_through_stays_as_it_is(closer: str, tmp_path: Path) -> None:
    plain = run(COMPREHENSIONS, tmp_path, closer=None)
    looked_at = run(COMPREHENSIONS, tmp_path, closer=closer)
    assert (looked_at.stdout, looked_at.stderr) == (plain.stdout, "")


@pytest.mark.slow
@pytest.mark.parametrize("program", [LOCKS, FOREIGN, ERRORS], ids=["locks", "C", "errors"])
def test_what_a_program_says_stays_as_it_is(program: str, tmp_path: Path) -> None:
    plain = run(program, tmp_path, closer=None)
    looked_at = run(program, tmp_path, closer="")
    said = (looked_at.returncode, looked_at.stdout, looked_at.stderr)
    assert said == (plain.returncode, plain.stdout, plain.stderr)


@pytest.mark.slow
def test_a_lock_that_is_never_given_back_is_told_while_the_program_hangs(tmp_path: Path) -> None:
    program = "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire(timeout=1)\n"
    run(program, tmp_path, closer="")
    (clue,) = lock_clues(told(tmp_path), Placing(str(tmp_path)))
    assert clue.says.startswith("`MainThread` waits at program.py:4")
    assert "program.py:3" in clue.says


@pytest.mark.slow
@pytest.mark.parametrize("second", ['{}["x"]', 'int("x")'], ids=["another type", "the same type"])
def test_an_error_in_the_place_of_a_dropped_one_is_another(second: str, tmp_path: Path) -> None:
    # The first one is gone by the time of the second, which Python puts where it was.
    lines = ["def fails():", "    return int('')", "def both():", "    try:", "        fails()",
             "    except ValueError:", "        pass", "    try:", f"        {second}",
             "    except Exception:", "        pass", "both()"]  # fmt: skip
    run("\n".join(lines) + "\n", tmp_path, closer="")
    assert errors_in(tmp_path) == [("raised", 0, 2), ("passed", 0, 5), ("raised", 1, 9)]


@pytest.mark.slow
def test_errors_tell_which_call_they_came_by(tmp_path: Path) -> None:
    lines = ["def fails(n):", "    return {}[n]" , "def tries(n):", "    for _ in 'ab':", "        try:",
             "            return fails(n) if _ == 'a' else int('')", "        except Exception:", "            pass",
             "tries(1)"]  # fmt: skip
    run("\n".join(lines) + "\n", tmp_path, closer="")
    errors = [each for each in told(tmp_path) if each["kind"] in {"raised", "passed"}]
    first, tries, again = (integer(each, "call") for each in errors)
    assert tries == again
    assert first not in {0, tries}


@pytest.mark.slow
def test_an_error_that_is_raised_again_elsewhere_is_still_the_same(tmp_path: Path) -> None:
    lines = ["def fails():", "    return int('')", "def keeps():", "    try:", "        fails()",
             "    except ValueError as error:", "        return error", "kept = keeps()",
             "def tells():", "    raise kept", "try:", "    tells()", "except ValueError:",
             "    pass"]  # fmt: skip
    run("\n".join(lines) + "\n", tmp_path, closer="")
    assert errors_in(tmp_path) == [
        ("raised", 0, 2), ("passed", 0, 5), ("passed", 0, 10), ("passed", 0, 12)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "secret",
    [
        "https://ada:hunter2hunter2@example.org/x",
        "password=hunter2hunter2",
        "ghp_" + "a1B2" * 9,
        "postgres://ada:hunter2hunter2@[::1]/db\nnext line",
    ],
)
def test_secrets_in_errors_are_masked(secret: str, tmp_path: Path) -> None:
    line = {"kind": "raised", "pid": 1, "number": 0, "type": "ValueError", "message": secret}
    (tmp_path / "1.closer").write_text(json.dumps(line) + "\n" + "\0" * 100)
    evidence = read_closer(tmp_path)
    assert records(as_record(json.loads(evidence.data), "closer"), "told")
    assert b"hunter2" not in evidence.data
    assert b"a1B2a1B2" not in evidence.data


def test_a_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "1.closer").write_bytes(b'{"kind": "raised", "num')
    (tmp_path / "2.calls").write_bytes(b"\0" * 4096)
    assert told_in([read_closer(tmp_path)]) == []
