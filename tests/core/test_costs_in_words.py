"""What several runs say of a cost is one sentence, whatever it is compared with."""

import math

from hypothesis import given
from hypothesis import strategies as st

from whet.core.cost_bound import CHANGE, COSTS_MORE, change_in_words


@given(
    change=st.floats(-1, 9),
    is_sure=st.booleans(),
    than=st.sampled_from(["", "the good end", "2 s"]),
)
def test_a_comparison_stands_behind_its_number_and_doubt_ends_the_sentence(
    *, change: float, is_sure: bool, than: str
) -> None:
    said = change_in_words({CHANGE: change, **({COSTS_MORE: 1.0} if is_sure else {})}, than)
    compared = f" than {than}" if than else ""
    more = "more" if change >= 0 else "less"
    assert said.startswith(f"costs {abs(100 * change):.1f} % {more}{compared}")
    assert said.endswith(", too close to the bound to be sure") != is_sure


@given(st.sampled_from(["", "the good end", "2 s"]))
def test_what_was_never_measured_to_its_end_is_compared_with_nothing(than: str) -> None:
    assert change_in_words({}, than) == ""
    assert than == "" or than not in change_in_words({CHANGE: math.inf}, than)
