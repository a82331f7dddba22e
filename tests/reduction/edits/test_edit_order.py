"""Edits in an order in which each beginning is a program that knows its names."""

import textwrap
from collections.abc import Mapping, Sequence

from whet.reduction.edits.names import NamesOfSource, names_of
from whet.reduction.edits.order import EditLines, Ordered, in_order


def ordered(
    old: Mapping[str, str], new: Mapping[str, str], *edits: tuple[str, Sequence[int], Sequence[int]]
) -> Ordered:
    """Return the order of edits, each with its file, its old lines and its new ones."""
    sides: list[dict[str, NamesOfSource]] = [
        {path: names_of(path, textwrap.dedent(text).encode()) for path, text in files.items()}
        for files in (old, new)
    ]
    return in_order(
        [
            EditLines(before=(path, frozenset(before)), after=(path, frozenset(after)))
            for path, before, after in edits
        ],
        *sides,
    )


def test_a_definition_comes_before_its_use_and_goes_after_it() -> None:
    old = "OLD = 1\ndef f():\n    return OLD\n"
    new = "NEW = 1\ndef f():\n    return NEW\n"

    order = ordered(
        {"a.py": old}, {"a.py": new}, ("a.py", [1], []), ("a.py", [3], [3]), ("a.py", [], [1])
    )

    assert order.groups == ((2,), (1,), (0,))
    assert list(map(set, order.needs)) == [set(), {0}, {0, 1}]


def test_a_new_function_comes_before_the_import_of_it_and_that_before_its_use() -> None:
    old = {"a.py": "x = 1\n", "b.py": "y = 1\n"}
    new = {"a.py": "x = 1\ndef f():\n    return 2\n", "b.py": "from a import f\ny = f()\n"}

    order = ordered(old, new, ("b.py", [1], [2]), ("b.py", [], [1]), ("a.py", [], [2, 3]))

    assert order.groups == ((2,), (1,), (0,))


def test_two_imports_of_a_name_overlap() -> None:
    old, new = "from a import f, g\nf(g)\n", "from a import f, h\nf(h)\n"

    order = ordered(
        {"b.py": old}, {"b.py": new}, ("b.py", [1], []), ("b.py", [], [1]), ("b.py", [2], [2])
    )

    assert order.groups == ((1,), (2,), (0,))


def test_a_renamed_function_and_its_calls_need_each_other_and_what_it_does_does_not() -> None:
    old = {"a.py": "def f(x):\n    y = x\n    return y\n", "b.py": "from a import f\nf(1)\n"}
    new = {"a.py": "def g(x):\n    y = -x\n    return y\n", "b.py": "from a import g\ng(1)\n"}

    order = ordered(
        old, new,
        ("a.py", [1], [1]), ("a.py", [2], [2]), ("b.py", [1], [1]), ("b.py", [2], [2]),
    )  # fmt: skip

    # What is needed both ways is one edit in each file.
    assert order.groups == ((1,), (0,), (2, 3))
    assert list(map(set, order.needs)) == [set(), {2}, {1}]


def test_an_argument_more_with_a_default_comes_first_and_one_that_is_required_with_the_calls() -> (
    None
):
    old = "def f(a):\n    return a\nf(1)\n"
    edits = (("a.py", [3], [3]), ("a.py", [1], [1]))

    optional = ordered(
        {"a.py": old}, {"a.py": old.replace("(a)", "(a, b=2)").replace("f(1)", "f(1, 3)")}, *edits
    )
    required = ordered(
        {"a.py": old}, {"a.py": old.replace("(a)", "(a, b)").replace("f(1)", "f(1, 3)")}, *edits
    )

    assert optional.groups == ((1,), (0,))
    assert required.groups == ((0, 1),)


def test_a_variable_of_another_function_is_another_name() -> None:
    old = "def f():\n    return 1\ndef g():\n    return 2\n"
    new = "def f():\n    x = 1\n    return 1\ndef g():\n    x = 3\n    return x\n"

    order = ordered(
        {"a.py": old}, {"a.py": new}, ("a.py", [], [2]), ("a.py", [], [5]), ("a.py", [4], [6])
    )

    assert order.groups == ((0,), (1,), (2,))
    assert list(map(set, order.needs)) == [set(), set(), {1}]
