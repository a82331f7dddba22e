"""A command that a panel runs again and again, as `watch -n` does."""

import os
from collections.abc import Mapping
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.limits import Limits
from whet.core.output import BytesOutput, Output
from whet.core.text.quantity import shown_bytes
from whet.core.value_class import value_class
from whet.host.limits.program import Program
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.control import CANCEL, Control
from whet.host.trial.capture import Capture
from whet.host.trial.slot import Slot

_MOST_BYTES = 256 * 1024


@value_class(kw_only=True)
class Answer:
    """What a command said.

    Attributes:
        text: its output, or its errors if it has written nothing else.
        trouble: how it failed; empty: it didn't.
    """

    text: str
    trouble: str = ""


class RepeatedCommand:
    """Runs a shell command in a process tree of its own, which ends with whet.

    Used by one thread. It isn't a trial: nothing of it is recorded but what its panel shows.
    """

    def __init__(
        self,
        text: str,
        cleanup_journal: CleanupJournal,
        scratch: Path,
        environment: Mapping[str, str],
        cwd: str,
    ) -> None:
        self._text = text
        self._cwd = cwd
        self._environment = {
            name: value for name, value in environment.items() if name != "WHET_TRIAL"
        }
        self._slot = Slot(cleanup_journal, scratch)
        self._control: Control | None = None
        self._is_closed = False

    def answer(self, patience_seconds: float) -> Answer:
        """Run it once to its end, or until it has used up its time."""
        control = self._control = Control()
        if self._is_closed:
            control.ask(CANCEL)
        program = Program(
            command=("sh", "-c", self._text),
            environment=self._environment,
            cwd=self._cwd,
            limits=Limits(wall_seconds=patience_seconds, output_bytes=_MOST_BYTES),
        )
        try:
            outcome = self._slot.run(program, control, _kept)
        except WhetError as error:
            return Answer(text="", trouble=str(error))
        text = os.fsdecode(outcome.stdout.head(_MOST_BYTES))
        errors = os.fsdecode(outcome.stderr.head(_MOST_BYTES))
        if outcome.overran_output:
            return Answer(text=text, trouble=f"it writes more than {shown_bytes(_MOST_BYTES)}")
        if outcome.timed_out:
            return Answer(text=text, trouble=f"no end after {patience_seconds:g} s: whet killed it")
        if outcome.shell_exit_code:
            last = errors.strip().splitlines()[-1:] if not text else []
            words = "".join(f": {each}" for each in last)
            return Answer(text=text, trouble=f"exit code {outcome.shell_exit_code}{words}")
        return Answer(text=text or errors)

    def close(self) -> None:
        """End it, with all that it has started; from any thread."""
        self._is_closed = True
        if self._control is not None:
            self._control.ask(CANCEL)

    def release(self) -> None:
        """End the process that runs it; by the thread that uses it."""
        self._slot.close()


def _kept(capture: Capture) -> Output:
    if capture.file is None:
        return BytesOutput(capture.data)
    with open(capture.file, "rb") as file:
        data = file.read(_MOST_BYTES)
    os.unlink(capture.file)
    return BytesOutput(data)
