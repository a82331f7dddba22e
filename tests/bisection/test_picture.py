from hypothesis import given
from hypothesis import strategies as st

from whet.bisection.picture import MAX_SKIPPED, MAX_SUSPECTS, outline, picture
from whet.bisection.terms import Terms
from whet.core.verdict import Verdict
from whet.search.history.bisection import Bisection, Standing
from whet.search.history.version_graph import line_of
from whet.search.proposal import run_search


def drawn(
    standings: dict[int, Standing], first_bad: int | None = None, *, is_ascii: bool = False
) -> str:
    return picture(outline(standings, first_bad=first_bad), lambda v: f"1.{v}", is_ascii=is_ascii)


def test_a_search_in_hundreds_of_releases_fits_on_a_screen() -> None:
    bisection = Bisection(line_of(range(401)), 400, (0,))
    run_search(bisection.search(), lambda v: Verdict.BAD if v >= 137 else Verdict.GOOD)

    assert drawn(bisection.standings(), 137) == (
        "● good  1.0\n"
        "┊       99 good, as a later one is\n"
        "● good  1.100\n"
        "┊       24 good, as a later one is\n"
        "● good  1.125\n"
        "┊       5 good, as a later one is\n"
        "● good  1.131\n"
        "┊       2 good, as a later one is\n"
        "● good  1.134\n"
        "┊       1 good, as a later one is\n"
        "● good  1.136\n"
        "▶ bad   1.137  ← first bad\n"
        "┊       12 bad, as an earlier one is\n"
        "● bad   1.150\n"
        "┊       49 bad, as an earlier one is\n"
        "● bad   1.200\n"
        "┊       199 bad, as an earlier one is\n"
        "● bad   1.400"
    )


def test_a_search_under_way_shows_how_many_are_left() -> None:
    bisection = Bisection(line_of(range(101)), 100, (0,))
    search = bisection.search()
    next(search)
    search.send([Verdict.GOOD])
    search.send([Verdict.SKIP])
    search.close()

    assert drawn(bisection.standings(), is_ascii=True) == (
        "o good  1.0\n"
        ":       49 good, as a later one is\n"
        "o good  1.50\n"
        ":       24 not tested\n"
        "o skip  1.75\n"
        ":       24 not tested\n"
        "o bad   1.100"
    )


def test_what_is_folded_at_the_end_is_counted() -> None:
    standings = {1: Standing.TESTED_GOOD, 2: Standing.BESIDE, 3: Standing.IMPLIED_BAD}

    assert drawn(standings) == (
        "● good  1.1\n┊       1 bad, as an earlier one is; 1 not on the way"
    )


def test_many_skipped_versions_share_a_line() -> None:
    standings = dict.fromkeys(range(MAX_SKIPPED + 1), Standing.SKIPPED)

    assert drawn(standings) == "┊       13 skipped"


def test_few_suspects_are_named() -> None:
    bisection = Bisection(line_of(range(5)), 4, (0,))

    assert drawn(bisection.standings()) == (
        "● good  1.0\n● ?     1.1\n● ?     1.2\n● ?     1.3\n● bad   1.4"
    )


def test_commits_that_came_in_with_a_merge_stand_beside_the_line() -> None:
    graph = {"m": ("b", "s"), "s": ("a",), "b": ("a",), "a": ()}
    bisection = Bisection(graph, "m", ("a",))
    run_search(bisection.search(), lambda v: Verdict.BAD if v in {"s", "m"} else Verdict.GOOD)

    rows = outline(bisection.standings(), first_bad="s", side={"s"})
    shown = picture(rows, str.upper, terms=Terms.parse("slow,fast"))

    assert shown.splitlines() == [
        "●   slow  A",
        "●   slow  B",
        "│ ▶ fast  S  ← first fast",
        "●   fast  M",
    ]
    assert not shown.isascii()


@given(
    standings=st.lists(st.sampled_from(Standing), max_size=300),
    first_bad=st.integers(0, 299) | st.none(),
)
def test_every_version_is_named_or_counted_and_the_picture_stays_small(
    standings: list[Standing], first_bad: int | None
) -> None:
    known = dict(enumerate(standings))
    rows = outline(known, first_bad=first_bad)

    text = picture(rows, lambda v: f"v{v}", is_ascii=True)

    named = [row for row in rows if hasattr(row, "version")]
    assert len(named) + sum(_counted(line) for line in text.splitlines()) == len(standings)
    tested = sum(each in {Standing.TESTED_GOOD, Standing.TESTED_BAD} for each in standings)
    assert len(rows) <= 2 * (tested + MAX_SUSPECTS + MAX_SKIPPED + 1) + 1
    assert text.isascii()


def _counted(line: str) -> int:
    if not line.startswith(":"):
        return 0
    return sum(int(part.split()[0]) for part in line[1:].split(";"))
