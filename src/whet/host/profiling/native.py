"""Sampling a program that isn't Python with perf."""

import os
import select
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from subprocess import TimeoutExpired

from whet.core.observations.profile import Obstacle, Recording, refusal_in
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.tool import ToolMissingError, call_tool
from whet.host.profiling.recorder import Recorder

_SCRIPT_SECONDS = 120.0
_READY_SECONDS = 3.0
_NO_PERF = (
    "perf is not installed: `apt-get install linux-perf` (Debian) or `linux-tools-generic` (Ubuntu)"
)
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_MOST_PARANOID = 2


class NativeSampler:
    """perf beside one program and all that it starts."""

    def __init__(self, pid: int, rate: int, folder: Path, cleanup_journal: CleanupJournal) -> None:
        """Begin to sample.

        Args:
            pid: the program.
            rate: samples a second.
            folder: where perf writes.
            cleanup_journal: where its process is written down.
        """
        self._recorder: Recorder | None = None
        self._complaint = ""
        self._obstacle: Obstacle | None = None
        self._orders = self._answers = -1
        program = shutil.which("perf")
        if program is None:
            self._complaint, self._obstacle = _NO_PERF, Obstacle.MISSING
            return
        output = folder / "perf.data"
        # The processor's own counters don't exist in many virtual machines; this clock always does.
        command = [program, "record", "--event", "cpu-clock", "--freq", str(rate), "-g"]
        command += ["--pid", str(pid), "--output", str(output)]
        # For build IDs, perf copies the vDSO to /tmp, and libraries to ~/.debug. Both would stay.
        command += ["--no-buildid", "--no-buildid-cache"]
        # It opens its events first, and says so before the program runs.
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        command += ["--delay", "-1", "--control", f"fd:{orders},{answers}"]
        try:
            self._recorder = Recorder(
                command, output, b"\0", cleanup_journal, passed=(orders, answers)
            )
        except OSError as error:
            self._complaint = f"perf: {error}"
            self._obstacle = refusal_in(str(error))
        finally:
            os.close(orders)
            os.close(answers)

    def wait_until_ready(self) -> None:
        """Return when it samples, or can't."""
        if self._recorder is None:
            return
        with suppress(OSError):
            os.write(self._orders, b"enable\n")
            select.select([self._answers], [], [], _READY_SECONDS)

    def close(self) -> None:
        """End it."""
        if self._recorder is not None:
            self._recorder.close()
        for each in (self._orders, self._answers):
            if each >= 0:
                os.close(each)
        self._orders = self._answers = -1

    def recording(self, told: Recording) -> Recording:
        """Return what it has recorded; the program has ended."""
        if self._recorder is None:
            if told.complaint:
                return told
            return replace(told, complaint=self._complaint, obstacle=self._obstacle)
        is_written = bool(self._recorder.finish())
        words = self._recorder.words
        refusal = refusal_in(words)
        if refusal or not is_written:
            why = _forbidden()
            refusal = Obstacle.FORBIDDEN if why else refusal
            return replace(told, complaint=f"{why}{words.strip()}", obstacle=refusal)
        fields = "comm,pid,tid,time,event,ip,sym,dso"
        command = ["perf", "script", "--input", str(self._recorder.output), "--fields", fields]
        try:
            answer = call_tool(command, timeout_seconds=_SCRIPT_SECONDS)
        except (ToolMissingError, OSError, TimeoutExpired) as error:
            return replace(told, complaint=f"perf script: {error}")
        return replace(told, engine=_version(), running=answer.stdout)


def _version() -> str:
    with suppress(ToolMissingError, OSError, TimeoutExpired):
        return call_tool(["perf", "--version"], timeout_seconds=5.0).text.replace(" version", "")
    return "perf"


def _forbidden() -> str:
    """Return why perf may not sample, if the kernel's setting says so."""
    with suppress(OSError, ValueError):
        level = int(_PARANOID.read_text())
        if level > _MOST_PARANOID:
            return f"the kernel lets nobody but root sample programs (perf_event_paranoid is {level}); `sudo sysctl kernel.perf_event_paranoid=2` allows it. "
    return ""
