"""Whatever keeps a program from being frozen is said, with the place from which on."""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from crossed import crossed
from workshop import SLOW, Workshop

from whet.core.outcome import Outcome
from whet.core.trial import ResetStep
from whet.execution.warm import Start
from whet.host.process.process_tree import children_of, descendants_of, has_ended

pytestmark = pytest.mark.slow

C = "import ctypes; c = ctypes.CDLL(None); "


def _start_of(workshop: Workshop, text: str, *words: str) -> tuple[Start, Outcome]:
    workshop.write({"main.py": text})
    trial = workshop.trial()
    outcome = workshop.warm.submit(replace(trial, command=words or trial.command)).result()
    return workshop.runs.last, outcome


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("import threading; threading.Thread(target=time.sleep, args=(9,), name='worker', daemon=True).start()", "the thread `worker` runs"),
        ("import _thread; _thread.start_new_thread(time.sleep, (9,)); time.sleep(.1)", "another Python thread runs"),
        pytest.param("import signal; signal.alarm(100)", "an alarm is set", marks=pytest.mark.long),
        ("import subprocess; p = subprocess.Popen(['sleep', '9'])", "one of its child processes is running: sleep"),
        pytest.param("import os; os.system('sleep 9 &')", "a detached process is running", marks=pytest.mark.long),
        ("import socket; s = socket.socket()", "a socket is open"),
        pytest.param("import os, fcntl; p = os.pipe(); fcntl.fcntl(p[1], 1031, 1 << 17); os.write(p[1], bytes(1 << 17))", "a pipe is open", marks=pytest.mark.long),
        pytest.param("import select; e = select.epoll()", "an event loop or selector is open", marks=pytest.mark.long),
        ("import mmap; f = open('old', 'r+b'); f.truncate(9); m = mmap.mmap(f.fileno(), 0)", "shared memory is mapped"),
        pytest.param("import os; f = open('out', 'w'); os.remove('out')", "is open for writing", marks=pytest.mark.long),
        pytest.param("f = open('main.py', 'rb'); import fcntl; fcntl.flock(f, fcntl.LOCK_SH)", "main.py` is locked", marks=pytest.mark.long),
        pytest.param("import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [10]); signal.raise_signal(10)", "a signal is blocked", marks=pytest.mark.long),
        ("import sys; sys.addaudithook(lambda *_: None)", "it has an audit hook (sys.addaudithook)"),
        ("open('main.py', 'a').close()", "main.py"),
        ("import builtins; before = builtins.__import__; builtins.__import__ = lambda *a: before(*a)", "it has replaced `__import__`"),
        pytest.param("import os; os.link('main.py', 'link')", "link", marks=pytest.mark.long),
        ("import os; open('new', 'w').close(); os.link('new', 'other')", "has two names"),
        pytest.param("import os; os.chmod('main.py', 0o600)", "chmod", marks=pytest.mark.long),
        (f"{C}c.symlink(b'main.py', b'link')", "symlink"),
        ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', 9)); s.close()", "calls sendto on the network"),
        ("import os; os.remove('old')", "removes "),
    ],
)  # fmt: skip
def test_the_reason_comes_with_the_place(workshop: Workshop, does: str, why: str) -> None:
    workshop.write({"old": ""})
    start, _ = _start_of(workshop, f"import time\nexec({does!r})\n{SLOW}print('end')\n")

    assert why in start.halted, start
    assert start.halted_at.startswith("main.py:"), start
    assert start.halted in {each.why for each in start.missing}, start


