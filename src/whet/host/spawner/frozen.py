"""The frozen copies of a program that a spawner keeps and resumes; imports next to nothing.

The other end of each connection is `whet.agent.site.whet_stage`, in the copy itself.
"""

import _socket
import marshal
import os
import time

from whet.host.process.channel import PIECE_BYTES, unpacked
from whet.host.process.messages import Freezing, Reported, Sighted
from whet.host.process.process_tree import resident_bytes
from whet.host.spawner.first_to_go import let_go_as, let_go_first
from whet.host.spawner.launch import CannotStartError, Started

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from whet.host.spawner.watching import Watching

    Hindered: TypeAlias = "tuple[str, float, str]"  # place, seconds, why there was no copy
    Leaving: TypeAlias = "tuple[int, float, int]"  # exit code, CPU seconds, peak bytes
    # which stream is a terminal, the arguments that a search varies, whether it is to tell what
    # pages it has written to, how long a stretch is worth a copy
    Given: TypeAlias = "tuple[int, list[bytes], bool, float]"
    # what files say now; what it is given; whether a debugger is to open; the pages that a run
    # from there has written to
    Order: TypeAlias = "tuple[dict[str, bytes], Given, bool, bytes]"

_NOTHING: "Given" = (-1, [], False, -1.0)
_RUNS_THAT_TELL = frozenset(4**power for power in range(16))
"""For runs from one copy: what they write to can change, and checking takes milliseconds."""

_LENGTH_BYTES = 4
_CREDENTIALS_BYTES = 12  # struct ucred: pid, uid, gid
_WAITING = 64
_ANSWER_SECONDS = 20.0  # a copy of 4 GB takes 0.1 s to fork; one that is stopped never answers


