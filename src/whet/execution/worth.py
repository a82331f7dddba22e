"""How long a run from a frozen copy must be to be worth another copy."""

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import takewhile

from whet.core.value_class import value_class

_LATE, _NORMAL, _MOST = 0.5, 1.0, 4.0


def first_difference(then: bytes, now: bytes) -> int:
    """Return the number of the first line in which two texts differ."""
    lines = zip(then.split(b"\n"), now.split(b"\n"), strict=False)
    return 1 + sum(1 for _ in takewhile(lambda both: both[0] == both[1], lines))


@value_class(kw_only=True)
class Worth:
    """What the edits until now say about those to come: most come back to the same place.

    A copy holds the run up for as long as it takes to fork the program. It is gained back by each
    edit below it, and lost where the next edit is above it.

    Attributes:
        seconds: a stretch as long is worth a copy, in the run from the start.
        factor: how many times as long it has to be in the run that resumes from a copy.
    """

    seconds: float
    factor: float = _NORMAL
    _place: Mapping[str, int] = field(default_factory=dict[str, int])
    _texts: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    @property
    def here(self) -> float:
        """How long a stretch of this run is worth a copy, in seconds."""
        return self.seconds * self.factor

    def after(
        self, texts: Mapping[str, bytes], *, was_refused: bool, were_in_vain: bool
    ) -> "Worth":
        """Return what holds for the next run.

        Args:
            texts: what the program's files say now.
            was_refused: a deeper copy than the one that it resumes from was asked.
            were_in_vain: the last run has left copies, and none of them will do.
        """
        edited = {
            path: first_difference(self._texts[path], text)
            for path, text in texts.items()
            if self._texts.get(path, text) != text
        }
        if were_in_vain:
            factor = min(2 * max(self.factor, _NORMAL), _MOST)
        elif self.factor > _NORMAL and edited == self._place:
            factor = self.factor
        else:
            factor = _NORMAL if was_refused else _LATE
        return replace(self, factor=factor, _place=edited, _texts=texts)
