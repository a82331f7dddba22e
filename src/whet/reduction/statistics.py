"""What came of a reduction, and of each of its passes."""

from dataclasses import dataclass

from whet.core.value_class import value_class


@value_class(kw_only=True)
class PassStatistics:
    """What one pass did.

    Attributes:
        name: the pass.
        candidates: how many verdicts it was told.
        successes: how many of them were BAD.
        saved_bytes: how much shorter they made the payload.
    """

    name: str
    candidates: int
    successes: int
    saved_bytes: int


@value_class(kw_only=True)
class Reduction:
    """The end of a reduction.

    Attributes:
        payload: the best one.
        passes: what each pass that proposed anything did, in the order of their first turn.
        is_minimal: no pass knows a better payload that fails the same way.
        minimal_over: such as ``rows``: of these no single one can go, each was tried.
        nearest_passing: of all that was tried and passed, what differs least from the best one;
            None if nothing small passed.
    """

    payload: bytes
    passes: tuple[PassStatistics, ...]
    is_minimal: bool
    nearest_passing: bytes | None = None
    minimal_over: tuple[str, ...] = ()

    @property
    def candidates(self) -> int:
        """How many verdicts were told."""
        return sum(done.candidates for done in self.passes)


@dataclass(slots=True, kw_only=True)
class Turns:
    """What came of one pass: in all, and in its last turn.

    Attributes:
        judged: how many of the candidates of the last turn have a verdict, of then or of before.
    """

    candidates: int = 0
    successes: int = 0
    saved_bytes: int = 0
    last_gain: float = 0.0
    judged: int = 0
    settled_on: bytes | None = None
