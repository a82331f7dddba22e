"""Takes along threads that sleep: a copy has their stacks, and gets them back when it runs on.

A fork copies the memory of all threads but runs only one of them. A thread that sleeps in the kernel
does nothing else: its registers say where it is, and can be read as a debugger reads them. A copy
that continues creates each thread again with the same stack, registers and identity, and the thread
goes back to sleep in the same call. So it doesn't matter which library started it.

The kernel counts how often a thread has gone to sleep. That count shows that the thread slept from
before the fork until it was looked at.

Linux with glibc on x86-64. Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from ..hiding.atfork import fork_with
from ..hiding.private import note_asleep
from ..hiding.unfiltered_calls import MAGIC_FOLDER, whole
from .freeze import fork_away
from .kernel_calls import KernelCalls, address_of, buffer, write_at
from .memory import bytes_at, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from threading import Thread

# The program may put others in their place.
_waitpid, _times = os.waitpid, time.clock_gettime_ns
_processors_of, _let_run_on = os.sched_getaffinity, os.sched_setaffinity

# linux/ptrace.h, sys/wait.h
_SEIZE, _INTERRUPT, _DETACH, _REGISTERS, _SET_REGISTERS = 0x4206, 0x4207, 17, 12, 13
_REGISTER_SET, _XSTATE, _SIGNAL_MASK, _RSEQ = 0x4204, 0x202, 0x420A, 0x420F
_ALL_KINDS = 0x40000000  # __WALL
_NAMES = (
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi",
    "rdi", "call", "rip", "cs", "flags", "rsp", "ss", "fs", "gs",
)  # fmt: skip
_REGISTERS_BYTES, _MOST_STATE_BYTES, _RSEQ_BYTES = 216, 1 << 14, 24
_IN_CONTEXT = (
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi", "rbp", "rbx", "rdx", "rax",
    "rcx", "rsp", "rip", "flags",
)  # fmt: skip
_SEGMENTS = 0x002B_0000_0000_0033  # of code and stack, as each program has them

# Numbers of system calls, and what one returns that is to be made again: linux/errno.h
_FUTEX, _RT_SIGACTION, _GETPID, _CLONE, _ROBUST_OF, _ROBUST, _RSEQ_CALL = (
    202,
    13,
    39,
    56,
    274,
    273,
    334,
)
_INTERRUPTED, _NO_CALL = -516, (1 << 64) - 1
_AGAIN = {-512, -513, -514, _INTERRUPTED}
_CALL_BYTES = 2  # of the instruction `syscall`
_REALTIME = 0x100  # FUTEX_CLOCK_REALTIME

# linux/sched.h
_FORK = 0x01000000 | 17  # CLONE_CHILD_SETTID, SIGCHLD
_AS_THREAD = 0x3D0F00  # all that threads of a process share; its number is noted, and cleared
_PTRACER, _ANYBODY, _NOBODY = 0x59616D61, -1 & (1 << 64) - 1, 0  # linux/prctl.h
_STATUS = "/proc/self/status"
_YAMA = "/proc/sys/kernel/yama/ptrace_scope"

_SOFTWARE, _MAGIC, _END_MAGIC = 464, 0x46505853, 0x46505845  # asm/sigcontext.h
_RED_ZONE, _LINE, _CONTEXT_BYTES, _WORD = 128, 64, 304, 8
_TID_BETWEEN = (0x200, 0x400)  # where glibc keeps a thread's number in what describes it
_NO_SIGNALS = b"\xff" * _WORD

WOKEN = "a thread woke up during the copy"


def why_not() -> str:
    """Return why threads can't be taken along here; empty: they can."""
    if os.uname().machine != "x86_64" or sys.platform != "linux":
        return "not on this machine"
    if not getattr(sys, "_is_gil_enabled", bool)() and hasattr(sys, "_is_gil_enabled"):
        return "not without the global lock"
    try:
        Machine()
    except OSError as error:
        return str(error)
    return ""


