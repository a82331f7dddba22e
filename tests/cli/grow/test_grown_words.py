"""What is said of the cost of a number that wasn't run: nothing that too little is known of."""

import pytest

from whet.cli.display.grown import growth_lines
from whet.core.budget import StopReason
from whet.core.verdict import Verdict
from whet.search.growth.law import fit_law
from whet.workbench.grow.dimension import parse_dimension
from whet.workbench.grow.grow import Growth, Prediction
from whet.workbench.grow.measured import CPU, MEMORY, TIME, Measured, laws_of

NUMBERS = (1, 2, 4, 8, 16, 32)
NOISY = (0.851, 0.477, 0.602, 0.584, 0.791, 1.6)
BEGINNING = (0.135, 0.111, 0.140, 0.139, 0.142, 0.349)


def said(times: tuple[float, ...], processor: tuple[float, ...], peak_bytes: int = 14 << 20) -> str:
    """Return what is said of runs that took so long."""
    rows = tuple(
        Measured(
            number=number, verdict=Verdict.GOOD, runs=1, failures=0, wall_seconds=wall,
            cpu_seconds=cpu, peak_bytes=peak_bytes, is_whole=True, trial=None, failure="",
        )
        for number, wall, cpu in zip(NUMBERS, times, processor, strict=True)
    )  # fmt: skip
    costs = {TIME: times, CPU: processor}
    laws = {
        name: law
        for name, values in costs.items()
        if (law := fit_law(dict(zip(NUMBERS, values, strict=True)))) is not None
    }
    prediction = Prediction(
        number=4096, costs={name: law.predict(4096) for name, law in laws.items()}
    )
    growth = Growth(
        dimension=parse_dimension("n=1..4096"), smallest=None, largest_below=None, exceptions=(),
        rows=rows, laws=laws, unfit=None, predictions=(prediction,), memory_bytes=1 << 34,
        line=None, repeats=1, stopped=StopReason.OUT_OF_TIME, trials=6, wall_seconds=20.0,
    )  # fmt: skip
    return "\n".join(growth_lines(growth))


@pytest.mark.parametrize("times", [NOISY, tuple(1 + cpu for cpu in BEGINNING), (1.0,) * 6])
def test_where_growth_has_just_begun_nothing_is_predicted(times: tuple[float, ...]) -> None:
    words = said(times, BEGINNING)

    assert "CPU time: 126 ms at first; it grows, but too little is known to say how" in words
    assert "would take" not in words


def test_times_that_jump_about_are_not_called_constant() -> None:
    words = said(NOISY, (0.1,) * 6)

    assert "too noisy to say whether it grows" in words
    assert "CPU time: 100 ms, constant" in words


def test_a_law_that_is_known_predicts() -> None:
    words = said(tuple(0.1 + n / 100 for n in NUMBERS), tuple(0.05 + n / 100 for n in NUMBERS))

    assert "n = 4,096 would take about 41" in words


def test_memory_that_was_not_seen_is_not_called_zero() -> None:
    words = said((1.0,) * 6, (0.1,) * 6, peak_bytes=0)

    assert " 0 B" not in words
    assert words.count("       -") == 6


def test_memory_that_was_not_seen_does_not_count_for_its_law() -> None:
    rows = [
        Measured(
            number=number, verdict=Verdict.GOOD, runs=1, failures=0, wall_seconds=0.01,
            cpu_seconds=0.01, peak_bytes=0 if number in {1, 8} else (10 + number) << 20,
            is_whole=True, trial=None, failure="",
        )
        for number in (*NUMBERS, 64)
    ]  # fmt: skip

    law = laws_of(rows)[MEMORY]

    assert law.predict(128).best == pytest.approx(138 << 20, rel=0.05)
    assert MEMORY not in laws_of(rows[:4])  # two are left of these
