"""What a person calls a commit."""

from pathlib import Path

import pytest
from history_builder import FIRST_DATE, build_history, run_git

from whet.bisection.names import ends_of, is_moment, resolve_or_date
from whet.core.errors import BadUsage, UnknownRevision
from whet.host.process.git import Repository

DAY = 24 * 60 * 60
#   0 - 1 - 3 - 4      2 comes in with the merge 4
#     \ 2 ----- /
PARENTS = [(), (0,), (0,), (1,), (3, 2)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("names")


@pytest.fixture(scope="module")
def commits(place: Path) -> list[str]:
    made = build_history(place, PARENTS, step_seconds=DAY)  # the first is of 2001-09-09 01:46:40
    run_git(place, "tag", "2001-09-10", made[4])
    return made


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        (("v1", "v2"), ("v1", "v2")),
        (("v4.33..HEAD",), ("v4.33", "HEAD")),
        (("release~3..",), ("release~3", "HEAD")),
        (("..main",), ("", "main")),
        (("a...b",), ("a", "b")),
        (("v1.0.1..v2.0.0",), ("v1.0.1", "v2.0.0")),
        (("HEAD",), ("", "HEAD")),
        (("v4.33",), ("v4.33", "HEAD")),
        (("HEAD", "HEAD"), ("HEAD", "HEAD")),
        ((), ("", "HEAD")),
        (("2 weeks ago", "HEAD"), ("2 weeks ago", "HEAD")),
    ],
)
def test_ends_are_two_words_or_a_range(words: tuple[str, ...], ends: tuple[str, str]) -> None:
    assert ends_of(words) == ends


@pytest.mark.parametrize("words", [("a", "b", "c"), ("",), ("a", "")])
def test_what_names_no_ends_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(BadUsage):
        ends_of(words)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("2001-09-11", 1),  # its first second: the commit of the 11th is not before it
        ("2001-09-12", 1),  # of first parents: the commit of the 11th came with a merge
        ("2001-09-13", 3),
        ("2001-09-13 02:00", 4),
        ("2001-09-13T02:00:00Z", 4),
        ("yesterday", 4),
        ("2 weeks ago", 4),
        ("3.days.ago", 4),
        ("2001-09-10", 4),  # a tag of that name comes first
    ],
)
def test_a_moment_means_the_last_commit_before_it_on_the_main_line(
    place: Path, commits: list[str], name: str, number: int
) -> None:
    assert FIRST_DATE == 1_000_000_000

    found = resolve_or_date(Repository(place), name)

    assert found.commit == commits[number]
    assert bool(found.remark) == (name != "2001-09-10")


def test_a_moment_before_the_first_commit_is_refused_with_the_date_of_that(
    place: Path, commits: list[str]
) -> None:
    assert commits
    with pytest.raises(UnknownRevision, match="`1999-01-01`") as refused:
        resolve_or_date(Repository(place), "1999-01-01")

    assert "2001-09-09" in refused.value.hint


@pytest.mark.parametrize("word", ["mainn", "now-ish", "may", "12", "noon", "v1.2", "ago", "tea"])
def test_a_misspelt_name_is_no_moment_though_git_takes_it_for_one(word: str) -> None:
    assert not is_moment(word)
