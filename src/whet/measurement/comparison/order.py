"""The order in which two arms are run: pairs, with a coin for each.

The coin is what makes the test valid on any machine. If A and B are the same, whatever the machine
does to the two runs of a pair (drift, bursts, other users) would have happened in either order, so the
sign of their difference is a fair coin, however the noise is distributed and whatever it depends on.

Two pairs form a block of four: ABBA or BAAB, in which a steady drift cancels out, or ABAB or BABA. An
ABBA with one coin for all four would have half as many coins, and needs twice as many runs to be sure.
"""

import hashlib

from whet.core.value_class import value_class


@value_class
class Order:
    """The order of all runs; a seed decides it.

    Attributes:
        seed: any number; the same seed gives the same order.
    """

    seed: int

    def is_a_first(self, pair: int) -> bool:
        """Whether A runs before B in this pair; pairs are numbered from 0."""
        return self._coin(f"pair {pair}")

    def is_swapped(self, block: int) -> bool:
        """Whether the control takes the second run of an arm in this block for the first one."""
        return self._coin(f"control {block}")

    def _coin(self, what: str) -> bool:
        digest = hashlib.sha256(f"{self.seed} {what}".encode()).digest()
        return bool(digest[0] & 1)
