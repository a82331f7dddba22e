"""The first number that is none: found where it was made, in any shape, and nothing else changes."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_closer import run, told

from whet.core.observations.clue import Placing, Sureness
from whet.evidence.clues.not_a_number import first_seen, number_clues

PROGRAM = """\
import asyncio, threading

NAN = float("nan")


class Odd(float):
    def __ne__(self, other):
        raise RuntimeError("asked")

    __eq__ = __ne__


class Holder:
    def __init__(self, rate):
        self.rate = rate

    def grow(self):
        self.rate = self.rate * 1e308 * 10


def masked():
    return [NAN, 1.0]


def difference(one, other):
    return one - other


async def later(value):
    await asyncio.sleep(0)
    return {"value": [value]}


def main():
    odd = Odd(1)
    holder = Holder(2.0)
    holder.grow()
    for step in range(3):
        last = step * 0.5
    mask = masked()
    lost = difference(holder.rate, holder.rate)
    found = asyncio.run(later(lost))
    print(odd is not None, len(mask), last, found)
    return found


thread = threading.Thread(target=main)
thread.start()
thread.join()
"""


@pytest.mark.slow
def test_what_made_it_is_told_before_what_passes_it_on_and_after_what_was_infinite(
    tmp_path: Path,
) -> None:
    plain = run(PROGRAM, tmp_path, closer=None)
    looked_at = run(PROGRAM, tmp_path, closer="numbers")
    said = (looked_at.returncode, looked_at.stdout, looked_at.stderr)
    assert said == (plain.returncode, plain.stdout, plain.stderr)

    clues = number_clues(told(tmp_path), Placing(str(tmp_path)))
    lines = PROGRAM.splitlines()
    assert [lines[each.line - 1].strip() for each in clues] == [
        "return one - other",
        "self.rate = self.rate * 1e308 * 10",
    ]
    assert "`one`: inf; `other`: inf" in clues[0].says


@pytest.mark.parametrize(
    ("spoilt", "says"), [(3, "(3, all NaN)"), (1, "(3, 1 NaN of 3, from 1 to 2)")]
)
def test_an_array_is_told_by_how_much_of_it_is_spoilt(
    spoilt: int, says: str, tmp_path: Path
) -> None:
    pytest.importorskip("numpy")
    program = f"""\
import numpy


def divided(values):
    values = values.copy()
    values[:{spoilt}] = float("nan")
    return values


found = divided(numpy.array([1.0, 1.0, 2.0]))
assert not numpy.isnan(found).any(), "no number"
"""
    run(program, tmp_path, closer="numbers")

    clue, *_ = number_clues(told(tmp_path), Placing(str(tmp_path)))

    assert says in clue.says


LONG = """\
def scaled(row):
    top, low = max(row), min(row)
    if top == low:
        return [{made} for _ in row]
    return [(each - low) / (top - low) for each in row]


class Layer:
    def __init__(self, width):
        self.weights = [0.5] * width

    def forward(self, row):
        return sum(one * other for one, other in zip(self.weights, row))

    def step(self, row, error):
        self.weights = [one - 0.01 * error * other for one, other in zip(self.weights, row)]


def main():
    layer = Layer(3)
    for number in range(6000):
        row = [2, 2, 2] if number == 4000 else [number % 3, number % 7, 8]
        row = scaled(row)
        layer.step(row, layer.forward(row) - 0.5)
    assert layer.weights[0] < 9, layer.weights


main()
"""


def test_a_sparse_look_tells_where_to_follow_a_long_run_to_its_first_nan(tmp_path: Path) -> None:
    program = LONG.format(made="(top - low) * 1e308 * 10 * 0")
    plain = run(program, tmp_path, closer=None)
    sparse = run(program, tmp_path, closer="numbers:sparse")
    assert (sparse.stdout, sparse.stderr) == (plain.stdout, plain.stderr)
    assert first_seen(told(tmp_path)) is None  # no NaN: 0 * 0 is 0

    program = LONG.format(made="top * 1e308 * 10 * 0")
    run(program, tmp_path, closer="numbers:sparse")
    clean = first_seen(told(tmp_path))
    assert clean is not None
    assert clean > 4000, clean
    folder = tmp_path / "again"
    folder.mkdir()
    run(program, folder, closer=f"numbers:from={clean}")
    (clue,) = number_clues(told(folder), Placing(str(folder)))
    assert program.splitlines()[clue.line - 1].strip().startswith("return [top * 1e308")
    assert clue.sureness is Sureness.SEEN
    assert "what `scaled` returns" in clue.says


def test_of_two_lines_that_each_made_a_nan_neither_is_the_cause(tmp_path: Path) -> None:
    program = """\
def share(part, whole):
    return part * whole


infinite = 1e308 * 10
first = share(infinite, 0)
second = infinite - infinite
assert second == 0, second
"""
    run(program, tmp_path, closer="numbers")
    found = number_clues(told(tmp_path), Placing(str(tmp_path)))
    assert {each.sureness for each in found} == {Sureness.POSSIBLE}


@pytest.mark.parametrize(
    "inside",
    [
        "with closing(io.StringIO()):",
        "with closing(io.StringIO()), closing(io.StringIO()):",
        "try:",
    ],
)
def test_a_return_made_it_though_python_leaves_a_block_after_it(
    inside: str, tmp_path: Path
) -> None:
    finally_ = "    finally:\n        print(one)\n" if inside == "try:" else ""
    program = (
        "import io\nfrom contextlib import closing\n\n\n"
        f"def difference(one, other):\n    {inside}\n        return one - other\n{finally_}\n\n"
        "lost = difference(float('inf'), float('inf'))\nassert lost == lost, 'no number'\n"
    )
    run(program, tmp_path, closer="numbers")

    clue, *_ = number_clues(told(tmp_path), Placing(str(tmp_path)))

    assert program.splitlines()[clue.line - 1].strip() == "return one - other"
