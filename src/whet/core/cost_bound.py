"""`--slower-than` and `--more-memory-than`: how much more time or memory makes a run BAD."""

import math
import re
from collections.abc import Mapping

from whet.core.errors import BadUsage
from whet.core.measurements import NumberKind, quantity_of
from whet.core.value_class import value_class

COSTS_MORE = "costs_more"
"""The measurement of several runs that says whether they cost more: 1, 0, or missing where that isn't sure."""

CHANGE = "cost_change"
"""By which share they cost more than the reference, or than the bound."""


def change_in_words(measurements: Mapping[str, float], than: str = "") -> str:
    """Return what several runs said of a cost, and compared with what; empty: nothing."""
    change = measurements.get(CHANGE)
    if change is None:
        return ""
    if not math.isfinite(change):
        return "was ended long after the bound"
    unsure = "" if COSTS_MORE in measurements else ", too close to the bound to be sure"
    compared = f" than {than}" if than else ""
    return f"costs {abs(100 * change):.1f} % {'more' if change >= 0 else 'less'}{compared}{unsure}"


_RELATIVE = re.compile(r"\s*(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>%|x|×)\s*", re.IGNORECASE)


def _option(kind: NumberKind) -> str:
    return "--slower-than" if kind is NumberKind.TIME else "--more-memory-than"


@value_class(kw_only=True)
class CostBound:
    """What costs more than this is BAD.

    Attributes:
        kind: time or memory.
        text: the bound as the user wrote it.
        share: how much more than the reference, as a share of it; None: `amount` counts.
        amount: seconds or bytes.
    """

    kind: NumberKind
    text: str
    share: float | None = None
    amount: float = 0.0

    @classmethod
    def parse(cls, kind: NumberKind, text: str) -> "CostBound":
        """Read ``8%`` or ``1.5x``, more than the good end, or ``2s`` or ``500MB``.

        Raises:
            BadUsage: if it is neither.
        """
        option = _option(kind)
        example = "2s" if kind is NumberKind.TIME else "500MB"
        found = _RELATIVE.fullmatch(text)
        amount = quantity_of(text, kind) if found is None else None
        share = None
        if found is not None:
            number = float(found["number"])
            share = number / 100 if found["unit"] == "%" else number - 1
        if (share is None and not amount) or (amount is not None and not amount > 0):
            raise BadUsage(
                f"`{option} {text}` is neither a share nor an amount",
                hint=f"write `{option} 8%` or `1.5x` (more than the good end), or `{option} {example}`",
            )
        if share is not None and share < 0:
            raise BadUsage(
                f"`{option} {text}`: that is less than the good end",
                hint=f"write what is too much, such as `{option} 1.5x`",
            )
        return cls(kind=kind, text=text.strip(), share=share, amount=amount or 0.0)

    @property
    def option(self) -> str:
        """The option that states it."""
        return _option(self.kind)

    @property
    def description(self) -> str:
        """What BAD means."""
        is_time = self.kind is NumberKind.TIME
        if self.share is None:
            return (
                f"it takes longer than {self.text}"
                if is_time
                else f"it needs more than {self.text}"
            )
        what = "takes over {:.3g} % more time" if is_time else "needs over {:.3g} % more memory"
        return f"it {what.format(100 * self.share)} than the good end"
