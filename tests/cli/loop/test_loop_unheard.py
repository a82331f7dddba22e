"""``whet loop`` where the system does not tell of all that is saved."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from loop_command import PATIENCE_SECONDS
from room_users import user
from whet_command import Whet

pytestmark = pytest.mark.slow

_LOOP = ("loop", "--json", "--verify", "off", "--")
_LIMITED = ("unshare", "--user", "--map-root-user", "sh", "-c")


@contextmanager
def _started(
    command: Sequence[str], folder: Path, environment: dict[str, str]
) -> Iterator[IO[bytes]]:
    """Start a loop and yield what it tells."""
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_SECONDS)


def _told(lines: IO[bytes]) -> dict[str, Any]:
    line = lines.readline()
    assert line.startswith(b"{"), line + lines.readline()
    told: dict[str, Any] = json.loads(line)
    return told


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a folder of somebody else's: needs root")
@pytest.mark.parametrize("when", ["from the start", "later"])
def test_a_folder_that_may_not_be_read_keeps_no_save_from_being_heard_of(when: str) -> None:
    """Of a database in a container, for one."""
    with user("ordinary") as ada:
        ada.write("main.py", "print(1)")
        folders = [ada.make_folder(f"folder{number}") for number in range(5)]
        locked = folders[2] / "base"
        if when == "from the start":
            locked.mkdir(0o700)
        command = ada.command(*_LOOP, ada.python, "main.py")
        with _started(command, ada.folder, ada.environment) as lines:
            _told(lines)
            if when == "later":
                locked.mkdir(0o700)
            inner = ada.make_folder("folder1/inner")
            for folder in (*folders, inner):
                ada.write(str(folder.relative_to(ada.folder) / "part.py"), "x = 1")
                _wait_for_run_of(lines, "part.py")


def _wait_for_run_of(lines: IO[bytes], name: str) -> None:
    """Wait for a run that the save of a file has brought: a new folder may bring one before it."""
    found: set[str] = set()
    while name not in found:
        found |= _names(lines)


def _names(lines: IO[bytes]) -> set[str]:
    """Return the names of the files whose save has brought the next run, with those below folders."""
    found: set[str] = set()
    event = "overtaken"
    while event == "overtaken":  # by a save that belongs to the same run
        told = _told(lines)
        event = told["event"]
        paths = [Path(path) for path in told["saved"]]
        found |= {each.name for path in paths for each in (path, *path.rglob("*.py"))}
    assert event == "run"
    return found


@pytest.mark.long
@pytest.mark.needs("unshare")
@pytest.mark.parametrize("limit", ["max_inotify_instances", "max_inotify_watches"])
def test_saves_are_looked_for_where_the_system_lets_nobody_listen(whet: Whet, limit: str) -> None:
    set_limit = f'echo 0 > /proc/sys/user/{limit} && exec "$@"'
    if subprocess.run(
        [*_LIMITED, set_limit, "sh", "true"], capture_output=True, check=False
    ).returncode:
        pytest.skip("no limit can be set here")
    for name in ("main.py", "sub/part.py", "sub/old.py"):
        whet.write(name, "print(1)")
    command = (*_LIMITED, set_limit, "sh", sys.executable, "-m", "whet", *_LOOP, sys.executable, "main.py")  # fmt: skip
    with _started(command, whet.folder, {**os.environ, **whet.environment}) as lines:
        note, first = _told(lines), _told(lines)
        found: list[set[str]] = []
        for number in range(2):
            whet.write("sub/part.py", f"print({number})")
            found.append(_names(lines))
        (whet.folder / "sub" / "old.py").unlink()
        found.append(_names(lines))

    assert (note["event"], first["event"]) == ("note", "run")
    assert "sysctl" in note["note"]
    assert found == [{"part.py"}, {"part.py"}, {"old.py"}]


@pytest.mark.long
@pytest.mark.parametrize("name", [b"caf\xe9/main.py", b"cafe/m\xe9in.py", b"cafe/\xe9/main.py"])
def test_a_save_is_heard_of_in_a_name_that_is_not_utf_8(whet: Whet, name: bytes) -> None:
    top, _, script = os.fsdecode(name).partition("/")
    path = whet.write(os.fsdecode(name), "print(1)")
    command = (sys.executable, "-m", "whet", *_LOOP, sys.executable, script)
    with _started(command, whet.folder / top, {**os.environ, **whet.environment}) as lines:
        told = [_told(lines)]
        if told[0]["event"] == "note":
            told.append(_told(lines))
        path.write_text("print(22)")
        told.append(_told(lines))
        if told[-1]["event"] == "note":
            told.append(_told(lines))

    assert ["is not UTF-8" in each["note"] for each in told if each["event"] == "note"] == [True]
    assert [len(each["saved"]) for each in told if each["event"] == "run"] == [0, 1]


def test_what_whet_writes_into_a_state_folder_below_brings_no_run(whet: Whet) -> None:
    """Of a home that is a project, for one."""
    whet.write("main.py", "print(1)")
    environment = {**os.environ, **whet.environment, "XDG_STATE_HOME": str(whet.folder / "state")}
    command = (sys.executable, "-m", "whet", *_LOOP, sys.executable, "main.py")
    with _started(command, whet.folder, environment) as lines:
        _told(lines)
        for number in range(3):
            whet.write("main.py", f"print({number}, 'again')")
            assert _told(lines)["saved"] == [str(whet.folder / "main.py")]
