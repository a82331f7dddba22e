"""The stacks of real processes: seen from outside, told by the agent, or why there are none."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import whet.agent
from whet.core.observations.stack import ProcessStack
from whet.host.inspect import spying
from whet.host.inspect.asyncio_tasks import parse_tasks
from whet.host.inspect.spying import FORBIDDEN, parse_gdb, take_all
from whet.host.inspect.stacks import spied_thread
from whet.host.process.process_facts import ProcessFacts, facts_of
from whet.host.process.process_tree import descendants_of

SITE = Path(whet.agent.__file__).parent / "site"
HANGS = Path(__file__).parents[3] / "specimens" / "hangs"
WAITING = """\
import sys, threading
def wait(event):
    print('up', flush=True)
    event.wait()
threading.Thread(target=threading.Event().wait, name='idle', daemon=True).start()
wait(threading.Event())
"""


@contextmanager
def running(*words: str, environment: dict[str, str] | None = None) -> Iterator[int]:
    """Run a Python program that says when it is up; it is gone at the end, with its children."""
    with subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def until_asleep(pid: int) -> None:
    """Return when the kernel says of each thread that it sleeps."""
    while any(state_of(thread.name) != "S" for thread in Path(f"/proc/{pid}/task").iterdir()):
        pass


def state_of(thread: str) -> str:
    facts = facts_of(int(thread))
    return "" if facts is None else facts.state


def _forbidden(_facts: object, **_: object) -> tuple[tuple[()], str]:
    return (), FORBIDDEN


def may_spy() -> bool:
    with running("-c", WAITING) as pid:
        (seen,) = take_all([pid], looks_again=False)
    return seen.engine == "py-spy"


@pytest.fixture(scope="module")
def _spy() -> None:
    if not may_spy():
        pytest.skip("the system forbids ptrace: run as root, or allow it")


def functions(process: ProcessStack) -> list[str]:
    return [frame.function for frame in process.threads[0].frames]


@pytest.mark.usefixtures("_spy")
def test_all_threads_are_seen_the_main_one_first() -> None:
    with running("-c", WAITING) as pid:
        until_asleep(pid)
        (seen,) = take_all([pid], looks_again=False)

    assert seen.engine == "py-spy"
    assert functions(seen)[:2] == ["<module>", "wait"]
    assert [thread.name for thread in seen.threads] == ["MainThread", "idle"]
    assert not any(thread.is_running for thread in seen.threads)


@pytest.mark.usefixtures("_spy")
def test_a_second_look_tells_what_stands_still_from_what_is_busy() -> None:
    with running("-c", WAITING) as waiting, running(str(HANGS / "spinning.py")) as spinning:
        still, busy = take_all([waiting, spinning])

    assert [thread.has_moved for thread in still.threads] == [False, False]
    assert still.cpu_share == 0.0
    assert busy.threads[0].is_running
    assert busy.threads[0].has_moved is False
    assert busy.cpu_share is not None
    assert busy.cpu_share > 0.0


def test_where_ptrace_is_forbidden_the_agent_tells_all_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spying, "_spy", _forbidden)
    environment = {"PYTHONPATH": str(SITE), "WHET_AGENT": str(tmp_path)}
    with running("-c", WAITING, environment=environment) as pid:
        (seen,) = take_all([pid], looks_again=False)

    assert seen.engine == "agent"
    assert functions(seen)[:2] == ["<module>", "wait"]
    assert len(seen.threads) == 2
    assert seen.notes == ()


def test_where_nothing_may_look_the_three_ways_to_get_it_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spying, "_spy", _forbidden)
    with running("-c", WAITING) as pid:
        (seen,) = take_all([pid], looks_again=False)

    assert seen.threads == ()
    for way in ("whet run", "sudo", "ptrace_scope", "SYS_PTRACE"):
        assert way in seen.notes[0]


def test_a_process_that_has_ended_is_left_out() -> None:
    with running("-c", WAITING) as pid:
        pass

    assert take_all([pid]) == ()


@pytest.mark.usefixtures("_spy")
def test_a_process_that_ends_while_it_is_looked_at_does_not_spoil_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with running("-c", WAITING) as staying, running("-c", WAITING) as leaving:
        look = spying._spy

        def ends_meanwhile(facts: ProcessFacts, *, native: bool, is_stopped: bool) -> object:
            if facts.pid == leaving:
                os.kill(leaving, signal.SIGKILL)
                os.waitid(os.P_PID, leaving, os.WEXITED | os.WNOWAIT)
            return look(facts, native=native, is_stopped=is_stopped)

        monkeypatch.setattr(spying, "_spy", ends_meanwhile)
        seen = {each.pid: each for each in take_all([staying, leaving], looks_again=False)}

    assert functions(seen[staying])[:2] == ["<module>", "wait"]
    assert leaving not in seen or seen[leaving].notes == ("it ended during the sampling",)


def test_what_waits_in_the_kernel_is_told_and_does_not_hold_the_look_up() -> None:
    with running(str(HANGS / "in_kernel.py")) as pid:
        while (facts := facts_of(pid)) is not None and facts.state != "D":
            pass
        seen = {each.pid: each for each in take_all([pid, *descendants_of(pid)])}

    assert seen[pid].state == "D"
    assert "waits in the kernel" in seen[pid].notes[0]
    assert len(seen) == 2


@pytest.mark.usefixtures("_spy")
def test_a_child_that_hangs_on_a_lock_that_was_held_at_the_fork_is_told() -> None:
    program = (
        "import os, threading\nlock = threading.Lock()\nheld = threading.Event()\n"
        "def hold():\n    with lock:\n        held.set()\n        threading.Event().wait()\n"
        "threading.Thread(target=hold, daemon=True).start()\nheld.wait()\n"
        "def log():\n    with lock:\n        pass\n"
        "if os.fork() == 0:\n    print('up', flush=True)\n    log()\nos.wait()\n"
    )
    with running("-c", program) as pid:
        (child,) = descendants_of(pid)
        until_asleep(child)
        seen = {each.pid: each for each in take_all([pid, child])}

    assert functions(seen[child]) == ["<module>", "log"]
    assert seen[child].threads[0].has_moved is False


def test_processes_that_come_and_go_meanwhile_spoil_nothing() -> None:
    program = (
        "import os, time\nprint('up', flush=True)\n"
        "while True:\n    if os.fork() == 0:\n        os._exit(0)\n    os.wait()\n"
    )
    with running("-c", program) as pid:
        for _ in range(5):
            tree = [pid, *descendants_of(pid)]
            assert pid in {each.pid for each in take_all(tree, looks_again=False)}


@pytest.mark.long
@pytest.mark.usefixtures("_spy")
def test_two_hundred_processes_are_seen() -> None:
    program = (
        "import os, time\ndef wait():\n    time.sleep(100)\n"
        "for _ in range(200):\n    if os.fork() == 0:\n        wait()\n"
        "print('up', flush=True)\nwait()\n"
    )
    with running("-c", program) as pid:
        seen = take_all([pid, *descendants_of(pid)])

    assert len(seen) == 201
    assert all(functions(each)[-1] == "wait" for each in seen)


def test_a_program_that_is_no_python_is_told_by_what_the_kernel_knows() -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            # The kernel has told of its start before it has laid out the words of its command.
            while not Path(f"/proc/{process.pid}/cmdline").read_bytes():
                pass
            (seen,) = take_all([process.pid], looks_again=False)
        finally:
            process.kill()

    assert seen.threads == ()
    assert seen.command == "sleep 1000"


@pytest.mark.needs("gdb")
@pytest.mark.usefixtures("_spy")
def test_gdb_tells_of_what_is_no_python() -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            (seen,) = take_all([process.pid], native=True, looks_again=False)
        finally:
            process.kill()

    assert seen.engine == "gdb"
    assert any("sleep" in frame.function for frame in seen.threads[0].frames)


@pytest.mark.usefixtures("_spy")
def test_a_stopped_process_is_seen_and_stays_stopped() -> None:
    with running("-c", WAITING) as pid:
        os.kill(pid, signal.SIGSTOP)
        os.waitid(os.P_PID, pid, os.WSTOPPED)
        (seen,) = take_all([pid], looks_again=False)
        now = facts_of(pid)

    assert functions(seen)[:2] == ["<module>", "wait"]
    assert seen.notes == ("is stopped, by a signal or a debugger",)
    assert now is not None
    assert now.state == "T"


@pytest.mark.usefixtures("_spy")
def test_the_ranks_of_a_job_are_seen_with_their_numbers() -> None:
    with running("-c", WAITING, environment={"RANK": "5"}) as pid:
        (seen,) = take_all([pid], looks_again=False)

    assert seen.rank == 5


@pytest.mark.usefixtures("_spy")
def test_the_whole_tree_is_seen(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "place")
    with running(str(HANGS / "stuck_rank.py"), str(tmp_path / "place")) as pid:
        seen = take_all([pid, *descendants_of(pid)], looks_again=False)

    assert len(seen) == 5
    inner = [next((n for n in ("save", "all_reduce") if n in functions(each)), "") for each in seen]
    assert inner.count("save") <= 1
    assert "<module>" in functions(seen[0])


def test_a_frame_of_the_interpreter_itself_is_none_of_the_programs() -> None:
    """From Python 3.13 on there is one between a class that is called and its `__init__`."""
    frames = [("__init__", "/p/a.py", 3), ("__init__", "__init__", 0), ("main", "/p/a.py", 9)]
    told = [{"name": name, "filename": path, "line": line} for name, path, line in frames]
    answer = json.dumps([{"os_thread_id": 7, "frames": told}]).encode()

    assert [(each.function, each.line) for each in spied_thread(answer, 7)] == [
        ("main", 9),
        ("__init__", 3),
    ]


def test_what_gdb_writes_is_read() -> None:
    told = """
Thread 2 (Thread 0x7f1 (LWP 12) "worker"):
#0  0x00007f in __futex_wait () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x00005 in take (lock=0x1, n=3) at bank.c:17
#2  main () at bank.c:40

Thread 1 (Thread 0x7f0 (LWP 11) "main"):
#0  crash () at crash.c:3
"""
    worker, main = parse_gdb(told)

    assert (worker.number, worker.name) == (12, "worker")
    assert [(f.function, f.path, f.line) for f in worker.frames] == [
        ("main", "bank.c", 40),
        ("take", "bank.c", 17),
        ("__futex_wait", "/lib/x86_64-linux-gnu/libc.so.6", 0),
    ]
    assert main.frames[0].in_user_code


def test_a_debugger_that_tells_of_no_thread_tells_of_none() -> None:
    assert parse_gdb("ptrace: Operation not permitted.\n") == ()
    assert list(parse_tasks("")) == []
