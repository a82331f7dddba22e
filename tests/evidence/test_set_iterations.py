"""A module whose sets are put in an order does what it did, and what is no set stays as it was."""

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.evidence.experiments.set_iterations import KEYS, iterations, text_in_order

PROGRAM = """\
found = []
for each in {0}:
    found.append(each)
found += list({0}) + [*{0}] + [x for x in {0}]
print(found, f"{{','.join(map(str, {0}))}}" != "", dict.fromkeys({0}, 1))
"""


def printed(program: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "program", "exec"), {})
    return out.getvalue()


@given(items=st.lists(st.text("abc", max_size=3), max_size=5), key=st.sampled_from(KEYS))
def test_what_is_no_set_keeps_its_order(items: list[str], key: str) -> None:
    program = PROGRAM.format(repr(items))
    nodes = list(iterations(PROGRAM.format("values")))

    changed = text_in_order(PROGRAM.format("values"), nodes, key)

    assert nodes
    assert printed(f"values = {items!r}\n{changed}") == printed(program)


@given(items=st.sets(st.text("abc", max_size=3), max_size=5), key=st.sampled_from(KEYS))
def test_a_set_keeps_its_items(items: set[str], key: str) -> None:
    text = "found = list(values)\nprint(sorted(found), len(found))\n"

    changed = text_in_order(text, iterations(text), key)

    before = f"values = {items!r}\n"
    assert printed(before + changed) == printed(before + text)


@pytest.mark.parametrize("key", KEYS)
def test_an_order_is_the_same_in_each_run(key: str) -> None:
    text = "print([*{'a', 'bb', 'c', 'dd', 'e'}])\n"
    (node,) = iterations(text)
    outputs = {printed(text_in_order(text, [node], key)) for _ in range(3)}

    assert len(outputs) == 1


def test_the_orders_are_not_all_alike() -> None:
    text = "print([*{'a', 'bb', 'c', 'dd', 'e'}])\n"
    (node,) = iterations(text)

    assert len({printed(text_in_order(text, [node], key)) for key in KEYS}) > 3


@pytest.mark.parametrize("text", ["def broken(:", "", "x = 1\n"])
def test_what_goes_through_nothing_has_no_places(text: str) -> None:
    assert iterations(text) == ()
