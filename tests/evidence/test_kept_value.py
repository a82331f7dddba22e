"""What was kept of a value: one line of it, and the value again."""

import json
import math
from collections import OrderedDict
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from whet.agent.site.whet_state.raised import as_json as written
from whet.agent.site.whet_state.values import Reader
from whet.evidence.variables.kept_objects import Kept, rebuilt
from whet.evidence.variables.kept_value import value_line

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=40)
    | st.binary(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.integers() | st.text(max_size=4), inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=20,
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=10,
)


class Point(NamedTuple):
    """A tuple whose items have names."""

    x: int
    y: int


def kept(value: object) -> object:
    """Return a value as it comes back from the program."""
    node: object = json.loads(written(Reader(60).named("value", value)))
    return node


@given(PLAIN)
def test_a_small_plain_value_comes_back_as_it_was(value: object) -> None:
    assert _depth(value) > 4 or rebuilt(kept(value)) == value


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(inner, str | bytes) or not hasattr(inner, "__iter__"):
        return 0
    return 1 + max(map(_depth, inner), default=0)


@given(PLAIN, st.integers(20, 200))
def test_a_value_is_one_line_of_the_width_that_there_is(value: object, width: int) -> None:
    line = value_line(kept(value), width)

    assert len(line) <= width
    assert line.isprintable()


@given(st.lists(st.integers(-999, 999), min_size=25, max_size=2000))
def test_a_long_list_says_how_many_there_are_more(items: list[int]) -> None:
    line = value_line(kept(items), 200)

    shown = line.partition("…")[0].count(",")
    assert line.endswith(f"… {len(items) - shown:,} more]")


@given(st.floats())
def test_any_float_comes_back(value: float) -> None:
    back = rebuilt(kept(value))

    assert isinstance(back, float)
    assert back == value or (math.isnan(back) and math.isnan(value))


@given(st.binary(max_size=400) | st.text(max_size=5000))
def test_nothing_in_a_cut_text_is_made_up(value: str | bytes) -> None:
    node = kept(value)
    if isinstance(node, str):
        assert node == value
    else:
        assert isinstance(node, dict)
        text = value if isinstance(value, str) else value.decode("latin-1")
        assert text.startswith(node["text"])
        assert node["n"] == len(value)


def test_an_object_has_the_attributes_that_it_had() -> None:
    class Settings:
        def __init__(self) -> None:
            self.rate = 0.5
            self.layers = [1, 2]
            self.itself = self

    back = rebuilt(kept(Settings()))

    assert isinstance(back, Kept)
    assert vars(back)["rate"] == 0.5
    assert vars(back)["layers"] == [1, 2]
    assert sorted(dir(back)) == ["itself", "layers", "rate"]
    assert repr(back) == "Settings(rate=0.5, layers=[1, 2], itself=<Settings itself>)"


def test_a_container_that_holds_itself_ends() -> None:
    ring: list[object] = [1]
    ring.append(ring)

    assert value_line(kept(ring)) == "[1, <list itself>]"


def test_lines_read_as_python_would_write_them() -> None:
    shown = {
        "{'a': 1, 2: (3,)}": {"a": 1, 2: (3,)},
        "set()": set[int](),
        "Point(x=1, y=2)": Point(1, 2),
        "OrderedDict({'a': 1})": OrderedDict(a=1),
        "b'\\x00a'": b"\0a",
        "'a\\nb'": "a\nb",
        "range(0, 3)": range(3),
        "<type int>": int,
    }

    assert {value_line(kept(value)): value for value in shown.values()} == shown
