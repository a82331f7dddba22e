"""Says when a snapshot is worth what it takes.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SHARE = 0.05  # of the program's time may go into snapshots,
_FREE_SECONDS = 0.3  # beside these: a short program is to have all that it can use
_MOST_SECONDS = 1.0  # a stretch that is as long is worth any snapshot
_ROUND_SHARE = 1 / 4  # of the time until then is to lie between two in the rounds of a loop:
# where a round has come to has been run before, so that few edits continue there
_MARK_SECONDS = 0.01  # between two that the program has asked for, and
_MARK_SHARE = 5  # this multiple of the last one's duration


class SnapshotPolicy:
    """When the last snapshot was taken or offered, and what they have cost.

    Attributes:
        worth_seconds: how long a stretch of the program is that is worth a snapshot at its end.
    """

    def __init__(
        self, worth_seconds: float, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._clock = clock
        self.worth_seconds = worth_seconds
        self._began = self._since = self._last_seconds = self._spent_seconds = 0.0
        self._since_statement = 0.0
        self.begin()

    def is_due(self, *, at_statement: bool = False, again: bool = False) -> bool:
        """Whether the program has come far enough for a snapshot of which nobody has spoken.

        Args:
            at_statement: whether it stands at a statement of the user's. An edit of what follows can't
                continue in the middle of one: a snapshot there, such as before a read, doesn't count.
            again: whether it stands at the start of another round of a loop.
        """
        now = self._clock()
        stretch = now - (self._since_statement if at_statement else self._since)
        elapsed = now - self._began
        if stretch < self.worth_seconds:
            return False
        if not self.worth_seconds or stretch >= _MOST_SECONDS:
            return True
        if again and stretch < _ROUND_SHARE * elapsed:
            return False
        return self._spent_seconds <= _FREE_SECONDS + _SHARE * elapsed

    def is_mark_due(self) -> bool:
        """Whether enough time has passed for a snapshot that the program has asked for."""
        least = max(_MARK_SECONDS, _MARK_SHARE * self._last_seconds)
        return self._clock() - self._since >= min(least, self.worth_seconds)

    def note(self, seconds: float, *, at_statement: bool = True) -> None:
        """Note a snapshot and its duration."""
        self._since = self._clock()
        if at_statement:
            self._since_statement = self._since
        self._last_seconds = seconds
        self._spent_seconds += seconds

    def begin(self) -> None:
        """Start over, because the program does, or because it continues in a copy after a long time."""
        self._began = self._since = self._since_statement = self._clock()
        self._spent_seconds = 0.0
