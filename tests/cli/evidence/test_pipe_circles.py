"""Where processes wait for each other at pipes, the first line says who for whom."""

import json
import platform
import subprocess
import sys

import pytest
from whet_command import Whet, patience

pytestmark = pytest.mark.skipif(
    platform.machine() not in {"x86_64", "aarch64"},
    reason="the system calls of this processor are not known",
)

START = """\
import os, subprocess, sys, threading
child = subprocess.Popen([sys.executable, "child.py"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
"""
LOUD = """\
import sys
print("begins", flush=True)
for _ in range(3000):
    print("warning: " + "x" * 60, file=sys.stderr)
print("ends")
"""
FILLS = "import sys\nsys.stdout.write('x' * 1_000_000)\n"
ECHOES = "import os\nwhile data := os.read(0, 500): os.write(1, data)\n"
SLOW = "import time\ntime.sleep(1000)\n"
ASKS = "import sys\nprint(sys.stdin.readline().upper(), flush=True)\n"

ONE_AFTER_THE_OTHER = START + "out = child.stdout.read()\nerr = child.stderr.read()\n"
ENDS_FIRST = START + "child.stdin.close()\nchild.wait()\nout = child.stdout.read()\n"
WRITES_ALL_FIRST = START + 'for _ in range(9000):\n    child.stdin.write(b"y" * 60 + b"\\n")\n'
FORGETS_THE_NEWLINE = START + 'child.stdin.write(b"hello")\nprint(child.stdout.readline())\n'
KEEPS_ITS_OWN_END = """\
import os
r, w = os.pipe()
if os.fork() == 0:
    os.close(r)
    os.write(w, b"done")
    os._exit(0)
with open(r, "rb") as file:
    print(file.read())
"""


LOCKS_FIRST = """\
import fcntl, subprocess, sys
held = open("north.lock", "w")
fcntl.{0}(held, fcntl.LOCK_EX)
child = subprocess.Popen([sys.executable, "child.py"], stdout=subprocess.PIPE)
print(child.stdout.read())
"""
LOCKS_TOO = """\
import fcntl, sys
with open("north.lock", "w") as held:
    fcntl.{0}(held, fcntl.LOCK_EX)
    print("locked")
"""
CROSSED = """\
import fcntl, os
def work(first, second, ready, go):
    with open(first, "w") as one, open(second, "w") as other:
        fcntl.flock(one, fcntl.LOCK_EX)
        os.write(ready, b"x")
        os.read(go, 1)
        fcntl.flock(other, fcntl.LOCK_EX)
(r1, w1), (r2, w2) = os.pipe(), os.pipe()
if os.fork():
    work("a.lock", "b.lock", w1, r2)
else:
    work("b.lock", "a.lock", w2, r1)
"""
LOCKS_TWICE = """\
import fcntl
one, other = open("a.lock", "w"), open("a.lock", "w")
fcntl.flock(one, fcntl.LOCK_EX)
fcntl.flock(other, fcntl.LOCK_EX)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "child", "told"),
    [
        (
            LOCKS_FIRST.format("flock"),
            LOCKS_TOO.format("flock"),
            (
                "the main process waits at main.py:5 for the standard output of its child; its child waits"
                " at child.py:3 for the lock of `north.lock`, which the main process holds"
            ),
        ),
        (
            LOCKS_FIRST.format("lockf"),
            LOCKS_TOO.format("lockf"),
            (
                "the main process waits at main.py:5 for the standard output of its child; its child waits"
                " at child.py:3 for the lock of `north.lock`, which the main process holds"
            ),
        ),
        (
            CROSSED,
            "",
            (
                "the main process waits at main.py:7 for the lock of `b.lock`, which its child holds; its child"
                " waits at main.py:7 for the lock of `a.lock`, which the main process holds"
            ),
        ),
        (
            LOCKS_TWICE,
            "",
            "process waits at main.py:4 for the lock of `a.lock`, which it holds itself",
        ),
        (
            ONE_AFTER_THE_OTHER,
            LOUD,
            (
                "the main process waits at main.py:4 for the standard output of its child; its child waits"
                " at child.py:4 until the main process reads its standard error, as that pipe is full"
            ),
        ),
        (
            ENDS_FIRST,
            FILLS,
            (
                "the main process waits at main.py:5 for the end of its child; its child waits"
                " at child.py:2 until the main process reads its standard output, as that pipe is full"
            ),
        ),
        (
            WRITES_ALL_FIRST,
            ECHOES,
            (
                "the main process waits at main.py:5 until its child reads its standard input, as that pipe"
                " is full; its child waits at child.py:2 until the main process reads its standard output,"
                " as that pipe is full"
            ),
        ),
        (
            FORGETS_THE_NEWLINE,
            ASKS,
            (
                "the main process waits at main.py:5 for the standard output of its child; its child waits"
                " at child.py:2 until the main process writes to its standard input"
            ),
        ),
        (
            KEEPS_ITS_OWN_END,
            "",
            "process waits at main.py:8 for the end of a pipe that it alone has open for writing",
        ),
    ],
    ids=[
        "a lock of flock", "a lock of fcntl", "two locks", "its own lock", "one after the other", "the end first",
        "all input first", "no newline", "its own end",
    ],
)  # fmt: skip
def test_who_waits_for_whom_at_a_pipe_is_named(
    whet: Whet, program: str, child: str, told: str
) -> None:
    whet.write("main.py", program)
    whet.write("child.py", child)

    said = whet("run", "--hang", patience(1), "--", sys.executable, "main.py")

    assert said.code == 124
    (first,) = [each for each in said.stderr.splitlines() if "BAD hang" in each]
    assert f"deadlock: {told}" in first.replace("the program waits", "process waits")
    shown = json.loads(whet("stacks", "--json").stdout)["deadlock"]
    assert told in shown.replace("the program waits", "process waits")


SLOW_HOLDER = """\
import fcntl, subprocess, sys, time
held = open("north.lock", "w")
fcntl.flock(held, fcntl.LOCK_EX)
child = subprocess.Popen([sys.executable, "child.py"], stdout=subprocess.PIPE)
time.sleep(1000)
"""
IDLE_POOL = """\
import multiprocessing, threading
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(abs, [-1, 2]), flush=True)
        threading.Event().wait()
