import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from whet.bisection.releases import Release, ReleaseHistory, ReleaseLine, releases_of
from whet.bisection.terms import Terms
from whet.core.errors import EndsReversed, NothingBetween, SameEnds, UnknownRelease
from whet.core.verdict import Verdict
from whet.host.python.index_page import IndexFile
from whet.host.python.package_index import Listing
from whet.host.python.python_interpreter import PythonFacts
from whet.search.proposal import run_search

PYTHON = PythonFacts(path="/usr/bin/python3.11", version="3.11.7", implementation="cpython")
PYPY = PythonFacts(path="/usr/bin/pypy3", version="3.10.14", implementation="pypy")


def file(
    name: str, *, yanked: str | None = None, requires_python: str = "", uploaded: str = ""
) -> IndexFile:
    return IndexFile(
        name=name,
        yanked=yanked,
        requires_python=requires_python,
        uploaded=uploaded,
    )


def wheel(
    version: str, *, yanked: str | None = None, requires_python: str = "", uploaded: str = ""
) -> IndexFile:
    name = f"tool-{version}-py3-none-any.whl"
    return file(name, yanked=yanked, requires_python=requires_python, uploaded=uploaded)


def listing(*files: IndexFile, bare: tuple[str, ...] = ()) -> Listing:
    return Listing(
        package="Tool", index="https://index.example/simple", files=files, bare_versions=bare
    )


TEN = listing(*(wheel(f"1.{minor}") for minor in (10, 2, 9, 1, 3, 8, 7, 6, 5, 4)))


def versions(releases: tuple[Release, ...]) -> list[str]:
    return [release.version for release in releases]


def test_releases_stand_in_the_order_of_pep_440() -> None:
    found = releases_of(
        listing(*map(wheel, ["1.10", "1.9", "1!0.1", "1.10.post1", "1.10rc1", "1.10.dev2"])), PYTHON
    )

    assert versions(found) == ["1.9", "1.10.dev2", "1.10rc1", "1.10", "1.10.post1", "1!0.1"]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, unique=True))
