"""Running one program repeatedly in a sandbox of its own, with changed sources, from frozen copies.

Nothing that a run writes survives, because the next run would find it. So a sandbox in which a run
has left something is discarded.
"""

import json
import select
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from whet.core.limits import Limits
from whet.core.observations.resources import ResourceUse
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.text.record import as_record, boolean, decoded, integer, optional_record, record
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.limits.program import PYCACHE_VARIABLE, Program
from whet.host.limits.sandbox.room_process import RoomProcess
from whet.host.process.channel import unpacked
from whet.host.process.cleanup_journal import CleanupJournal

_SERVER = "whet.execution.warm_room_server"

_MOST_OUTPUT_BYTES = 16 << 20
"""Of one stream: it is held in memory, and a changed program may print without end."""

_PATIENCE_SECONDS = 10.0
"""A run takes longer than its limit by what it takes to end it."""


@value_class(kw_only=True)
class Ran:
    """The result of a run in the sandbox.

    Attributes:
        outcome: what the program did, not classified; None: there was no copy to run on from.
        is_clean: it has left nothing that a later run could find.
        snapshots: how many copies there are now.
    """

    outcome: Outcome | None = None
    is_clean: bool = False
    snapshots: int = 0


class WarmRoom:
    """A sandbox with a program in it; a context manager."""

    def __init__(
        self,
        trial: Trial,
        *,
        environment: Mapping[str, str],
        pycache: Path,
        payload_of: Callable[[str], bytes | Path],
        cleanup_journal: CleanupJournal,
    ) -> None:
        """Make it.

        Args:
            trial: the program to run, and its sandbox.
            environment: what the program inherits.
            pycache: folder for byte code by content.
            payload_of: returns a payload by its digest, or the file that holds it.
            cleanup_journal: where its first process is written down.

        Raises:
            OSError: if the system starts no process for it.
        """
        room = trial.limits.room
        assert room is not None, trial
        program = Program(
            command=trial.command,
            environment={**environment, **trial.environment, PYCACHE_VARIABLE: str(pycache)},
            cwd=trial.cwd,
        )
        inside = replace(trial, limits=replace(trial.limits, room=None))
        message = {
            "trial": inside.to_json(),
            "environment": dict(environment),
            "pycache": str(pycache),
        }
        payloads = {each.digest: _held(payload_of(each.digest)) for each in trial.payloads}
        self._process = RoomProcess(
            _SERVER, room, program, (json.dumps(message), payloads), cleanup_journal
        )

    @property
    def is_there(self) -> bool:
        """Whether the sandbox could be made."""
        return self._process.keeper != 0

    def run(self, limits: Limits, change: tuple[str, str] | None = None) -> Ran:
        """Run the program once.

        Args:
            limits: how long it may take, and how much it may write.
            change: a file's path and what it says for this run, which resumes from a copy or is
                not made; None: the program runs as it is, from its start.
        """
        channel, (path, text) = self._process.channel, change or ("", "")
        most = min(limits.output_bytes or _MOST_OUTPUT_BYTES, _MOST_OUTPUT_BYTES)
        limits_text = json.dumps(replace(limits, room=None, output_bytes=most).to_json())
        try:
            channel.send("run", (limits_text, path, text.encode()))
        except OSError:
            return Ran()
        seconds = (limits.wall_seconds or 0.0) + _PATIENCE_SECONDS
        message = channel.receive() if _has_come(channel.descriptor, seconds) else None
        match None if message is None else unpacked(message[1]):
            case (str(told), bytes(stdout), bytes(stderr)):
                if most == _MOST_OUTPUT_BYTES <= max(len(stdout), len(stderr)):
                    return Ran()  # it may have more to say
                return _ran(told, [BytesOutput(stdout), BytesOutput(stderr)])
            case int(snapshots):
                return Ran(is_clean=True, snapshots=snapshots)
            case _:
                return Ran()

    def close(self) -> None:
        """End it, and all that runs in it."""
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _has_come(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _ran(text: str, streams: list[BytesOutput]) -> Ran:
    record_of_run, by_digest = (
        as_record(decoded(text), "run"),
        {each.digest: each for each in streams},
    )
    outcome = Outcome.of_record(
        record(record_of_run, "outcome"), lambda digest, _: by_digest[digest]
    )
    use = optional_record(record_of_run, "resources")
    return Ran(
        outcome=replace(outcome, resources=None if use is None else ResourceUse.from_json(use)),
        is_clean=boolean(record_of_run, "is_clean"),
        snapshots=integer(record_of_run, "snapshots"),
    )


def _held(payload: bytes | Path) -> bytes:
    return payload if isinstance(payload, bytes) else payload.read_bytes()
