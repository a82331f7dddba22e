"""The clean room: every trial starts from the same files, and trials side by side do not meet."""

import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from room_users import User, user

_WRITES = """
import os, shutil
print(sorted(os.listdir(".")), sorted(os.listdir("data")), os.path.exists("/dev/shm/whet-room-test"))
open("new.txt", "w").write("new")
open("data/changed.txt", "w").write("changed")
os.remove("data/gone.txt")
open("/dev/shm/whet-room-test", "w").close()
open(os.path.join(os.environ["TMPDIR"], "here"), "x").close()
open("/tmp/whet-room-test", "x").close()
"""
_FIXED = """
import os, socket, time
os.mkdir("/tmp/whet-room-lock")
os.mkdir("run")
with socket.socket() as server:
    server.bind(("127.0.0.1", 9723))
    server.listen()
    with socket.create_connection(("127.0.0.1", 9723)):
        print("alone", os.getpid() < 10)
"""
_OFFLINE = """
import socket, sys
socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
"""


@pytest.fixture(params=["root", "ordinary"])
def ada(request: pytest.FixtureRequest) -> Iterator[User]:
    with user(request.param) as one:
        yield one


@pytest.fixture
def written(ada: User) -> User:
    ada.make_folder("data")
    for name in ("changed.txt", "gone.txt"):
        ada.write(f"data/{name}", "as it was")
    ada.write("writes.py", _WRITES)
    return ada


def test_what_a_trial_writes_is_gone_with_it(written: User) -> None:
    first, second = (written("run", "--clean", "--", written.python, "writes.py") for _ in "ab")

    assert (first.code, second.code) == (0, 0), first.stderr + second.stderr
    assert first.stdout == second.stdout
    assert "False" in first.stdout
    data = written.folder / "data"
    assert {path.name: path.read_text() for path in data.iterdir()} == {
        "changed.txt": "as it was",
        "gone.txt": "as it was",
    }
    assert not (written.folder / "new.txt").exists()
    assert list(written.temporary.iterdir()) == []
    assert not Path("/tmp/whet-room-test").exists()
    assert not Path("/dev/shm/whet-room-test").exists()


def test_what_a_trial_writes_can_be_kept_elsewhere(written: User) -> None:
    command = (written.python, "writes.py")
    answer = written("run", "--clean", "--keep-writes", "../kept", "--", *command)
    kept = written.folder.parent / "kept" / "1"

    assert "~ data/changed.txt, - data/gone.txt, + new.txt" in answer.stderr
    assert str(kept) in answer.stderr
    files = {str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()}
    assert files == {"new.txt", "data/changed.txt"}
    assert (kept / "data" / "changed.txt").read_text() == "changed"
    assert (kept.parent / "1.txt").read_text().splitlines() == [
        "~ data/changed.txt",
        "- data/gone.txt",
        "+ new.txt",
    ]


def test_trials_side_by_side_with_a_fixed_path_and_port_do_not_meet(ada: User) -> None:
    ada.write("fixed.py", _FIXED)
    options = ("run", "--json", "--clean", "--network", "loopback")
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda _: ada(*options, "--", ada.python, "fixed.py"), range(4))
        said = list(answers)

    assert [each.stderr for each in said if not each.stdout] == []
    outcomes = [json.loads(each.stdout)["outcome"] for each in said]
    assert [outcome["exit_code"] for outcome in outcomes] == [0] * 4, outcomes
    assert not Path("/tmp/whet-room-lock").exists()


@pytest.mark.parametrize("network", ["none", "loopback"])
def test_the_machine_cannot_be_reached_without_a_network(ada: User, network: str) -> None:
    ada.write("offline.py", _OFFLINE)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = str(server.getsockname()[1])
        command = (ada.python, "offline.py", "127.0.0.1", port)
        with_it = ada("run", "--", *command)
        without = ada("run", "--network", network, "--", *command)

    assert with_it.code == 0
    assert without.code == 1
    assert f"limit `--network {network}`" in without.stderr


def test_a_daemon_does_not_outlive_its_room(ada: User) -> None:
    # Whatever still runs holds the reading end of its standard input.
    script = "exec 3<&0; setsid sleep 1000 & sleep 1000 & echo started"
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            ada.command("run", "--clean", "--", "sh", "-c", script),
            cwd=ada.folder,
            env=ada.environment,
            stdin=reading,
            capture_output=True,
            check=False,
            timeout=60,
        )
        os.close(reading)
        assert done.stdout == b"started\n"
        assert _has_no_reader(writing), "the daemon lives"
    finally:
        os.close(writing)
    processes = json.loads(ada("show", "--json").stdout)["outcome"]["processes"]
    assert [each["was_left_behind"] for each in processes] == [False, True, True]


