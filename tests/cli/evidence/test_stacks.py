"""`whet stacks` and `--hang`: who waits where, while it runs and after."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from whet_command import Whet

HANGS = Path(__file__).parents[3] / "specimens" / "hangs"


def hanging(whet: Whet, *command: str, seconds: str = "2") -> str:
    """Run a command that hangs and return what whet says of it."""
    said = whet("run", "--hang", seconds, "--", sys.executable, *command)
    assert said.code == 124
    return said.stderr


def test_a_deadlock_of_two_locks_names_both_lines(whet: Whet) -> None:
    said = hanging(whet, str(HANGS / "two_locks.py"))

    assert re.search(r"thread audit of process \d+ waits in audit\(\) at two_locks.py:21", said)
    assert re.search(
        r"thread transfer of process \d+ waits in transfer\(\) at two_locks.py:13", said
    )


@pytest.mark.long
def test_a_stuck_rank_stands_apart_from_those_that_wait_for_it(whet: Whet) -> None:
    os.mkfifo(whet.folder / "place")
    said = hanging(whet, str(HANGS / "stuck_rank.py"), "place")

    assert re.search(r"3 processes \(.*\) wait in all_reduce\(\) at stuck_rank.py:15", said)
    assert re.search(r"process \d+ waits in save\(\) at stuck_rank.py:19", said)
    kept = json.loads(whet("stacks", "--json").stdout)
    assert [len(group["pids"]) for group in kept["groups"]] == [3, 1, 1]


@pytest.mark.long
def test_tasks_of_asyncio_that_wait_for_each_other_are_told_with_what_they_await(
    whet: Whet,
) -> None:
    said = hanging(whet, str(HANGS / "stuck_tasks.py"), seconds="1")

    assert "2 tasks (back, there) await Lock.acquire() in move() at stuck_tasks.py:9" in said
    assert "3 tasks (filler-0, filler-1, filler-2) await Queue.get() in fill()" in said
    assert "task watcher awaits in watch() at stuck_tasks.py:18, for there" in said


@pytest.mark.long
def test_what_hangs_in_native_code_with_the_lock_of_the_interpreter_is_named(whet: Whet) -> None:
    said = hanging(whet, str(HANGS / "in_native_code.py"), seconds="1")

    assert re.search(r"waits in wait_for_device\(\) at in_native_code.py:9", said)
    if "py-spy" in (kept := whet("stacks", "--json").stdout):
        assert "holds the GIL" in whet("stacks").stdout, kept


@pytest.mark.long
def test_what_spins_is_told_from_what_waits(whet: Whet) -> None:
    hanging(whet, str(HANGS / "spinning.py"))

    said = whet("stacks", "--trial", "1")
    shown = said.stdout
    assert said.code == whet("stacks", "--json").code == 124
    assert re.search(r"process \d+ is busy in poll\(\) at spinning.py:[78]\n", shown)


@pytest.mark.long
def test_a_program_that_writes_now_and_then_does_not_hang(whet: Whet) -> None:
    whet.write(
        "main.py",
        "import sys, threading\n"
        "for n in range(16):\n"
        "    print(n, flush=True)\n"
        "    threading.Event().wait(0.4)\n",
    )

    assert whet("run", "--hang", "5", "--", sys.executable, "main.py").code == 0


def test_reset_steps_are_none_of_the_silence(whet: Whet) -> None:
    said = whet("run", "--hang", "1", "--reset", "sleep 1.3", "--", "true")

    assert said.code == 0


@pytest.mark.parametrize("by", ["number", "pattern"])
def test_a_running_process_is_found(by: str, whet: Whet) -> None:
    script = whet.write(
        "peculiar_name.py", "print('up', flush=True)\ndef wait(): input()\nwait()\n"
    )
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            target = str(process.pid) if by == "number" else "peculiar_nam"
            said = whet("stacks", target, "--once")
        finally:
            process.kill()
    if "forbids" in said.stderr:
        pytest.skip("the system forbids ptrace")

    assert f"process {process.pid} waits in wait() at peculiar_name.py:2" in said.stdout


def test_a_running_trial_is_found(whet: Whet) -> None:
    whet.write("main.py", "print('up', flush=True)\ndef wait():\n    input()\nwait()\n")
    running = subprocess.Popen(
        [sys.executable, "-m", "whet", "run", "--", sys.executable, "main.py"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with running:
        try:
            assert running.stdout is not None
            running.stdout.readline()
            said = whet("stacks", "--once")
        finally:
            running.send_signal(signal.SIGTERM)
    assert "trial 1: 1 process" in said.stdout
    assert "wait() at main.py:3" in said.stdout


@pytest.mark.parametrize(
    ("words", "code", "tells"),
    [
        (["999999999"], 66, "there is neither a process 999999999"),
        (["no such program at all"], 66, "no process has `no such program at all`"),
        (["x", "--trial"], 64, "is not the number of a trial"),
        (["--core", "nothing.core"], 64, "there is no core file"),
        (["--core", __file__], 64, "it may not be a core file"),
    ],
)
def test_what_is_not_there_is_named(words: list[str], code: int, tells: str, whet: Whet) -> None:
    said = whet("stacks", *words)

    assert said.code == code
    assert tells in said.stderr
    assert "hint: " in said.stderr


def test_a_trial_that_has_ended_without_hanging_says_what_keeps_stacks(whet: Whet) -> None:
    whet("run", "--", "true")
    said = whet("stacks")

    assert said.code == 66
    assert "--hang 30" in said.stderr


def test_a_trial_that_crashed_says_how_to_get_a_core_file(whet: Whet) -> None:
    whet("run", "--", "sh", "-c", "kill -11 $$")
    said = whet("stacks")

    assert said.code == 66
    for words in ("signal 11", "a Python program", "ulimit -c", "the kernel"):
        assert words in said.stderr


@pytest.mark.needs("setpriv")
def test_where_a_container_has_no_sys_ptrace_the_three_ways_are_named(whet: Whet) -> None:
    whet.write(
        "main.py",
        "import ctypes, sys\n"
        "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # as one of another user: PR_SET_DUMPABLE\n"
        "print('up', flush=True)\nsys.stdin.read()\n",
    )
    without = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace")
    with subprocess.Popen(
        [sys.executable, "main.py"], cwd=whet.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            words = [sys.executable, "-m", "whet", "stacks", "--once", str(process.pid)]
            said = subprocess.run(
                [*(without if os.geteuid() == 0 else ()), *words],
                cwd=whet.folder, env={**os.environ, **whet.environment},
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        finally:
            process.kill()

    assert said.returncode == 77
    assert "the system forbids reading the stacks" in said.stderr
    page = whet("explain", "stack-forbidden").stdout
    for way in ("whet run", "root", "ptrace_scope", "SYS_PTRACE"):
        assert way in page


@pytest.mark.long
@pytest.mark.needs("gdb", "gcore")
def test_a_core_file_tells_the_native_stack_and_python_s_or_why_not(whet: Whet) -> None:
    script = whet.write("main.py", "def wait():\n    input()\nprint('up', flush=True)\nwait()\n")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            core = whet.folder / "core"
            made = subprocess.run(
                ["gcore", "-o", core, str(process.pid)], capture_output=True, check=False
            )
        finally:
            process.kill()
    if made.returncode:
        pytest.skip("the system forbids ptrace")

    by_name = whet("stacks", "--core", f"{core}.{process.pid}", os.path.realpath(sys.executable))
    said = whet("stacks", "--core", f"{core}.{process.pid}")

    assert said.stdout == by_name.stdout  # a core tells which program it is of
    assert f"thread {process.pid}  (gdb)" in said.stdout
    assert "main.py:2 in wait" in said.stdout or "py-spy: " in said.stderr


CRASH = "import ctypes\ndef load():\n    ctypes.string_at(1)\nload()\n"


@pytest.mark.parametrize("by", ["python", "shell"])
def test_a_crash_has_its_python_line_without_an_option(by: str, whet: Whet) -> None:
    whet.write("main.py", CRASH)
    python = [sys.executable, "main.py"]
    said = whet(
        "run", "--", *python if by == "python" else ["sh", "-c", f"{python[0]} main.py; exit"]
    )

    assert said.code == 139
    assert "main.py:3" in said.stderr
    assert "in load() at main.py:3 (string_at)" in whet("stacks").stdout
    assert "ulimit -c" in whet("stacks").stdout


def test_a_program_does_not_notice_that_its_crash_would_be_kept(whet: Whet) -> None:
    whet.write(
        "main.py",
        "import faulthandler, ctypes\n"
        "if not faulthandler.is_enabled():\n"
        "    faulthandler.enable()\n"
        "assert faulthandler.is_enabled()\n"
        "ctypes.string_at(1)\n",
    )
    said = whet("run", "--", sys.executable, "main.py")

    assert "Fatal Python error: Segmentation fault" in said.stderr
    assert "main.py:5" in said.stderr.splitlines()[-1]
