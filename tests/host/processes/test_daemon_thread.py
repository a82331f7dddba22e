"""A thread begins, or its start says that there is no room for it."""

import subprocess
import sys

import pytest

_PROGRAM = """
import resource
from whet.host.kernel.daemon_thread import DaemonThread

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {free}, used + {free}))
try:
    thread = DaemonThread(target=lambda: None)
    thread.start()
    thread.join()
    print("ran")
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize("stack_bytes", [1 << 20, 8 << 20])
@pytest.mark.parametrize("beside_bytes", [0, 64 << 10, 150 << 10, 400 << 10, 1 << 20])
def test_a_thread_without_room_for_its_first_frames_is_refused(
    stack_bytes: int, beside_bytes: int
) -> None:
    program = _PROGRAM.format(free=stack_bytes + beside_bytes)
    done = subprocess.run(
        ["prlimit", f"--stack={stack_bytes}", sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert done.stdout == "can't start new thread\n"


def test_a_thread_with_room_runs() -> None:
    program = _PROGRAM.format(free=256 << 20)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "ran\n"
