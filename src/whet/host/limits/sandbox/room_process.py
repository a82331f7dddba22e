"""One of whet's own processes in a sandbox, which takes its orders over a channel."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from whet.core.room import Room
from whet.host.limits.program import Program
from whet.host.limits.sandbox.room_plan import plan_of
from whet.host.process.channel import Channel, as_room_settings
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.messages import as_plan
from whet.host.spawner.room_entry import RoomRefusedError, enter
from whet.host.spawner.room_processes import MARK, divide

_SOURCES = str(Path(__file__).resolve().parents[4])
_PROGRAM = "import sys; sys.path.append({!r}); from {} import main; main({}, {}, {})"


class RoomProcess:
    """Such a process, for its owner. Everything in the sandbox ends with the owner.

    Attributes:
        channel: the line to it.
        keeper: the first process of the sandbox; 0: the sandbox can't be made.
    """

    def __init__(
        self,
        module: str,
        room: Room,
        program: Program,
        settings: tuple[str, Mapping[str, bytes]],
        cleanup_journal: CleanupJournal,
    ) -> None:
        """Start it.

        Args:
            module: whose `main` it runs: it calls `entered`, and serves.
            room: where.
            program: what is to run there.
            settings: what `entered` returns.
            cleanup_journal: where its first process is written down.

        Raises:
            OSError: if the system doesn't start it.
        """
        plan = plan_of(room, program, b"").order[1]
        assert isinstance(plan, bytes)
        self._cleanup_journal = cleanup_journal
        self.channel, theirs = Channel.pair()
        lifeline, self._lifeline = os.pipe()
        answer, tells = os.pipe()
        descriptors = (theirs.descriptor, lifeline, tells)
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM.format(_SOURCES, module, *descriptors)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=descriptors,
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(lifeline)
            os.close(tells)
        said, contents = settings
        with suppress(OSError):  # it has ended: there is no sandbox
            self.channel.send("enter", (plan, said, dict(contents)))
        self.keeper = _keeper_in(answer)
        process.wait()  # it ends when both processes of the sandbox have started
        if self.keeper:
            cleanup_journal.adopt("process", str(self.keeper))

    def close(self) -> None:
        """End it, and everything in the sandbox."""
        self.channel.close()
        os.close(self._lifeline)
        if self.keeper:
            self._cleanup_journal.forget(str(self.keeper))


def entered(channel: Channel, lifeline: int, tells: int) -> tuple[str, dict[str, bytes]]:
    """Enter the room, in that process, and return the settings; exit if the room can't be made."""
    message = channel.receive()
    if message is None:
        os._exit(1)
    plan, room, contents = as_room_settings(message[1])
    try:
        enter(as_plan(plan))
        divide(tells, lifeline)
    except (RoomRefusedError, OSError):
        os._exit(1)
    os.close(tells)
    os.close(lifeline)
    return room, contents


def _keeper_in(told: int) -> int:
    """Read the pid of the sandbox's first process; 0: the sandbox can't be made."""
    with open(told, "rb") as file:
        numbers = file.read().partition(b"\n")[0].decode()
    mark = MARK.decode()
    return int(numbers.removeprefix(mark).split()[1]) if numbers.startswith(mark) else 0