def sleeps_of(process: int, thread: int) -> tuple[int, bytes]:
    """Return how often a thread has gone to sleep, and the call that it sleeps in.

    Raises:
        OSError: if it has ended, or can't be looked at.
    """
    folder = f"/proc/{process}/task/{thread}"
    for line in whole(f"{folder}/status").splitlines():
        if line.startswith(b"voluntary_ctxt_switches:"):
            return int(line.split()[1]), whole(f"{folder}/syscall")
    return -1, b""


class Machine:
    """What the C library of this process is like."""

    def __init__(self) -> None:
        """Look at it.

        Raises:
            OSError: if it isn't as it has to be.
        """
        self.calls = KernelCalls()
        self.calls.find("gnu_get_libc_version")
        self.clone, self.syscall = self.calls.find("clone"), self.calls.find("syscall")
        if whole(_STATUS).find(b"shstk") >= 0:
            raise OSError("it uses shadow stacks")
        self._me = _thread.get_ident()
        first, end = _TID_BETWEEN
        known = bytes_at(self._me + first, self._me + end)
        at = known.find(os.getpid().to_bytes(4, "little"))
        if at < 0 or _thread.get_native_id() != os.getpid():
            raise OSError("this C library has an unknown thread layout")
        self._offset = first + at
        self.end_of_signal = self._end_of_signal()

    def _end_of_signal(self) -> int:
        """Return the address of what each handler of a signal returns to."""
        for number in range(1, 32):
            action = buffer(32)  # the kernel's: handler, flags, where it returns to, mask
            if not self.calls.kernel(_RT_SIGACTION, number, 0, action, _WORD):
                to = words_of(action)[2]
                if to:
                    return to
        raise OSError("no signal is available")

    def number_at(self, description: int) -> int:
        """Return where the number of a thread is, by where it is described."""
        return description + self._offset

    def fork(self) -> int:
        """Fork by the system call: the C library isn't told, and leaves other threads' stacks alone."""
        return self.calls.kernel(_CLONE, _FORK, 0, 0, self.number_at(self._me), 0)


