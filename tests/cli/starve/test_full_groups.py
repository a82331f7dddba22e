"""A control group around whet that is too small for all that whet keeps, as a job of Slurm's is."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from loop_command import SLOW, looping
from whet_command import Whet

from whet.host.kernel.control_groups import new_group, own_group, remove_group

# Each list has 32 MB, and to read it writes to it: the copies cannot share it with the program.
GROWS = f"""
{SLOW}
def more(numbers):
    time.sleep(0.06)
    return [number + 1 for number in numbers]

if __name__ == "__main__":
    first = [float(number) for number in range(1_000_000)]
    second = more(first)
    third = more(second)
    time.sleep(0.06)
    print(third[0])
"""
WHET_BYTES = 90 << 20
PROGRAM_BYTES = 110 << 20


@pytest.fixture
def group() -> Iterator[Path]:
    """Yield a control group of version 1 for memory."""
    parent = own_group("memory")
    if parent is None or not os.access(parent, os.W_OK):
        pytest.skip("no control group of version 1 for memory may be made here")
    folder = Path(new_group(parent))
    folder.mkdir()
    try:
        yield folder
    finally:
        remove_group(str(folder))


def _limited(whet: Whet, group: Path, limit_bytes: int) -> tuple[str, ...]:
    (group / "memory.limit_in_bytes").write_text(str(limit_bytes))
    with suppress(OSError):  # a kernel without swap
        (group / "memory.memsw.limit_in_bytes").write_text(str(limit_bytes))
    whet.write("main.py", GROWS)
    return ("sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "-")


def test_the_kernel_ends_frozen_copies_and_not_the_program(whet: Whet, group: Path) -> None:
    before = _limited(whet, group, WHET_BYTES + PROGRAM_BYTES)
    with looping(whet, sys.executable, "main.py", before=before) as loop:
        assert loop.out() == "2.0\n"
        assert _ended_in(group), "all copies had room: the test is too weak"
        loop.save("main.py", GROWS.replace("third[0]", "third[1]"))
        told = loop.next()
    assert told["outcome"]["exit_code"] == 0, told


@pytest.mark.long
def test_a_program_for_which_there_is_no_room_beside_whet_says_so(whet: Whet, group: Path) -> None:
    before = _limited(whet, group, PROGRAM_BYTES)
    with looping(whet, sys.executable, "main.py", before=before) as loop:
        outcome = loop.next()["outcome"]
    assert outcome["signal"] == 9
    assert "the control group around whet was full (115 MB" in outcome["notes"][0]
    assert (
        outcome["failure"]["summary"]
        == "killed by SIGKILL, as the control group around whet was full"
    )


def _ended_in(group: Path) -> int:
    words = (group / "memory.oom_control").read_text().split()
    return int(words[words.index("oom_kill") + 1])
