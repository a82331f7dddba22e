"""Where each thread of a Python was in the user's own code, from moment to moment."""

import bisect
from collections.abc import Callable, Iterator
from itertools import pairwise

from whet.core.failure import Frame
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    integer,
    item_at,
    records,
    rows,
    sequence,
    whole,
)

_NANOSECONDS = 1e9
_NOWHERE: tuple[list[float], list[int]] = ([], [])


class Positions:
    """The places of the threads of one process, as whet's agent has written them."""

    def __init__(self, told: JsonObject, base: int, is_own: Callable[[str], bool]) -> None:
        """Read.

        Args:
            told: as `whet_positions` returns it.
            base: the moment 0 of the times in the trace, in nanoseconds since 1970.
            is_own: whether a file is the user's own.

        Raises:
            MalformedRecordError: if it isn't what the agent writes.
        """
        lines = [
            Frame(
                path=str(path),
                line=whole(line),
                function=str(function),
                in_user_code=is_own(str(path)),
            )
            for path, line, function in rows(told.get("frames"), 3)
        ]
        self._stacks: list[tuple[Frame, ...]] = [()]
        for above, line in rows(told.get("places"), 2):
            self._stacks.append((*item_at(self._stacks, above), item_at(lines, line)))
        self._threads: dict[object, tuple[list[float], list[int]]] = {}
        for each in records(told, "threads"):
            moments = [(whole(at) - base) / _NANOSECONDS for at in sequence(each, "moments")]
            places = [whole(place) for place in sequence(each, "places")]
            if len(moments) != len(places) or not all(0 <= at < len(self._stacks) for at in places):
                raise MalformedRecordError("the moments and places of a thread don't fit together")
            self._threads[integer(each, "tid")] = (moments, places)

    @property
    def threads(self) -> tuple[object, ...]:
        """The threads that were in the user's own code, by their numbers in the system."""
        return tuple(self._threads)

    def at(self, thread: object, moment: float) -> tuple[Frame, ...]:
        """Return the lines in which a thread was at a moment, outermost first."""
        moments, places = self._threads.get(thread, _NOWHERE)
        place = bisect.bisect_right(moments, moment)
        return self._stacks[places[place - 1]] if place else ()

    def stays(
        self, thread: object, until: float
    ) -> Iterator[tuple[float, float, tuple[Frame, ...]]]:
        """Yield from when until when a thread was at each place."""
        moments, places = self._threads.get(thread, _NOWHERE)
        for (start, end), place in zip(pairwise([*moments, until]), places, strict=True):
            yield start, end, self._stacks[place]
