"""A trial whose stacks a profiler samples, from the first line of the program to its end.

The process that becomes the program says its number before it does. The first Python in the trial
waits in whet's agent until py-spy watches the command and all below it. Two py-spy look at the same
time: one sees the threads that run, the other one all threads with the time of each look. Programs
that aren't Python are sampled by perf.
"""

import json
import os
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from subprocess import TimeoutExpired

from whet.core.limits import LimitMet
from whet.core.observations.evidence import PROFILE, Evidence
from whet.core.observations.profile import (
    Obstacle,
    Profile,
    ProfiledProcess,
    Recording,
    refusal_in,
)
from whet.host.inspect.stacks import find_spy, is_python
from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.limits.enforcer import End, Order
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.process_facts import busy_seconds, facts_of
from whet.host.process.process_tree import descendants_of
from whet.host.process.room_reports import new_listener
from whet.host.process.tool import ToolMissingError, call_tool
from whet.host.profiling.compilations import VARIABLES, read_compilations
from whet.host.profiling.native import NativeSampler
from whet.host.profiling.recorder import Recorder
from whet.host.profiling.request import Profiling

VARIABLE = "WHET_PROFILE"
"""Tells the agent under which name whet waits for the first Python of the trial."""

_CREDENTIALS = struct.Struct("=iII")  # pid, uid, gid
_READY = b"Sampling process"
_READY_SECONDS = 10.0
_PYTHON_SECONDS = 1.0
"""After this time without a word of the agent, whet looks for a Python itself."""
_LOOK_SECONDS = 0.2
_WORD_SECONDS, _MOST_BYTES = 2.0, 16
_KNOWS_THREADS = 11
"""From this minor version of Python 3 on, a process knows which kernel thread is which."""
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?$")


