"""Process groups end with the process that holds them, and with nothing else."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from whet.host.spawner.tethers import Tethers


def _group() -> "subprocess.Popen[bytes]":
    """Start a shell and its child in a group of their own, which says a word when both run."""
    script = "sleep 1000 & echo up; wait"
    started = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    assert started.stdout is not None
    assert started.stdout.readline() == b"up\n"
    return started


def _in_child(do: Callable[[], None]) -> None:
    pid = os.fork()
    if pid == 0:
        do()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)


def test_all_groups_end_with_the_process_that_holds_them() -> None:
    groups = [_group() for _ in range(3)]
    _in_child(lambda: Tethers().hold([each.pid for each in groups]))

    for each in groups:
        assert each.communicate()[0] == b""  # its child has closed the pipe, too
        assert each.wait() == -signal.SIGKILL


@pytest.mark.parametrize("count", [1, 3])
def test_groups_that_are_released_live_on(count: int) -> None:
    groups = [_group() for _ in range(count)]
    pids = [each.pid for each in groups]

    def hold_and_release() -> None:
        tethers = Tethers()
        tethers.hold(pids)
        tethers.release()

    _in_child(hold_and_release)
    for each in groups:
        assert each.poll() is None
        os.killpg(each.pid, signal.SIGTERM)
        assert each.wait() == -signal.SIGTERM
        each.communicate()


def test_a_process_that_is_gone_and_its_own_group_are_left_out() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    before = len(list(Path("/proc/self/fd").iterdir()))
    tethers = Tethers()
    tethers.hold([gone.pid, os.getpid()])

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_group_that_has_ended_takes_no_descriptors() -> None:
    group = _group()
    zombie = group.pid
    os.killpg(zombie, signal.SIGKILL)
    os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT)
    before = len(list(Path("/proc/self/fd").iterdir()))
    tethers = Tethers()
    tethers.hold([zombie])
    tethers.release()
    group.wait()
    tethers.hold([zombie])

    assert len(list(Path("/proc/self/fd").iterdir())) == before
    group.communicate()
