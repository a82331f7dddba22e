"""`whet starve` without a command: a shell in a terminal, which outlives what meets its limits."""

import os
import pty
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from room_users import User, user

pytestmark = pytest.mark.needs("setsid", "setpriv", "bash")

_GROWS = 'held = []\nwhile True:\n    held.append(b"1" * 1_000_000)\n'
_CTRL_C, _CTRL_Z = b"\x03", b"\x1a"


@dataclass
class Shell:
    """A limited shell, as its user sees it."""

    terminal: int
    whet: "subprocess.Popen[bytes]"
    shown: bytes = b""

    def type(self, keys: bytes) -> None:
        os.write(self.terminal, keys)

    def wait_for(self, words: bytes) -> None:
        """Read until ``words`` stand in what has come since the last ones."""
        while words not in self.shown:
            ready, _, _ = select.select([self.terminal], [], [], 60)
            assert ready, self.shown
            self.shown += os.read(self.terminal, 65536)
        self.shown = self.shown.partition(words)[2]


@contextmanager
def limited_shell(who: User, *options: str) -> Iterator[Shell]:
    ours, theirs = pty.openpty()
    environment = {**who.environment, "SHELL": "/bin/bash", "TERM": "dumb"}
    with subprocess.Popen(
        ["setsid", "--ctty", *who.command("starve", *options)], cwd=who.folder, env=environment,
        stdin=theirs, stdout=theirs, stderr=theirs,
    ) as whet:  # fmt: skip
        os.close(theirs)
        try:
            yield Shell(ours, whet)
        finally:
            whet.kill()
    os.close(ours)


@pytest.mark.parametrize("who", ["root", "ordinary"])
def test_what_meets_the_limit_dies_and_the_shell_and_its_jobs_go_on(who: str) -> None:
    with (
        user(who) as ada,
        limited_shell(ada, "--memory", "100M", "--files", "64") as shell,
    ):
        ada.write("grow.py", _GROWS)
        shell.wait_for(b"(memory 100 MiB, files 64)")
        assert b"job control" not in shell.shown
        shell.type(b"echo =$MEMLIMIT= $(ulimit -n)\n")
        shell.wait_for(b"=100MiB= 64")

        shell.type(f"{ada.python} grow.py; echo ended-$?\n".encode())
        shell.wait_for(b"this shell's memory limit killed ")
        shell.wait_for(b" of 100.00 MiB")
        shell.wait_for(b"ended-137")

        # The keys are the shell's, which gives them to the program that runs in it.
        starts = b"sh -c 'echo up-$((1 + 1)); exec sleep 1000'\n"
        shell.type(starts)
        shell.wait_for(b"up-2")
        shell.type(_CTRL_C + _CTRL_C)
        shell.type(b"echo lives-$((2 + 2))\n")
        shell.wait_for(b"lives-4")
        shell.type(starts)
        shell.wait_for(b"up-2")
        shell.type(_CTRL_Z)
        shell.wait_for(b"Stopped")
        shell.type(b"kill -9 %1; fg; echo gone-$((3 + 3))\n")
        shell.wait_for(b"gone-6")
        shell.type(b"exit 3\n")
        shell.wait_for(b"was killed")
        assert shell.whet.wait(60) == 3
        assert list(ada.temporary.iterdir()) == []


@pytest.mark.slow
def test_a_shell_that_reads_what_it_is_given_shows_no_prompt_and_no_complaint() -> None:
    with user("root") as ada:
        shell = subprocess.run(
            ada.command("starve", "--files", "64"), cwd=ada.folder,
            env={**ada.environment, "SHELL": "/bin/bash"}, input=b"echo files-$(ulimit -n)\nexit 3\n",
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip

    assert shell.stdout == b"files-64\n"
    assert b"bash" not in shell.stderr
    assert b"exit 3" in shell.stderr