class Sampling:
    """Samples one trial; a `whet.host.limits.enforcer.Prepared`."""

    way = ""
    probes: tuple[Order, ...] = ()
    watches: tuple[Order, ...] = ()

    def __init__(
        self, asked: Profiling, command: str, agent_folder: Path, cleanup_journal: CleanupJournal
    ) -> None:
        """Begin to wait for the program.

        Args:
            asked: what is to be sampled.
            command: the first word of the command.
            agent_folder: a folder of the trial's, for what profilers write.
            cleanup_journal: where their processes are written down.

        Raises:
            OSError: if the system gives no socket.
        """
        self.notes: tuple[str, ...] = ()
        self._asked = asked
        self._is_python = _PYTHON.match(os.path.basename(command)) is not None
        self._folder = agent_folder
        self._cleanup_journal = cleanup_journal
        self._listener = new_listener()
        self._listener.listen(128)
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._stops = asked.native
        self._root = 0
        self._version = "py-spy"
        self._began = self._offset = 0.0
        self._spies: tuple[Recorder, ...] = ()
        self._native: NativeSampler | None = None
        self._processes: dict[int, ProfiledProcess] = {}
        self._busy_before: dict[int, float] = {}
        self._complaints: list[str] = []
        self._obstacle: Obstacle | None = None
        self._evidence: tuple[Evidence, ...] = ()
        DaemonThread(target=self._serve, name="whet-profile").start()

    @property
    def steps(self) -> tuple[Order, ...]:
        """What the child does: it says its number."""
        return (("say", self._name),)

    @property
    def environment(self) -> Mapping[str, str]:
        """What tells the agent."""
        return {VARIABLE: self._name.decode(), **VARIABLES, **self._asked.variables}

    def note_waiting(self) -> None:
        """Note nothing: a profile tells where it waited."""

    def met(self, _end: End, /) -> tuple[LimitMet, ...]:
        """Wait until the profilers have written; all processes have ended."""
        self._is_over.set()
        with self._lock:
            self._evidence = tuple(self._collect())
        return ()

    def close(self) -> None:
        """End the profilers."""
        self._is_over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for each in self._spies:
                each.close()
            if self._native is not None:
                self._native.close()

    def evidence(self) -> tuple[Evidence, ...]:
        """Return the profile."""
        return self._evidence

    # ---- while the program runs ----

    @property
    def _name(self) -> bytes:
        name: bytes = self._listener.getsockname()[1:]
        return name

    def _serve(self) -> None:
        """Hear the program that is about to start, and then each Python in it."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # closed
            pid = _peer(connection)
            if not self._root:
                self._root = pid
                self._let_begin(connection)
                continue
            DaemonThread(target=self._let_start, name="whet-profile", args=(connection,)).start()

    def _let_begin(self, connection: socket.socket) -> None:
        """Let the command begin; perf watches what may not be Python from before its first step."""
        with connection, suppress(OSError):
            if not self._is_python:
                native = NativeSampler(
                    self._root, self._asked.rate, self._folder, self._cleanup_journal
                )
                with self._lock:
                    self._native = native
                native.wait_until_ready()
            self._began = time.monotonic()
            DaemonThread(target=self._look_around, name="whet-profile").start()
            connection.send(b"go")

    def _let_start(self, connection: socket.socket) -> None:
        """Let a Python start as soon as it is watched."""
        with connection, suppress(OSError, ValueError):
            connection.settimeout(_WORD_SECONDS)
            minor = int(connection.recv(_MOST_BYTES).partition(b".")[2] or 0)
            # Older Pythons don't know the kernel's numbers of their threads: py-spy then has to
            # stop them to see which one runs.
            self._stops |= minor < _KNOWS_THREADS
            self._begin_to_spy()
            pid = _peer(connection)
            self._busy_before[pid] = busy_seconds(pid)
            connection.send(b"go")

    def _look_around(self) -> None:
        """Note the processes; look for a Python whose agent says nothing."""
        has_looked = False
        while not self._is_over.wait(0.0 if not self._processes else _LOOK_SECONDS):
            tree = [self._root, *descendants_of(self._root)]
            self._note(tree)
            if not has_looked and time.monotonic() - self._began > _PYTHON_SECONDS:
                has_looked = True
                if any(is_python(pid) for pid in tree):
                    self._begin_to_spy()

    def _note(self, tree: list[int]) -> None:
        for pid in tree:
            facts = facts_of(pid)
            if facts is None or facts.state in {"Z", "X"}:
                continue
            at = round(time.monotonic() - self._began, 3)
            known = self._processes.get(pid) or ProfiledProcess(pid=pid, begun=at)
            name = os.path.basename(facts.command.split(" ", 1)[0])
            self._processes[pid] = replace(
                known,
                parent=facts.parent,
                # One that is about to end has neither words nor variables any more.
                name=known.name if name.startswith("[") and known.name else name,
                rank=known.rank if facts.rank is None else facts.rank,
                ended=at,
                cpu_seconds=facts.cpu_seconds,
            )

    def _begin_to_spy(self) -> None:
        with self._lock:
            if self._spies or self._is_over.is_set() or self._complaints:
                return
            program = find_spy()
            if program is None:
                self._complaints.append("py-spy is not installed: `pip install py-spy`")
                self._obstacle = Obstacle.MISSING
                return
            started = time.monotonic()
            spies = [
                Recorder(command, output, _READY, self._cleanup_journal)
                for command, output in self._commands(program)
            ]
            self._version = _version_of(program)
            is_ready = [each.wait_until_ready(_READY_SECONDS) for each in spies]
            if all(is_ready):
                self._spies, self._offset = tuple(spies), started - self._began
                return
            self._complaints += [each.words for each in spies if not each.is_running]
            self._obstacle = refusal_in("\n".join(self._complaints))
            for each in spies:
                each.close()

    def _commands(self, program: str) -> Iterator[tuple[list[str], Path]]:
        own = [program, "record", "--pid", str(self._root), "--subprocesses", "--threads"]
        own += ["--full-filenames", "--rate", str(self._asked.rate)]
        how = ["--native"] if self._asked.native else []
        native = how if self._stops else ["--nonblocking"]
        running, present = self._folder / "running.profile", self._folder / "present.profile"
        yield [*own, *native, "--format", "speedscope", "--output", str(running)], running
        every = ["--nonblocking", "--idle", "--format", "chrometrace"]
        yield [*own, *every, "--output", str(present)], present

    # ---- when it has ended ----

    def _collect(self) -> Iterator[Evidence]:
        profile = replace(self._read(), compilations=read_compilations(self._folder))
        detail = {
            "question": profile.question,
            "engine": profile.engine,
            "samples": profile.samples,
            "rate": profile.rate,
            "notes": list(profile.notes),
        }
        yield Evidence(kind=PROFILE, detail=detail, data=json.dumps(profile.to_json()).encode())

    def _read(self) -> Profile:
        seconds = time.monotonic() - self._began
        processes = tuple(
            replace(each, busy_before=self._busy_before.get(each.pid, 0.0))
            for each in self._processes.values()
        )
        if self._spies:
            running, present = (each.finish() for each in self._spies)
            profile = self._asked.read(
                Recording(
                    engine=self._version,
                    rate=self._asked.rate,
                    running=running,
                    present=present,
                    offset=self._offset,
                    seconds=seconds - self._offset,
                    processes=processes,
                    complaint="\n".join(each.words for each in self._spies),
                )
            )
            if self._stops and not self._asked.native:
                return replace(profile, notes=(*profile.notes, _OLD_PYTHON))
            return profile
        recording = Recording(
            engine="perf", rate=self._asked.rate, seconds=seconds, processes=processes,
            complaint="\n".join(self._complaints), obstacle=self._obstacle,
        )  # fmt: skip
        if self._native is not None:
            recording = self._native.recording(recording)
        return self._asked.read_native(recording)


_OLD_PYTHON = (
    "before Python 3.11, py-spy takes some waiting threads for running ones: a line that only waits"
    " may show processor time"
)


def _peer(connection: socket.socket) -> int:
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid: int = _CREDENTIALS.unpack(raw)[0]
    return pid


def _version_of(program: str) -> str:
    with suppress(ToolMissingError, OSError, TimeoutExpired):
        return call_tool([program, "--version"], timeout_seconds=5.0).text
    return "py-spy"