"""
OTHER_READER = START + (
    "drained = threading.Thread(target=child.stderr.read)\ndrained.start()\nchild.stdout.read()\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "child"),
    [
        (ONE_AFTER_THE_OTHER, SLOW),
        (ENDS_FIRST, SLOW),
        (SLOW_HOLDER, LOCKS_TOO.format("flock")),
        (OTHER_READER, LOUD + "import time\ntime.sleep(1000)\n"),
        (IDLE_POOL, ""),
    ],
    ids=[
        "a slow child",
        "the end of a slow child",
        "a slow holder of a lock",
        "each pipe has its reader",
        "an idle pool",
    ],
)
def test_who_waits_for_what_may_still_come_is_in_no_circle(
    whet: Whet, program: str, child: str
) -> None:
    whet.write("main.py", program)
    whet.write("child.py", child)

    said = whet("run", "--timeout", patience(1), "--", sys.executable, "main.py")

    assert said.code == 124
    assert "deadlock" not in said.stderr


@pytest.mark.long
def test_an_investigation_names_who_leaves_the_other_pipe_full(whet: Whet) -> None:
    whet.write("main.py", ONE_AFTER_THE_OTHER)
    whet.write("child.py", LOUD)

    said = whet("investigate", "--hang", patience(1), "--", sys.executable, "main.py")

    answer = " ".join(said.stdout.split())
    assert (
        "cause: The main process waits at main.py:4 for the standard output of its child" in answer
    )
    assert "Read both at once: `communicate()`" in answer


@pytest.mark.slow
def test_an_investigation_names_who_holds_a_lock_and_waits_for_who_needs_it(whet: Whet) -> None:
    whet.write("main.py", LOCKS_FIRST.format("flock"))
    whet.write("child.py", LOCKS_TOO.format("flock"))

    said = whet("investigate", "--hang", patience(1), "--", sys.executable, "main.py")

    answer = " ".join(said.stdout.split())
    assert (
        "cause: The main process waits at main.py:5 for the standard output of its child" in answer
    )
    assert "Release the lock before waiting" in answer


@pytest.mark.long
def test_an_investigation_names_the_other_program_that_holds_a_lock(whet: Whet) -> None:
    whet.write("child.py", LOCKS_TOO.format("flock"))
    holder = whet.write("holder.py", LOCKS_FIRST.format("flock").partition("child")[0])
    holds = f"exec(open({str(holder)!r}).read()); print(flush=True); input()"
    words = [sys.executable, "-c", holds]
    with subprocess.Popen(
        words, cwd=whet.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        said = whet("investigate", "--hang", patience(1), "--", sys.executable, "child.py")
        other.communicate(b"\n")

    answer = " ".join(said.stdout.split())
    assert "cause: child.py:3 waits for the lock of" in answer
    assert f"which process {other.pid} (`python" in answer
    assert "that process isn't one of this command's" in answer
