"""`whet.shrink` on arrays, tables and tensors of the real libraries: exact minima and calls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import whet

pytestmark = pytest.mark.ml

numpy = pytest.importorskip("numpy")


class Counted:
    """A function, and how often it was called."""

    def __init__(self, fails: Callable[[Any], object]) -> None:
        self._fails = fails
        self.calls = 0

    def __call__(self, value: object) -> bool:
        self.calls += 1
        return bool(self._fails(value))


def noise(*shape: int, dtype: str = "float32") -> Any:
    return numpy.random.default_rng(0).normal(size=shape).astype(dtype)


def with_nan() -> Any:
    array = noise(200, 30)
    array[17, 3] = numpy.nan
    return array


@pytest.mark.parametrize(
    ("array", "fails", "smallest", "most_calls"),
    [
        (with_nan(), lambda a: numpy.isnan(a).any(), "array([nan])", 30),
        (noise(200, 30), lambda a: (a > 2).any(), "array([3])", 40),
        (noise(200, 30), lambda a: a.ndim == 2 and a.shape[0] != a.shape[1],
         "array([], shape=(0, 1), dtype=int64)", 15),
        (noise(50, 6), lambda a: a.ndim == 2 and len(set(a.ravel().tolist())) >= 4,
         "array([[0, 1, 2, 3]])", 70),
        (numpy.arange(40), lambda a: len(a) > 2 and a.dtype == "int64", "array([0, 0, 0])", 25),
        (numpy.array([True, False] * 9), lambda a: (~a).any(), "array([False])", 15),
        (numpy.array(["ab", "cd"] * 9), lambda a: "cd" in a, "array(['cd'], dtype='<U2')", 25),
        (noise(9, dtype="float64"), lambda a: a.dtype == "float64" and a.size,
         "array([0.])", 15),
    ],
)  # fmt: skip
def test_the_smallest_array(
    array: Any, fails: Callable[[Any], object], smallest: str, most_calls: int
) -> None:
    counted, before = Counted(fails), array.copy()

    found = whet.shrink(array, counted)

    assert repr(found) == smallest
    assert counted.calls <= most_calls
    numpy.testing.assert_array_equal(array, before)


def test_an_array_in_a_record_is_never_shared() -> None:
    @dataclass
    class Batch:
        images: Any
        labels: list[int]

    def spoil(batch: Any) -> bool:
        fails = bool((batch.images > 1).any())
        batch.images[...] = 0
        return fails

    found = whet.shrink(Batch(noise(20, 8), [1, 2, 3]), spoil)

    assert (repr(found.images), found.labels) == ("array([2])", [])


def frame() -> Any:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {"a": range(1000), "b": ["x", "y"] * 500, "c": noise(1000)},
        index=[f"r{number}" for number in range(1000)],
    )
    table.loc["r500", "c"] = None
    return table


@pytest.mark.parametrize(
    ("fails", "smallest", "most_calls"),
    [
        (lambda t: t["c"].isna().any(), {"c": ["nan"]}, 30),
        (lambda t: (t["a"] > 700).any(), {"a": ["701"]}, 45),
        (
            lambda t: (t["b"] == "y").any() and len(t["a"]) > 1,
            {"a": ["0", "0"], "b": ["", "y"]},
            60,
        ),
    ],
)
def test_the_smallest_table(
    fails: Callable[[Any], object], smallest: dict[str, list[str]], most_calls: int
) -> None:
    table = frame()
    counted, before = Counted(lambda t: _holds(fails, t)), table.copy(deep=True)

    found = whet.shrink(table, counted)

    shown = {name: [str(cell) for cell in found[name]] for name in found.columns}
    assert {name: sorted(cells) for name, cells in shown.items()} == smallest
    assert list(found.index) == list(range(len(found)))
    assert counted.calls <= most_calls
    assert table.equals(before)


def _holds(fails: Callable[[Any], object], table: Any) -> bool:
    try:
        return bool(fails(table))
    except KeyError:
        return False


def test_a_series() -> None:
    series = frame()["a"]

    found = whet.shrink(series, lambda s: bool((s > 700).any()))

    assert (found.tolist(), found.name, found.index.tolist()) == ([701], "a", [0])


def test_tensors_keep_their_kind() -> None:
    torch = pytest.importorskip("torch")
    weights = torch.from_numpy(noise(64, 32)).requires_grad_()

    found = whet.shrink(weights, lambda w: w.requires_grad and w.ndim == 2 and bool((w > 1).any()))
    half = whet.shrink(
        weights.detach().bfloat16(), lambda w: w.dtype == torch.bfloat16 and w.numel()
    )
    plain = whet.shrink({"w": weights.detach().half()}, lambda d: bool((d["w"] > 1).any()))

    assert repr(found) == "tensor([[2.]], requires_grad=True)"
    assert repr(half) == "tensor([0.], dtype=torch.bfloat16)"
    assert repr(plain) == "{'w': tensor([2])}"