def _has_no_reader(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_a_signal_ends_a_program_in_its_room_as_it_does_outside(number: signal.Signals) -> None:
    with user("root") as ada:
        answer = ada("run", "--clean", "--", "sh", "-c", f"kill -{int(number)} $$")

    assert answer.code == 128 + number
    assert number.name in answer.stderr


def test_what_whet_is_sent_reaches_the_program_in_its_room(ada: User) -> None:
    script = "trap 'echo heard; exit 7' INT; echo up; while :; do sleep 0.01; done"
    with subprocess.Popen(
        ada.command("run", "--clean", "--network", "none", "--", "sh", "-c", script),
        cwd=ada.folder,
        env=ada.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as whet:
        assert whet.stdout is not None
        assert whet.stdout.readline() == b"up\n"
        whet.send_signal(signal.SIGINT)
        stdout, _ = whet.communicate(timeout=60)

    assert stdout == b"heard\n"
    assert whet.returncode == 7


@pytest.mark.long
def test_a_hang_in_a_clean_room_has_its_stack_taken(ada: User) -> None:
    ada.write(
        "hang.py",
        "import time\n\n\ndef wait_for_ever():\n    time.sleep(1000)\n\n\nwait_for_ever()\n",
    )
    answer = ada("run", "--clean", "--timeout", "1", "--", ada.python, "hang.py")

    assert answer.code == 124
    assert "wait_for_ever" in answer.stderr


def test_whet_runs_within_whet(ada: User) -> None:
    inner = (ada.python, "-m", "whet", "run", "--disk", "1M", "--", "sh", "-c", "echo in; exit 5")
    answer = ada("run", "--clean", "--network", "none", "--", *inner)

    assert (answer.code, answer.stdout) == (5, "in\n")


@pytest.mark.needs("unshare")
def test_where_nothing_can_be_mounted_the_error_says_what_is_needed() -> None:
    with user("ordinary") as ada:
        forbid = 'echo 0 > /proc/sys/user/max_mnt_namespaces; exec "$@"'
        command = ada.command("run", "--disk", "1M", "--", "echo", "ran")
        split = len(ada.prefix)
        done = subprocess.run(
            [*command[:split], "unshare", "-Ur", "sh", "-c", forbid, "sh", *command[split:]],
            cwd=ada.folder,
            env=ada.environment,
            capture_output=True,
            check=False,
            timeout=60,
        )

    assert done.returncode == 69
    assert done.stdout == b""
    assert b"whet can't create a sandbox" in done.stderr
    assert b"whet explain room-refused" in done.stderr


def test_a_mount_that_keeps_an_ordinary_user_from_a_room_is_named() -> None:
    with user("ordinary") as ada:
        if not ada.prefix:
            pytest.skip("needs root, who mounts it")
        inner = ada.temporary / "inner"
        inner.mkdir()
        mounted = 'mount -t tmpfs none "$0" && exec "$@"'
        prefix = ("unshare", "--mount", "sh", "-c", mounted, str(inner), *ada.prefix)

        answer = replace(ada, prefix=prefix)("run", "--clean", "--", "true")

    assert answer.code == 69, answer.stderr
    assert f"hint: unmount `{inner}`: only root" in answer.stderr


_TRIES = """
import os
for folder in (".", "/tmp", os.path.expanduser("~"), "/"):
    try:
        open(os.path.join(folder, "whet-tried"), "w").close()
        print("written")
    except OSError:
        print("refused")
open(os.devnull, "w").close()
"""


def test_in_a_clean_room_on_a_read_only_machine_only_what_vanishes_is_written(ada: User) -> None:
    ada.write("tries.py", _TRIES)
    done = ada("run", "--clean", "--read-only", "/", "--", ada.python, "tries.py")
    said = done.stdout.split()
    assert said[0] == said[1] == "written", done.stderr
    assert said[3] == "refused"
    left = [Path(folder, "whet-tried") for folder in (ada.folder, "/tmp", "/")]
    assert not [each for each in left if each.exists()]


def test_below_what_a_clean_room_gives_back_read_only_still_holds(written: User) -> None:
    written.write("tries.py", "open('data/changed.txt', 'a').write('more')\n")
    done = written("run", "--clean", "--read-only", "data", "--", written.python, "tries.py")
    assert "Read-only file system" in done.stderr
