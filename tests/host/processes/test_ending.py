"""Laws of being told to end: a signal is heard wherever the main thread waits."""

import os
import signal
import subprocess
import sys

import pytest

from whet.host.process.ending import interruption_behind

PATIENCE_SECONDS = 60.0

# The signal comes to another thread, as it may: the system call that the main thread waits in
# goes on. So it does where the signal comes a moment before the main thread begins to wait.
PROGRAM = """
import os, queue, signal, threading, time
from whet.host.process.ending import orderly_end

def tell():
    asleep = 0
    while asleep < 10:
        time.sleep(0.005)  # without it the main thread may wait for this one alone
        with open(f"/proc/self/task/{{os.getpid()}}/syscall") as where:
            asleep = asleep + 1 if where.read() != "running\\n" else 0
    signal.pthread_kill(threading.get_ident(), signal.{name})

with orderly_end():
    threading.Thread(target=tell, daemon=True).start()
    try:
        {waits}
    except KeyboardInterrupt:
        os._exit(130)
"""
WAITS = {
    "queue": "queue.SimpleQueue().get()",
    "lock": "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "condition": "threading.Event().wait()",
    "pipe": "os.read(os.pipe()[0], 1)",
}


@pytest.mark.parametrize("waits", WAITS.values(), ids=WAITS)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_that_comes_to_another_thread_ends_what_the_main_one_waits_in(
    waits: str, name: str
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(name=name, waits=waits)],
        timeout=PATIENCE_SECONDS,
        check=False,
    )

    assert ended.returncode == 128 + signal.Signals[name]


WITHOUT_THREADS = """
import os, resource, signal
from whet.host.process.ending import orderly_end
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
os.setuid(54321)
descriptors = os.listdir("/proc/self/fd")
try:
    with orderly_end():
        os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    os._exit(130 if os.listdir("/proc/self/fd") == descriptors else 1)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: to become a user without threads")
def test_whet_runs_and_ends_where_no_thread_may_be_started() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREADS], timeout=PATIENCE_SECONDS, check=False
    )

    assert ended.returncode == 128 + signal.SIGINT


IN_A_CLASS = """
import os, signal, sys
from whet.cli import main

class Ends:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.{name})

def make(*_arguments, **_options):
    class Ended:
        field = Ends()

main.cli.main = make
sys.exit(main.run_cli([]))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_a_class_is_made_is_no_fault_of_whets(name: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", IN_A_CLASS.format(name=name)],
        timeout=PATIENCE_SECONDS,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 128 + signal.Signals[name]
    assert "itself failed" not in ended.stderr


def test_behind_an_error_that_is_its_own_cause_is_no_interruption() -> None:
    first, second = OSError("first"), OSError("second")
    first.__cause__, second.__cause__ = second, first
    itself = OSError("itself")
    itself.__cause__ = itself

    assert interruption_behind(first) is None
    assert interruption_behind(itself) is None


HELD_TWICE = """
import os, signal
from whet.host.process.ending import holding_signals, orderly_end
told = []
with orderly_end(), holding_signals(lambda: told.append("outer")):
    with holding_signals() as let_go:
        os.kill(os.getpid(), signal.SIGTERM)
        let_go()
    os.write(1, repr(told).encode())
os.write(1, b"not reached")
"""


def test_a_signal_that_is_held_twice_counts_after_the_outer_end() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HELD_TWICE], stdout=subprocess.PIPE, timeout=60, check=False
    )

    assert (ended.returncode, ended.stdout) == (128 + signal.SIGTERM, b"['outer']")
