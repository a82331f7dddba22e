"""Follows processes from system call to system call, and collects failures, waits and uses.

It examines a failing call while the caller is stopped at the end of the call. So it sees the files
behind its descriptors, the free space of its file system, and the Python line that made the call, as
they were.
"""

import errno
import os
import re
import signal
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whet.core.failure import Frame
from whet.host.files.path_facts import facts_on, open_files_of
from whet.host.inspect.call_groups import CallGroups, FailedGroup, IsUsual, Process
from whet.host.inspect.followed_calls import ADDRESSES, FUTEX, followed
from whet.host.inspect.held_stack import HeldStacks, Put
from whet.host.inspect.stacks import is_user_code
from whet.host.kernel.call_targets import (
    AT_FDCWD,
    Memory,
    address_bytes,
    address_in,
    detail_of,
    open_file,
    path_at,
    polled,
    signed,
)
from whet.host.kernel.ptrace import (
    BEGINS,
    CALL_STOP,
    ENDS,
    EVENT_CLONE,
    EVENT_EXEC,
    EVENT_FORK,
    EVENT_SECCOMP,
    EVENT_STOP,
    EVENT_VFORK,
    Tracer,
    stop_of,
)
from whet.host.kernel.syscalls import MAGIC_FOLDER

if TYPE_CHECKING:
    from whet.host.inspect.followed_calls import Places

LONG_SECONDS = 0.1
"""The program waited in a call that takes this long."""

_MOST_ERROR = 4095
_MOST_WAITS = 2
_COMMAND_BYTES = 400
_OPENS = {"open": (0, 1), "openat": (1, 2), "openat2": (1, -1), "creat": (0, -1)}
_LOOKS = frozenset({"stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"})
_RENAMES = frozenset({"rename", "renameat", "renameat2"})
_STARTS = frozenset({EVENT_FORK, EVENT_VFORK, EVENT_CLONE})
_AGAIN = frozenset({"EAGAIN", "EINTR", "EINPROGRESS", "EALREADY"})
_MAY_NOT_FAIL = frozenset({"fork", "vfork", "clone", "clone3", "flock", "fcntl"})
"""Their EAGAIN says that something is short, or that another process holds a lock."""
_ON_PATHS = frozenset(
    [
        "ENOSPC",
        "EDQUOT",
        "EROFS",
        "EACCES",
        "EPERM",
        "ENOENT",
        "ENOTDIR",
        "EISDIR",
        "EEXIST",
        "ENOTEMPTY",
        "EXDEV",
        "EBUSY",
        "ETXTBSY",
        "EFBIG",
        "EIO",
        "ESTALE",
        "ELOOP",
        "ENAMETOOLONG",
        "EOPNOTSUPP",
    ]
)
_ABSENT = frozenset({"ENOENT", "ENOTDIR"})
_UNFOLLOWED = {FUTEX: "futex (a lock, or another thread)"}
_LIBRARIES = re.compile(r"\.so(\.\d+)*$|/__pycache__/|/pyvenv\.cfg$")
_SYSTEM = ("/usr/", "/lib", "/etc/", "/proc/", "/sys/", "/dev/", "/bin/", "/sbin/")


@dataclass(slots=True)
class _Thread:
    tid: int
    process: Process
    since: float = 0.0
    is_in_call: bool = False


