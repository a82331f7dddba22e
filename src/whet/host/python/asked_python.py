"""A Python of the user's that answers requests, each a line of JSON, until it is closed."""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from whet import agent
from whet.core.errors import CommandNotFound, HostFailure
from whet.core.text.record import MalformedRecordError, as_record, decoded
from whet.host.process.ending import holding_signals

_RUNNER = Path(agent.__file__).with_name("asked.py")
_MOST_COMPLAINT_BYTES = 4096


class AskedPython:
    """A script of whet's in the user's Python; what its libraries print is kept for complaints.

    Args:
        python: the interpreter.
        script: what it runs.
        cwd: the folder to start in.
        environment: the whole environment.
        task: what it does, for the complaint if it ends.
    """

    def __init__(
        self, python: str, script: Path, *, cwd: Path, environment: Mapping[str, str],
        task: str = "built the model",
    ) -> None:  # fmt: skip
        self._python = python
        self._task = task
        self._said = _nameless_file()
        command = [python, str(_RUNNER), str(script)]
        self._process = _started(command, cwd, environment, self._said.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._said.close()

    def ask(self, request: Mapping[str, object]) -> dict[str, object]:
        """Return the answer to a request.

        Raises:
            HostFailure: if the interpreter ends instead.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            raise self._failure()
        try:
            return dict(as_record(decoded(line), "an answer"))
        except MalformedRecordError as error:
            raise HostFailure(
                f"the Python that whet asks doesn't answer in JSON: {error}",
                hint="a module of the model may print while it is loaded: let it print to stderr",
            ) from error

    def _failure(self) -> HostFailure:
        code = self._process.wait()
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        length = os.fstat(self._said.fileno()).st_size
        said = os.pread(
            self._said.fileno(), _MOST_COMPLAINT_BYTES, max(0, length - _MOST_COMPLAINT_BYTES)
        )
        lines = said.decode("utf-8", "replace").strip().splitlines()
        last = f": {lines[-1].strip()}" if lines else ""
        return HostFailure(
            f"`{self._python}` ended {how} while it {self._task}{last}",
            hint="does it import the model in your own program? `--python` names another one",
        )


def _nameless_file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _started(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], errors: int
) -> "subprocess.Popen[bytes]":
    with holding_signals():
        try:
            return subprocess.Popen(
                command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        except OSError as error:
            raise CommandNotFound(
                f"whet can't run `{command[0]}` as Python: {error.strerror}",
                hint="check `--python` and `PATH`",
            ) from error
