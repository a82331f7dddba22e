"""Supervising one running trial: its output, its time, the user's keys and signals."""

import os
import select
import signal
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal, TypeAlias

from whet.host.process.channel import (
    Channel,
    as_halted,
    as_hindered,
    as_number,
)
from whet.host.process.console import Console
from whet.host.process.control import Control
from whet.host.process.messages import (
    OTHER,
    Done,
    Ended,
    LastingEffect,
    Looked,
    Noted,
    Taken,
    as_done,
    as_looked,
    as_noted,
    as_taken,
)
from whet.host.spawner.out_of_memory_killer import HELD
from whet.host.trial.hang_detector import LOOK_SECONDS, Idleness
from whet.host.trial.program_streams import Keyboard, ProgramStreams

if TYPE_CHECKING:
    from whet.host.trial.process_snapshots import Past

_GRACE_SECONDS = 5.0  # between a SIGTERM that is passed on and the kill
_SPAWNER_SECONDS = 20.0  # a spawner that needs longer to kill its tree hangs itself
_LOOK_SECONDS = 0.2  # in the background: whether it is still there
_DOUBLE_SECONDS = 1.0  # in a terminal, a second Ctrl-C within this time means: kill


class KillReason(Enum):
    """Why whet killed a trial."""

    TIME_IS_UP = "it ran out of time"
    HANGS = "it wrote nothing for too long"
    GIVEN_UP = "the user or a search cancelled it"
    TOO_MUCH_OUTPUT = "it wrote more than its limit"
    LIMIT_MET = "it met a limit"


Answer: TypeAlias = tuple[Literal["ended", "failed", "refused", "fault", "lost"], bytes]
"""The spawner's last message about a trial, packed; `lost`: the spawner is gone."""


