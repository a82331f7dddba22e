"""Which arrays of a failed operation don't go together, as far as its error speaks of it."""

from collections.abc import Iterable
from itertools import count

import pytest

from whet.evidence.provenance.failure.unlike import may_convert, unlike_in
from whet.evidence.provenance.run.recording import ARRAY, Value

_NUMBERS = count(1)


def array(shape: Iterable[int], dtype: str = "float32", device: str = "cuda:0") -> Value:
    facts = {"shape": list(shape), "dtype": dtype, "device": device}
    return Value(ARRAY, "torch.Tensor", "", number=next(_NUMBERS), facts=facts)


@pytest.mark.parametrize(
    ("message", "one", "other", "fact"),
    [
        (
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
            array([2]), array([2], device="cpu"), "device",
        ),
        (
            "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
            array([2]), array([2], device="cpu"), "device",
        ),
        (
            "mat1 and mat2 must have the same dtype, but got Float and Double",
            array([2]), array([2], "float64"), "dtype",
        ),
        (
            "expected scalar type Half but found Float", array([2], "float16"), array([2]), "dtype",
        ),
        (
            "operands could not be broadcast together with shapes (7,5) (4,)",
            array([7, 5]), array([4]), "shape",
        ),
    ],
)  # fmt: skip
def test_what_two_arrays_differ_in_is_what_the_error_speaks_of(
    message: str, one: Value, other: Value, fact: str
) -> None:
    unlike = unlike_in(message, [one, other], [one, other])

    assert unlike is not None
    assert (unlike.fact, unlike.odd) == (fact, "")


@pytest.mark.parametrize(
    ("message", "one", "other"),
    [
        ("index 7 is out of bounds for axis 0 with size 5", array([5]), array([3])),
        ("division by zero", array([2]), array([2], "float64", "cpu")),
        ("CUDA error: out of memory", array([2]), array([2])),
        (
            "CUDA error: no kernel image is available for execution on the device",
            array([2]), array([2], device="cpu"),
        ),
        ("CUDA error: misaligned address", array([2]), array([2], device="cuda:1")),
    ],
)  # fmt: skip
def test_a_difference_that_the_error_does_not_speak_of_is_none(
    message: str, one: Value, other: Value
) -> None:
    assert unlike_in(message, [one, other], [one, other]) is None


def test_the_odd_one_is_the_one_that_most_arrays_of_the_program_are_unlike() -> None:
    one, other = array([2]), array([2], device="cpu")
    unlike = unlike_in("not on the same device", [one, other], [one, other, array([9]), one])

    assert unlike is not None
    assert unlike.odd == "cpu"
    assert unlike.words(other) == "on cpu"


def test_an_array_that_stands_alone_is_unlike_the_other_type_that_the_error_names() -> None:
    alone = array([4, 16], "float64")
    message = "mat1 and mat2 must have the same dtype, but got Double and Float"
    unlike = unlike_in(message, [alone], [alone])

    assert unlike is not None
    assert (unlike.fact, unlike.odd) == ("dtype", "")
    assert unlike_in("expected a Double", [alone], [alone]) is None


def test_an_array_beside_weights_that_were_not_recorded_is_not_the_odd_one() -> None:
    alone, others = array([4, 16], "float64"), [array([3]), array([3, 5])]
    message = "mat1 and mat2 must have the same dtype, but got Double and Float"
    unlike = unlike_in(message, [alone], [alone, *others])

    assert unlike is not None
    assert (unlike.fact, unlike.odd) == ("dtype", "")


def test_it_is_the_odd_one_where_nothing_converts_what_a_library_holds() -> None:
    alone, others = array([4, 16], "float64"), [array([3]), array([3, 5])]
    message = "mat1 and mat2 must have the same dtype, but got Double and Float"
    unlike = unlike_in(message, [alone], [alone, *others], are_others_known=True)

    assert unlike is not None
    assert (unlike.fact, unlike.odd) == ("dtype", "float64")


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("model = Net(8).double()", True),
        ("net.to(torch.float64)", True),
        ("torch.set_default_dtype(torch.float64)", True),
        ("layer = Linear(3, 1, dtype=torch.float64)", True),
        ("model = torch.load(path)", True),
        ("area = float(text) / 3.0; rows = torch.from_numpy(area)", False),
    ],
)
def test_a_program_may_convert_what_a_library_holds(text: str, *, may: bool) -> None:
    assert may_convert(text) is may