class Follower:
    """Follows what one thread of whet has seized. All but `calls` is for that thread alone."""

    def __init__(
        self,
        is_usual: IsUsual,
        tracer: Tracer,
        *,
        agent_folder: Path | None,
        own: Sequence[str] = (),
    ) -> None:
        """Make one that follows nothing yet.

        Args:
            is_usual: says which failing calls are only counted.
            tracer: follows them.
            agent_folder: where the agents of a trial write; None: there are none.
            own: folders of whet's own; calls on what is there aren't the program's.
        """
        self.groups = CallGroups(is_usual)
        self._tracer = tracer
        self._stacks = HeldStacks(agent_folder)
        self._memory = Memory()
        self._own = tuple(own)
        self._table = {places[0]: (name, places) for name, places in followed().items()}
        self._end_of_handler = followed()["rt_sigreturn"][0]
        told_of = _OPENS.keys() | _LOOKS | _RENAMES | ADDRESSES.keys()
        self._told_of = {number for number, (name, _) in self._table.items() if name in told_of}
        self._threads: dict[int, _Thread] = {}
        self._processes: dict[int, Process] = {}
        self._sockets: dict[str, str] = {}
        self._is_filtered = tracer.is_filtered
        self._has_agents = agent_folder is not None

    def seize(self, pid: int) -> None:
        """Follow a process that is about to become the program.

        Raises:
            OSError: if the system refuses it.
        """
        self._tracer.seize(pid)
        self._threads[pid] = _Thread(pid, self._process(pid, is_program=False))

    def attach(self, pid: int) -> None:
        """Follow all threads of a process that runs already.

        Raises:
            OSError: if the system refuses it, or it is gone.
        """
        process = self._process(pid, is_program=True)
        threads: set[int] = set()
        while more := {int(name) for name in os.listdir(f"/proc/{pid}/task")} - threads:
            for tid in sorted(more):
                try:
                    self._tracer.seize(tid)
                except ProcessLookupError:
                    continue  # a thread that has ended meanwhile
                except PermissionError:
                    if tid in self._threads:
                        continue  # it was started by one that is followed
                    raise
                self._threads[tid] = _Thread(tid, process)
                self._tracer.interrupt(tid)
            threads |= more

    def follow(self) -> None:
        """Follow until nothing is left to follow."""
        wait, is_filtered = self._tracer.wait, self._is_filtered
        while (event := wait()) is not None:
            tid, status = event
            if not (is_filtered and self._passes(tid, status)):
                self._heed(tid, status)

    def _passes(self, tid: int, status: int) -> bool:
        """Let a thread continue at once from a stop at which there is nothing to be seen.

        Nearly all stops are such; each takes a few microseconds, and there are millions of them.
        """
        thread = self._threads.get(tid)
        if thread is None or not thread.process.is_program or tid in self._stacks.writing:
            return False
        if status == BEGINS:
            thread.is_in_call, thread.since = True, time.monotonic()
            self._tracer.note_begin(tid)
            self._tracer.go_on(tid, to_border=True)
            return True
        if status != ENDS:
            return False
        number, value = self._tracer.ended(tid)
        is_plain = value >= 0 and number not in self._told_of and number in self._table
        if not is_plain or time.monotonic() - thread.since >= LONG_SECONDS:
            self._ended(thread, number, value)
            return True
        self.groups.seen += 1
        thread.is_in_call = False
        self._tracer.go_on(tid, to_border=False)
        return True

    def detach(self) -> None:
        """Let everything continue unfollowed."""
        for tid in tuple(self._threads):
            if self._tracer.detach(tid) or not self._tracer.interrupt(tid):
                del self._threads[tid]
        while self._threads and (event := self._tracer.wait()) is not None:
            tid, status = event
            stop = stop_of(status)
            number = 0 if stop is None or stop[1] or stop[0] == CALL_STOP else stop[0]
            if stop is not None and tid not in self._threads:
                self._tracer.detach(tid)  # started a moment ago
            elif stop is None or self._tracer.detach(tid, number):
                self._threads.pop(tid, None)

    def close(self) -> None:
        """Close what it has opened."""
        self._memory.close()
        self._stacks.close()
        if self._stacks.has_given_up:
            self.groups.notes.append(
                "some calls have no Python line: whet's agent isn't in the process,"
                " and reading each stack from outside is slow"
            )

    def note_waiting(self) -> None:
        """Note the calls that threads wait in now; any thread may ask for it."""
        self.groups.until = time.monotonic()
        for thread in tuple(self._threads.values()):
            with suppress(OSError, ValueError):
                words = Path(f"/proc/{thread.tid}/syscall").read_text().split()
                number = int(words[0])  # `running`: it is in none
                seconds = time.monotonic() - thread.since if thread.is_in_call else 0.0
                arguments = tuple(int(word, 16) for word in words[1:7])
                if seconds < LONG_SECONDS and number in self._table:
                    continue
                name, target = self._waited(thread.tid, number, arguments)
                group = self.groups.wait(thread.process, name, target, seconds)
                group.is_under_way = True

    # ---- stops ----

    def _heed(self, tid: int, status: int) -> None:
        stop = stop_of(status)
        if stop is None:
            self._gone(tid)
            return
        number, event = stop
        thread = self._threads.get(tid) or self._new(tid)
        if event == EVENT_SECCOMP:
            self._begins(thread)
        elif number == CALL_STOP:
            is_end = self._is_filtered or self._tracer.begun(tid) is None
            self._ends(thread) if is_end else self._begins(thread)
        elif event == 0:
            self._stacks.delivered(tid, number)
            self._go_on(thread, number)
        elif event == EVENT_STOP and number != signal.SIGTRAP:
            self._tracer.listen(tid)
        else:
            if event == EVENT_EXEC:
                self._becomes(thread)
            elif event in _STARTS:
                self._starts(thread)
            self._go_on(thread)

    def _go_on(self, thread: _Thread, number: int = 0) -> None:
        to_border = thread.is_in_call or not self._is_filtered
        self._tracer.go_on(thread.tid, to_border=to_border, signal=number)

    def _release(self, tid: int) -> None:
        """Let a thread continue that was held, if there is one."""
        thread = self._threads.get(tid)
        if thread is not None:
            self._go_on(thread)

    def _gone(self, tid: int) -> None:
        self._release(self._stacks.gone(tid))
        thread = self._threads.pop(tid, None)
        self._memory.forget(tid)
        if thread is not None and thread.process.pid == tid:
            thread.process.ended_at = time.monotonic()
            self._stacks.forget(tid)
            self._processes.pop(tid, None)

    def _new(self, tid: int) -> _Thread:
        """Take up a thread or a process that was started by one that is followed."""
        pid = _leader_of(tid)
        thread = self._threads[tid] = _Thread(tid, self._process(pid, is_program=True))
        return thread

    def _process(self, pid: int, *, is_program: bool) -> Process:
        process = self._processes.get(pid)
        if process is None:
            process = Process(pid, _command_of(pid), is_program)
            self.groups.processes += is_program
            self._processes[pid] = process
        return process

    def _becomes(self, thread: _Thread) -> None:
        """Note that a process runs another program now; all its other threads are gone."""
        process, tid = thread.process, thread.tid
        before = self._tracer.event_number(tid)
        if before != tid:  # another thread than the first one has become the first one
            self._release(self._stacks.gone(before))
            self._threads.pop(before, None)
            thread.is_in_call = True
        self._memory.forget(tid)
        self._stacks.forget(tid)
        process.command, process.is_copy = _command_of(tid), False
        if not process.is_program:
            process.is_program = True
            self.groups.processes += 1
            self.groups.began = time.monotonic()
        self.groups.forget_search(process.pid)

    def _starts(self, thread: _Thread) -> None:
        """Note who starts a process, and from which line."""
        child = self._tracer.event_number(thread.tid)
        if _leader_of(child) != child:
            return
        process = self._process(child, is_program=thread.process.is_program)
        process.started_by, process.is_copy = thread.process.started_by, True

        def put(frames: tuple[Frame, ...], process: Process = process) -> None:
            process.started_by = frames or process.started_by

        if thread.process.is_program:
            self._stacks.ask_soon(thread.process.pid, thread.tid, put)

    # ---- calls ----

    def _begins(self, thread: _Thread) -> None:
        if thread.tid in self._stacks.writing:
            call = self._tracer.begun(thread.tid)
            if call is not None and call.number == self._end_of_handler:
                thread.is_in_call = False
                other = self._stacks.finished(thread.tid)
                self._go_on(thread)
                self._release(other)
                return
        thread.is_in_call = True
        thread.since = time.monotonic()
        self._tracer.note_begin(thread.tid)
        self._go_on(thread)

    def _ends(self, thread: _Thread) -> None:
        self._ended(thread, *self._tracer.ended(thread.tid))

    def _ended(self, thread: _Thread, number: int, value: int) -> None:
        thread.is_in_call = False
        call = self._table.get(number)
        if call is None or not thread.process.is_program or thread.tid in self._stacks.writing:
            self._go_on(thread)
            return
        self.groups.seen += 1
        name, places = call
        if -_MOST_ERROR <= value < 0:
            is_held = self._fails(thread, name, places, -value)
        else:
            is_held = self._works(thread, name, places)
        seconds = time.monotonic() - thread.since if thread.since else 0.0
        if seconds >= LONG_SECONDS and not is_held:
            is_held = self._waited_long(thread, number, seconds)
        if not is_held:
            self._go_on(thread)

    def _works(self, thread: _Thread, name: str, places: "Places") -> bool:
        """Take in a call that didn't fail; return whether its thread is to be held."""
        if name in _LOOKS:
            return self._looks(thread, places)
        if name in _OPENS:
            self._opens(thread.tid, name, places)
        elif name in ADDRESSES:
            self._reaches(thread.tid, name, self._tracer.arguments(), "")
        elif name in _RENAMES:
            arguments = self._tracer.arguments()
            _, _, _, _, folder, path = places
            self._uses(self._path(thread.tid, arguments, folder, path)[0], writes=True)
        return False

    def _looks(self, thread: _Thread, places: "Places") -> bool:
        """Note what is there, where it is asked for again and again; return whether its thread is to be held."""
        arguments = self._tracer.arguments()
        _, _, folder, place, _, _ = places
        path, given = self._path(thread.tid, arguments, folder, place)
        if not given or self._is_own(places, arguments, path) or _is_of_system(path):
            return False
        group = self.groups.look(thread.process, path)
        if group is None or not group.wants_stack or not self._stacks.can_answer(thread.tid):
            return False
        return self._asks(thread, group.put)

    def _opens(self, tid: int, name: str, places: "Places") -> None:
        arguments = self._tracer.arguments()
        _, _, folder, path, _, _ = places
        full, _ = self._path(tid, arguments, folder, path)
        if name == "openat2":
            (flags,) = struct.unpack("=Q", self._memory.part(tid, arguments[2], 8) or bytes(8))
        elif name == "creat":
            flags = os.O_WRONLY
        else:
            flags = arguments[_OPENS[name][1]]
        if flags & (os.O_DIRECTORY | os.O_PATH):
            return
        way = flags & os.O_ACCMODE
        self._uses(full, reads=way != os.O_WRONLY, writes=way != os.O_RDONLY)

    def _uses(self, path: str, *, reads: bool = False, writes: bool = False) -> None:
        if path.startswith(self._own) or (not writes and _is_of_system(path)):
            return
        self.groups.file(path, reads=reads, writes=writes)

    def _reaches(self, tid: int, name: str, arguments: tuple[int, ...], error: str) -> str:
        """Note an address that was used and return it; empty: there is none."""
        place, length = ADDRESSES[name]
        data = address_bytes(self._memory, tid, arguments[place], arguments[length])
        address = address_in(data)
        if address:
            self.groups.address(name, address, error)
            target = open_file(tid, signed(arguments[0]))
            if name != "sendto" and target and not address.endswith(":0"):
                self._sockets[target] = address
        return address

    def _fails(self, thread: _Thread, name: str, places: "Places", number: int) -> bool:
        """Take in a failing call; return whether its thread is to be held."""
        error = errno.errorcode.get(number, "")
        arguments = self._tracer.arguments()
        if name in ADDRESSES:
            self._reaches(thread.tid, name, arguments, "" if error in _AGAIN else error)
        self.groups.failed += 1
        if not error or (error in _AGAIN and name not in _MAY_NOT_FAIL):
            self.groups.usual += 1
            return False
        path, argument = self._target(thread.tid, name, places, arguments)
        if self._is_own(places, arguments, path):
            self.groups.failed -= 1
            return False
        if self._is_usual(thread.tid, name, error, path):
            self.groups.usual += 1
            return False
        group = self.groups.failure(thread.process, name, error, path)
        if group is None:
            return False
        group.given = argument
        group.detail = detail_of(name, arguments)
        is_wanted = self.groups.wants_stack(group)
        if is_wanted or error == "ENOSPC":
            self._look_around(group, thread.tid)
        if not is_wanted:
            return False
        return self._asks(thread, group.put)

    def _is_usual(self, tid: int, name: str, error: str, path: str) -> bool:
        """Whether a failing call is only counted, whichever line of the program has made it."""
        is_usual = self.groups.is_usual
        if is_usual(name, error, path, None):
            return True
        return is_usual(name, error, path) and not self._stacks.can_answer(tid)

    def _look_around(self, group: FailedGroup, tid: int) -> None:
        if group.error in _ON_PATHS and group.path.startswith("/"):
            if group.facts is None or group.error == "ENOSPC":
                absent = group.error in _ABSENT
                group.facts = facts_on(tid, group.path.partition(" → ")[0], looks_beside=absent)
        elif group.error == "EMFILE" and group.open_files is None:
            group.open_files = open_files_of(group.process.pid, self._own)

    def _waited_long(self, thread: _Thread, number: int, seconds: float) -> bool:
        name, target = self._waited(thread.tid, number, self._tracer.arguments())
        group = self.groups.wait(thread.process, name, target, seconds)
        if group.count > _MOST_WAITS:  # the line is known by then
            return False
        return self._asks(thread, group.put)

    def _asks(self, thread: _Thread, put: Put) -> bool:
        """Ask a thread where it is; return whether it is to be held."""
        process = thread.process
        # A copy of a process that has an agent, on its way to another program.
        is_copy = process.is_copy and self._has_agents
        return self._stacks.ask(process.pid, thread.tid, put, may_be_read=not is_copy)

    def _waited(self, tid: int, number: int, arguments: tuple[int, ...]) -> tuple[str, str]:
        call = self._table.get(number)
        if call is None:
            return _UNFOLLOWED.get(number, f"system call {number}"), ""
        name, places = call
        if name == "poll":
            return name, polled(self._memory, tid, arguments)
        return name, self._target(tid, name, places, arguments)[0]

    def _is_own(self, places: "Places", arguments: tuple[int, ...], path: str) -> bool:
        folder = places[2]
        is_tagged = folder >= 0 and signed(arguments[folder]) == MAGIC_FOLDER
        return is_tagged or (bool(self._own) and path.startswith(self._own))

    def _target(
        self, tid: int, name: str, places: "Places", arguments: tuple[int, ...]
    ) -> tuple[str, str]:
        """Return what a call is about, and that as the program wrote it."""
        _, descriptor, folder, path, other_folder, other_path = places
        if path >= 0:
            full, given = self._path(tid, arguments, folder, path)
            if other_path >= 0:
                other, other_given = self._path(tid, arguments, other_folder, other_path)
                return f"{full} → {other}", f"{given} → {other_given}"
            return full, given
        if name in ADDRESSES:
            place, length = ADDRESSES[name]
            data = address_bytes(self._memory, tid, arguments[place], arguments[length])
            address = address_in(data)
            if address:
                return address, address
        if descriptor < 0:
            return "", ""
        number = signed(arguments[descriptor])
        target = open_file(tid, number)
        if not target and number >= 0:
            target = f"descriptor {number}, which isn't open"
        target = self._sockets.get(target, target)
        return target, target

    def _path(
        self, tid: int, arguments: tuple[int, ...], folder: int, path: int
    ) -> tuple[str, str]:
        given = self._memory.string(tid, arguments[path]) if arguments[path] else ""
        base = signed(arguments[folder]) if folder >= 0 else AT_FDCWD
        return path_at(tid, base, given), given


def _is_of_system(path: str) -> bool:
    if path.startswith(_SYSTEM) or not is_user_code(path):
        return True
    return _LIBRARIES.search(path) is not None


def _leader_of(tid: int) -> int:
    """Return the process of a thread."""
    with suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{tid}/status").read_bytes()
        return int(status.partition(b"\nTgid:")[2].split()[0])
    return tid


def _command_of(pid: int) -> str:
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
        words = (file.read(_COMMAND_BYTES) or b"").split(b"\0")
        return " ".join(os.fsdecode(b" ".join(words)).split())
    return ""