def test_the_first_bad_release_is_found_whatever_the_order_of_the_page(
    minors: list[tuple[int, int]],
) -> None:
    page = listing(*(wheel(f"{major}.{minor}") for major, minor in minors))
    ordered = [f"{major}.{minor}" for major, minor in sorted(minors)]
    culprit = ordered[len(ordered) // 2]
    history = ReleaseHistory.between(page, ordered[0], ordered[-1], python=PYTHON)

    result = run_search(
        history.bisection().search(),
        lambda version: Verdict.BAD if Version(version) >= Version(culprit) else Verdict.GOOD,
    )

    assert result.first_bad == culprit
    assert result.last_good == ordered[len(ordered) // 2 - 1]
    assert len(result.tested) <= (len(history.releases) - 2).bit_length()


def test_the_ends_are_named_as_users_write_versions() -> None:
    history = ReleaseHistory.between(TEN, "1.2.0", "v1.9", python=PYTHON)

    assert (history.good, history.bad) == ("1.2", "1.9")
    assert versions(history.releases) == [f"1.{minor}" for minor in range(2, 10)]


def test_yanked_and_uninstallable_releases_are_left_out_and_named() -> None:
    page = listing(
        wheel("1.0"),
        wheel("1.1", yanked="breaks on Windows"),
        wheel("1.2", yanked=""),
        wheel("1.3", requires_python=">=3.13"),
        file("tool-1.4-cp37-cp37m-win_amd64.whl"),
        wheel("1.5", requires_python="<3"),
        file("tool-1.6.tar.gz"),
        file("tool-1.7-cp37-cp37m-win_amd64.whl"),
        file("tool-1.7.zip"),
        wheel("1.8", requires_python="3.x"),
        file("tool-1.9-cp311-none-any.whl"),
        wheel("2.0"),
    )

    history = ReleaseHistory.between(page, "1.0", "2.0", python=PYTHON)

    assert versions(history.releases) == ["1.0", "1.6", "1.7", "1.8", "1.9", "2.0"]
    assert history.remarks == (
        "skipped 1.1: yanked: breaks on Windows",
        "skipped 1.2: yanked",
        "skipped 1.3: it requires Python >=3.13, not 3.11.7",
        "skipped 1.4: it has only wheels for other platforms or Pythons",
        "skipped 1.5: it requires Python <3, not 3.11.7",
    )


def test_a_release_with_one_file_that_is_not_yanked_counts() -> None:
    page = listing(wheel("1.0", yanked="bad wheel"), file("tool-1.0.tar.gz"), wheel("2.0"))

    assert [release.problem for release in releases_of(page, PYTHON)] == ["", ""]


def test_a_release_whose_only_installable_file_is_yanked_does_not_count() -> None:
    page = listing(wheel("1.0", yanked="x"), wheel("1.0.0", requires_python="<3"), wheel("2.0"))

    assert releases_of(page, PYTHON)[0].problem == "yanked: x"


def test_an_end_that_was_yanked_is_still_searched_from() -> None:
    page = listing(wheel("1.0", yanked="x"), wheel("1.1"), wheel("1.2", yanked="y"))

    history = ReleaseHistory.between(page, "1.0", "1.2", python=PYTHON)

    assert versions(history.releases) == ["1.0", "1.1", "1.2"]


def test_prereleases_are_searched_on_request_or_if_an_end_is_one() -> None:
    page = listing(*map(wheel, ["1.0", "1.1rc1", "1.1", "1.2.dev1", "1.2"]))

    def searched(good: str, bad: str, *, asked: bool = False) -> list[str]:
        history = ReleaseHistory.between(page, good, bad, python=PYTHON, with_prereleases=asked)
        return versions(history.releases)

    assert searched("1.0", "1.2") == ["1.0", "1.1", "1.2"]
    assert searched("1.0", "1.2", asked=True) == ["1.0", "1.1rc1", "1.1", "1.2.dev1", "1.2"]
    assert searched("1.1rc1", "1.2") == ["1.1rc1", "1.1", "1.2.dev1", "1.2"]


def test_files_that_pip_does_not_install_are_passed_over() -> None:
    page = listing(
        file("tool-1.0.win32-py2.7.exe"),
        file("tool-1.0-py3.6.egg"),
        file("tool-not.a.version.tar.gz"),
        file("tool-1.1.tar.bz2"),
        file("tool-1.2-py3-none.whl"),
        file("README"),
        file(""),
        wheel("1.3"),
    )

    assert versions(releases_of(page, PYTHON)) == ["1.1", "1.3"]


def test_upload_times_are_the_first_and_the_last_of_a_release() -> None:
    page = listing(
        wheel("1.0", uploaded="2020-05-02T00:00:00Z"),
        file("tool-1.0.tar.gz", uploaded="2020-05-01T12:00:00Z"),
        wheel("1.1"),
    )

    first, second = releases_of(page, PYTHON)

    assert (first.uploaded, first.latest_upload) == ("2020-05-01T12:00:00Z", "2020-05-02T00:00:00Z")
    assert str(first) == "1.0 2020-05-01"
    assert (str(second), second.uploaded) == ("1.1", "")


def test_versions_that_only_pip_told_are_searched_without_more_knowledge() -> None:
    page = listing(bare=("2.0", "1.0", "1.5"))

    history = ReleaseHistory.between(page, "1.0", "2.0", python=PYTHON)

    assert versions(history.releases) == ["1.0", "1.5", "2.0"]
    assert history.left_out == ()


def test_another_python_takes_what_has_no_compiled_code() -> None:
    page = listing(wheel("1.0"), file("tool-1.1-cp310-cp310-win_amd64.whl"), wheel("1.2"))

    history = ReleaseHistory.between(page, "1.0", "1.2", python=PYPY)

    assert versions(history.releases) == ["1.0", "1.2"]


def test_an_unknown_release_is_named_with_those_around_it() -> None:
    with pytest.raises(UnknownRelease, match=r"Tool has no release `1\.5\.5`") as refused:
        ReleaseHistory.between(TEN, "1.5.5", "1.9", python=PYTHON)

    assert refused.value.hint == "nearest are `1.3`, `1.4`, `1.5`, `1.6`, `1.7`, `1.8`"


def test_what_is_no_version_is_refused_with_the_versions_there_are() -> None:
    with pytest.raises(UnknownRelease, match="`latest` isn't a version") as refused:
        ReleaseHistory.between(TEN, "1.1", "latest", python=PYTHON)
    with pytest.raises(UnknownRelease) as nothing:
        ReleaseHistory.between(listing(), "x", "y", python=PYTHON)

    assert "there are 10, `1.1` to `1.10`" in refused.value.hint
    assert "there are no releases" in nothing.value.hint


def test_an_end_that_cannot_be_installed_here_is_refused_with_those_that_can() -> None:
    page = listing(wheel("1.0", requires_python="<3"), wheel("1.1"), wheel("1.2"))

    with pytest.raises(UnknownRelease, match=r"it requires Python <3, not 3\.11\.7") as refused:
        ReleaseHistory.between(page, "1.0", "1.2", python=PYTHON)

    assert refused.value.hint == "nearest are `1.1`, `1.2`"


def test_a_package_of_which_nothing_can_be_installed_says_so() -> None:
    page = listing(wheel("1.0", requires_python="<3"))

    with pytest.raises(UnknownRelease) as refused:
        ReleaseHistory.between(page, "1.0", "1.0", python=PYTHON)

    assert "none of them can be installed here" in refused.value.hint


def test_the_same_release_on_both_ends_is_refused() -> None:
    with pytest.raises(SameEnds, match=r"`1\.3` and `1\.3\.0` are the same release of Tool"):
        ReleaseHistory.between(TEN, "1.3", "1.3.0", python=PYTHON)


@pytest.mark.parametrize(
    ("terms", "words"), [(None, "broken,fixed"), (Terms.parse("slow,fast"), "slow,fast")]
)
def test_ends_the_other_way_round_are_refused_with_the_command_to_type(
    terms: Terms | None, words: str
) -> None:
    with pytest.raises(EndsReversed, match=r"1\.2 .* is older than 1\.9") as refused:
        ReleaseHistory.between(TEN, "1.9", "1.2", python=PYTHON, terms=terms)

    assert "`whet bisect --package Tool 1.2 1.9 -- ...`" in refused.value.hint
    assert f"--terms {words}" in refused.value.hint


def test_the_line_before_a_bad_release_prefers_the_last_ones_of_a_series() -> None:
    page = listing(*map(wheel, ["0.9", "1.0", "1.0.1", "1.1", "1.1.1", "1.1.2", "1.2rc1", "2.0"]))

    line = ReleaseLine.before(page, "2.0", python=PYTHON)

    assert versions(line.releases) == ["2.0", "1.1.2", "1.1.1", "1.1", "1.0.1", "1.0", "0.9"]
    assert {line.releases[each].version for each in line.milestones} == {"1.1.2", "1.0.1", "0.9"}


def test_the_line_leaves_out_what_cannot_be_tested() -> None:
    page = listing(wheel("1.0"), wheel("1.1", yanked=""), wheel("1.2a1"), wheel("1.2"))

    assert versions(ReleaseLine.before(page, "1.2", python=PYTHON).releases) == ["1.2", "1.0"]
    with_pre = ReleaseLine.before(page, "1.2", python=PYTHON, with_prereleases=True)
    assert versions(with_pre.releases) == ["1.2", "1.2a1", "1.0"]


def test_a_first_release_has_none_before_it() -> None:
    with pytest.raises(NothingBetween, match=r"Tool 1\.1 is the first release"):
        ReleaseLine.before(TEN, "1.1", python=PYTHON)
