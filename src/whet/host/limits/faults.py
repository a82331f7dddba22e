"""Answers the system calls that should fail on purpose, in one of whet's threads.

The kernel holds each call of these kinds until the thread answers (seccomp_unotify(2)): the call
continues, or it fails with the requested error and never happens. So nothing is between the program
and its parent, its output or its signals. whet recognizes a call by its file even if that file doesn't
exist yet, which `strace -P` can't do.
"""

import errno
import fcntl
import fnmatch
import os
import select
import socket
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from whet.core.room import Fault
from whet.host.kernel.call_targets import AT_FDCWD, Memory, open_file, path_at, signed
from whet.host.kernel.fault_calls import faultable
from whet.host.limits.enforcer import Order
from whet.host.process.reported import ReportServer
from whet.host.process.room_reports import received
from whet.host.spawner.observer import ANSWER, CONTINUE, RECEIVE, REQUEST, SEND

_PATIENCE_SECONDS = 1.0


@dataclass(slots=True)
class Count:
    """What has become of one fault.

    Attributes:
        fault: the request.
        seen: how many calls it could have hit.
        hits: how many it has hit.
        first: the file of the first call that it has hit; empty: none.
    """

    fault: Fault
    seen: int = 0
    hits: int = 0
    first: str = ""

    @property
    def words(self) -> str:
        """What has become of it, as a sentence for the user."""
        option = f"`--fail {self.fault.words}`"
        if not self.hits:
            times = f"{self.seen} such call{'s' * (self.seen != 1)}"
            return f"{option} hit nothing: the program made {times}"
        about = f", first on `{self.first}`" if self.first else ""
        return f"{option} hit {self.hits} of {self.seen} calls{about}"


@dataclass(slots=True)
class Injector:
    """Answers for the calls of one trial until its last process has ended.

    Attributes:
        counts: what has become of each fault.
        own: folders of whet's own; calls on what is there aren't the program's.
    """

    counts: Sequence[Count]
    own: Sequence[str]
    _server: ReportServer = field(init=False)
    _kinds: dict[int, tuple[int, int, int]] = field(default_factory=dict[int, tuple[int, int, int]])
    _names: dict[int, str] = field(default_factory=dict[int, str])
    _before: bytes | None = None

    def __post_init__(self) -> None:
        self._server = ReportServer("whet-faults", self._serve, patience_seconds=_PATIENCE_SECONDS)
        for name, (number, *places) in faultable().items():
            self._names[number] = name
            self._kinds[number] = (places[0], places[1], places[2])

    @property
    def order(self) -> Order:
        """What the child does: where it sends the listener, and the numbers of the calls."""
        names = {count.fault.call for count in self.counts}
        numbers = sorted(faultable()[name][0] for name in names)
        return ("hold", self._server.address, *numbers)

    def begin(self) -> None:
        """Answer for the process that will send its listener, in a thread."""
        self._server.begin()

    def finish(self) -> None:
        """Return when the last call has been answered; all processes must have ended."""
        self._server.finish()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                message = received(connection)
        except OSError:
            return  # it is dead
        if message is not None:
            self._before, listener = message
            self._answer_all(listener)

    def _answer_all(self, listener: int) -> None:
        try:
            poll = select.poll()
            poll.register(listener, select.POLLIN)
            while poll.poll()[0][1] & select.POLLIN:
                self._answer_one(listener)
        finally:
            os.close(listener)

    def _answer_one(self, listener: int) -> None:
        request = bytearray(REQUEST.size)
        try:
            fcntl.ioctl(listener, RECEIVE, request)
        except OSError:
            return  # the caller is dead
        identity, pid, _, number, _, _, *arguments = REQUEST.unpack(request)
        error = self._error_for(pid, number, arguments)
        answer = (identity, 0, -error, 0) if error else (identity, 0, 0, CONTINUE)
        try:
            fcntl.ioctl(listener, SEND, ANSWER.pack(*answer))
        except OSError:
            return

    def _error_for(self, pid: int, number: int, arguments: Sequence[int]) -> int:
        """Return the error with which a call is to fail; 0: it continues."""
        if self._before is not None:
            if _read(f"/proc/{pid}/cmdline") == self._before:
                return 0  # not the program yet
            self._before = None
        path = self._file_of(pid, number, arguments)
        if any(path.startswith(folder) for folder in self.own):
            return 0
        name, error = self._names.get(number, ""), 0
        for count in self.counts:
            if count.fault.call == name and _is_like(path, count.fault.glob):
                count.seen += 1
                if count.fault.hits(count.seen) and not error:
                    count.hits += 1
                    count.first = count.first or path
                    error = getattr(errno, count.fault.error)
        return error

    def _file_of(self, pid: int, number: int, arguments: Sequence[int]) -> str:
        descriptor, folder, path = self._kinds.get(number, (-1, -1, -1))
        if path >= 0:
            base = signed(arguments[folder]) if folder >= 0 else AT_FDCWD
            with closing(Memory()) as memory:
                name = memory.string(pid, arguments[path])
            return os.path.normpath(path_at(pid, base, name))
        return open_file(pid, signed(arguments[descriptor])) if descriptor >= 0 else ""


def _is_like(path: str, glob: str) -> bool:
    return not glob or any(
        fnmatch.fnmatchcase(each, glob) for each in (path, os.path.basename(path))
    )


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read() or b""
    except OSError:
        return b""