@dataclass(slots=True, kw_only=True)
class Relay:
    """Carries all that goes between the program, the user and the spawner, for one trial.

    Attributes:
        channel: to the spawner, which has been asked to run the trial.
        program_streams: the streams.
        control: requests from other threads.
        console: the user's; None: no output is shown.
        wall_seconds: time after which the trial is killed.
        hang_seconds: time without output after which the trial is killed.
        idleness: with it only if it does nothing either.
        on_full: called with the process that alone reaches the memory limit and dies.
        before_kill: is given a process to look into just before it is killed: the command at a
            timeout, the largest process when there is no more memory.
        on_copy: called with each frozen copy of the program, and its output so far.
        on_halt: called with the reason why no copies are possible.
        on_blocker: called with a place without a copy, the seconds, and the reason.
        on_looks: called with the file system accesses of the run.
        on_done: called with what the program has done to the world.
        on_told: called with what the user told the program.
        on_reset: called when the reset steps and all their processes have ended.
        still_fits: is asked after the reset steps whether a copy may be resumed.
        errors_first: of two streams that wait, errors came first: a debugger asks after them.
        is_shell: Ctrl-C and Ctrl-Z are the program's alone, however often.
        past: what the copy that is resumed wrote before it was taken, by which stream.
        reason: why the trial was killed; None: it was not.
        was_early: it was killed before the command started.
        was_looked_into: it had its time, and whet looked into it, which can wake it: what it does
            then doesn't count.
        was_asked_to_kill: whoever started it asked for its end by SIGKILL.
    """

    channel: Channel
    program_streams: ProgramStreams
    control: Control
    console: Console | None
    wall_seconds: float | None
    before_kill: Callable[[int], None]
    on_full: Callable[[Noted], None] | None = None
    on_copy: "Callable[[Taken, Past], None] | None" = None
    on_halt: Callable[[str, str], None] | None = None
    on_blocker: Callable[[str, float, str], None] | None = None
    on_done: Callable[[Done], None] | None = None
    on_told: Callable[[LastingEffect], None] | None = None
    on_looks: Callable[[Looked], None] | None = None
    on_reset: Callable[[], None] | None = None
    still_fits: Callable[[], bool] = lambda: True
    errors_first: bool = False
    is_shell: bool = False
    past: "Past" = ()
    hang_seconds: float | None = None
    idleness: Idleness | None = None
    reason: KillReason | None = None
    was_early: bool = False
    was_looked_into: bool = False
    was_asked_to_kill: bool = False

    _answer: Answer | None = None
    _pid: int = 0
    _starting: tuple[int, float] | None = None
    _kill_at: float | None = None
    _hangs_at: float | None = None
    _grace_ends: float | None = None
    _lost_at: float | None = None
    _interrupted_at: float | None = None
    _suspended_at: float | None = None

    def run(self, buffer: bytearray) -> Answer:
        """Return the spawner's answer once the trial is over and its output is kept and shown."""
        if self.wall_seconds is not None:
            self._kill_at = time.monotonic() + self.wall_seconds
        requests = self.control.attach()
        try:
            if self.console is not None:
                self.console.finish()  # what is left of one that had ended on its own by then
                self.console.lend_to(self.control)
            while self._answer is None or any(
                nonblocking_writer.is_waiting for nonblocking_writer in self.program_streams.outlets
            ):
                self._step(requests, buffer)
            return self._answer
        finally:
            if self.console is not None:
                self.console.lend_to(None)
            if self.program_streams.keyboard is not None:
                self.program_streams.keyboard.own.restore()
            for nonblocking_writer in self.program_streams.outlets:
                nonblocking_writer.speak_again()
            self.control.detach(requests)
            if self.console is not None:
                self.console.finish()

    def _step(self, requests: int, buffer: bytearray) -> None:
        ready = self._wait(requests)
        # First: the spawner's messages are older than the program's output.
        if self.channel.descriptor in ready:
            self._hear(buffer)
        flows = list(self.program_streams.flows.values())
        for flow in reversed(flows) if self.errors_first else flows:
            if flow.reader in ready:
                flow.pull(buffer)
                self._note_output()
                self._note_progress()
                if flow.overran:
                    self._kill(KillReason.TOO_MUCH_OUTPUT)
        for nonblocking_writer in self.program_streams.outlets:
            if nonblocking_writer.descriptor in ready:
                nonblocking_writer.pump()
        self._serve_keyboard(ready)
        if requests in ready:
            os.read(requests, 4096)
            self._obey()
        self._look_at_the_clock()

    def _wait(self, requests: int) -> set[int]:
        poll = select.poll()
        poll.register(requests, select.POLLIN)
        if self._answer is None:
            poll.register(self.channel.descriptor, select.POLLIN)
            for name, flow in self.program_streams.flows.items():
                if flow.is_open and not flow.is_held_up and self._is_shown_right(name):
                    poll.register(flow.reader, select.POLLIN)
            keyboard = self.program_streams.keyboard
            if keyboard is not None and keyboard.is_waiting:
                poll.register(keyboard.other.master, select.POLLOUT)
            elif keyboard is not None and keyboard.is_open and self._may_read_keys(keyboard):
                poll.register(keyboard.descriptor, select.POLLIN)
        for nonblocking_writer in self.program_streams.outlets:
            if nonblocking_writer.is_waiting:
                poll.register(nonblocking_writer.descriptor, select.POLLOUT)
        return {descriptor for descriptor, _ in poll.poll(self._patience_ms())}

    def _is_shown_right(self, name: str) -> bool:
        """Whether the user's terminal is ready for a stream: raw for what comes from another one.

        Reset steps come first, write to a pipe and are shown before it is raw.
        """
        return self.program_streams.keyboard is None or name == "reset" or self._pid != 0

    def _may_read_keys(self, keyboard: Keyboard) -> bool:
        # After `bg` the keys are the shell's: reading them would stop whet (SIGTTIN).
        if self._suspended_at is not None or not keyboard.own.is_ours:
            return False
        if self._pid != 0:
            keyboard.own.make_raw()  # back from the background, of which no signal tells
        return True

    @property
    def _is_in_background(self) -> bool:
        keyboard = self.program_streams.keyboard
        return keyboard is not None and keyboard.is_open and not keyboard.own.is_ours

    @property
    def cut_off(self) -> Ended | None:
        """How a program ended whose spawner was killed: the kernel ended it too.

        None if it had not begun, or if whet was about to end it.
        """
        if self._starting is None or self.reason is not None:
            return None
        pid, began = self._starting
        return Ended([(pid, int(signal.SIGKILL), False)], time.monotonic() - began)

    def _patience_ms(self) -> float | None:
        times = (self._kill_at, self._hangs_at, self._grace_ends, self._lost_at)
        ends = [end for end in times if end is not None]
        if self._is_in_background:
            ends.append(time.monotonic() + _LOOK_SECONDS)
        if not ends or self._answer is not None or self._suspended_at is not None:
            return None
        return max(0.0, min(ends) - time.monotonic()) * 1000 + 1

    def _look_at_the_clock(self) -> None:
        if self._suspended_at is not None or self._answer is not None:
            return
        now = time.monotonic()
        if self._lost_at is not None and now >= self._lost_at:
            self._end(("lost", b""))
        elif self._grace_ends is not None and now >= self._grace_ends:
            self._kill(KillReason.GIVEN_UP)
        elif self._kill_at is not None and now >= self._kill_at:
            self._give_up(KillReason.TIME_IS_UP)
        elif self._hangs_at is not None and now >= self._hangs_at:
            self._give_up_if_stuck()

    def _give_up_if_stuck(self) -> None:
        if self.idleness is None or self.idleness.is_stuck(self._pid):
            self._give_up(KillReason.HANGS)
        else:
            self._hangs_at = time.monotonic() + LOOK_SECONDS

    def _give_up(self, reason: KillReason) -> None:
        if self.reason is None and self._pid:
            self.before_kill(self._pid)
            self.was_looked_into = True
        self.was_early |= self.reason is None and not self._pid
        self._kill(reason)

    def _note_output(self) -> None:
        if self.hang_seconds is not None and self.reason is None and self._pid:
            self._hangs_at = time.monotonic() + self.hang_seconds
            if self.idleness is not None:
                self.idleness.begin()

    def _note_progress(self) -> None:
        """Tell whoever watches how far the program has come."""
        if self.console is not None:
            streams = self.program_streams.flows.items()
            self.console.progress.stream_bytes = {name: flow.fed_bytes for name, flow in streams}

    def _kill(self, reason: KillReason) -> None:
        """Have the whole tree killed.

        No SIGTERM goes first: what would still run then is no part of the trial, and a program
        that ignores it, has forked away or is stopped needs SIGKILL anyway.
        """
        if self.reason is None and self._answer is None:
            self.reason = reason
            self._tell("kill")
            self._lost_at = time.monotonic() + _SPAWNER_SECONDS
        self._kill_at = self._hangs_at = self._grace_ends = None

    def _hear(self, buffer: bytearray) -> None:
        message = self.channel.receive()
        kind, body = ("lost", b"") if message is None else message[:2]
        if kind == "started":
            self._note_start(as_number(body))
        elif kind == "resuming":
            if self.program_streams.keyboard is not None:
                self.program_streams.keyboard.own.make_raw()  # the past has its carriage returns already
            for name, data in self.past:
                self.program_streams.flows[name].feed(memoryview(data))
        elif kind == "snapshot":
            self._note_copy(body, buffer)
        elif kind in {"over", "full"}:
            self._end_at_limit(as_noted(body), is_one=kind == "full")
        elif kind == "settled":
            self._tell("go" if self.still_fits() else "stop")
        elif kind in {"ended", "failed", "refused", "fault", "lost"}:
            self.program_streams.drain(buffer)
            self._note_progress()
            self._end((kind, body))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - the set above is the literal's

        else:
            self._hear_reasons(kind, body)

    def _note_start(self, pid: int) -> None:
        self._pid = pid
        if self.console is not None:
            self.console.progress.pid, self.console.progress.began = pid, time.monotonic()
        self._note_output()  # from here on: reset steps are none of it
        if self.program_streams.keyboard is not None:
            self.program_streams.keyboard.own.make_raw()

    def _end_at_limit(self, noted: Noted, *, is_one: bool) -> None:
        """Have the trial killed, or one process of it."""
        pid = noted.pid
        if is_one:
            if self.on_full is not None:
                self.on_full(noted)
            if noted.limit == HELD:  # else it is dead, and its number may be another's
                self._tell("fell", pid)
            return
        if self.reason is None and pid:
            self.before_kill(pid)
        self._kill(KillReason.LIMIT_MET)

    def _hear_reasons(self, kind: str, body: bytes) -> None:
        if kind == "starting":
            self._starting = (as_number(body), time.monotonic())
        elif kind == "reset" and self.on_reset is not None:
            self.on_reset()
        elif kind == "halted" and self.on_halt is not None:
            self.on_halt(*as_halted(body))
        elif kind == "hindered" and self.on_blocker is not None:
            self.on_blocker(*as_hindered(body))
        elif kind == "did" and self.on_done is not None:
            self.on_done(as_done(body))
        elif kind == "looked" and self.on_looks is not None:
            self.on_looks(as_looked(body))

    def _note_copy(self, body: bytes, buffer: bytearray) -> None:
        """Take in all that the program has written, while it waits, and let it run on."""
        for flow in self.program_streams.flows.values():
            while flow.is_open and flow.pull(buffer):
                pass
        past = tuple((name, bytes(data)) for name, data in self.program_streams.past)
        snapshot = as_taken(body)
        # The user waits for the program, not for its copy.
        self._tell("on", snapshot.copy.number)
        if self.on_copy is not None:
            self.on_copy(snapshot, past)

    def _end(self, answer: Answer) -> None:
        self._answer = answer
        if self.program_streams.keyboard is not None and any(
            one.is_waiting for one in self.program_streams.outlets
        ):
            self.program_streams.keyboard.own.let_keys_interrupt()  # while somebody reads on

    def _serve_keyboard(self, ready: set[int]) -> None:
        keyboard = self.program_streams.keyboard
        if keyboard is None:
            return
        if keyboard.other.master in ready:
            keyboard.pump()
        if keyboard.descriptor in ready and keyboard.is_open:
            typed = keyboard.pull()
            self._note_told("was typed into")
            self._obey_keys(keyboard, typed)

    def _obey_keys(self, keyboard: Keyboard, typed: bytes) -> None:
        """Have the keys by which a terminal ends or stops a command do that to the trial too."""
        if self.is_shell:
            return
        if keyboard.other.is_key(termios.VINTR, typed):
            self._interrupt(within_seconds=_DOUBLE_SECONDS)
        if keyboard.other.is_key(termios.VSUSP, typed):
            self._suspend()

    def _obey(self) -> None:
        for request in self.control.take():
            if isinstance(request, str):  # CANCEL
                self._kill(KillReason.GIVEN_UP)
                self._let_go_of_the_reader()
            elif request == signal.SIGWINCH:
                self._resize()
            elif request == signal.SIGTSTP:
                self._suspend()
            elif request == signal.SIGCONT:
                self._resume()
            else:
                self._forward(request)

    def _note_told(self, what: str) -> None:
        if self.on_told is not None:
            self.on_told(LastingEffect(OTHER, says=what))

    def _forward(self, number: int) -> None:
        self._note_told("was sent a signal")
        if number == signal.SIGINT:
            if self._answer is not None:
                self._let_go_of_the_reader()
            if self._interrupt(within_seconds=None):
                return
        elif number in {signal.SIGTERM, signal.SIGHUP}:
            self._grace_ends = time.monotonic() + _GRACE_SECONDS
        elif number == signal.SIGKILL:
            self.was_asked_to_kill = True
        self._tell("signal", number)

    def _interrupt(self, *, within_seconds: float | None) -> bool:
        """Note a Ctrl-C; kill at the second one and say so.

        In a terminal a program may have a use for many (a prompt, a debugger): there the
        second counts only if it follows at once.
        """
        now = time.monotonic()
        before, self._interrupted_at = self._interrupted_at, now
        if before is None or (within_seconds is not None and now - before > within_seconds):
            return False
        self._kill(KillReason.GIVEN_UP)
        return True

    def _suspend(self) -> None:
        """Stop the program, give the terminal back and stop whet."""
        if self._suspended_at is None and self._answer is None and self.console is not None:
            self._suspended_at = time.monotonic()
            self._tell("signal", signal.SIGSTOP)
            if self.program_streams.keyboard is not None:
                self.program_streams.keyboard.own.restore()
            self.console.stop_whet()

    def _resume(self) -> None:
        if self._suspended_at is None:
            return
        away_seconds = time.monotonic() - self._suspended_at
        self._suspended_at = None
        if self._kill_at is not None:
            self._kill_at += away_seconds
        self._note_output()
        if self.program_streams.keyboard is not None:
            self.program_streams.keyboard.own.make_raw()
        self._resize()
        self._tell("signal", signal.SIGCONT)

    def _resize(self) -> None:
        if self.console is not None and self.console.terminal is not None:
            self.program_streams.resize(self.console.terminal.size)

    def _let_go_of_the_reader(self) -> None:
        for nonblocking_writer in self.program_streams.outlets:
            nonblocking_writer.fall_silent()

    def _tell(self, kind: str, number: int | None = None) -> None:
        try:
            self.channel.send(kind, None if number is None else int(number))
        except OSError:
            return  # the spawner is gone; the end of its channel says so too
