"""Collects stacks with what they cost, so that each line and each stack is there once."""

from collections.abc import Sequence

from whet.core.failure import Frame
from whet.core.observations.profile import Stack
from whet.core.text.record import MalformedRecordError

Key = tuple[int, str, tuple[int, ...]]


class StackTable:
    """Frames and stacks, each once, with the sums of their numbers."""

    def __init__(self) -> None:
        self._frames: dict[Frame, int] = {}
        self._numbers: dict[Key, dict[str, float]] = {}

    def add(self, pid: int, thread: str, frames: Sequence[Frame], name: str, number: float) -> None:
        """Add to a number of a stack.

        Args:
            pid: the process.
            thread: the thread's name; empty: the main thread.
            frames: outermost first.
            name: of the number.
            number: how much.

        Raises:
            MalformedRecordError: if that is more than a float holds.
        """
        places = tuple(self._frames.setdefault(each, len(self._frames)) for each in frames)
        numbers = self._numbers.setdefault((pid, thread, places), {})
        try:
            numbers[name] = numbers.get(name, 0.0) + number
        except OverflowError as error:
            raise MalformedRecordError(f"`{name}` of a stack is too large") from error

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All lines, in the order in which they came."""
        return tuple(self._frames)

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """All stacks, in the order in which they came."""
        return tuple(
            Stack(frames=frames, pid=pid, thread=thread, numbers=numbers)
            for (pid, thread, frames), numbers in self._numbers.items()
        )
