"""How likely each suspect is to be the first bad version, given runs that prove nothing alone.

Suspects that the same tested versions have before them (or are) can't be told apart by what was
run, and are one *class*: the chance of all runs, if its members are to blame, follows from how
many runs failed on versions at or after them and how many on others. On a line there is one
class more than there are tested versions, so that a long history costs no more than a short one.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whet.search.flaky.failure_rates import FailureRates, Runs
from whet.search.history.reach import Strands

_MOST_KEPT_BITS = 1 << 29
"""whet keeps sets up to this total size (64 MB), and computes larger ones again on demand."""


@dataclass(slots=True)
class SuspectClass:
    """Suspects that no run so far tells apart.

    Attributes:
        members: the suspects, as bits in the order of the strands.
        size: how many they are.
        bad: the runs on versions that are bad if a member is the first bad one.
        good: the runs on the others.
        probability: that a member is the first bad version.
        fails_if_bad: chance that a bad version's next run fails, if a member is to blame.
        fails_if_good: the same of a good version.
    """

    members: int
    size: int
    bad: Runs
    good: Runs
    probability: float = 0.0
    fails_if_bad: float = 0.0
    fails_if_good: float = 0.0


class Suspicion:
    """The posterior over the suspects of a graph, each as likely as the other at the start."""

    def __init__(
        self, parents: Sequence[Sequence[int]], rates: FailureRates, ends: tuple[Runs, Runs]
    ) -> None:
        """Start with what the ends did.

        Args:
            parents: for each suspect those directly before it, all of them lower.
            rates: what is known of the two rates.
            ends: the runs of versions known to be bad, and of versions known to be good.
        """
        self._parents = parents
        self._rates = rates
        self.strands = Strands(range(len(parents)), parents)
        self._below: list[int] | None = None
        if len(self.strands.members) * len(parents) <= _MOST_KEPT_BITS:
            self._below = list(self._made_below())
        bad, good = ends
        everyone = SuspectClass((1 << len(parents)) - 1, len(parents), bad, good)
        self.classes = [everyone]
        self._cut_rows: list[bytes] | None = None
        self.weigh()

    # ---- sets ----

    def below(self) -> Iterator[int]:
        """Yield for each strand the set of those before its first suspect."""
        return self._made_below() if self._below is None else iter(self._below)

    def _made_below(self) -> Iterator[int]:
        strands = Strands(range(len(self._parents)), self._parents)
        for members in strands.members:
            yield strands.start(members[0], is_wanted=True)

    def reached(self, position: int) -> int:
        """Return the set of the suspects that ``position`` has before it, itself included."""
        strands = self.strands
        wanted = strands.of[position]
        below = next(each for strand, each in enumerate(self.below()) if strand == wanted)
        run = (1 << (strands.offset[position] + 1)) - 1
        return below | run << strands.first_bits[wanted]

    def bit(self, position: int) -> int:
        """Return the set that holds ``position`` alone."""
        strands = self.strands
        return 1 << (strands.first_bits[strands.of[position]] + strands.offset[position])

    # ---- what was seen ----

    def cut(self, position: int) -> int:
        """Tell apart those that ``position`` has before it and the others; return the first."""
        inside = self.reached(position)
        classes: list[SuspectClass] = []
        for each in self.classes:
            members = each.members & inside
            if members and members != each.members:
                size = members.bit_count()
                share = size / each.size
                rest = SuspectClass(
                    each.members & ~inside, each.size - size, each.bad, each.good,
                    each.probability * (1 - share), each.fails_if_bad, each.fails_if_good,
                )  # fmt: skip
                each.members, each.size = members, size
                each.probability *= share
                classes.append(rest)
            classes.append(each)
        if len(classes) > len(self.classes):
            self.classes, self._cut_rows = classes, None
        return inside

    def tell(self, position: int | None, *, failed: bool) -> None:
        """Take note of a run.

        Args:
            position: the version; None: one that is known to be good.
            failed: whether it failed.
        """
        inside = 0 if position is None else self.cut(position)
        for each in self.classes:
            if each.members & inside:
                each.bad = each.bad.plus(failed=failed)
            else:
                each.good = each.good.plus(failed=failed)

    def weigh(self) -> None:
        """Work out the probabilities again, after the last run of a batch was told."""
        rates = self._rates
        logs = [
            math.log(each.size) + rates.log_chance(each.bad, each.good) for each in self.classes
        ]
        highest = max(logs)
        weights = [math.exp(log - highest) for log in logs]
        total = math.fsum(weights)
        for each, weight in zip(self.classes, weights, strict=True):
            each.probability = weight / total
            each.fails_if_bad, each.fails_if_good = rates.next_fails(each.bad, each.good)

    # ---- what follows ----

    def probabilities(self) -> list[float]:
        """Return the probability of each suspect."""
        found = [0.0] * len(self._parents)
        for strand, members in enumerate(self.strands.members):
            for number, start, length in self.segments(strand):
                each = self.classes[number]
                share = each.probability / each.size
                for position in members[start : start + length]:
                    found[position] = share
        return found

    def oldest_of(self, each: SuspectClass) -> int:
        """Return the oldest member of a class."""
        first = (each.members & -each.members).bit_length() - 1
        strand = bisect_right(self.strands.first_bits, first) - 1
        return self.strands.members[strand][first - self.strands.first_bits[strand]]

    def segments(self, strand: int) -> list[tuple[int, int, int]]:
        """Return the stretches of a strand that are of one class: its number, where, how long."""
        first, end = self.strands.first_bits[strand], self.strands.first_bits[strand + 1]
        start, offset = divmod(first, 8)
        stop, mask = (end + 7) // 8, (1 << (end - first)) - 1
        found: list[tuple[int, int, int]] = []
        for number, row in enumerate(self._rows()):
            # Bytes are cut out first: shifting all of a large set would cost its whole length.
            part = int.from_bytes(row[start:stop], "little") >> offset & mask
            if part:
                found.append((number, (part & -part).bit_length() - 1, part.bit_count()))
        found.sort(key=_start)
        return found

    def _rows(self) -> list[bytes]:
        """Return the members of each class as bytes, made again when a class was cut."""
        if self._cut_rows is None:
            size = (len(self._parents) + 7) // 8
            self._cut_rows = [each.members.to_bytes(size, "little") for each in self.classes]
        return self._cut_rows

    def entropy_bits(self) -> float:
        """Return what isn't known of the culprit."""
        return math.fsum(
            -each.probability * math.log2(each.probability / each.size)
            for each in self.classes
            if each.probability > 0
        )

    def rates(self) -> tuple[float, float]:
        """Return how often a bad and a good version fail, as far as is known."""
        return (
            math.fsum(each.probability * each.fails_if_bad for each in self.classes),
            math.fsum(each.probability * each.fails_if_good for each in self.classes),
        )


def _start(segment: tuple[int, int, int]) -> int:
    return segment[1]
