"""The answer of `whet compare`."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from whet.core.budget import StopReason
from whet.core.value_class import value_class
from whet.measurement.comparison.contest import Ruling
from whet.measurement.comparison.evidence import Effect
from whet.measurement.comparison.quantities import Quantity
from whet.measurement.profiles.difference import ProfileDifference


class Stop(Enum):
    """Why a comparison ended, as it is shown."""

    DIFFERENT = "sure that they differ"
    ALIKE = "sure that they don't differ by more"
    RUNS = "made all runs"
    OUT_OF_TIME = StopReason.OUT_OF_TIME.value
    INTERRUPTED = StopReason.INTERRUPTED.value

    @property
    def reason(self) -> StopReason:
        """The same for the notebook."""
        return StopReason.__members__.get(self.name, StopReason.MEASURED)


@value_class(kw_only=True)
class Compared:
    """One quantity of both arms.

    Attributes:
        quantity: what.
        a: the median of A's runs.
        b: the median of B's runs.
        effect: by which share of A's B is above it; an absolute number if not all are above zero.
        is_ratio: whether it is a share.
        own: the same between runs of one arm: what this machine makes of no difference at all.
        ruling: what the runs say; None: nothing.
        decides: whether it was allowed to end the comparison.
        confidence: of its interval.
    """

    quantity: Quantity
    a: float
    b: float
    effect: Effect
    is_ratio: bool
    own: Effect | None
    ruling: Ruling | None
    decides: bool
    confidence: float


@value_class(kw_only=True)
class Comparison:
    """What two arms have shown.

    Attributes:
        a: the label of the first arm.
        b: the label of the second arm.
        pairs: how often each arm ran and counts.
        compared: each quantity, those that decide first.
        output: in which way the outputs are the same; may be empty.
        ends: how both end, where that isn't success; may be empty.
        confidence: of the answer.
        smallest: the smallest difference that matters, as a share.
        seed: decides the order of the runs.
        order: which arm was run first in each pair, such as ``ABBA``: A first, then B first.
        trials: the notebook's numbers of the runs that count, by arm.
        stopped: why it ended.
        wall_seconds: how long it took.
        load: the machine's load at the end.
        processors: how many processors the machine has.
        notes: what is to be said of it.
        more_pairs: how many pairs would decide, as far as this can be told; None: it can't.
        not_measured: a name that was asked for and has no number, with the reason.
        where: on which functions they differ; None: that wasn't asked, or isn't known.
        versions: both ends of a bisection between the arms; none: they aren't versions.
        is_queued: the programs waited for a processor, and a note says so.
    """

    a: str
    b: str
    pairs: int
    compared: tuple[Compared, ...]
    output: str
    ends: str
    confidence: float
    smallest: float
    seed: int
    order: str
    trials: Mapping[str, tuple[int, ...]]
    stopped: Stop
    wall_seconds: float
    load: float
    processors: int
    notes: tuple[str, ...] = ()
    more_pairs: int | None = None
    not_measured: Mapping[str, str] = field(default_factory=dict[str, str])
    where: ProfileDifference | None = None
    versions: tuple[str, ...] = ()
    is_queued: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether it came to its own end."""
        return self.stopped not in {Stop.OUT_OF_TIME, Stop.INTERRUPTED}

    @property
    def deciding(self) -> Compared | None:
        """The quantity that the answer is about: that which is sure; of two, wall time."""
        decides = [each for each in self.compared if each.decides]
        for ruling in (Ruling.DIFFERENT, Ruling.ALIKE):
            sure = [each for each in decides if each.ruling is ruling]
            if sure:
                return sure[0]
        return min(decides, key=_width, default=None)


def _width(compared: Compared) -> float:
    return compared.effect.high - compared.effect.low
