"""Calling the tools that whet itself needs (git, uv), never the user's command."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool answered."""

    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Standard output without the line end; bytes that are no UTF-8 survive as surrogates."""
        return self.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    @property
    def complaint(self) -> str:
        """The last line of standard error that says something."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.exit_code}"


class ToolMissingError(Exception):
    """The tool is not installed."""


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
        timeout_seconds: after so long the tool is killed.

    Raises:
        ToolMissingError: if the program does not exist.
        subprocess.TimeoutExpired: if it took too long.
    """
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            input=stdin,
            capture_output=True,
            timeout=timeout_seconds,
            check=False,
        )
    except FileNotFoundError as error:
        if cwd is not None and not cwd.is_dir():
            raise
        raise ToolMissingError(command[0]) from error
    return ToolResult(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)
