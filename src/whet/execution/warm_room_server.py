"""The process in a sandbox that `whet.execution.warm_room` starts: it runs one program repeatedly.

The first run starts from the beginning and leaves frozen copies. Each later run has another text of
one file and resumes from a copy that hasn't run the changed lines. Without such a copy, it doesn't run.
"""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput, Output
from whet.core.text.record import as_record, decoded, record, text, text_map
from whet.core.trial import Trial
from whet.execution.cold import ColdExecutor
from whet.execution.warm import WarmRuns
from whet.host.limits.program import Program
from whet.host.limits.sandbox.room_process import entered
from whet.host.process.channel import Channel, as_room_run
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.trial.capture import Capture
from whet.host.trial.process_snapshots import Staged
from whet.host.trial.slot import Slot

_HOME = Path(os.sep, "tmp", "whet-room")  # no other process uses it: the sandbox is its own


_WORTH_SECONDS = 0.004
"""A change resumes from nearer to its line the more copies there are, and many share them."""


class _NoCopyError(Exception):
    """A run with another text would begin at the start."""


def main(descriptor: int, lifeline: int, tells: int) -> None:
    """Enter the sandbox, and run the requested programs until the socket closes."""
    channel = Channel.inherited(descriptor)
    request, payloads = entered(channel, lifeline, tells)
    _HOME.mkdir()
    settings = as_record(decoded(request), "settings")
    trial = Trial.from_json(record(settings, "trial"))
    cleanup_journal = CleanupJournal(_HOME / "made")
    runs = _Runs(cleanup_journal)
    with ColdExecutor(
        classify=lambda _trial, _outcome: None,
        payload_of=payloads.__getitem__,
        keep=_kept,
        cleanup_journal=cleanup_journal,
        scratch=_HOME / "scratch",
        environment=text_map(settings, "environment"),
        pycache=Path(text(settings, "pycache")),
        perform=runs,
    ) as executor:
        while (message := channel.receive()) is not None:
            limits, path, instead = as_room_run(message[1])
            runs.change = (Path(path), instead) if path else None
            own = Limits.from_json(as_record(decoded(limits), "limits"))
            try:
                outcome = executor.submit(replace(trial, limits=own)).result()
            except (_NoCopyError, OSError):
                channel.send("none", runs.snapshots)
            else:
                channel.send("ran", _answer(outcome, runs))


def _answer(outcome: Outcome, runs: "_Runs") -> tuple[str, bytes, bytes]:
    use = outcome.resources
    answer = {
        "outcome": outcome.to_json(),
        "resources": None if use is None else use.to_json(),
        "is_clean": runs.is_clean,
        "snapshots": runs.snapshots,
    }
    stdout, stderr = (each.head(each.size_bytes) for each in (outcome.stdout, outcome.stderr))
    return json.dumps(answer), stdout, stderr


class _Runs:
    """Runs from the start without another text, and only from copies with one."""

    def __init__(self, cleanup_journal: CleanupJournal) -> None:
        self.change: tuple[Path, bytes] | None = None
        self._warm = WarmRuns(cleanup_journal, worth_seconds=_WORTH_SECONDS)
        self._warm.leaves_more = False

    @property
    def is_clean(self) -> bool:
        """Whether the last run has left nothing that a later one could find."""
        last = self._warm.last
        return last.changed_files == frozenset() and not last.effects

    @property
    def snapshots(self) -> int:
        """How many copies there are."""
        return self._warm.last.snapshots

    def __call__(
        self, slot: Slot, program: Program, run: Callable[[Staged | None], Outcome]
    ) -> Outcome:
        """Run the program with the file changed, which is put back after that."""

        def run_on(staged: Staged | None) -> Outcome:
            since = None if staged is None else staged.since
            if self.change is not None and since is None:
                raise _NoCopyError
            return replace(run(staged), resumed_from="" if since is None else since.place)

        # Time is kept from outside, and each run may have less of it than the one before.
        program = replace(program, limits=replace(program.limits, wall_seconds=None))
        if self.change is None:
            return self._warm(slot, program, run_on)
        path, text = self.change
        before = path.read_bytes()
        path.write_bytes(text)
        try:
            return self._warm(slot, program, run_on)
        finally:
            path.write_bytes(before)


def _kept(capture: Capture) -> Output:
    return BytesOutput(capture.data if capture.file is None else capture.file.read_bytes())
