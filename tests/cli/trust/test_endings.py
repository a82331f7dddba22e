"""Whatever ends whet, nothing stays: no process, no folder, no worktree in the user's repository."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from crossed import crossed
from whet_command import Whet

from whet.core.errors import INCOMPLETE

PYTHON = sys.executable
_PATIENCE_SECONDS = 30

SLOW_GIT = """\
#!/bin/sh
case "$*" in
    *"worktree {when}"*) echo $$ >> {log}; sleep 1 ;;
esac
exec {git} "$@"
"""

# Python may miss a signal that comes just before a blocking call; it never misses this pipe.
ENDS_WELL = """\
import os, select, signal, sys
told, tell = os.pipe()
os.set_blocking(tell, False)
signal.set_wakeup_fd(tell)
signal.signal({number}, lambda *_: sys.exit(0))
up = open({up!r})
select.select([told], [], [])
"""


@contextmanager
def started(whet: Whet, *words: str, **extra: str) -> Iterator["subprocess.Popen[str]"]:
    """Start whet as a terminal does: in a process group of its own."""
    with subprocess.Popen(
        [PYTHON, "-m", "whet", *words],
        cwd=whet.folder,
        env={**os.environ, **whet.environment, **extra},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as process:
        yield process


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def slow_history(whet: Whet, seconds: float = 60) -> Path:
    """Make commits that all fail; each but the first writes a file and takes its time."""
    whet.git("init", "--quiet")
    log = whet.folder.parent / "slow"
    for number in range(9):
        slow = f"open({str(log)!r}, 'w'); import time; time.sleep({seconds})\n"
        whet.commit(
            f"c{number}", app_py=f"{slow if number < 8 else ''}raise KeyError\n# {number}\n"
        )
    return log


def git_that_is_slow(whet: Whet, when: str) -> tuple[Path, dict[str, str]]:
    """Put a git on `PATH` that takes a second for a worktree, and notes its number first."""
    log, folder = whet.folder.parent / "pids", whet.folder.parent / "bin"
    folder.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout
    (folder / "git").write_text(SLOW_GIT.format(when=when, log=log, git=real.strip()))
    (folder / "git").chmod(0o755)
    return log, {"PATH": f"{folder}:{os.environ['PATH']}"}


def nothing_is_left(whet: Whet) -> None:
    assert whet.git("worktree", "list").count("\n") == 1
    assert list(Path(whet.environment["TMPDIR"]).iterdir()) == []
    assert list((whet.state / "made").iterdir()) == []


@pytest.mark.slow
@crossed(
    verb={"bisect": ("bisect", "HEAD"), "all": ("investigate",)},
    number={"SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP},
)
def test_a_search_that_is_told_to_end_cleans_up(
    whet: Whet, number: signal.Signals, verb: tuple[str, ...]
) -> None:
    log = slow_history(whet)

    with started(whet, *verb, "--jobs", "1", "--", PYTHON, "app.py") as process:
        wait_for(lambda: log.exists() or process.poll() is not None)
        process.send_signal(number)
        _, talk = process.communicate(timeout=_PATIENCE_SECONDS)

    assert process.returncode == 128 + number, talk
    assert "terminated by SIG" in talk
    nothing_is_left(whet)


@crossed(
    handles={"dies": False, "ends well": True},
    number={"SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP},
)
def test_a_loop_that_is_told_to_end_while_a_program_runs_ends_with_it(
    whet: Whet, number: signal.Signals, *, handles: bool
) -> None:
    up = whet.folder.parent / "up"
    os.mkfifo(up)
    dies = f"open({str(up)!r}).read()\n"
    ends_well = ENDS_WELL.format(number=int(number), up=str(up))
    whet.write("main.py", ends_well if handles else dies)

    with started(whet, "loop", "--", PYTHON, "main.py") as process, up.open("w"):
        process.send_signal(number)  # the program has opened the other end, and waits
        try:
            shown, talk = process.communicate(timeout=_PATIENCE_SECONDS)
        finally:
            process.kill()

    assert process.returncode == 128 + number, (shown, talk)
    assert ("GOOD exit 0" if handles else f"killed by {number.name}") in talk
    assert "terminated by SIG" in talk


@pytest.mark.slow
def test_a_shrink_that_is_told_to_end_keeps_the_best(whet: Whet) -> None:
    whet.git("init", "--quiet")
    whet.write("slow.sh", '#!/bin/sh\nsleep 0.02\ngrep -q needle "$1"\n').chmod(0o755)
    whet.write("hay.txt", "".join(f"{number} needle\n" for number in range(3000)))
    whet.commit("first")
    best = whet.folder / "hay.shrunk.txt"

    with started(whet, "shrink", "hay.txt", "--interesting", "slow.sh") as process:
        wait_for(lambda: best.exists() or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
        _, talk = process.communicate(timeout=_PATIENCE_SECONDS)

    assert process.returncode == 143, talk
    assert "needle" in best.read_text()
    nothing_is_left(whet)


@pytest.mark.slow
def test_a_hangup_that_was_ignored_stays_ignored(whet: Whet) -> None:
    log = slow_history(whet, seconds=0.2)

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    before = signal.getsignal(signal.SIGHUP)
    ignore()
    try:
        with started(whet, "bisect", "--jobs", "1", "HEAD", "--", PYTHON, "app.py") as process:
            wait_for(lambda: log.exists() or process.poll() is not None)
            process.send_signal(signal.SIGHUP)
            said, talk = process.communicate(timeout=_PATIENCE_SECONDS)
    finally:
        signal.signal(signal.SIGHUP, before)

    assert process.returncode == INCOMPLETE, talk  # it went on: no version is good
    assert "no good commit" in said


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worktree_that_is_just_being_added_is_not_left(
    whet: Whet, number: signal.Signals
) -> None:
    slow_history(whet)
    pids, slow = git_that_is_slow(whet, "add")

    with started(whet, "bisect", "HEAD~3", "HEAD", "--", PYTHON, "app.py", **slow) as process:
        wait_for(lambda: pids.exists() or process.poll() is not None)
        process.send_signal(number)
        _, talk = process.communicate(timeout=_PATIENCE_SECONDS)

    wait_for(lambda: not any(Path("/proc", pid).exists() for pid in pids.read_text().split()))
    assert process.returncode in {130, 143}, talk
    nothing_is_left(whet)


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        *(pytest.param(each, marks=pytest.mark.long) for each in (signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_nothing_disturbs_the_clean_up(whet: Whet, number: signal.Signals) -> None:
    log = slow_history(whet)
    pids, slow = git_that_is_slow(whet, "remove")

    with started(whet, "bisect", "--jobs", "1", "HEAD", "--", PYTHON, "app.py", **slow) as process:
        wait_for(lambda: log.exists() or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        wait_for(lambda: pids.exists() or process.poll() is not None)
        for _ in range(3):
            os.killpg(process.pid, number)
            time.sleep(0.02)
        _, talk = process.communicate(timeout=_PATIENCE_SECONDS)

    assert process.returncode == (75 if number == signal.SIGINT else 128 + number), talk
    nothing_is_left(whet)


def test_a_ctrl_c_while_whet_is_being_imported_ends_it_without_a_traceback(whet: Whet) -> None:
    whet.write("first/click.py", "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")

    ended = subprocess.run(
        [sys.executable, "-m", "whet", "log"], cwd=whet.folder, capture_output=True, check=False,
        env={**os.environ, **whet.environment, "PYTHONPATH": str(whet.folder / "first")},
    )  # fmt: skip

    assert (ended.returncode, ended.stderr) == (130, b"")
