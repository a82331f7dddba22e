"""Which saves are noticed."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from whet.host.code import saves as host_saves
from whet.host.code.saves import (
    Saves,
    _Stop,
    _Way,
    is_later,
    is_open_for_writing,
    wait_until_written,
)


def _never(_: str) -> bool:
    return False


class LateSaves(Saves):
    """Begins to watch when it is let."""

    gate = threading.Event()

    def _watch(self, stop: _Stop, way: _Way = _Way.ALL) -> None:
        self.gate.wait()
        super()._watch(stop, way)


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
        found = saves.next(partial(is_later, than_ns=ended_ns))

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
        found = saves.next(partial(is_later, than_ns=began_ns))
        stop.cancel()

    assert str(tmp_path / "link") in found


def test_a_folder_that_was_moved_here_is_a_save_of_the_files_in_it(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "package").mkdir(parents=True)
    (tmp_path / "elsewhere" / "package" / "module.py").write_text("1")
    (tmp_path / "here").mkdir()

    with Saves(tmp_path / "here", lambda path: path.endswith(".py")) as saves:
        saves.wait_until_ready()
        (tmp_path / "elsewhere" / "package").rename(tmp_path / "here" / "package")
        found = saves.next(_never)

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
                heard.append(saves.next(_never))


@pytest.mark.parametrize("name", ["__pycache__", ".ruff_cache", ".ipynb_checkpoints", ".whet"])
def test_a_folder_in_which_nothing_counts_is_no_save(tmp_path: Path, name: str) -> None:
    with Saves(tmp_path, lambda path: path.endswith(".py")) as saves:
        saves.wait_until_ready()
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "one").write_text("1")
        (tmp_path / "data" / name).mkdir()
        (tmp_path / "data" / name / "one.py").write_text("1")
        (tmp_path / "main.py").write_text("1")

        assert saves.next(_never) == {str(tmp_path / "main.py")}


def test_a_file_that_somebody_writes_to_is_waited_for_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    writing = path.open("w")
    is_over = threading.Event()

    def wait() -> None:
        wait_until_written([str(path)])
        is_over.set()

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    writing.write("print(")
    writing.flush()
    was_over_early = is_over.wait(0.1)
    writing.write("1)")
    writing.close()

    assert not was_over_early
    assert is_over.wait(10)


def test_a_file_that_is_never_closed_is_waited_for_no_longer_than_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_saves, "_WRITING_SECONDS", 0.05)
    with (tmp_path / "log").open("w"):
        wait_until_written([str(tmp_path / "log")])

        assert is_open_for_writing(str(tmp_path / "log"))


def test_nobody_writes_to_what_is_read_or_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "read").write_text("")
    os.mkfifo(tmp_path / "pipe")

    with (tmp_path / "read").open():
        assert not is_open_for_writing(str(tmp_path / "read"))
    for each in ("pipe", "gone", "."):
        assert not is_open_for_writing(str(tmp_path / each))


def test_who_waits_for_a_reader_of_a_pipe_goes_on_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "main.py"
    os.mkfifo(pipe)
    program = "import sys\nprint(flush=True)\nopen(sys.argv[1], 'w').write('heard')\n"
    command = [sys.executable, "-c", program, str(pipe)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        # Asked often enough to be asked while the other one waits.
        for _ in range(50):
            assert not is_open_for_writing(str(pipe))
            time.sleep(0.002)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        writer.wait(timeout=20)
        heard = os.read(reader, 99)
        os.close(reader)

    assert (writer.returncode, heard) == (0, b"heard")


def test_nobody_who_opens_a_file_meanwhile_notices_or_ends_this_process(tmp_path: Path) -> None:
    """A lease tells its holder of somebody who wants to write, by a signal."""
    path = tmp_path / "main.py"
    path.write_text("")
    program = (
        "import sys\nprint(flush=True)\n"
        "for _ in range(20_000):\n    open(sys.argv[1], 'r+').close()\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    asked = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        writer.stdout.readline()
        while writer.poll() is None:
            is_open_for_writing(str(path))
            asked += 1
        complaint = writer.stderr.read()

    assert writer.returncode == 0, complaint
    assert asked > 1000


def _unlinked(link: Path, target: Path) -> None:
    link.unlink()
    link.symlink_to(target)


def _replaced(link: Path, target: Path) -> None:
    beside = link.with_name("beside")
    beside.symlink_to(target)
    beside.replace(link)


def _gone(link: Path, _: Path) -> None:
    link.unlink()


def _gone_with_its_folder(link: Path, _: Path) -> None:
    link.parent.rename(link.parent.parent.parent / "elsewhere")


@pytest.mark.parametrize("change", [_unlinked, _replaced, _gone, _gone_with_its_folder])
def test_a_folder_is_watched_on_that_a_link_has_led_to(
    tmp_path: Path, change: Callable[[Path, Path], None]
) -> None:
    """Whoever follows links listens in a folder once, by one of its names."""
    here, outside = tmp_path / "here", tmp_path / "outside"
    for folder in (here / "old", here / "new", here / "links", outside):
        folder.mkdir(parents=True)
        (folder / "main.py").write_text("1")
    # Where they are found in no order, most likely one of them is found after what it leads to.
    links = [here / "links" / f"link{number}" for number in range(5)]
    for link in links:
        link.symlink_to(here / "old")

    with Saves(here, lambda path: path.endswith(".py")) as saves:
        saves.wait_until_ready()
        for link in links[:1] if change is _gone_with_its_folder else links:
            change(link, here / "new" if link != links[0] else outside)
        folders = [here / "old", here / "new"]
        if change in (_unlinked, _replaced):
            folders.append(outside)
        for folder in folders:
            _is_heard_of(saves, folder / "main.py")


def _is_heard_of(saves: Saves, path: Path) -> None:
    """Save a file until that is heard of; a new watcher may take a moment until it listens."""
    stop = threading.Timer(20, saves.wake)
    stop.start()
    heard = False
    while not heard and stop.is_alive():
        path.write_text("2")
        again = threading.Timer(0.2, saves.wake)
        again.start()
        heard = any(path.samefile(each) for each in saves.next(_never))
        again.cancel()
    stop.cancel()
    assert heard, path
