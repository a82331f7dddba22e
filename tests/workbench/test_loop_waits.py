"""What a loop hears while a program runs."""

from pathlib import Path
from threading import Thread

import pytest

from whet.execution.futures import TrialFuture
from whet.host.code.saves import Saves
from whet.host.files.file_times import SLACK_NS
from whet.workbench.loop import loop

_PATIENCE_SECONDS = 20.0


@pytest.mark.slow
def test_a_save_overtakes_a_run_also_after_a_wake_that_was_of_something_else(
    tmp_path: Path,
) -> None:
    found: list[tuple[tuple[str, ...], bool]] = []
    future = TrialFuture()

    with Saves(tmp_path, lambda _: True) as saves:
        saves.wait_until_ready()
        saves.wake()

        def give_up(_: tuple[str, ...]) -> None:
            future.cancel()

        def wait() -> None:
            found.append(loop._wait(future, saves, lambda _: True, (), give_up))

        waiting = Thread(target=wait, daemon=True)
        waiting.start()
        (tmp_path / "main.py").write_text("pass")
        waiting.join(_PATIENCE_SECONDS)

        assert found == [((str(tmp_path / "main.py"),), True)]


@pytest.mark.slow
def test_a_save_right_after_a_run_has_read_overtakes_it_though_the_clock_of_files_lags(
    tmp_path: Path,
) -> None:
    future, path = TrialFuture(), tmp_path / "main.py"

    with Saves(tmp_path, lambda _: True) as saves:
        saves.wait_until_ready()
        path.write_text("pass")
        read_ns = path.stat().st_ctime_ns + SLACK_NS // 2

        def give_up(_: tuple[str, ...]) -> None:
            future.cancel()

        known = loop._Known((), 0.0)

        def overtakes(path: str) -> bool:
            return known.is_older_than(path, read_ns - SLACK_NS)

        found = loop._wait(future, saves, overtakes, (), give_up)

    assert found == ((str(path),), True)


def test_what_was_known_of_a_save_is_older_than_the_next_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text("pass")
    known = loop._Known((str(path),), 0.0)
    was_outdated, was_older = known.outdated(), known.is_older_than(str(path), 0)
    while path.stat().st_ctime_ns == known.changed[str(path)]:
        path.write_text("...")  # the clock of files moves on in steps

    assert (was_outdated, was_older) == ((), False)
    assert known.outdated() == (str(path),)
    assert known.is_older_than(str(path), 0)
    assert not known.is_older_than(str(path), path.stat().st_ctime_ns)