@pytest.mark.parametrize(
    ("words", "more"),
    [
        pytest.param(("sh", "-c", "exit 3"), "", id="a shell"),
        pytest.param((sys.executable, "-I", "main.py"), "", id="a Python that ignores its environment"),
        pytest.param(("sh", "-c", f"{sys.executable} main.py; exit"), ": `sh` starts Python as a separate process, which a copy wouldn't have:"
            f" name `{sys.executable}` itself, or put `exec` before it", id="a Python below a shell"),
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_followed_says_so(
    workshop: Workshop, words: tuple[str, ...], more: str
) -> None:
    start, _ = _start_of(workshop, SLOW, *words)

    assert start.halted == f"it doesn't run on a Python that whet can follow{more}"
    assert not start.is_followed
    assert not start.snapshots


@pytest.mark.parametrize(
    ("mode", "held", "halted"),
    [
        ("a", "1", ""),
        ("w", "1", ""),
        ("a", "", "opens {}/old to append while it is empty (mode `w` allows copies)"),
        ("a+", "1", "opens {}/old to append and read (mode `w` allows copies)"),
    ],
)
def test_a_file_that_is_appended_to_is_named_with_the_mode_that_allows_copies(
    workshop: Workshop, mode: str, held: str, halted: str
) -> None:
    workshop.write({"old": held})
    start, _ = _start_of(workshop, f"f = open('old', {mode!r})\n{SLOW}print(1, file=f)\n")

    assert start.halted == halted.format(workshop.folder)


def test_a_file_that_is_looked_at_after_it_was_appended_to_is_named(workshop: Workshop) -> None:
    workshop.write({"old": "1"})
    does = "open('old', 'a').write('2'); open('old').read()"
    start, _ = _start_of(workshop, f"import time\n{does}\n{SLOW}print('end')\n")

    path = workshop.folder / "old"
    assert start.halted == f"appends to {path} and looks at it (mode `w` allows copies)"


def test_what_goes_away_is_forgotten(workshop: Workshop) -> None:
    text = f"import signal\nsignal.alarm(99)\n{SLOW}signal.alarm(0)\n{SLOW}print(1)\n"
    start, _ = _start_of(workshop, text)

    assert start.halted == ""
    assert [each.why for each in start.missing] == ["an alarm is set"]


def test_a_quick_program_has_no_reason(workshop: Workshop) -> None:
    start, _ = _start_of(workshop, "print(1)\n")

    assert (start.halted, start.missing, start.snapshots) == ("", (), 0)


@pytest.mark.parametrize(
    ("does", "effects"),
    [
        ("pass", ()),
        ("open('/dev/null', 'w').close()", ()),
        ("import tempfile\nwith tempfile.TemporaryDirectory() as d: open(d + '/x', 'w').close()", ()),
        ("open('out', 'w').close()", ("writes {}/out",)),
        ("open('full', 'a').write('x')", ("appends to {}/full",)),
        ("open('old', 'w').close(); import os; os.remove('old')", ("removes {}/old",)),
        ("import os; os.mkdir('made')", ("writes {}/made",)),
        ("import os; os.chmod('old', 0o600)", ("calls chmod on {}/old",)),
    ],
)  # fmt: skip
def test_what_a_run_leaves_in_the_world_is_known(
    workshop: Workshop, does: str, effects: tuple[str, ...]
) -> None:
    workshop.write({"old": "", "full": "1"})
    start, outcome = _start_of(workshop, f"{SLOW}exec({does!r})\n")

    assert outcome.exit_code == 0
    assert tuple(map(str, start.effects)) == tuple(each.format(workshop.folder) for each in effects)


_PATIENCE_SECONDS = 20.0


def _copies() -> list[int]:
    found: list[int] = []
    for pid in descendants_of(os.getpid()):
        with suppress(OSError):  # it has just ended
            if b"main.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def _is_ready(pid: int) -> bool:
    """Whether it is to run on from a copy: that leads their session, as a run leads its own."""
    try:
        return os.getsid(pid) != pid and _parent(pid) not in _copies()
    except OSError:
        return False  # it was one between two forks


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _kill_copies() -> None:
    """As the kernel does when memory runs out, or somebody who tidies up."""
    for pid in _copies():
        with suppress(ProcessLookupError):  # what is ready ends with its copy
            os.kill(pid, signal.SIGKILL)


def _kill_spawners() -> None:
    for pid in children_of(os.getpid()):
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


@pytest.mark.parametrize(
    ("kill", "why"),
    [
        (_kill_copies, "not from main.py:3: the frozen copy is gone"),
        (_kill_spawners, "the process that keeps the frozen copies has ended"),
    ],
)
def test_who_was_killed_is_never_taken_for_an_edit(
    workshop: Workshop, kill: Callable[[], None], why: str
) -> None:
    first, _ = _start_of(workshop, f"{SLOW}print(1)\n")
    assert first.snapshots

    kill()
    second, outcome = _start_of(workshop, f"{SLOW}print(2)\n")
    third, _ = _start_of(workshop, f"{SLOW}print(3)\n")

    assert (second.place, second.why_not_deeper) == ("", why)
    assert outcome.stdout.head(9) == b"2\n"
    assert (third.place, third.why_not_deeper) == ("main.py:3", "")


def test_where_memory_runs_out_the_kernel_ends_a_copy_before_a_program(workshop: Workshop) -> None:
    shows = "print(open('/proc/self/oom_score_adj').read().strip())\n"
    own = Path("/proc/self/oom_score_adj").read_text().strip().encode()
    start, cold = _start_of(workshop, f"{SLOW}{shows}")
    assert start.snapshots == 1
    assert set(filter(None, map(_score, _copies()))) == {"1000\n"}

    start, warm = _start_of(workshop, f"{SLOW}{shows}print(2)\n")

    assert start.place == "main.py:3"
    assert (cold.stdout.head(99), warm.stdout.head(99)) == (own + b"\n", own + b"\n2\n")


def test_a_copy_that_was_killed_while_the_program_ran_is_missing_and_why_is_said(
    workshop: Workshop,
) -> None:
    os.mkfifo(workshop.folder / "up")
    workshop.write({"main.py": f"{SLOW}open('up').read()\nprint(1)\n"})
    future = workshop.warm.submit(workshop.trial())
    with (workshop.folder / "up").open("w"):
        copies = [pid for pid in _copies() if _goes_first(pid)]
        for pid in copies:
            os.kill(pid, signal.SIGKILL)
        until = time.monotonic() + _PATIENCE_SECONDS
        while not all(map(has_ended, copies)):
            assert time.monotonic() < until, copies
            time.sleep(0.005)

    assert future.result().stdout.head(9) == b"1\n"
    last = workshop.runs.last
    assert copies
    assert last.snapshots == 0
    assert (
        last.halted == "its process has ended: killed, for example where memory ran out, or crashed"
    )
    # On a slow machine one is missing after it, too.
    assert [each.place for each in last.missing][:1] == ["main.py:3"]


def _goes_first(pid: int) -> bool:
    return _score(pid) == "1000\n"


def _score(pid: int) -> str:
    """Return how soon the kernel ends a process where memory runs out; empty: it has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/oom_score_adj").read_text()
    return ""


def test_whoever_is_made_ready_and_was_killed_is_replaced(workshop: Workshop) -> None:
    first, _ = _start_of(workshop, f"{SLOW}print(1)\n")
    assert first.snapshots == 1

    until = time.monotonic() + _PATIENCE_SECONDS
    while not (ready := list(filter(_is_ready, _copies()))):
        assert time.monotonic() < until, _copies()
        time.sleep(0.005)
    [pid] = ready
    os.kill(pid, signal.SIGKILL)
    second, _ = _start_of(workshop, f"{SLOW}print(2)\n")

    assert (second.place, second.why_not_deeper) == ("main.py:3", "")


def test_a_file_of_nobodys_is_told_with_where_it_is_read(workshop: Workshop) -> None:
    other = workshop.folder.parent / "elsewhere"
    other.mkdir()
    (other / "settings").write_text("1")
    reads = (  # nothing inside `except` is a place where the script itself could be resumed
        "try:\n    raise KeyError\nexcept KeyError:\n    time.sleep(0.06)\n"
        f"    y = open('{other}/settings').read()\n"
    )
    workshop.write({"main.py": f"{SLOW}x = 1\n{reads}{SLOW}print(x, y)\n"})
    workshop.run()
    places = [rung.place for rung in workshop.runs.snapshot_rows()]
    (other / "settings").write_text("2")
    workshop.run()

    why = workshop.starts[-1].why_not_deeper
    assert why == (
        f"not from main.py:11: {other}/settings has changed,"
        " and the program reads it after main.py:8 (reads settings)"
    ), workshop.starts
    assert "main.py:8 (reads settings)" in places


def test_a_file_of_nobodys_that_no_copy_is_before_is_told_with_the_first_one_behind_it(
    workshop: Workshop,
) -> None:
    other = workshop.folder.parent / "elsewhere"
    other.mkdir()
    (other / "settings").write_text("1")
    workshop.write(
        {"main.py": f"y = open('{other}/settings').read()\n{SLOW}x = 1\n{SLOW}print(y)\n"}
    )
    workshop.run()
    (other / "settings").write_text("2")
    workshop.run()

    why = workshop.starts[-1].why_not_deeper
    assert why == (
        f"not from main.py:7: {other}/settings has changed,"
        " and the program reads it before main.py:4"
    ), workshop.starts


def test_a_folder_that_has_changed_is_called_that(workshop: Workshop) -> None:
    workshop.write({"main.py": f"import os\nx = os.listdir('a')\n{SLOW}print(x)\n", "a/b": ""})
    workshop.run()
    workshop.write({"a/c": ""})
    workshop.run()

    why = workshop.starts[-1].why_not_deeper
    assert why == "not from main.py:5: the contents of the folder a have changed", workshop.starts


@crossed(
    made={
        "file": ("open('a', 'w').close()", "a is there now"),
        "folder": ("os.mkdir('a')", "the folder a is there now"),
    }
)
def test_what_was_not_there_before_is_said_to_be_there_now(
    workshop: Workshop, made: tuple[str, str]
) -> None:
    statement, says = made
    makes = f"import os\nif not os.path.exists('a'):\n    {statement}\n"
    _start_of(workshop, f"{makes}{SLOW}print(1)\n")

    start, _ = _start_of(workshop, f"{makes}{SLOW}print(2)\n")

    assert start.why_not_deeper == f"not from main.py:6: {says}"


def test_a_folder_with_a_name_of_chance_is_said_to_be_there_now(workshop: Workshop) -> None:
    elsewhere = workshop.folder.parent / "elsewhere"
    elsewhere.mkdir()
    # An import could be slow enough for a copy of its own.
    makes = f"import os\nos.mkdir(os.path.join({str(elsewhere)!r}, os.urandom(8).hex()))\n"
    _start_of(workshop, f"{makes}{SLOW}print(1)\n")
    [folder] = elsewhere.iterdir()

    start, _ = _start_of(workshop, f"{makes}{SLOW}print(2)\n")

    assert start.why_not_deeper == (
        f"not from main.py:5: the folder {folder} is there now,"
        " and the program looks for it before main.py:5"
    )


def test_a_file_that_a_copy_has_read_and_is_removed_is_said_to_be_gone(workshop: Workshop) -> None:
    text = f"import os\nx = os.path.exists('a')\n{SLOW}print(x)\n"
    workshop.write({"main.py": text, "a": ""})
    workshop.run()
    (workshop.folder / "a").unlink()
    workshop.run()

    assert workshop.starts[-1].why_not_deeper == "not from main.py:5: a is gone", workshop.starts


def test_a_reset_step_is_blamed_for_what_it_has_done_alone(workshop: Workshop) -> None:
    """The user has saved a file that it would have put back."""
    text = f"x = open('data').read()\n{SLOW}print(x)\n"
    workshop.write({"main.py": text})
    reset = (ResetStep(command="true", must_succeed=True),)
    for content in ("old", "new"):
        workshop.write({"data": content})
        workshop.warm.submit(replace(workshop.trial(), reset=reset)).result()

    why = workshop.runs.last.why_not_deeper
    assert why == "not from main.py:4: data has changed", workshop.runs.last


def test_a_reason_names_the_file_that_is_in_the_way_not_one_that_was_taken_on(
    workshop: Workshop,
) -> None:
    workshop.write({"main.py": f"import helper\n{SLOW}print(1)\n", "helper.py": "X = 1\n"})
    workshop.run()
    workshop.write({"main.py": f"import helper\n{SLOW}print(2)\n"})
    workshop.run()
    workshop.write({"helper.py": "X = 2\n"})
    workshop.run()

    why = "not from main.py:4: helper.py has changed in a part that has already run"
    assert workshop.runs.last.why_not_deeper == why


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        ("first = 1", "first = 2", "above this line"),
        ("print('late')", "print('later')", "in a part that has already run"),
    ],
)
def test_a_change_is_said_to_be_above_a_line_only_if_it_is(
    workshop: Workshop, before: str, after: str, where: str
) -> None:
    text = (
        f"first = 1\n{SLOW}try:\n    1 / 0\nexcept ZeroDivisionError:\n    time.sleep(0.06)\n"
        "    open('/etc/passwd').read()\n    print('late')\n"
    )
    _start_of(workshop, text)

    start, _ = _start_of(workshop, text.replace(before, after))

    assert f"main.py has changed {where}" in start.why_not_deeper, start
