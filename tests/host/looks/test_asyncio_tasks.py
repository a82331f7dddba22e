"""The tasks of asyncio, as the agent in a real process tells them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import whet.agent
from whet.core.observations.stack import TaskStack
from whet.host.inspect.asyncio_tasks import NO_ANSWER, NOT_TOLD, TASKS_SIGNAL, tasks_of
from whet.host.inspect.spying import take_all
from whet.host.inspect.stacks import is_listening, told_at

SITE = Path(whet.agent.__file__).parent / "site"
HANGS = Path(__file__).parents[3] / "specimens" / "hangs"


@contextmanager
def running(folder: Path | None, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program that says when it is up, with an agent that writes to a folder."""
    agent = {} if folder is None else {
        "PYTHONPATH": str(SITE), "WHET_AGENT": str(folder), "WHET_PYCACHE": str(folder),
    }  # fmt: skip
    with subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, **agent}, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def until_stuck(pid: int, folder: Path) -> None:
    """Ask until there is no answer: the program is in a call that does not return."""
    for _ in range(20):
        if tasks_of(pid, folder) is None:
            return
    raise AssertionError("it answers")


def test_each_task_is_told_once_with_its_coroutines(tmp_path: Path) -> None:
    told: tuple[TaskStack, ...] = ()
    with running(tmp_path, str(HANGS / "stuck_tasks.py")) as process:
        # The first answer may come before the last task has begun.
        for _ in range(50):
            told = tasks_of(process.pid, tmp_path) or ()
            if len([each for each in told if each.frames and each.awaits != "is ready"]) == 7:
                break

    tasks = {each.name: each for each in told}
    assert len(told) == len(tasks) == 7
    assert [frame.function for frame in tasks["there"].frames] == [
        "move", "_ContextManagerMixin.__aenter__", "Lock.acquire",
    ]  # fmt: skip
    assert tasks["there"].frames[0].in_user_code
    assert tasks["watcher"].awaits == "there"
    assert tasks["Task-1"].frames[0].function == "main"


def test_a_program_without_asyncio_does_not_listen(tmp_path: Path) -> None:
    with running(tmp_path, "-c", "print('up', flush=True); input()") as process:
        assert not is_listening(process.pid, TASKS_SIGNAL)
        assert tasks_of(process.pid, tmp_path) is None


def test_a_name_of_any_kind_comes_back(tmp_path: Path) -> None:
    program = (
        "import asyncio\n"
        "async def wait():\n    print('up', flush=True)\n    await asyncio.Event().wait()\n"
        "async def main():\n"
        "    await asyncio.create_task(wait(), name='a\\tb \\n task \u00e9 \U0001f600')\n"
        "asyncio.run(main())\n"
    )
    with running(tmp_path, "-c", program) as process:
        told = {each.name for each in tasks_of(process.pid, tmp_path) or ()}

    assert told == {"Task-1", "a b   task \u00e9 \U0001f600"}


def test_why_tasks_are_not_told_is_said(tmp_path: Path) -> None:
    stuck = (
        "import asyncio, ctypes\nbuffer = ctypes.create_string_buffer(9)\n"
        "async def main():\n    print('up', flush=True)\n    ctypes.PyDLL(None).read(0, buffer, 9)\n"
        "asyncio.run(main())\n"
    )
    with running(tmp_path, "-c", stuck) as process:
        until_stuck(process.pid, tmp_path)
        (seen,) = take_all([process.pid], agent_folder=tmp_path, looks_again=False)
    if not seen.threads:
        pytest.skip("the system forbids ptrace")
    assert seen.notes == (NO_ANSWER,)

    with running(None, str(HANGS / "stuck_tasks.py")) as process:
        (seen,) = take_all([process.pid], looks_again=False)
    assert seen.notes == (NOT_TOLD,)


def test_a_call_of_a_library_is_not_cut_short_by_the_question(tmp_path: Path) -> None:
    program = (
        "import asyncio, ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\nbuffer = ctypes.create_string_buffer(9)\n"
        "async def main():\n    print('up', flush=True)\n"
        "    print(libc.read(0, buffer, 9), flush=True)\n"
        "asyncio.run(main())\n"
    )
    with running(tmp_path, "-c", program) as process:
        until_stuck(process.pid, tmp_path)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"ready\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"6\n"


def test_a_process_that_loses_a_signal_is_asked_again_and_answers_once(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "def lose(number, frame): signal.signal(number, answer)\n"
        "def answer(number, frame):\n"
        "    with open(f'{sys.argv[1]}/{os.getpid()}.told', 'a') as file:\n"
        "        file.write('waits\\nend\\nwaits\\nend\\n')\n"
        "signal.signal(int(sys.argv[2]), lose)\n"
        "print('up', flush=True)\ninput()\n"
    )
    with running(None, "-c", program, str(tmp_path), str(TASKS_SIGNAL)) as process:
        assert told_at(TASKS_SIGNAL, process.pid, tmp_path, "told") == "waits\nend\n"
