"""Faults at one exact place, and another time of day: only what was asked for happens."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from room_users import User, user

_SAVES = """
import sys
for number in range(6):
    with open(f"part-{number}.pt", "w") as file:
        file.write("x")
    print(number, flush=True)
"""
_CLOCK = """
import datetime, subprocess, threading, time
print(datetime.date.today(), subprocess.run(["date", "+%F"], capture_output=True, text=True).stdout)
began = time.monotonic()
time.sleep(0.01)
threading.Event().wait(0.01)
print(0.02 <= time.monotonic() - began < 30)
"""


@pytest.fixture(params=[pytest.param("root", marks=pytest.mark.long), "ordinary"])
def ada(request: pytest.FixtureRequest) -> Iterator[User]:
    with user(request.param) as one:
        one.write("saves.py", _SAVES)
        yield one


def _saved(ada: User) -> int:
    return len(list(ada.folder.glob("part-*.pt")))


def test_the_nth_call_on_files_of_a_kind_fails_and_no_other(ada: User) -> None:
    answer = ada("run", "--fail", "openat:EMFILE@4:*.pt", "--", ada.python, "saves.py")

    assert answer.code == 1
    assert answer.stdout == "0\n1\n2\n"
    assert "part-3.pt'; limit `--fail openat:EMFILE@4:*.pt` at saves.py:4" in answer.stderr
    assert "hit 1 of 4 calls" in answer.stderr
    assert _saved(ada) == 3


def test_a_share_of_the_calls_fails(ada: User) -> None:
    script = "for n in 1 2 3 4 5 6; do cat saves.py > /dev/null 2>&1 && echo $n; done"
    answer = ada("run", "--fail", "openat:EIO%3:*/saves.py", "--", "sh", "-c", script)

    assert answer.stdout == "1\n2\n4\n5\n"
    assert "hit 2 of 6 calls" in answer.stderr


def test_a_file_that_is_only_open_is_known_by_its_name(ada: User) -> None:
    answer = ada("run", "--fail", "write:ENOSPC@2:*.pt", "--", ada.python, "saves.py")

    assert answer.code == 1
    assert answer.stdout == "0\n"
    assert "No space left on device" in answer.stderr
    assert _saved(ada) == 2


def test_a_program_whose_calls_are_held_runs_as_it_would(ada: User) -> None:
    script = "cat; echo out; echo err >&2; kill -TERM $$"
    answer = ada("run", "--fail", "write:EIO@100000", "--", "sh", "-c", script)

    assert answer.code == 128 + 15
    assert answer.stdout == "out\n"
    assert answer.stderr.startswith("err\n")
    assert "hit nothing: the program made 2 such calls" in answer.stderr


def test_the_calls_of_whet_itself_are_not_counted(ada: User) -> None:
    """A Python with whet's agent in it makes calls that a bare one does not."""
    ada.write("quiet.py", "open('quiet.py').close()")
    answer = ada("run", "--fail", "openat:EIO@100:*/whet/agent/*", "--", ada.python, "quiet.py")

    assert answer.code == 0
    assert "hit nothing: the program made 0 such calls" in answer.stderr


@pytest.mark.parametrize("options", [("--disk", "1M"), ("--clean", "--network", "none")])
def test_calls_fail_in_a_room_too(ada: User, options: tuple[str, ...]) -> None:
    fault = ("--fail", "openat:EMFILE@2:*.pt")
    answer = ada("run", *options, *fault, "--", ada.python, "saves.py")

    assert answer.code == 1
    assert answer.stdout == "0\n"


def test_a_program_and_what_it_starts_live_on_another_day(ada: User) -> None:
    if not any(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")):
        pytest.skip("needs libfaketime: apt-get install faketime")
    ada.write("clock.py", _CLOCK)
    answer = ada("run", "--clock", "2038-01-19 12:00", "--", ada.python, "clock.py")

    assert answer.code == 0, answer.stderr
    assert answer.stdout == "2038-01-19 2038-01-19\n\nTrue\n"


def test_another_clock_leaves_nothing_when_its_program_is_killed(ada: User) -> None:
    if not any(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")):
        pytest.skip("needs libfaketime: apt-get install faketime")
    shows = "import os; print(os.environ['FAKETIME_SHARED'], os.getpid()); os.kill(os.getpid(), 9)"
    answer = ada("run", "--clock", "2038-01-19", "--", ada.python, "-uc", shows)

    first, second, pid = answer.stdout.split()
    left = {path.name.removeprefix("sem.") for path in Path("/dev/shm").iterdir()}
    assert not left & {first[1:], second[1:], f"faketime_shm_{pid}", f"faketime_sem_{pid}"}


def test_without_libfaketime_the_error_names_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from whet.core.errors import ClockNotPossible
    from whet.host.limits import clock
    from whet.host.process.cleanup_journal import CleanupJournal

    monkeypatch.setattr(clock, "_NAME", "libfaketime-that-is-not-there.so")
    with pytest.raises(ClockNotPossible, match="libfaketime-that-is-not-there") as raised:
        clock.prepare_clock("2038-01-19 00:00:00", {}, CleanupJournal(tmp_path))
    assert "apt-get install faketime" in raised.value.hint
