"""What fails today is put into older texts where it belongs, without what else was added."""

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.bisection.grafted_lines import added_statements


def _text(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def _line(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.split("\n"), 1) if part in line)


BEFORE = _text("""
    def total(xs):
        result = sum(xs) + 1
        return result

    print(total([1, 2, 3]))
""")
WITH_CHECK = BEFORE.replace("    return result", "    assert result == 6\n    return result")


def _grafted(source: str, before: str, older: str, *failing: str) -> str | None:
    *called, last = (_line(source, each) for each in failing)
    lines = added_statements(source, before, called, last)
    return None if lines is None else lines.into(older)


def test_an_added_check_is_put_behind_a_line_that_was_other() -> None:
    older = BEFORE.replace("sum(xs) + 1", "sum(xs)")

    made = _grafted(WITH_CHECK, BEFORE, older, "assert")

    assert made == WITH_CHECK.replace("sum(xs) + 1", "sum(xs)")


def test_what_else_was_added_stays_out() -> None:
    source = WITH_CHECK.replace("    assert", "    result *= 2\n    assert")

    made = _grafted(source, BEFORE, BEFORE, "assert")

    assert made == WITH_CHECK


def test_a_text_that_has_the_lines_stays_as_it_is() -> None:
    lines = added_statements(WITH_CHECK, BEFORE, [], _line(WITH_CHECK, "assert"))

    assert lines is not None
    assert lines.into(WITH_CHECK + "# later\n") == WITH_CHECK + "# later\n"


def test_a_line_that_is_older_is_no_added_one() -> None:
    assert added_statements(WITH_CHECK, WITH_CHECK, [], _line(WITH_CHECK, "assert")) is None


def test_a_check_comes_with_the_condition_around_it_and_the_names_that_it_needs() -> None:
    source = _text("""
        import math
        LIMIT = 6
        def total(xs):
            result = sum(xs) + 1
            if math.isnan(result) or result > LIMIT:
                raise ValueError(result)
            return result

        print(total([1, 2, 3]))
    """)

    made = _grafted(source, BEFORE, BEFORE, "raise")

    assert made == source


def test_a_name_that_the_older_text_has_too_is_taken_from_there() -> None:
    before = "from shop import add\n\ndef test_one():\n    assert add(1)\n"
    source = (
        before.replace("add\n", "add, other\n", 1) + "\ndef test_two():\n    assert add(2) == 2\n"
    )

    made = _grafted(source, before, before, "== 2")

    assert made is not None
    assert "other" not in made
    assert "assert add(2) == 2" in made


def test_a_new_function_that_checks_comes_with_the_call_of_it() -> None:
    source = _text("""
        def check(result):
            assert result == 6

        def total(xs):
            result = sum(xs) + 1
            check(result)
            return result

        print(total([1, 2, 3]))
    """)

    made = _grafted(source, BEFORE, BEFORE, "print(total", "    check(", "    assert")

    assert made is not None
    compile(made, "made", "exec")
    assert "assert result == 6" in made
    assert "    check(result)\n    return" in made


def test_a_condition_that_became_stricter_raises_what_it_always_has() -> None:
    before = BEFORE.replace(
        "    return", "    if result > 9:\n        raise ValueError\n    return"
    )
    source = before.replace("> 9", "> 6")

    made = _grafted(source, before, before, "raise")

    assert made is not None
    assert made.index("> 9") < made.index("> 6")


def test_a_function_that_isnt_there_has_no_place_for_its_lines() -> None:
    assert _grafted(WITH_CHECK, BEFORE, "print(sum([1, 2, 3]))\n", "assert") is None


def test_a_place_in_another_function_is_no_place() -> None:
    older = BEFORE.replace("total", "other").replace("result", "it")

    assert _grafted(WITH_CHECK, BEFORE, older, "assert") is None


@pytest.mark.parametrize("older", [BEFORE, WITH_CHECK])
def test_a_marked_text_ends_where_the_check_is(older: str) -> None:
    lines = added_statements(WITH_CHECK, BEFORE, [], _line(WITH_CHECK, "assert"))

    assert lines is not None
    made = lines.into(older, is_marked=True)
    assert made is not None
    assert "assert" not in made
    assert '    __import__("os")._exit(86)\n    return' in made


@given(
    st.lists(st.sampled_from(["x = 1", "y = x", "print(y)", "", "z = 0"]), max_size=12), st.data()
)
def test_a_line_that_is_put_into_a_text_is_all_that_is_new_in_it(
    body: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(body)))
    source = "\n".join([*body[:at], "assert w", *body[at:]])
    before = "\n".join(body)
    lines = added_statements(source, before, [], at + 1)

    assert lines is not None
    made = lines.into(before)
    assert made is not None
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(source))
