"""Does a real program still do something, or does it wait for what never comes?"""

import platform
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from whet.host.process.process_facts import facts_of
from whet.host.trial.hang_detector import Idleness

_PATIENCE_SECONDS = 30.0
KNOWN = platform.machine() in {"x86_64", "aarch64"}


@contextmanager
def running(program: str) -> Generator[int]:
    """Run a program that prints a line when it is where it shall be seen."""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            until_it_waits(process.pid)
            yield process.pid
        finally:
            process.kill()


def until_it_waits(pid: int) -> None:
    """Return when the kernel says that it waits, or that it computes on and on."""
    facts = facts_of(pid)
    assert facts is not None
    begun = facts.cpu_seconds
    while facts is not None and facts.state == "R" and facts.cpu_seconds < begun + 0.1:
        facts = facts_of(pid)


def is_stuck(pid: int) -> bool:
    """Look twice, the second time when the program has had its chance to compute."""
    idleness = Idleness()
    idleness.begin()
    assert not idleness.is_stuck(pid), "a first look is no proof"
    until_it_waits(pid)
    return idleness.is_stuck(pid)


@pytest.mark.skipif(not KNOWN, reason="the system calls of this processor are not known")
@pytest.mark.parametrize(
    "waits",
    [
        "lock = threading.Lock(); lock.acquire(); print(flush=True); lock.acquire()",
        "print(flush=True); os.read(os.pipe()[0], 1)",
        "print(flush=True); os.waitpid(subprocess.Popen(['cat'], stdin=subprocess.PIPE).pid, 0)",
    ],
    ids=["a lock", "a pipe", "a program that waits itself"],
)
def test_what_waits_without_an_end_is_stuck(waits: str) -> None:
    with running(f"import os, subprocess, threading\n{waits}") as pid:
        ends = time.monotonic() + _PATIENCE_SECONDS
        while not is_stuck(pid):  # it, or what it has started, is on its way there still
            assert time.monotonic() < ends
            time.sleep(0.005)


@pytest.mark.parametrize(
    "goes_on",
    [
        "print(flush=True)\nwhile True: pass",
        "print(flush=True); time.sleep(100)",
        "print(flush=True); threading.Event().wait(100)",
        "a, b = socket.socketpair(); print(flush=True); a.recv(1)",
    ],
    ids=["it computes", "it sleeps", "it waits for a while", "it waits for a network"],
)
def test_what_may_go_on_by_itself_is_not_stuck_yet(goes_on: str) -> None:
    with running(f"import socket, threading, time\n{goes_on}") as pid:
        assert not is_stuck(pid)


def test_a_program_that_is_gone_is_no_hang() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    idleness = Idleness()
    idleness.begin()
    idleness.is_stuck(process.pid)
    assert not idleness.is_stuck(process.pid)
