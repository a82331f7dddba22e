"""whet killed at any moment while a trial is in its room, or on its way there: nothing stays."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from room_users import User, user

_KILLS = 100
_PATIENCE_SECONDS = 60.0
_MARK = "WHET_ROOM_TEST"


@pytest.fixture(params=["root", "ordinary"])
def ada(request: pytest.FixtureRequest) -> Iterator[User]:
    with user(request.param) as one:
        yield one


@pytest.mark.long
def test_nothing_of_a_room_survives_whet_killed_at_any_moment(ada: User) -> None:
    mark = f"{_MARK}={os.urandom(8).hex()}"
    mounted = Path("/proc/self/mountinfo").read_text()
    shared = set(Path("/dev/shm").iterdir())
    moments = random.Random(6)
    script = (
        "setsid sleep 1000 & mkdir made; dd if=/dev/zero of=$TMPDIR/x bs=1k count=9; sleep 1000"
    )
    options = ("--clean", "--disk", "1M", "--network", "loopback", "--fail", "openat:EIO@9:*.pt")
    for kill in range(_KILLS):
        with subprocess.Popen(
            ada.command("run", *options, "--", "sh", "-c", script),
            cwd=ada.folder,
            env=ada.environment | dict([mark.split("=")]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as whet:
            with pytest.raises(subprocess.TimeoutExpired):
                whet.wait(moments.uniform(0, 1.2))
            victims = [whet.pid, *(_marked(mark) if kill % 2 else ())]
            os.kill(moments.choice(victims), signal.SIGKILL)
            os.kill(whet.pid, signal.SIGKILL)
        gives_up_at = time.monotonic() + _PATIENCE_SECONDS
        assert ada("log").code == 0  # the next whet tidies up
        while left := _marked(mark):
            assert time.monotonic() < gives_up_at, left
            time.sleep(0.01)
        assert list(ada.temporary.iterdir()) == []
        assert list((ada.state / "made").iterdir()) == []
    assert Path("/proc/self/mountinfo").read_text() == mounted
    assert not (ada.folder / "made").exists()
    assert {path for path in Path("/dev/shm").iterdir() if "faketime" in path.name} <= shared


def _marked(mark: str) -> list[int]:
    found: list[int] = []
    for name in (path.name for path in Path("/proc").iterdir()):
        try:
            environment = Path("/proc", name, "environ").read_bytes() if name.isdigit() else b""
        except OSError:
            continue
        if mark.encode() in environment.split(b"\0"):
            found.append(int(name))
    return found
