"""A program that hangs looks for a file again and again: `whet investigate` names it, and what happens without it."""

import fcntl
import os
import socket

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

LOCKED = """
import os
import time


def exclusive(path):
    while True:
        try:
            return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            time.sleep(0.05)


exclusive("job.lock")
print("done")
"""
WAITS = """
import os
import time


def wait_for(path):
    while {test}:
        time.sleep(0.05)
    return open(path).read()


{before}
print(wait_for("out/ready.txt"))
"""
STUCK = """
import os
import threading
import time


def watch(path):
    while os.path.exists(path):
        time.sleep(0.05)


threading.Thread(target=watch, args=("running",), daemon=True).start()
lock = threading.Lock()
lock.acquire()
lock.acquire()
"""


ASKS = """
import fcntl
import time


def locked(path):
    handle = open(path, "w")
    while True:
        try:
            {lock}(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except BlockingIOError:
            time.sleep(0.05)


locked("state.lock")
print("done")
"""


CONNECTS = """
import socket
import time

for _ in range(4):
    socket.create_server(("127.0.0.1", 0)).close()


def connected(port):
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=2)
            connection.recv(1)
        except OSError:
            time.sleep(0.05)


connected({port})
"""


def investigated(whet: Whet, text: str) -> str:
    """Return what an investigation of a program says, on one line."""
    whet.write("main.py", text)
    ran = whet("investigate", "--budget", "90s", "--hang", "1s", "--", "python", "main.py")
    return " ".join(ran.stdout.split())


def test_a_lock_file_of_a_process_that_is_gone_is_the_cause_of_a_hang(whet: Whet) -> None:
    whet.write("job.lock", "4194999\n")

    said = investigated(whet, LOCKED)

    assert (
        "cause: main.py:9 tries to make `job.lock` again and again; it was there before the program began"
        " and holds 4194999 (no process has that number now); without it the command passes"
    ) in said
    assert "shown: the failure came and went with it" in said
    assert (whet.folder / "job.lock").read_text() == "4194999\n"


@pytest.mark.long
def test_a_file_whose_end_is_waited_for_is_the_cause_if_the_command_passes_without_it(
    whet: Whet,
) -> None:
    whet.write("out/ready.txt", "1\n")
    test = "os.path.exists(path)"

    said = investigated(
        whet, WAITS.format(test=test, before="").replace("return open(path).read()", "return 1")
    )

    assert (
        "cause: main.py:7 looks again and again whether `out/ready.txt` is gone; it was there before the"
        " program began; without it the command passes"
    ) in said


@pytest.mark.long
@pytest.mark.parametrize(
    ("test", "before", "beside", "after"),
    [
        pytest.param(
            "not os.path.exists(path)", "", "", "with an empty one the command passes", id="plain",
        ),
        pytest.param(
            "not os.access(path, os.R_OK)",
            "os.makedirs('out', exist_ok=True); open('out/raedy.txt', 'w').close()",
            "; a name that is nearly the same is there: `raedy.txt`",
            "with an empty one the command passes",
            id="mistyped",
        ),
        pytest.param(
            "not os.path.exists(path) or 1 / os.path.getsize(path) < 0", "", "",
            "with an empty one it fails in another way: ZeroDivisionError: division by zero",
            id="another failure",
        ),
    ],
)  # fmt: skip
def test_a_file_that_is_waited_for_and_never_comes_is_named_with_what_an_empty_one_brings(
    whet: Whet, test: str, before: str, beside: str, after: str
) -> None:
    said = investigated(whet, WAITS.format(test=test, before=before))

    whether = "main.py:7 looks again and again whether `out/ready.txt` is there, and it isn't"
    assert f"cause: {whether}{beside}; {after}" in said
    assert not (whet.folder / "out/ready.txt").exists()


@pytest.mark.long
@pytest.mark.parametrize("lock", ["fcntl.lockf", "fcntl.flock"])
def test_a_process_that_holds_a_lock_that_is_asked_for_again_and_again_is_named(
    whet: Whet, lock: str
) -> None:
    with (whet.folder / "state.lock").open("w") as handle:
        (fcntl.flock if lock == "fcntl.flock" else fcntl.lockf)(handle, fcntl.LOCK_EX)
        said = investigated(whet, ASKS.format(lock=lock))

    assert (
        "cause: main.py:10 asks again and again for the lock of `state.lock`, which process" in said
    )
    assert f"process {os.getpid()} (`" in said
    assert f"(`ps -fp {os.getpid()}`)" in said


def test_a_file_that_another_thread_looks_for_is_not_the_cause_of_a_hang(whet: Whet) -> None:
    whet.write("running", "")

    said = investigated(whet, STUCK)

    assert "`running`" not in said


@pytest.mark.long
@pytest.mark.parametrize("is_heard", [True, False])
def test_an_address_that_is_tried_again_and_again_is_named_if_nothing_listens_there(
    whet: Whet, *, is_heard: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if not is_heard:
            server.close()
        said = investigated(whet, CONNECTS.format(port=port))

    names = f"connects to 127.0.0.1:{port} again and again"
    assert (names in said) is not is_heard
    if not is_heard:
        assert "Cause not found. possible causes" in said  # which thread connects isn't known
        assert "no program listens there; it waits at main.py:15" in said
        assert f"Start the program that is to listen at 127.0.0.1:{port}, or correct" in said


@pytest.mark.long
def test_of_a_file_that_cannot_be_changed_nothing_is_said(whet: Whet) -> None:
    said = investigated(whet, LOCKED.replace('"job.lock"', '"/proc/self/maps"'))

    assert "`/proc/self/maps`" not in said
    assert "in another way" not in said


@pytest.mark.long
def test_a_file_that_the_program_makes_itself_is_not_said_to_have_been_there(whet: Whet) -> None:
    said = investigated(whet, LOCKED + '\nexclusive("job.lock")\n')

    assert "was there before the program began" not in said
    assert "main.py:9 waits until `job.lock` is gone, which has come since whet began" in said
    assert "Delete `job.lock`, and add `--clean`: no run leaves anything then." in said