class FrozenCopies:
    """All copies of one program, by the numbers under which whet knows them.

    Attributes:
        watching: who knows what the program sees; None: no program has been watched yet.
        blockers: what programs have said of places where there could be no copy.
        are_programs_present: whether a program has said that it can leave copies.
        why_absent: why none can, as a Python of this run has said; empty: none has said anything.
    """

    def __init__(self) -> None:
        self.watching: Watching | None = None
        self.blockers: list[Hindered] = []
        self.are_programs_present = False
        self.why_absent = ""
        self._listener: _socket.socket | None = None
        self._lines: dict[int, _socket.socket] = {}
        self._numbers: dict[int, int] = {}  # by pid
        self._ready: dict[int, int] = {}  # pids of their copies that wait for streams, by number
        self._edited: set[int] = set()  # numbers of those that were asked to take on other texts
        self._spares: set[int] = set()  # all such pids, also of those that are about to end
        self._asked_ahead: set[int] = set()
        self._runs: dict[int, int] = {}  # how many have resumed from each
        self._last = -1
        self._wrote: dict[int, bytes] = {}  # pages, until they have been handed on
        self._told: dict[int, Leaving] = {}  # by pid
        self._leaving: set[int] = set()  # pids
        self._to_go: dict[
            int, bytes
        ] = {}  # how willingly the kernel would end what resumes from it
        self._next = os.getpid() << 32  # no other spawner ever had these

    @property
    def pids(self) -> "frozenset[int]":
        """The processes that outlive a trial."""
        self._settle()
        return frozenset(self._numbers) | self._spares | self._leaving

    @property
    def descriptor(self) -> int:
        """What becomes readable when a copy reports; -1: none may."""
        return -1 if self._listener is None else self._listener.fileno()

    def listen(self, address: str) -> None:
        """Let copies report at ``address``, from the first one named on; empty: none."""
        # They all report where the first program was told to: its copies remember that.
        if address and self._listener is None:
            self._listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            if os.path.exists(address):  # another spawner was killed
                os.unlink(address)
            self._listener.bind(address)
            self._listener.listen(_WAITING)
            self._listener.settimeout(0)

    def take(self) -> Reported | None:
        """Return what the next copy that reports says of itself; None if no other does."""
        while (line := self._accepted()) is not None:
            line.settimeout(_ANSWER_SECONDS)
            message = _receive(line)
            match unpacked(message):
                case ("hindered", str(place), float(seconds), str(why)):
                    self.blockers.append((place, seconds, why))
                case ("present",):
                    self.are_programs_present = True
                case ("absent", str(why)):
                    self.why_absent = why
                case ("wrote", bytes(pages)):
                    if self._last in self._lines:  # else nobody resumes from that one any more
                        self._wrote[self._last] = pages
                case ("leaves", int(code), float(cpu_seconds), int(peak_bytes)):
                    self._told[_peer_of(line)] = (code, cpu_seconds, peak_bytes)
                case (str(kind), str(place), float(seconds), tuple(), dict(), list()):
                    *_, sighted, sources, frames = marshal.loads(message)
                    if len(sighted) == len(Sighted._fields):
                        number, pid = self._taken_in(line)
                        return Reported(
                            number, pid, kind, place, seconds, Sighted(*sighted), sources, frames
                        )
                case _:  # it is gone, or no copy at all
                    pass
            line.close()
        return None

    def _accepted(self) -> "_socket.socket | None":
        if self._listener is None:
            return None
        try:
            accepted: tuple[int, object] = getattr(self._listener, "_accept")()  # noqa: B009 - `socket` is slow to import
        except OSError:
            return None
        return _socket.socket(fileno=accepted[0])

    def _taken_in(self, line: _socket.socket) -> tuple[int, int]:
        pid = _peer_of(line)
        number, self._next = self._next, self._next + 1
        self._lines[number] = line
        self._numbers[pid] = number
        self._to_go[number] = let_go_first(pid)
        return number, pid

    def leaving(self, pid: int) -> "Leaving | None":
        """Return how a process ends that has said so; None if it has not.

        It has nothing open any more and does nothing but end, which may take a while.
        """
        return self._told.get(pid)

    def let_leave(self, pid: int) -> None:
        """Let such a process outlive its trial, up to the next one."""
        self._leaving.add(pid)

    def begin_run(self) -> None:
        """Wait until what ran before is gone: a program may ask whether another one of it runs."""
        self._told.clear()
        give_up_at, pause = time.monotonic() + _ANSWER_SECONDS, 0.0002
        self.see_off()
        while self._leaving and time.monotonic() < give_up_at:
            time.sleep(pause)
            pause = min(pause * 2, 0.005)
            self.see_off()
        self._leaving.clear()

    def see_off(self) -> None:
        """Let go of what has ended since: it would be seen among the processes."""
        for pid in (*self._leaving, *self._spares):
            try:
                has_ended = bool(os.waitpid(pid, os.WNOHANG)[0])
            except ChildProcessError:  # it had ended before anybody knew of it
                has_ended = True
            if has_ended:
                self.forget(pid)

    def let_go_on(self, number: int) -> None:
        """Let the program run on from which a copy was taken."""
        line = self._lines.get(number)
        if line is not None:
            _send(line, "on")

    def refuse(self, number: int) -> None:
        """Let a copy end, and the program run on without any more of them."""
        line = self._lines.get(number)
        if line is not None:
            _send(line, "no")
        self.drop(number)

    def begin_to_prepare(self, freezing: Freezing) -> None:
        """Let a copy be made ready to run on from, with what the program's files say now.

        `is_ready` says whether it is.
        """
        number, changes, is_debugged = freezing.resumed, freezing.changed, freezing.is_debugged
        self._settle(number)
        # One that has taken on other texts, for a run that was given up, is of no use for these.
        is_as_it_was = number in self._ready and number not in self._edited
        if changes or is_debugged or not is_as_it_was:
            self._ready.pop(number, None)
            self._ask_ahead(number, dict(changes), is_debugged=is_debugged)

    def is_ready(self, number: int) -> bool:
        """Whether a copy is there and its past is what it would be with the files as they are."""
        self._settle(number)
        return number in self._ready

    def has(self, number: int) -> bool:
        """Whether a copy is there, as far as it has not failed to answer."""
        return number in self._lines

    def prepare_ahead(self, number: int) -> None:
        """Let a copy make itself ready, as it is, for a run to come: a fork takes long."""
        self._settle(number)
        self._ask_ahead(number)

    def _ask_ahead(
        self, number: int, changed: "dict[str, bytes] | None" = None, *, is_debugged: bool = False
    ) -> None:
        order: Order = (changed or {}, _NOTHING, is_debugged, self._wrote.pop(number, b""))
        line = self._lines.get(number)
        if line is not None and _send(line, order):
            self._asked_ahead.add(number)
            (self._edited.add if changed or is_debugged else self._edited.discard)(number)

    def _settle(self, number: int = -1) -> None:
        """Take in what became of a copy that was asked ahead, or of all of them."""
        numbers = self._asked_ahead if number < 0 else self._asked_ahead & {number}
        self._asked_ahead = self._asked_ahead - numbers
        for each in numbers:
            self._note_ready(each, self._answer(each))

    def _note_ready(self, number: int, pid: int) -> None:
        self._ready.pop(number, None)
        if pid > 0:
            self._ready[number] = pid
        if pid:
            self._spares.add(abs(pid))

    def resume(
        self,
        number: int,
        streams: "Sequence[int]",
        terminal: int,
        words: "list[bytes]",
        worth_seconds: float,
    ) -> Started:
        """Run on from a copy that has been prepared.

        Args:
            number: the copy.
            streams: what it gets.
            terminal: which of them is its controlling terminal; -1: none.
            words: the arguments that a search varies.
            worth_seconds: how long a stretch is worth a copy; below zero: as it was.

        Raises:
            CannotStartError: if it is gone.
        """
        at = time.monotonic()
        runs = self._runs[number] = self._runs.get(number, 0) + 1
        self._last = number
        is_to_tell = runs in _RUNS_THAT_TELL
        given = (terminal, words, is_to_tell, worth_seconds)
        is_as_it_was = self._is_to_go_as_before(number)
        pid = self._asked(number, ({}, given, False, b""), streams) if is_as_it_was else 0
        self._ready.pop(number, None)
        self._spares.discard(pid)
        if not pid:
            raise CannotStartError(("fork", 0, b""))
        return Started(pid, at, resident_bytes(pid))

    def _is_to_go_as_before(self, number: int) -> bool:
        """Let the kernel treat what is to run on as the program, where it did not."""
        before = self._to_go.get(number)
        return not before or let_go_as(self._ready.get(number, 0), before)

    def _asked(
        self,
        number: int,
        order: "Order",
        streams: "Sequence[int]" = (),
    ) -> int:
        """Return a copy's answer, the pid of one of its own; 0 if there is none."""
        line = self._lines.get(number)
        if line is None or not _send(line, order, streams):
            return 0
        return self._answer(number)

    def _answer(self, number: int) -> int:
        line = self._lines.get(number)
        answer = b"" if line is None else _receive(line)
        if not answer:
            self.drop(number)
            return 0
        content = unpacked(answer)
        return content if isinstance(content, int) else 0

    def drop(self, number: int) -> None:
        """Let a copy end."""
        self._settle(number)  # whoever waits for processes has to know of that one too
        self._ready.pop(number, None)
        self._edited.discard(number)
        self._runs.pop(number, None)
        self._wrote.pop(number, None)
        self._to_go.pop(number, None)
        line = self._lines.pop(number, None)
        if line is not None:
            line.close()
            if self.watching is not None:
                self.watching.drop(number)

    def forget(self, pid: int) -> bool:
        """Note that a process has ended; say whether it was a copy, or one of its own."""
        if pid in self._leaving:
            self._leaving.discard(pid)
            return True
        if pid in self._spares:
            self._spares.discard(pid)
            self._ready = {number: one for number, one in self._ready.items() if one != pid}
            return True
        number = self._numbers.pop(pid, None)
        if number is None:
            return False
        self.drop(number)
        return True

    def end(self) -> None:
        """Let all of them end, and take no more."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for number in tuple(self._lines):
            self.drop(number)
        self._numbers.clear()
        self._leaving.clear()


def _peer_of(line: "_socket.socket") -> int:
    who = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _CREDENTIALS_BYTES)
    return int.from_bytes(who[:_LENGTH_BYTES], "little")


def _send(line: "_socket.socket", message: object, descriptors: "Sequence[int]" = ()) -> bool:
    content = marshal.dumps(message)  # type: ignore[arg-type]
    rights: list[tuple[int, int, bytes]] = []
    if descriptors:
        numbers = b"".join(each.to_bytes(_LENGTH_BYTES, "little") for each in descriptors)
        rights.append((_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers))
    try:
        head = len(content).to_bytes(_LENGTH_BYTES, "little")
        line.sendmsg([head], rights, _socket.MSG_NOSIGNAL)
        line.sendall(content, _socket.MSG_NOSIGNAL)
    except OSError:
        return False
    return True


def _receive(line: "_socket.socket") -> bytes:
    """Return a message; empty if the other end is gone or stands still."""
    data = b""
    try:
        while len(data) < _LENGTH_BYTES:
            part = line.recv(_LENGTH_BYTES - len(data))
            if not part:
                return b""
            data += part
        size, body = int.from_bytes(data, "little"), bytearray()
        while len(body) < size:
            part = line.recv(min(size - len(body), PIECE_BYTES))
            if not part:
                return b""
            body += part
    except (OSError, MemoryError):
        return b""
    return bytes(body)
