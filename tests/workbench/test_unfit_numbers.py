"""A number that needs more than there is isn't run, by the law of the smaller ones."""

import math

from whet.search.growth.law import Law, fit_law
from whet.workbench.grow.measured import MEMORY, TIME, unfit_of

START, EACH = 10_000_000, 1_000_000


def law(start: float, each: float) -> Law:
    fitted = fit_law({n: start + each * n for n in (1, 2, 4, 8, 16, 32, 64)})
    assert fitted is not None
    return fitted


def test_what_needs_more_memory_than_is_left_does_not_fit() -> None:
    laws = {MEMORY: law(START, EACH)}
    has = {MEMORY: 100.0 * EACH, TIME: math.inf}

    unfit = unfit_of(128, laws, has)
    assert unfit is not None
    assert (unfit.number, unfit.what, unfit.has) == (128, MEMORY, 100.0 * EACH)
    assert unfit.needs.low <= START + 128 * EACH <= unfit.needs.high
    assert unfit_of(80, laws, has) is None


def test_what_takes_longer_than_the_budget_has_left_does_not_fit() -> None:
    laws = {TIME: law(0.02, 0.1)}

    assert unfit_of(128, laws, {TIME: 5.0}) is not None
    assert unfit_of(128, laws, {TIME: 60.0}) is None


def test_a_number_among_the_measured_ones_fits() -> None:
    assert unfit_of(48, {MEMORY: law(START, EACH)}, {MEMORY: 1.0}) is None


def test_without_a_law_every_number_fits() -> None:
    assert unfit_of(1 << 40, {}, {MEMORY: 1.0, TIME: 1.0}) is None
