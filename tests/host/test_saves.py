"""Which saves are noticed."""

import sys
import threading
import time
from pathlib import Path

import pytest

from whet.host.saves import Saves


class LateSaves(Saves):
    """Begins to watch when it is let."""

    gate = threading.Event()

    def _watch(self) -> None:
        self.gate.wait()
        super()._watch()


def test_what_was_saved_before_anything_was_watched_is_caught_up_with(tmp_path: Path) -> None:
    for name in ("early.py", "main.py", ".git/main.py", "data"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")

    with LateSaves(tmp_path, lambda path: path.endswith(".py")) as saves:
        began_ns = time.time_ns()
        for name in ("main.py", ".git/main.py", "data"):
            while (tmp_path / name).stat().st_ctime_ns <= began_ns:
                (tmp_path / name).write_text("2")  # the clock of files moves on in steps
        ended_ns = (tmp_path / "data").stat().st_ctime_ns
        saves.gate.set()
        saves.wait_until_ready()
        found = saves.next(since_ns=ended_ns)

    assert found == {str(tmp_path / "main.py")}


@pytest.mark.parametrize("target", ["old", "old.d", "nowhere"])
def test_a_link_that_leads_to_something_older_is_a_save(tmp_path: Path, target: str) -> None:
    (tmp_path / "old").write_text("1")
    (tmp_path / "old.d").mkdir()
    (tmp_path / "link").symlink_to("old")
    (tmp_path / "other").write_text("1")
    with Saves(tmp_path, lambda _: False) as saves:
        saves.wait_until_ready()
        began_ns = (tmp_path / "other").stat().st_ctime_ns
        while (tmp_path / "other").stat().st_ctime_ns <= began_ns:
            (tmp_path / "other").write_text("2")
        began_ns = (tmp_path / "other").stat().st_ctime_ns
        while (
            not (tmp_path / "new").is_symlink()
            or (tmp_path / "new").lstat().st_ctime_ns <= began_ns
        ):
            (tmp_path / "new").unlink(missing_ok=True)
            (tmp_path / "new").symlink_to(target)
        (tmp_path / "new").rename(tmp_path / "link")
        stop = threading.Timer(20, saves.wake)
        stop.start()
        found = saves.next(since_ns=began_ns)
        stop.cancel()

    assert str(tmp_path / "link") in found


def test_a_folder_that_was_moved_here_is_a_save_of_the_files_in_it(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "package").mkdir(parents=True)
    (tmp_path / "elsewhere" / "package" / "module.py").write_text("1")
    (tmp_path / "here").mkdir()

    with Saves(tmp_path / "here", lambda path: path.endswith(".py")) as saves:
        saves.wait_until_ready()
        (tmp_path / "elsewhere" / "package").rename(tmp_path / "here" / "package")
        found = saves.next(since_ns=sys.maxsize)

    assert found == {str(tmp_path / "here" / "package")}


def test_a_file_is_heard_of_that_is_written_as_soon_as_its_folder_is_made(tmp_path: Path) -> None:
    heard: list[set[str]] = []

    with Saves(tmp_path, lambda path: path.endswith(".py")) as saves:
        saves.wait_until_ready()
        for number in range(30):
            folder = tmp_path / f"package{number}"
            folder.mkdir()
            (folder / "module.py").write_text("1")
            while not any(path.startswith(str(folder)) for paths in heard for path in paths):
                heard.append(saves.next(since_ns=sys.maxsize))


def test_a_folder_in_which_nothing_counts_is_no_save(tmp_path: Path) -> None:
    with Saves(tmp_path, lambda path: path.endswith(".py")) as saves:
        saves.wait_until_ready()
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "one").write_text("1")
        (tmp_path / "data" / "__pycache__").mkdir()
        (tmp_path / "data" / "__pycache__" / "one.py").write_text("1")
        (tmp_path / "main.py").write_text("1")

        assert saves.next(since_ns=sys.maxsize) == {str(tmp_path / "main.py")}