class _Sleeper:
    """A thread, as it slept in the original; what it needs lies on its own stack."""

    def __init__(self, machine: Machine, process: int, thread: int, count: int) -> None:
        """Look at it from outside.

        Args:
            machine: what the C library is like.
            process: the original.
            thread: its number there.
            count: how often it had gone to sleep before the fork.

        Raises:
            OSError: if it can't be looked at, or has done something meanwhile.
        """
        calls = machine.calls
        self.name = whole(f"/proc/{process}/task/{thread}/comm").strip()
        self.processors = _processors_of(thread)
        calls.trace(_SEIZE, thread, 0, 0)
        try:
            calls.trace(_INTERRUPT, thread, 0, 0)
            _waitpid(thread, _ALL_KINDS)
            # To stop counts as to sleep.
            has_slept = sleeps_of(process, thread)[0] <= count + 1
            words = buffer(_REGISTERS_BYTES)
            calls.trace(_REGISTERS, thread, 0, words)
            state = buffer(_MOST_STATE_BYTES)
            place = b"".join(map(_word, (address_of(state), len(state))))
            calls.trace(_REGISTER_SET, thread, _XSTATE, place)
            mask, self._rseq = buffer(_WORD), buffer(_RSEQ_BYTES)
            calls.trace(_SIGNAL_MASK, thread, _WORD, mask)
            try:
                calls.trace(_RSEQ, thread, _RSEQ_BYTES, self._rseq)
            except OSError:  # a kernel before 5.13
                self._rseq = bytes(_RSEQ_BYTES)
            robust, size = buffer(_WORD), buffer(_WORD)
            calls.kernel(_ROBUST_OF, thread, robust, size)
            self._let_call_again(calls, thread, words)
        finally:
            calls.trace(_DETACH, thread, 0, 0)
        values = words_of(words)
        self._registers = {name: values[index] for index, name in enumerate(_NAMES)}
        if not has_slept or _signed(self._registers["rax"]) not in _AGAIN:
            raise OSError(WOKEN)
        self._robust, self._mask = words_of(robust)[0], mask
        self._state = state[: words_of(place)[1]]
        self.description = self._registers["fs"]
        self.number_at = machine.number_at(self.description)
        if int.from_bytes(bytes_at(self.number_at, self.number_at + 4), "little") != thread:
            raise OSError("one of its threads has an unknown layout")
        self.until, self.is_by_calendar = self._deadline()
        self._stack = self._lay_out(machine)

    def _let_call_again(self, calls: KernelCalls, thread: int, registers: bytes) -> None:
        """Let the original make a call again that has a deadline, as it was.

        The kernel would continue it by another call (`restart_syscall`), which hides what it was.
        """
        words = words_of(registers)
        result, call, at = (_NAMES.index(name) for name in ("rax", "call", "rip"))
        if _signed(words[result]) == _INTERRUPTED:
            words[result], words[call] = words[call], _NO_CALL
            words[at] -= _CALL_BYTES
            calls.trace(_SET_REGISTERS, thread, 0, b"".join(map(_word, words)))

    def _deadline(self) -> tuple[int, bool]:
        """Return where it says until when it sleeps, 0: forever; and by which clock."""
        registers = self._registers
        if registers["call"] != _FUTEX:
            return 0, False
        return registers["r10"], bool(registers["rsi"] & _REALTIME)

    def _lay_out(self, machine: Machine) -> int:
        """Write what it begins with below its stack; return where it begins.

        That is what the kernel writes there for a handler of a signal. The new thread returns from
        three of them that were never called: to two calls which each thread makes that the C
        library starts, and then to where it slept.
        """
        registers = dict(self._registers)
        registers["rax"], registers["rip"] = registers["call"], registers["rip"] - _CALL_BYTES
        state = bytearray(self._state)
        features = bytes(state[_SOFTWARE : _SOFTWARE + _WORD])
        size = len(state)
        state[_SOFTWARE : _SOFTWARE + 20] = _half(_MAGIC) + _half(size + 4) + features + _half(size)
        state_at = (registers["rsp"] - _RED_ZONE - size - 4) & -_LINE
        begins = (state_at - 3 * (_CONTEXT_BYTES + 2 * _WORD)) & -16
        second = begins - _WORD + _CONTEXT_BYTES
        third = second + _WORD + _CONTEXT_BYTES
        rseq, length = words_of(self._rseq)[0], int.from_bytes(self._rseq[8:12], "little")
        sign = int.from_bytes(self._rseq[12:16], "little")
        after = _word(machine.end_of_signal)
        robust = {"rdi": _ROBUST, "rsi": self._robust, "rdx": 3 * _WORD, "rsp": second}
        own = {"rdi": _RSEQ_CALL, "rsi": rseq, "rdx": length, "rcx": 0, "r8": sign, "rsp": third}
        if not rseq:
            own["rdi"] = _GETPID
        to_call = {"rip": machine.syscall, "flags": 0x202}
        write_at(state_at, bytes(state) + _half(_END_MAGIC))
        write_at(begins - _WORD, _context(_NO_SIGNALS, 0, {**to_call, **robust}))
        write_at(second, after + _context(_NO_SIGNALS, 0, {**to_call, **own}))
        write_at(third, after + _context(self._mask, state_at, registers))
        return begins

    def put_off(self, slept: Mapping[bool, int]) -> None:
        """Let it sleep as long as it would have: it did not in a copy that waits."""
        if self.until:
            seconds, nanoseconds = words_of(bytes_at(self.until, self.until + 2 * _WORD))
            total = seconds * 10**9 + nanoseconds + slept[self.is_by_calendar]
            write_at(self.until, _word(total // 10**9) + _word(total % 10**9))

    def wake(self, machine: Machine) -> int:
        """Create it again; return its number.

        Raises:
            OSError: if there can be no other thread.
        """
        thread = machine.calls.at(
            machine.clone, machine.end_of_signal, self._stack, _AS_THREAD, 0,
            self.number_at, self.description, self.number_at,
        )  # fmt: skip
        if thread < 0:
            raise OSError("it can't start another thread")
        return thread


class Sleepers:
    """The threads of a process that sleep, all but its first."""

    def __init__(self, sleeps: dict[int, tuple[int, bytes]]) -> None:
        """Note, in the original, how they are.

        Args:
            sleeps: of each thread, what `sleeps_of` has returned.
        """
        self._machine = Machine()
        self._sleeps = sleeps
        self._found: list[_Sleeper] = []
        self._process = os.getpid()
        self._since: dict[bool, int] = {}

    def fork_away(self) -> int:
        """Fork as `freeze.fork_away` does; the copy's own forks leave the threads' stacks, too.

        Raises:
            OSError: if there can be no other process.
        """
        self.let_look(begins=True)
        fork_with(self._machine.fork)
        pid = -1
        try:
            pid = fork_away()
        finally:
            if pid:
                fork_with(None)
        return pid

    def let_look(self, *, begins: bool) -> None:
        """Let another process look at this one, where a guard of the kernel's keeps them apart."""
        try:
            is_guarded = int(whole(_YAMA)) == 1
        except OSError:
            return
        if is_guarded:
            prctl = self._machine.calls.find("prctl")
            self._machine.calls.at(prctl, _PTRACER, _ANYBODY if begins else _NOBODY)

    def capture(self) -> str:
        """Note, in the copy, where each of them is in the original.

        Returns:
            why they can't be taken along: one has done something since it was looked at; empty if
            they can.
        """
        process = self._process
        note_asleep(self)
        self._since = _now()
        try:
            for thread, then in self._sleeps.items():
                if sleeps_of(process, thread) != then:
                    return WOKEN
                self._found.append(_Sleeper(self._machine, process, thread, then[0]))
        except (OSError, KeyError, IndexError) as error:
            return str(error)
        return ""

    def wake(self) -> None:
        """Bring them back, in a copy that runs on: each sleeps on.

        Raises:
            OSError: if they can't be.
        """
        now = _now()
        slept = {clock: now[clock] - then for clock, then in self._since.items()}
        numbers: dict[int, int] = {}
        for each in self._found:
            each.put_off(slept)
        for each in self._found:
            number = numbers[each.description] = each.wake(self._machine)
            name = os.open(f"/proc/self/task/{number}/comm", os.O_WRONLY, dir_fd=MAGIC_FOLDER)
            os.write(name, each.name)
            os.close(name)
            if _processors_of(number) != each.processors:
                _let_run_on(number, each.processors)
        fork_with(None)
        note_asleep(None)
        _renumber(numbers)


def _renumber(numbers: Mapping[int, int]) -> None:
    threading = sys.modules.get("threading")
    active: Mapping[int, Thread] = {} if threading is None else vars(threading)["_active"]
    threads: Iterable[tuple[int, Thread]] = tuple(active.items())
    for description, thread in threads:
        if description in numbers:
            vars(thread)["_native_id"] = numbers[description]


def _now() -> dict[bool, int]:
    return {True: _times(time.CLOCK_REALTIME), False: _times(time.CLOCK_MONOTONIC)}


def _signed(word: int) -> int:
    return word - (word >> 63 << 64)


def _word(number: int) -> bytes:
    return number.to_bytes(_WORD, "little")


def _half(number: int) -> bytes:
    return number.to_bytes(4, "little")


def _context(mask: bytes, state_at: int, registers: Mapping[str, int]) -> bytes:
    """Return `struct ucontext`: flags, link, stack of signals (none), `struct sigcontext`, mask."""
    flags = 7 if state_at else 6
    words = [flags, 0, 0, 2, 0, *(registers.get(name, 0) for name in _IN_CONTEXT), _SEGMENTS]
    return b"".join(map(_word, [*words, 0, 0, 0, 0, state_at, *(0,) * 8])) + mask
