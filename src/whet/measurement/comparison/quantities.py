"""What two arms are compared by: time, memory, and the numbers that a program reports."""

from whet.core.measurements import NumberKind, full_name, kind_of, number_of
from whet.core.outcome import Outcome
from whet.core.value_class import value_class

WALL, CPU, MEMORY = "seconds", "cpu_seconds", "peak_memory"
INSTRUCTIONS, PAGE_FAULTS = "instructions", "page_faults"

_LABELS = {
    WALL: "wall time", CPU: "CPU time", MEMORY: "peak memory", PAGE_FAULTS: "page faults",
}  # fmt: skip
_WORDS = {"wall": WALL, "time": WALL, "memory": MEMORY}


@value_class
class Quantity:
    """Something that a run has a number of.

    Attributes:
        name: of the number (`whet.core.measurements`).
    """

    name: str

    @classmethod
    def of_word(cls, word: str) -> "Quantity":
        """Return what a user calls so: ``wall``, ``cpu``, ``memory``, or the name of a measurement."""
        return cls(full_name(_WORDS.get(word, word)))

    @property
    def label(self) -> str:
        """What it is called in a sentence."""
        return _LABELS.get(self.name, self.name)

    @property
    def is_counted(self) -> bool:
        """Whether the kernel counts it, where a comparison asks for that."""
        return self.name in {INSTRUCTIONS, PAGE_FAULTS}

    @property
    def kind(self) -> NumberKind:
        """What its numbers are of."""
        return kind_of(self.name)

    def of(self, outcome: Outcome) -> float | None:
        """Return its number in a run; None: the run has none."""
        return number_of(self.name, outcome)
