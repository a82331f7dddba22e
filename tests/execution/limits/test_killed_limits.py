"""whet killed by SIGKILL while limits hold: the next one leaves no group and no process."""

import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from laboratory import Laboratory, fifo, guardians, spawners

from whet.core.limits import Limits
from whet.host.limits.groups.groups_v1 import GroupsV1
from whet.host.process.cleanup_journal import CleanupJournal

_WHET = """
import sys
from contextlib import suppress
from pathlib import Path
sys.path.insert(0, {tests!r})
from laboratory import Laboratory
from whet.core.limits import Limits
from whet.core.trial import Trial
laboratory = Laboratory(Path(sys.argv[1]))
limits = Limits(memory_bytes=64 << 20, processes=50, cpus=0.5, files=64)
command = ("sh", "-c", sys.argv[2])
while True:
    with laboratory.make() as executor:
        executor.submit(Trial(command=command, cwd=sys.argv[1], limits=limits)).result()
"""
_LIMITS = Limits(memory_bytes=64 << 20, processes=50, cpus=0.5)


@pytest.fixture(autouse=True)
def _groups() -> None:
    for name in ("memory", "processes", "cpus"):
        blocker = GroupsV1().blocker(name, _LIMITS)
        if blocker:
            pytest.skip(f"cgroup v1: {blocker}")


def _start(folder: Path, script: str) -> "subprocess.Popen[bytes]":
    program = _WHET.format(tests=str(Path(__file__).parents[1]))
    return subprocess.Popen([sys.executable, "-c", program, str(folder), script])


def _groups_of(pid: int) -> list[Path]:
    return list(Path("/sys/fs/cgroup").glob(f"**/whet-{pid}-*"))


def _kill_both(whet: "subprocess.Popen[bytes]") -> None:
    pids = (whet.pid, *guardians(whet.pid), *spawners(whet.pid))
    for number in (signal.SIGSTOP, signal.SIGKILL):  # so that none of them sees another's end
        for pid in pids:
            with suppress(ProcessLookupError):  # a spawner that was about to end
                os.kill(pid, number)


@pytest.mark.parametrize("killed", ["whet", "whet and its spawner"])
def test_no_group_and_no_process_stays(laboratory: Laboratory, killed: str) -> None:
    inner = laboratory.folder / "inner"
    inner.mkdir()
    with fifo(laboratory.folder) as held:
        daemon = f"setsid sh -c 'exec 9>{held.path}; echo up >&9; sleep 1000' & sleep 1000"
        with _start(inner, f"exec 9>{held.path}; {daemon}") as whet:
            held.wait_for_a_word()
            assert len(_groups_of(whet.pid)) == 3
            if killed != "whet":
                _kill_both(whet)
            whet.kill()
        CleanupJournal(inner / "made").sweep()
        held.wait_until_all_are_dead()
    assert _groups_of(whet.pid) == []


@pytest.mark.long
def test_100_kills_at_random_moments_leave_nothing(laboratory: Laboratory) -> None:
    chance = random.Random(6)
    for number in range(100):
        inner = laboratory.folder / f"inner-{number}"
        inner.mkdir()
        with fifo(inner) as held:
            own = os.open(held.path, os.O_WRONLY)  # or a kill before anybody has opened it hangs
            script = (
                f"exec 9>{held.path}; (setsid sleep 1000 &) ; head -c 90000000 /dev/zero | tail"
            )
            with _start(inner, script) as whet:
                try:
                    whet.wait(chance.uniform(0.05, 1.2))  # the moment is the point
                except subprocess.TimeoutExpired:
                    if chance.random() < 0.5:
                        _kill_both(whet)
                    whet.kill()
            CleanupJournal(inner / "made").sweep()
            os.close(own)
            held.wait_until_all_are_dead()
        assert _groups_of(whet.pid) == []
