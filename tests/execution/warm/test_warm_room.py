"""A process in a room of its own runs a program again and again with other texts, from frozen copies."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from whet.core.limits import Limits
from whet.core.room import Room
from whet.core.trial import Trial
from whet.execution.warm_room import Ran, WarmRoom
from whet.host.process.cleanup_journal import CleanupJournal

MAIN = """\
import helper

numbers = [n % 7 for n in range(1_500_000)]
print(helper.found(numbers))
"""
HELPER = """\
def found(numbers):
    return max(numbers)
"""
LIMITS = Limits(wall_seconds=60, output_bytes=1 << 20)


@contextmanager
def room_of(folder: Path) -> Generator[WarmRoom]:
    room = Room(is_clean=True, read_only=("/",), network="loopback", project=str(folder))
    trial = Trial(command=(sys.executable, "main.py"), cwd=str(folder), limits=Limits(room=room))
    with WarmRoom(
        trial,
        environment=dict(os.environ),
        pycache=folder / "pycache",
        payload_of=lambda digest: digest.encode(),
        cleanup_journal=CleanupJournal(folder / "made"),
    ) as opened:
        assert opened.is_there
        yield opened


def printed(ran: Ran) -> str:
    assert ran.outcome is not None
    return ran.outcome.stdout.head(100).decode()


def written(folder: Path, main: str = MAIN) -> tuple[str, str]:
    (folder / "main.py").write_text(main)
    (folder / "helper.py").write_text(HELPER)
    (folder / "pycache").mkdir()
    return str(folder / "main.py"), str(folder / "helper.py")


def test_a_changed_function_goes_on_from_a_copy_and_the_file_stays(tmp_path: Path) -> None:
    _, helper = written(tmp_path)
    with room_of(tmp_path) as room:
        first = room.run(LIMITS)
        assert first.is_clean
        assert first.snapshots
        assert printed(first) == "6\n"
        changed = room.run(LIMITS, (helper, HELPER.replace("max", "min")))
        assert printed(changed) == "0\n"
        again = room.run(LIMITS, (helper, HELPER))
        assert printed(again) == "6\n"
    assert changed.outcome is not None
    assert changed.outcome.resumed_from
    assert (tmp_path / "helper.py").read_text() == HELPER


def test_what_has_run_already_when_the_first_copy_was_taken_is_not_run_from_one(
    tmp_path: Path,
) -> None:
    main, _ = written(tmp_path)
    with room_of(tmp_path) as room:
        room.run(LIMITS)
        changed = room.run(LIMITS, (main, "print(1)\n" + MAIN))
        assert changed.outcome is None or printed(changed) == "1\n6\n"


def test_a_run_that_leaves_a_file_says_so_and_the_file_is_gone_with_the_room(
    tmp_path: Path,
) -> None:
    main = MAIN + "open('left', 'w').close()\n"
    written(tmp_path, main)
    with room_of(tmp_path) as room:
        assert not room.run(LIMITS).is_clean
    assert not (tmp_path / "left").exists()


def test_a_run_without_an_end_is_ended_at_its_limit(tmp_path: Path) -> None:
    _, helper = written(tmp_path)
    endless = "def found(numbers):\n    while True:\n        pass\n"
    with room_of(tmp_path) as room:
        room.run(LIMITS)
        ran = room.run(replace(LIMITS, wall_seconds=2), (helper, endless))
        assert ran.outcome is not None
        assert ran.outcome.timed_out
        assert printed(room.run(LIMITS, (helper, HELPER))) == "6\n"


def test_a_change_that_prints_without_end_has_no_answer_here(tmp_path: Path) -> None:
    _, helper = written(tmp_path)
    endless = HELPER.replace("return", "while True: print('x' * 100_000)\n    return")
    with room_of(tmp_path) as room:
        assert room.run(replace(LIMITS, output_bytes=None)).is_clean
        ran = room.run(replace(LIMITS, output_bytes=None), (helper, endless))

    assert ran == Ran()
