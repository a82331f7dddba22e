"""Sets of parameters of which the ordinary run has a few and the long run the others."""

from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from _pytest.mark import ParameterSet


def crossed(**axes: Mapping[str, object] | Sequence[object]) -> pytest.MarkDecorator:
    """Parametrise with each combination of values, by name where an axis names them.

    The ordinary run has as many as the longest axis has values, and each value of each axis.
    """
    named = [
        list(axis.items() if isinstance(axis, Mapping) else ((str(each), each) for each in axis))
        for axis in axes.values()
    ]
    # Each axis is some places ahead whenever it begins again: two of one length do not go together.
    often = {
        tuple(
            (turn + number * (turn // len(axis))) % len(axis) for number, axis in enumerate(named)
        )
        for turn in range(max(map(len, named)))
    }
    sets = [
        pytest.param(
            *(axis[place][1] for axis, place in zip(named, places, strict=True)),
            id="-".join(axis[place][0] for axis, place in zip(named, places, strict=True)),
            marks=() if places in often else pytest.mark.long,
        )
        for places in product(*(range(len(axis)) for axis in named))
    ]
    return pytest.mark.parametrize(tuple(axes), sets)


def one_in(every: int, values: Sequence[object], ids: Sequence[str] = ()) -> list[ParameterSet]:
    """Return parameters of which the ordinary run has one in so many, and the long run the others."""
    names = ids or [str(each) for each in values]
    return [
        pytest.param(each, id=name, marks=pytest.mark.long if place % every else ())
        for place, (each, name) in enumerate(zip(values, names, strict=True))
    ]
