"""Where threads wait for each other's locks, the first line of every verb says who for whom."""

import json
import sys
import venv
from pathlib import Path

import pytest
from whet_command import Whet, patience

HANGS = Path(__file__).parents[3] / "specimens" / "hangs"
CIRCLE = (
    "deadlock: transfer holds accounts, waits for ledger at two_locks.py:13;"
    " audit holds ledger, waits for accounts at two_locks.py:21"
)

JOINED = """\
import threading
class Bank:
    def __init__(self): self.lock = threading.RLock()
    def work(self):
        started.set()
        self.lock.acquire()
started, bank = threading.Event(), Bank()
worker = threading.Thread(target=bank.work, name="worker")
with bank.lock:
    worker.start()
    started.wait()
    worker.join()
"""
BY_HAND = """\
import threading
locks = {"a": threading.Lock(), "b": threading.Condition()}
ready = threading.Barrier(2)
def first():
    with locks["a"]:
        ready.wait()
        with open(__file__), locks["b"]: pass
threading.Thread(target=first, name="other").start()
locks["b"].acquire()
try:
    ready.wait()
    locks["a"].acquire()
finally:
    locks["b"].release()
"""
ITSELF = """\
import threading
lock = threading.Lock()
def inner():
    with lock: pass
with lock:
    inner()
"""
SLOW = """\
import threading, time
lock, held = threading.Lock(), threading.Event()
def hold():
    with lock:
        held.set()
        time.sleep(1000)
threading.Thread(target=hold, daemon=True).start()
held.wait()
with lock: pass
"""
GIVEN_BACK = """\
import threading
lock, gone = threading.Lock(), threading.Event()
def hand_over():
    lock.acquire()
    lock.release()
    lock.acquire()
    lock.release()
    gone.wait()
other = threading.Thread(target=hand_over, daemon=True)
other.start()
with threading.Lock():
    other.join()
"""
TWINS = """\
import threading
class Account:
    def __init__(self): self.lock = threading.Lock()
    def move(self, other):
        with self.lock:
            ready.wait()
            other.take()
    def take(self):
        with self.lock: pass
def begin():
    one, other = MAKE
    threading.Thread(target=one.move, args=(other,), name="other").start()
    other.move(one)
ready = threading.Barrier(2)
accounts = [Account(), Account()]
begin()
"""
IN_A_LIST = """\
import threading
locks = [threading.Lock() for _ in range(2)]
ready = threading.Barrier(2)
def take(one, other):
    with one:
        ready.wait()
        with other: pass
threading.Thread(target=take, args=locks, name="other").start()
take(locks[1], locks[0])
"""


JOINED_CIRCLE = (
    "deadlock: worker waits for self.lock at main.py:6; MainThread holds self.lock,"
    " waits for the end of worker at main.py:12"
)
BY_HAND_CIRCLE = (
    'deadlock: other holds locks["a"], waits for locks["b"] at main.py:7;'
    ' MainThread holds locks["b"], waits for locks["a"] at main.py:12'
)
TWIN_CIRCLE = (
    "deadlock: other holds self.lock ({0}), waits for self.lock ({1}) at main.py:9;"
    " MainThread holds self.lock ({1}), waits for self.lock ({0}) at main.py:9"
)
LIST_CIRCLE = (
    "deadlock: other holds other (locks[0]), waits for other (locks[1]) at main.py:7;"
    " MainThread holds other (locks[1]), waits for other (locks[0]) at main.py:7"
)
ITSELF_CIRCLE = "deadlock: MainThread holds lock, waits for lock itself at main.py:4"


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (JOINED, JOINED_CIRCLE),
        (BY_HAND, BY_HAND_CIRCLE),
        (ITSELF, ITSELF_CIRCLE),
        (TWINS.replace("MAKE", "accounts"), TWIN_CIRCLE.format("accounts[0]", "accounts[1]")),
        (
            TWINS.replace("MAKE", "Account(), Account()"),
            TWIN_CIRCLE.format("2 of 2 of this name", "1 of 2 of this name"),
        ),
        (IN_A_LIST, LIST_CIRCLE),
        (SLOW, "no end after"),
        (GIVEN_BACK, "no end after"),
    ],
    ids=[
        "joined",
        "by hand",
        "itself",
        "twins",
        "twins of no name",
        "in a list",
        "slow",
        "given back",
    ],
)
def test_a_program_that_only_waits_when_its_time_is_up_says_for_whom(
    text: str, told: str, whet: Whet
) -> None:
    whet.write("main.py", text)

    said = whet("run", "--timeout", patience(1), "--", sys.executable, "main.py")

    first, *_ = said.stderr.splitlines()
    assert said.code == 124
    assert f" · {told}" in first


