"""Which number of a command's output is followed, and what has changed in it."""

from hypothesis import given
from hypothesis import strategies as st

from whet.workbench.watch.numeric_column import NumericColumn, changed_words, numbers_in

DF = """\
Filesystem      Size  Used Avail Use% Mounted on
/dev/vda        252G   {}G   77G  {}% /
"""
FREE = """\
               total        used        free
Mem:           24105        {}       21081
"""


def value_of(column: NumericColumn, text: str) -> tuple[str, float] | None:
    cell = column.follow(text)
    return None if cell is None else (cell.name, cell.value)


def test_the_percentage_is_followed_first() -> None:
    column = NumericColumn()
    for used in range(10):
        assert value_of(column, DF.format(used, 25)) == ("Use%", 25)


def test_after_a_few_looks_the_first_number_that_has_changed_is_followed() -> None:
    column = NumericColumn()
    for used in (1834, 1900, 1900):
        assert value_of(column, FREE.format(used)) == ("total", 24105)
    for used in (1900, 1900, 2000):
        assert value_of(column, FREE.format(used)) == ("used", used)


def test_a_number_that_changes_more_seldom_but_comes_first_is_followed() -> None:
    column = NumericColumn()
    texts = [f"0.{load} 0.10 1/200 {pid}" for pid, load in enumerate((1, 1, 1, 2, 2, 3))]
    assert [value_of(column, each) for each in texts][-1] == ("", 0.3)


def test_a_column_can_be_named_or_counted() -> None:
    text = DF.format(26, 25)
    assert value_of(NumericColumn("avail"), text) == ("Avail", 77 * 2.0**30)
    assert value_of(NumericColumn("3"), text) == ("Used", 26 * 2.0**30)
    assert value_of(NumericColumn("missing"), text) is None


@given(st.text())
def test_any_output_is_looked_through(text: str) -> None:
    for cell in numbers_in(text):
        assert cell.shown in text.splitlines()[cell.line]


@given(
    st.lists(st.text("ab1 ", max_size=8), max_size=6).map(" ".join), st.text("ab1 ", max_size=30)
)
def test_what_is_marked_is_what_differs(before: str, now: str) -> None:
    old, new = before.split(), now.split()
    spans = changed_words(before, now)
    marked = [now[start:end] for start, end in spans]
    assert marked == [
        word for place, word in enumerate(new) if place >= len(old) or old[place] != word
    ]
    assert changed_words(now, now) == []
