"""A text that stands for a value of Python gives that value, or an error that says why not."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.text.literal import literal_in

VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats().filter(math.isfinite),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@given(VALUES)
def test_what_repr_writes_is_read(value: object) -> None:
    assert literal_in(repr(value)) == value


@pytest.mark.parametrize(
    "text", ["(" * 5000, "-" * 50_000 + "1", "{{}: 1}", "f()", "1" * 70_000, "a\0", ""]
)
def test_what_python_cannot_parse_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        literal_in(text)
