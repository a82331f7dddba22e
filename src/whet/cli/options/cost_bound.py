"""The options of a search by which BAD means that something costs more."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from whet.core.errors import BadUsage

if TYPE_CHECKING:
    from whet.core.cost_bound import CostBound

P = ParamSpec("P")
R = TypeVar("R")

_OPTIONS = [
    click.option(
        "--slower-than",
        default="",
        metavar="HOW",
        help="BAD means slower: by 8% or 1.5x than the good end, or than 2s; several runs decide.",
    ),
    click.option(
        "--more-memory-than",
        default="",
        metavar="HOW",
        help="BAD means a higher peak: by 8% or 1.5x than the good end, or than 500MB.",
    ),
]


def cost_options(function: Callable[P, R]) -> Callable[P, R]:
    """Add the options to a verb."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def cost_bound(values: Mapping[str, str]) -> "CostBound | None":
    """Return what the options say; None: nothing, or the verb doesn't have them.

    Raises:
        BadUsage: if both are given, or one can't be read.
    """
    slower, more = values.get("slower_than", ""), values.get("more_memory_than", "")
    if not slower and not more:
        return None
    if slower and more:
        raise BadUsage(
            "`--slower-than` and `--more-memory-than` each define what counts as bad",
            hint="keep one of them",
        )
    from whet.core.cost_bound import CostBound
    from whet.core.measurements import NumberKind

    return CostBound.parse(NumberKind.TIME if slower else NumberKind.MEMORY, slower or more)
