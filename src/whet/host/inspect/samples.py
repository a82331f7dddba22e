"""Python stacks of a process, sampled before whet killed it."""

from whet.core.failure import Frame
from whet.core.observations.evidence import Evidence
from whet.core.value_class import value_class


@value_class(kw_only=True)
class Stacks:
    """Python stacks taken before a kill, and why there are none if there are none.

    Attributes:
        samples: of the main thread of the command.
        notes: why there are none.
        evidence: those of all its processes.
    """

    samples: tuple[tuple[Frame, ...], ...] = ()
    notes: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
