"""One profiler that runs beside a program until the program has ended."""

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.process.cleanup_journal import CleanupJournal

_MOST_BYTES = 1 << 16
_LAST_SECONDS = 20.0
"""How long a profiler may take to write what it has seen."""


class Recorder:
    """A profiler as a process of whet's own, in a session of its own: no Ctrl-C reaches it.

    It ends with the program that it watches.
    """

    def __init__(
        self,
        command: Sequence[str],
        output: Path,
        ready: bytes,
        cleanup_journal: CleanupJournal,
        *,
        passed: Sequence[int] = (),
    ) -> None:
        """Start it.

        Args:
            command: argument vector.
            output: the file that it writes at its end.
            ready: what it says as soon as it watches.
            cleanup_journal: where the process is written down.
            passed: descriptors that it gets.

        Raises:
            OSError: if it can't be started.
        """
        self.output = output
        self.is_ready = threading.Event()
        self._cleanup_journal = cleanup_journal
        self._ready = ready
        self._words = b""
        self._has_begun = False
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=tuple(passed),
            env={**os.environ, "RUST_BACKTRACE": "0"},
        )
        cleanup_journal.adopt("process", str(self._process.pid))
        self._thread = DaemonThread(target=self._listen, name="whet-profiler")
        self._thread.start()

    def wait_until_ready(self, seconds: float) -> bool:
        """Return as soon as it watches, or can't; whether it does."""
        self.is_ready.wait(seconds)
        return self._has_begun

    @property
    def is_running(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    @property
    def words(self) -> str:
        """What it has said so far."""
        return self._words.decode("utf-8", "replace")

    def finish(self) -> bytes:
        """Return what it has written; the program has ended."""
        for request in (None, signal.SIGINT, signal.SIGKILL):
            if request is not None:
                self._process.send_signal(request)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LAST_SECONDS if request is None else _LAST_SECONDS / 4)
                break
        self.close()
        try:
            return self.output.read_bytes()
        except OSError:
            return b""

    def close(self) -> None:
        """End it, whatever it does."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._thread.join()
        self._cleanup_journal.forget(str(self._process.pid))

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            while part := os.read(stream.fileno(), 4096):
                self._words = (self._words + part)[-_MOST_BYTES:]
                if self._ready in self._words:
                    self._has_begun = True
                    self.is_ready.set()
        self.is_ready.set()
