"""Clean rooms side by side: programs with a fixed path and port do not meet."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from laboratory import PATIENCE_SECONDS, Laboratory

from whet.core.limits import Limits
from whet.core.room import Disk, Room

_FIXED = """
import os, socket
os.mkdir("/tmp/whet-room-lock")
os.mkdir("run")
with socket.socket() as server:
    server.bind(("127.0.0.1", 9723))
    server.listen()
    socket.create_connection(("127.0.0.1", 9723)).close()
print(os.getpid() < 10)
"""


def _run_side_by_side(laboratory: Laboratory, trials: int) -> None:
    laboratory.jobs = 8
    program = laboratory.work / "fixed.py"
    program.write_text(_FIXED)
    room = Room(is_clean=True, project=str(laboratory.work), network="loopback")
    plain = laboratory.trial(sys.executable, "-S", str(program))
    trial = replace(plain, limits=Limits(room=room))
    with laboratory.make() as executor:
        futures = [executor.submit(trial) for _ in range(trials)]
        outcomes = [future.result(PATIENCE_SECONDS * 20) for future in futures]

    assert [(each.exit_code, each.stdout.head(9)) for each in outcomes] == [(0, b"True\n")] * trials
    assert not (laboratory.work / "run").exists()
    assert not Path("/tmp/whet-room-lock").exists()


def test_eight_at_once_do_not_meet(laboratory: Laboratory) -> None:
    _run_side_by_side(laboratory, 24)


@pytest.mark.long
def test_a_thousand_by_eight_do_not_meet(laboratory: Laboratory) -> None:
    _run_side_by_side(laboratory, 1000)


def test_a_disk_is_empty_again_for_the_next_trial_of_a_slot(laboratory: Laboratory) -> None:
    disk = laboratory.work / "disk"
    disk.mkdir()
    room = Room(disks=(Disk(path=str(disk), size_bytes=1 << 20),))
    fill = f"ls {disk}; dd if=/dev/zero of={disk}/x bs=64k 2>/dev/null"
    trial = replace(laboratory.trial("sh", "-c", fill), limits=Limits(room=room))
    with laboratory.make() as executor:
        outcomes = [executor.submit(trial).result(PATIENCE_SECONDS) for _ in range(3)]

    assert [outcome.stdout.size_bytes for outcome in outcomes] == [0, 0, 0]
    assert [[met.words for met in outcome.limits_met] for outcome in outcomes] == [
        ["1.00 of 1.00 MiB"]
    ] * 3


def test_a_hidden_file_is_empty_and_cannot_be_reached(laboratory: Laboratory) -> None:
    node = laboratory.work / "node"
    node.write_text("a device")
    trial = laboratory.trial("sh", "-c", f"cat {node}; test -c {node}")
    hidden = replace(trial, limits=Limits(room=Room(hidden=(str(node),))))
    with laboratory.make() as executor:
        outcome = executor.submit(hidden).result(PATIENCE_SECONDS)

    assert (outcome.exit_code, outcome.stdout.size_bytes) == (0, 0)
    assert node.read_text() == "a device"
