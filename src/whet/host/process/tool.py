"""Running the tools that whet itself needs (git, uv), never the user's command."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import IO

from whet.core.value_class import value_class
from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.process.ending import holding_signals, is_cleaning_up

_LOOK_SECONDS, _LOOKS = 0.5, 2

_running: "dict[int, subprocess.Popen[bytes]]" = {}
"""The program that each thread but the main one waits for."""


@value_class(kw_only=True)
class ToolResult:
    """What a tool answered."""

    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Standard output without the line end; bytes that aren't UTF-8 become surrogates."""
        return self.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    @property
    def complaint(self) -> str:
        """The last line of standard error that says something."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.exit_code}"


class ToolMissingError(Exception):
    """The tool isn't installed."""


def exit_code_in_time(command: Sequence[str], stdin: bytes, seconds: float) -> int | None:
    """Return how a tool ended, as `subprocess` counts it; None: it was killed, as its time was up."""
    try:
        return call_tool(command, stdin=stdin, timeout_seconds=seconds).exit_code
    except subprocess.TimeoutExpired:
        return None


def call_tool(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_seconds: float | None = None,
) -> ToolResult:
    """Run a tool to its end and return what it answered, whatever its exit code.

    Args:
        command: argument vector.
        cwd: folder to start in.
        environment: the whole environment; None: that of whet.
        stdin: what the tool reads.
        timeout_seconds: time after which the tool is killed.

    Raises:
        ToolMissingError: if the program doesn't exist.
        subprocess.TimeoutExpired: if it took too long.
    """
    # In a session of its own no Ctrl-C of the terminal reaches it, and `end_tools_of` all of it.
    is_apart = is_cleaning_up() or threading.current_thread() is not threading.main_thread()
    # If an interrupt came during the start, nothing would end the tool.
    with nullcontext(_nothing) if is_apart else holding_signals() as let_go:
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=is_apart,
            )
        except FileNotFoundError as error:
            if cwd is not None and not cwd.is_dir():
                raise
            raise ToolMissingError(command[0]) from error
        if is_apart:
            _running[threading.get_ident()] = process
        with process:
            try:
                let_go()
                stdout, stderr = _answer(process, stdin, timeout_seconds)
            except BaseException:
                process.kill()
                process.wait()  # `Popen` doesn't after a Ctrl-C
                raise
            finally:
                _running.pop(threading.get_ident(), None)
    return ToolResult(exit_code=process.returncode, stdout=stdout, stderr=stderr)


def _nothing() -> None: ...


def _answer(
    process: "subprocess.Popen[bytes]", stdin: bytes, timeout_seconds: float | None
) -> tuple[bytes, bytes]:
    """Return what a process says until it ends; one that waits for a pipe would wait forever.

    git reads `.gitignore` whatever it is, and an archive may bring a pipe of that name.
    """
    if stdin:
        # `communicate` forgets what it hasn't yet written when its time is up.
        DaemonThread(target=partial(_feed, process.stdin, stdin)).start()
        process.stdin = None
    left = timeout_seconds
    seen = 0
    while True:
        step = _LOOK_SECONDS if left is None else min(left, _LOOK_SECONDS)
        try:
            return process.communicate(timeout=step)
        except subprocess.TimeoutExpired:
            left = None if left is None else left - step
            if left is not None and left <= 0:
                raise
        seen = seen + 1 if _opens_a_pipe(process.pid) else 0
        if seen == _LOOKS:
            process.kill()
            stdout, _ = process.communicate()
            return stdout, b"it waits for a named pipe that no process writes to"


def _feed(stdin: IO[bytes] | None, data: bytes) -> None:
    if stdin is not None:
        with suppress(BrokenPipeError), stdin:
            stdin.write(data)


def _opens_a_pipe(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/wchan").read_text("ascii") in {"wait_for_partner", "fifo_open"}
    return False


def end_tools_of(thread: threading.Thread) -> None:
    """Ask what a thread has called, and all that came of it, to end (SIGTERM)."""
    process = _running.pop(thread.ident or 0, None)
    if process is not None and process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
