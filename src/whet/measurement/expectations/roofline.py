"""The least time of a step: what its operators compute and move, at the most that a machine reaches.

Each operator takes at least as long as its arithmetic, and at least as long as its bytes, each counted
once (Williams, Waterman and Patterson 2009). They run one after another, so that the least times add up.
"""

from collections.abc import Sequence

from whet.core.text.json_record import Record
from whet.core.value_class import value_class


@value_class(kw_only=True)
class Machine(Record):
    """The most that a machine reached.

    Attributes:
        flops: floating-point operations a second.
        bytes_moved: bytes a second, from whichever cache gave the most.
    """

    flops: float
    bytes_moved: float


@value_class(kw_only=True)
class Operator:
    """All calls of one operator in a step.

    Attributes:
        name: as the library calls it.
        calls: floating-point operations and bytes of each call.
    """

    name: str
    calls: tuple[tuple[float, float], ...]

    @property
    def flops(self) -> float:
        """Floating-point operations of all calls."""
        return sum(flops for flops, _ in self.calls)

    @property
    def bytes_moved(self) -> float:
        """Bytes that all calls can't do without."""
        return sum(moved for _, moved in self.calls)

    def least_seconds(self, on: Machine) -> float:
        """Return the time that all calls take at least."""
        return sum(max(flops / on.flops, moved / on.bytes_moved) for flops, moved in self.calls)


def least_seconds(operators: Sequence[Operator], on: Machine) -> float:
    """Return the time that a step takes at least."""
    return sum(each.least_seconds(on) for each in operators)
