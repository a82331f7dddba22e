"""A running `whet.host.spawner.spawner`, as its owner uses it."""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from whet.core.errors import HostFailure
from whet.host.files.refused import refused
from whet.host.limits.around import NOTHING_AROUND, Around
from whet.host.limits.program import Program
from whet.host.process.channel import Channel
from whet.host.process.cleanup_journal import SLOT_VARIABLE, CleanupJournal, kill_marked
from whet.host.process.messages import Freezing, Guard, Run
from whet.host.process.process_tree import children_of

_LAST_STANDARD = 2
_PATIENCE_SECONDS = 15.0  # a spawner itself gives up on what it can't kill after 2 times 5
_SOURCES = str(Path(__file__).resolve().parents[3])
# The sources go last on the path, so that nothing of whet can hide a standard module.
_PROGRAM = (
    "import sys; sys.path.append({!r}); from whet.host.spawner.guardian import stand_guard; stand_guard(); "
    "from whet.host.spawner.spawner import main; main({})"
)


class SpawnerProcess:
    """A running `whet.host.spawner.spawner`, as its owner sees it.

    Attributes:
        pid: of its guardian (`whet.host.spawner.guardian`), which ends as it does.
    """

    def __init__(self, cleanup_journal: CleanupJournal, prefix: tuple[str, ...] = ()) -> None:
        _fill_standard_streams()
        self.channel, theirs = Channel.pair()
        self._ended: int | None = None
        self._is_closed = False
        self._token = os.urandom(8).hex()
        self._cleanup_journal = cleanup_journal
        argv = [
            *prefix,
            sys.executable,
            "-I",
            "-S",
            "-c",
            _PROGRAM.format(_SOURCES, theirs.descriptor),
        ]
        try:
            self.pid = os.posix_spawn(
                argv[0],
                argv,
                {**os.environ, SLOT_VARIABLE: self._token},
                file_actions=[
                    *((os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in (0, 1, 2)),
                    # Onto itself: that makes it inheritable in the child alone, whatever other
                    # threads start meanwhile.
                    (os.POSIX_SPAWN_DUP2, theirs.descriptor, theirs.descriptor),
                ],
                setsid=True,
            )
        except OSError as error:
            self.channel.close()
            raise refused(OSError(error.errno, error.strerror)) or HostFailure(
                f"whet can't start `{sys.executable}`: {error.strerror}",
                hint="check the limits (`ulimit -u`) and whether memory is used up (`free -h`)",
            ) from error
        finally:
            theirs.close()
        cleanup_journal.adopt("process", str(self.pid), token=self._token)

    def ready(self, cleanup_journal: CleanupJournal) -> "SpawnerProcess":
        """Return this spawner, or another one if this one has ended."""
        if self._ended is None and self._has_ended(os.WNOHANG):
            self.close()
        return self if self._ended is None else SpawnerProcess(cleanup_journal)

    def in_scope(self, cleanup_journal: CleanupJournal) -> "SpawnerProcess":
        """Return another spawner, to which this user's systemd has given control groups.

        Where systemd doesn't do so after all, it is one as before.
        """
        from whet.host.kernel.control_groups import group_of_process
        from whet.host.limits.groups.user_scope import scope_prefix, settle_in_scope

        before = group_of_process(self.pid)
        self.close()
        inside = SpawnerProcess(cleanup_journal, scope_prefix())
        if settle_in_scope(inside.pid, before):
            return inside
        inside.close()
        return SpawnerProcess(cleanup_journal)

    def ask(
        self,
        program: Program,
        streams: list[int],
        terminal: int,
        freezing: Freezing,
        around: Around = NOTHING_AROUND,
    ) -> None:
        """Ask the spawner to run ``program``.

        Args:
            program: what to run.
            streams: what it gets: standard input, output, error, and the reset steps' output.
            terminal: which of them is its controlling terminal; -1: none.
            freezing: how it has to do with frozen copies.
            around: the limits around it.
        """
        environment = {**program.environment, **around.environment, SLOT_VARIABLE: self._token}
        run = Run(
            argv=[os.fsencode(word) for word in program.command],
            environment={os.fsencode(k): os.fsencode(v) for k, v in environment.items()},
            cwd=os.fsencode(program.cwd),
            steps=[(os.fsencode(step.command), step.must_succeed) for step in program.reset],
            terminal=terminal,
            freezing=freezing,
            guard=Guard(around.steps, around.probes, around.watches),
        )
        with suppress(OSError):  # a spawner that is gone shows as the end of its channel
            self.channel.send("run", run, streams)

    def drop(self, number: int) -> None:
        """Let a frozen copy end."""
        with suppress(OSError):
            self.channel.send("drop", number)

    def prepare_ahead(self, number: int) -> None:
        """Let a frozen copy make itself ready for a run to come."""
        with suppress(OSError):
            self.channel.send("ahead", number)

    def lost(self, command: tuple[str, ...]) -> HostFailure:
        """Clean up after a spawner that died or stands still; return the error that says so."""
        self._kill_below()
        self.close()
        return HostFailure(
            f"the process that ran `{command[0]}` was killed from outside",
            hint="check for the kernel's out-of-memory killer (`dmesg | tail`), and `ulimit -u`",
        )

    def close(self) -> None:
        """End the spawner and wait until its tree is gone."""
        if self._is_closed:
            return
        self._is_closed = True
        self.channel.close()
        began, pause = time.monotonic(), 0.0005
        while self._ended is None and not self._has_ended(os.WNOHANG):
            seconds = time.monotonic() - began
            if seconds > _PATIENCE_SECONDS:  # another process has stopped it
                self._kill_below()
            if seconds > 2 * _PATIENCE_SECONDS:  # and its guardian
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        if self._ended != 0:  # it was killed, and could not take its tree along
            kill_marked(self._token)
        self._cleanup_journal.forget(str(self.pid))

    def _kill_below(self) -> None:
        """Kill the spawner; its guardian ends all that it has left."""
        for pid in children_of(self.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _has_ended(self, options: int) -> bool:
        try:
            pid, status = os.waitpid(self.pid, options)
        except ChildProcessError:  # another thread has waited for it
            pid, status = self.pid, -1
        if pid != 0:
            self._ended = status
        return pid != 0


def _fill_standard_streams() -> None:
    """Open what whet was started without (`>&-`), or the next file gets its number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) <= _LAST_STANDARD:
        pass
    os.close(descriptor)
