"""The Python stack of a thread that its tracer has stopped at the end of a system call.

The agent in a Python process (`whet_agent`) lets `faulthandler` write the stack of a thread that
gets its signal. A tracer sends that signal to the stopped thread. The handler runs before the
program's next instruction, so the stack is the one of the call. Without an agent, py-spy reads the
memory of the stopped process, which takes a hundred times as long.
"""

import ctypes
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TypeAlias

from whet.core.failure import Frame
from whet.host.inspect.stacks import AGENT_SIGNAL, find_spy, is_python, parse_report, spied_thread
from whet.host.kernel.syscalls import machine
from whet.host.process.tool import ToolMissingError, call_tool

Put: TypeAlias = Callable[[tuple[Frame, ...]], None]

_TGKILL = {"x86_64": 234, "aarch64": 131}
_MOST_BYTES = 1 << 20
_MOST_SPIED = 24
_SPY_SECONDS = 5.0
_BIT = 1 << (AGENT_SIGNAL - 1)


@dataclass(slots=True)
class Report:
    """The file that the agent of a process, and of those forked from it, writes to.

    Attributes:
        descriptor: of the file, to read it.
        asker: the thread that is writing; 0: none does.
        waiting: threads that are held until it has.
    """

    descriptor: int
    asker: int = 0
    put: Put | None = None
    begin: int = 0
    waiting: deque[tuple[int, int, Put]] = field(default_factory=deque[tuple[int, int, Put]])


class HeldStacks:
    """Asks threads that stand still where they are.

    Attributes:
        writing: threads that write their stack now; what they do isn't the program's.
    """

    def __init__(self, folder: Path | None) -> None:
        self._here = None if folder is None else f"{os.path.realpath(folder)}/"
        self._by_pid: dict[int, Report] = {}
        self._by_file: dict[str, Report] = {}
        self._asking: dict[int, Report] = {}
        self.writing: set[int] = set()
        self._call = ctypes.CDLL(None, use_errno=True).syscall
        self._spied = 0
        self._spy = find_spy()

    @property
    def has_given_up(self) -> bool:
        """Whether some stacks were not taken, as reading them from outside takes long."""
        return self._spied >= _MOST_SPIED

    def forget(self, pid: int) -> None:
        """Note that a process runs another program now, or none."""
        self._by_pid.pop(pid, None)

    def can_answer(self, tid: int) -> bool:
        """Whether a thread that stands still has an agent in its process that tells its stack."""
        return self._here is not None and _hears(tid)

    def ask(self, pid: int, tid: int, put: Put, *, may_be_read: bool) -> bool:
        """Ask a thread that stands still for its stack, which `put` is given once it is there.

        Args:
            pid: its process.
            tid: the thread.
            put: takes the stack.
            may_be_read: from outside, if the process has no agent.

        Returns:
            whether the thread must be held until `finished` or `gone` names it.
        """
        report = self._report_of(pid) if _hears(tid) else None
        if report is None:
            if may_be_read:
                self._read(pid, tid, put)
            return False
        if report.asker:
            report.waiting.append((pid, tid, put))
            return True
        self._begin(report, pid, tid, put)
        return False

    def ask_soon(self, pid: int, tid: int, put: Put) -> None:
        """Ask a thread that may have to end its call first, if it can answer on its own at all."""
        report = self._report_of(pid) if _hears(tid, later=True) else None
        if report is not None and not report.asker:
            self._begin(report, pid, tid, put)

    def delivered(self, tid: int, signal: int) -> None:
        """Note that a thread gets a signal: if it is the one that asks, it writes from here on."""
        if signal == AGENT_SIGNAL and tid in self._asking:
            self.writing.add(tid)

    def finished(self, tid: int) -> int:
        """Take in what a thread has written; return one that has been held and may continue; or 0."""
        report = self._asking.pop(tid, None)
        self.writing.discard(tid)
        if report is None:
            return 0
        if report.put is not None:
            text = os.pread(report.descriptor, _MOST_BYTES, report.begin)
            report.put(parse_report(text.decode("ascii", "replace")))
        report.asker, report.put = 0, None
        if not report.waiting:
            return 0
        pid, waiting, receiver = report.waiting.popleft()
        self._begin(report, pid, waiting, receiver)
        return waiting

    def gone(self, tid: int) -> int:
        """Note the end of a thread; return another that has been held and may continue; or 0."""
        for report in self._by_file.values():
            if report.waiting:
                others = [each for each in report.waiting if each[1] != tid]
                report.waiting = deque(others)
        return self.finished(tid)

    def close(self) -> None:
        """Close the reports."""
        for report in self._by_file.values():
            os.close(report.descriptor)
        self._by_file.clear()
        self._by_pid.clear()

    def _begin(self, report: Report, pid: int, tid: int, put: Put) -> None:
        report.begin = os.fstat(report.descriptor).st_size
        if self._call(_TGKILL[machine()], pid, tid, AGENT_SIGNAL):
            return  # it is dead: its end follows
        report.asker, report.put = tid, put
        self._asking[tid] = report

    def _report_of(self, pid: int) -> Report | None:
        """Return the report that a process holds open; a forked one shares its parent's."""
        report = self._by_pid.get(pid)
        if report is not None or self._here is None:
            return report
        with suppress(OSError):
            # It is high up: see `whet_agent`.
            for name in sorted(os.listdir(f"/proc/{pid}/fd"), key=int, reverse=True):
                target = os.readlink(f"/proc/{pid}/fd/{name}")
                if target.startswith(self._here):
                    return self._opened(pid, f"/proc/{pid}/fd/{name}", target)
        return None

    def _opened(self, pid: int, path: str, target: str) -> Report:
        report = self._by_file.get(target)
        if report is None:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            report = self._by_file[target] = Report(descriptor)
        self._by_pid[pid] = report
        return report

    def _read(self, pid: int, tid: int, put: Put) -> None:
        """Have py-spy read the stack of a thread of a Python process that has no agent."""
        if self._spy is None or self.has_given_up or not is_python(pid):
            return
        self._spied += 1
        command = [self._spy, "dump", "--json", "--nonblocking", "--pid", str(pid)]
        with suppress(ToolMissingError, OSError, TimeoutExpired):
            answer = call_tool(command, timeout_seconds=_SPY_SECONDS)
            if not answer.exit_code:
                put(spied_thread(answer.stdout, tid))


def _hears(tid: int, *, later: bool = False) -> bool:
    """Whether a thread would run a handler of its own for the agent's signal; now, or some time."""
    masks: dict[str, int] = {}
    with suppress(OSError, ValueError), open(f"/proc/{tid}/status", "rb", buffering=0) as file:
        for line in file.read(1 << 14).splitlines():
            name, _, value = line.partition(b":")
            if name in {b"SigBlk", b"SigCgt"}:
                masks[name.decode()] = int(value, 16)
    is_caught = bool(masks.get("SigCgt", 0) & _BIT)
    return is_caught and (later or not masks.get("SigBlk", 0) & _BIT)
