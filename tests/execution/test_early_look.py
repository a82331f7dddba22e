"""Laws of looking at what is installed while a save settles: no change is missed by it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from laboratory import Laboratory
from workshop import SLOW, Workshop, opened

from whet.execution.early_look import EarlyLook

PATIENCE_SECONDS = 60.0
MAIN = f"""import sys
sys.path.insert(0, 'lib/python3/site-packages')
import package
{SLOW}print(package.number, open('data').read())
"""
START = {"main.py": MAIN, "lib/python3/site-packages/package.py": "number = 1\n", "data": "1"}


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.fixture
def early() -> Iterator[EarlyLook]:
    with EarlyLook(longest_seconds=PATIENCE_SECONDS) as early:
        yield early


def _prepare(workshop: Workshop, early: EarlyLook) -> None:
    """Run a program, save its next text, and have what is installed looked at."""
    workshop.write({**START})
    workshop.run()
    workshop.run()  # the first one has made a folder for byte code
    _wait_until(lambda: early.is_ready)
    workshop.write({"main.py": f"{MAIN}print('end')\n"})
    _wait_until(lambda: early.has_looked)


@pytest.fixture
def looked(laboratory: Laboratory, early: EarlyLook) -> Iterator[Workshop]:
    """A program that has run, whose next text is saved, with what is installed looked at."""
    with opened(laboratory, early) as workshop:
        _prepare(workshop, early)
        yield workshop


@pytest.mark.slow
def test_a_save_has_what_is_installed_looked_at_before_the_run(
    looked: Workshop, early: EarlyLook
) -> None:
    looked.run()

    assert looked.starts[-1].place
    assert early.times_used == 1


def _edited(folder: Path) -> None:
    (folder / "package.py").write_text("number = 2\n")


def _shadowed(folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("number = 2\n")


def _touched(folder: Path) -> None:
    (folder / "package.py").chmod(0o600)


@pytest.mark.slow
@pytest.mark.parametrize("change", [_edited, _shadowed, _touched])
def test_what_changes_among_the_installed_files_after_that_look_is_seen(
    looked: Workshop, early: EarlyLook, change: Callable[[Path], None]
) -> None:
    change(looked.folder / "lib/python3/site-packages")

    looked.run()  # compares with a cold run

    assert early.times_used == 0


@pytest.mark.slow
def test_what_is_not_installed_is_looked_at_when_the_copy_is_ready(
    looked: Workshop, early: EarlyLook
) -> None:
    looked.write({"data": "2"})

    looked.run()

    assert early.times_used == 1


@pytest.mark.slow
def test_a_look_of_before_the_last_run_is_of_no_use(looked: Workshop, early: EarlyLook) -> None:
    looked.run()
    looked.run()

    assert early.times_used == 1


@pytest.mark.slow
def test_a_look_that_is_too_old_is_made_again(laboratory: Laboratory) -> None:
    with EarlyLook(longest_seconds=0) as early, opened(laboratory, early) as workshop:
        _prepare(workshop, early)
        workshop.run()

        assert workshop.starts[-1].place
        assert early.times_used == 0
