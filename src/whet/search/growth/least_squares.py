"""Fits `constant + factor · shape` to measured values, where neither part is below zero."""

import math
from collections.abc import Sequence

from whet.core.value_class import value_class

_T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
"""Student's t for 95 % on both sides, by the degrees of freedom from 1 on."""

_LEAST_NOISE = 0.005
"""No measurement repeats itself more closely than this, as a share of it."""


@value_class(kw_only=True)
class Line:
    """`constant + factor · shape`, fitted.

    Attributes:
        constant: what there is without any growth.
        factor: of the shape.
        misfit: the sum of the squared distances from the values, each as a share of its value.
        covariance: of the constant and the factor (``cc``, ``cf``, ``ff``), for noise 1.
    """

    constant: float
    factor: float
    misfit: float
    covariance: tuple[float, float, float]

    def at(self, shape: float) -> float:
        """Return the value where the shape has this one."""
        return self.constant + self.factor * shape

    def error_at(self, shape: float) -> float:
        """Return the standard error of the value there, for noise 1."""
        cc, cf, ff = self.covariance
        return math.sqrt(max(0.0, cc + 2 * shape * cf + shape * shape * ff))


def fit_line(shapes: Sequence[float], values: Sequence[float]) -> Line:
    """Fit by least squares; each value counts by how far off it is as a share of it.

    What takes ten times as long varies by ten times as much.
    """
    weights = [1 / (value * value) for value in values]
    total = sum(weights)
    first = sum(w * s for w, s in zip(weights, shapes, strict=True))
    second = sum(w * s * s for w, s in zip(weights, shapes, strict=True))
    plain = sum(w * v for w, v in zip(weights, values, strict=True))
    mixed = sum(w * s * v for w, s, v in zip(weights, shapes, values, strict=True))
    spread = total * second - first * first
    constant, factor = plain / total, 0.0
    covariance = (1 / total, 0.0, 0.0)
    if spread > 1e-12 * total * second:
        level = (plain * second - mixed * first) / spread
        rise = (total * mixed - first * plain) / spread
        if level < 0:
            constant, factor, covariance = 0.0, mixed / second, (0.0, 0.0, 1 / second)
        elif rise > 0:
            constant, factor = level, rise
            covariance = (second / spread, -first / spread, total / spread)
    misfit = sum(
        w * (v - constant - factor * s) ** 2
        for w, s, v in zip(weights, shapes, values, strict=True)
    )
    return Line(constant=constant, factor=factor, misfit=misfit, covariance=covariance)


def noise_of(misfit: float, freedom: int) -> float:
    """Return the noise of the values, as a share of each."""
    return max(_LEAST_NOISE, math.sqrt(misfit / freedom))


def t95(freedom: int) -> float:
    """Return how many standard errors hold 95 % of all cases."""
    return _T95[freedom - 1] if freedom <= len(_T95) else 1.96 + 2.5 / freedom
