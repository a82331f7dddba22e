"""What a reducer works on: the best payload so far and what has been tried."""

from collections.abc import Callable
from dataclasses import dataclass, field

from whet.core.value_class import value_class
from whet.reduction.order import TEXT, Order
from whet.reduction.passing import Passing


@value_class
class Reduced:
    """A candidate: a payload that is better than the best one so far, if it fails.

    Attributes:
        data: the payload.
        by_pass: name of the pass that proposes it.
        is_step: it is no better, but on the way to what may be: no result.
    """

    data: bytes
    by_pass: str
    is_step: bool = False


def _anything(_payload: bytes) -> bool:
    return True


@dataclass(slots=True)
class ReductionProblem:
    """The best payload so far, what passed, and the digests of all that were not BAD.

    No payload is tried twice, and none that isn't better than ``best``
    (`whet.reduction.order`): every BAD verdict is progress, and progress comes to an end.

    Attributes:
        best: the best payload so far.
        order: which of two is better.
        allows: whether a payload may be tried at all.
        passing: what was GOOD.
    """

    best: bytes
    order: Order = TEXT
    allows: Callable[[bytes], bool] = _anything
    passing: Passing = field(default_factory=Passing)
    _tried: set[int] = field(default_factory=set[int])
    _weight: float = -1

    def digest_if_worth_trying(self, payload: bytes) -> int | None:
        """Return the digest of ``payload`` if its verdict isn't known and BAD would be progress."""
        # 64 bits: quicker than a cryptographic one, and of a million candidates two are taken
        # for one and the same in one search of 30 million. Quicker than the weight, too.
        digest = hash(payload)
        if digest in self._tried:
            return None
        if self._weight < 0:
            self._weight = self.order.weight(self.best)
        if not self.order.is_better(payload, self.best, other_weight=self._weight):
            return None
        return digest if self.allows(payload) else None

    def is_rejected(self, payload: bytes) -> bool:
        """Whether ``payload`` was tried, and doesn't fail the same way."""
        return hash(payload) in self._tried

    def reject(self, digest: int) -> None:
        """Note that the payload of this digest doesn't fail the same way."""
        self._tried.add(digest)

    def judge_by(self, order: Order) -> None:
        """Take another order."""
        self.order = order
        self._weight = -1

    def adopt(self, payload: bytes) -> None:
        """Note that ``payload`` fails the same way."""
        self.best = payload
        self._weight = -1
