"""Arrow says of a condition what whet itself says, row by row."""

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.sampling.arrow_batches import ArrowRows
from whet.sampling.arrow_conditions import filter_of, mask_of_keys
from whet.sampling.row_condition import RowCondition
from whet.sampling.table import Rows
from whet.sampling.values import key_text

COLUMNS = {
    "i": st.none() | st.integers(-3, 3) | st.sampled_from([2**53, 2**53 + 1, -(2**63)]),
    "f": st.none() | st.sampled_from([-1.5, -0.0, 0.0, 2.0, math.nan, math.inf, 2.0**53]),
    "s": st.none() | st.sampled_from(["", "DE", "é", "10", "9"]),
    "b": st.none() | st.booleans(),
    "d": st.none() | st.sampled_from(["DE", "FR"]),
}
TYPES = {"i": pa.int64(), "f": pa.float64(), "s": pa.string(), "b": pa.bool_(), "d": pa.dictionary(pa.int8(), pa.string())}  # fmt: skip
VALUES = ("0", "-1", "2.5", "2", f"{2**53}", f"{2**70}", "'DE'", "'10'", "true", "'é'")
COMPARED = ("<", "<=", ">", ">=", "==", "!=")

comparisons = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from([*COLUMNS]), st.sampled_from(COMPARED), st.sampled_from(VALUES)),
    st.builds("{2} {1} {0}".format, st.sampled_from([*COLUMNS]), st.sampled_from(COMPARED), st.sampled_from(VALUES)),
    st.builds("{} is null".format, st.sampled_from([*COLUMNS])),
    st.builds("{} not in ({}, {})".format, st.sampled_from([*COLUMNS]), st.sampled_from(VALUES), st.sampled_from(VALUES)),
    st.builds("{} {} {}".format, st.sampled_from([*COLUMNS]), st.sampled_from(COMPARED), st.sampled_from([*COLUMNS])),
)  # fmt: skip
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=4,
)
rows = st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=8)


@given(rows=rows, text=conditions)
def test_a_condition_says_the_same_of_arrow_and_of_rows(
    rows: list[dict[str, object]], text: str
) -> None:
    wanted = filter_of(RowCondition.parse(text))
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    batch = pa.record_batch(
        [pa.array(columns[name], TYPES[name]) for name in COLUMNS], names=[*COLUMNS]
    )

    by_arrow = ArrowRows(range(len(rows)), batch).filtered(wanted)

    assert [*by_arrow.places] == [*Rows(range(len(rows)), columns).filtered(wanted).places]


@pytest.mark.parametrize("text", ["i < 3", "s == 'DE' or not f >= 0", "d in ('DE') and b == true"])
def test_usual_conditions_are_asked_of_arrow(text: str) -> None:
    batch = pa.record_batch([pa.array([None], TYPES[name]) for name in COLUMNS], names=[*COLUMNS])
    wanted = filter_of(RowCondition.parse(text))

    assert wanted.arrow is not None
    assert wanted.arrow(batch) is not None


@given(
    values=st.lists(st.none() | st.integers(-5, 20)),
    keys=st.sets(st.sampled_from(["1", "01", "+1", "-3", "x", "1.0", "17", f"{2**70}"])),
    kind=st.sampled_from([pa.string(), pa.int16(), pa.float32()]),
)
def test_keys_are_the_same_to_arrow(values: list[int | None], keys: set[str], kind: object) -> None:
    array = pa.array(values).cast(kind)
    batch = pa.record_batch([array], names=["k"])

    mask = mask_of_keys(batch, ("k",), {(key,) for key in keys})

    assert mask is None or mask.to_pylist() == [
        key_text(value) in keys for value in array.to_pylist()
    ]