CROSSED = """\
import os, threading, time
a, b, met = threading.Lock(), threading.Lock(), threading.Barrier(2)
silence, _ = os.pipe()
def first():
    with a:
        met.wait()
        {one}
def second():
    with b:
        met.wait()
        {two}
both = [threading.Thread(target=each, name=each.__name__) for each in (first, second)]
for each in both: each.start()
for each in both: each.join()
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("b.acquire(timeout=99)", "a.acquire(True, 99)"),
        ("os.read(silence, 1)", "time.sleep(99)"),
        ("os.read(silence, 1)", "with a: pass"),
        ("if b.acquire(): pass", "both[0].join(99)"),
    ],
)
def test_who_may_go_on_or_waits_for_something_else_is_in_no_circle(
    one: str, two: str, whet: Whet
) -> None:
    whet.write("main.py", CROSSED.format(one=one, two=two))

    said = whet("run", "--hang", patience(0.5), "--", sys.executable, "main.py").stderr

    assert "BAD hang" in said
    assert "deadlock" not in said


@pytest.mark.parametrize(
    ("one", "two", "told"),
    [
        (
            "b.acquire()",
            "with threading.Lock(), a: pass",
            "first holds a, waits for b at main.py:7; second holds b, waits for a at main.py:11",
        ),
        (
            "with b: pass",
            "both[0].join()",
            "first waits for b at main.py:7; second holds b, waits for the end of first at main.py:11",
        ),
    ],
)
def test_who_never_goes_on_is_in_one(one: str, two: str, told: str, whet: Whet) -> None:
    whet.write("main.py", CROSSED.format(one=one, two=two))

    said = whet("run", "--hang", patience(0.5), "--", sys.executable, "main.py").stderr

    assert f"deadlock: {told}" in said


def test_each_verb_says_it_in_its_first_line(whet: Whet) -> None:
    hanging = ("--hang", patience(1), "--", sys.executable, str(HANGS / "two_locks.py"))

    ran = whet("run", *hanging)
    first, *_ = ran.stderr.splitlines()
    assert first.startswith("whet: BAD hang · ")
    assert f" · {CIRCLE} · trial 1" in first
    assert whet("stacks").stdout.splitlines()[0] == CIRCLE
    assert json.loads(whet("stacks", "--json").stdout)["deadlock"] == CIRCLE
    assert CIRCLE in whet("log").stdout


@pytest.mark.long
def test_it_is_named_where_the_interpreter_imports_threading_before_the_program(whet: Whet) -> None:
    made = whet.folder.parent / "made"
    venv.create(made, symlinks=True)
    minor = f"python3.{sys.version_info.minor}"
    (made / "lib" / minor / "site-packages" / "early.pth").write_text("import threading\n")

    command = (str(made / "bin" / minor), str(HANGS / "two_locks.py"))
    done = whet("run", "--timeout", patience(2), "--", *command)

    assert CIRCLE in done.stderr


@pytest.mark.long
def test_an_investigation_calls_it_a_hang_and_names_the_circle(whet: Whet) -> None:
    hanging = ("--hang", patience(1), "--", sys.executable, str(HANGS / "two_locks.py"))

    found = whet("investigate", "--output", "report", *hanging)

    assert f"hang: {CIRCLE}\n" in found.stderr
    assert f"\n{CIRCLE}\n" in found.stdout
