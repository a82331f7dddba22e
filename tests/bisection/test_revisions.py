from pathlib import Path

import pytest
from history_builder import build_history, descendants, random_parents, run_git

from whet.bisection.commits import describe, summaries
from whet.bisection.names import resolve
from whet.bisection.revisions import RevisionHistory, RevisionLine, inside_of
from whet.bisection.terms import Terms
from whet.core.errors import (
    BadUsage,
    EndsReversed,
    HostFailure,
    NotAnAncestor,
    NothingBetween,
    SameEnds,
    UnknownRevision,
)
from whet.core.verdict import Verdict
from whet.host.process.git import Repository
from whet.search.proposal import run_search

#    0 - 1 - 2 ----- 5 - 6 - 7      3 and 4 come in with the merge 5
#          \ 3 - 4 /
PARENTS = [(), (0,), (1,), (1,), (3,), (2, 4), (5,), (6,)]
FILES = {
    0: {"app.py": "0", "docs/a.md": "0"},
    1: {"app.py": "1"},
    2: {"docs/a.md": "2"},
    3: {"lib/core.py": "3", "lib/ünïcode name.py": "3"},
    4: {"docs/a.md": "4"},
    5: {"docs/a.md": "5", "lib/core.py": "3", "lib/ünïcode name.py": "3"},
    6: {"docs/b.md": "6"},
    7: {"docs/a.md": "7"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("history")


@pytest.fixture(scope="module")
def commits(place: Path) -> list[str]:
    made = build_history(place, PARENTS, files=FILES)
    run_git(place, "tag", "v1.0", made[1])
    run_git(place, "-c", "user.name=A", "-c", "user.email=a@example.org",
            "tag", "-a", "-m", "x", "v2.0", made[6])  # fmt: skip
    run_git(place, "branch", "side", made[4])
    run_git(place, "branch", "docs-rework", made[2])
    run_git(place, "reset", "-q", "--hard")
    return made


@pytest.fixture
def repository(place: Path, commits: list[str]) -> Repository:
    assert commits
    return Repository(place)


def test_the_suspects_are_the_ancestors_of_bad_that_are_not_those_of_good(
    repository: Repository, commits: list[str]
) -> None:
    history = RevisionHistory.between(repository, "v1.0", "main")

    assert set(history.parents) == set(commits[2:])
    assert (history.good, history.bad) == (commits[1], commits[7])
    assert len(history.parents) == 6
    assert history.parents[commits[5]] == (commits[2], commits[4])


@pytest.mark.parametrize("culprit", range(2, 8))
def test_the_commit_that_broke_it_is_found_on_either_side_of_a_merge(
    repository: Repository, commits: list[str], culprit: int
) -> None:
    history = RevisionHistory.between(repository, "v1.0", "main")
    failing = {commits[each] for each in descendants(PARENTS, culprit)}

    result = run_search(
        history.bisection().search(), lambda c: Verdict.BAD if c in failing else Verdict.GOOD
    )

    assert result.first_bad == commits[culprit]
    assert result.last_good in {commits[each] for each in PARENTS[culprit]}


def test_with_a_path_only_commits_that_touch_it_are_suspects_and_the_bad_end(
    repository: Repository, commits: list[str]
) -> None:
    history = RevisionHistory.between(repository, commits[0], "main", paths=["app.py", "lib"])

    assert set(history.parents) == {commits[7], commits[3], commits[1]}
    assert history.parents[commits[7]] == (commits[3],)


def test_a_path_is_relative_to_the_folder_that_it_was_typed_in(
    repository: Repository, commits: list[str]
) -> None:
    history = RevisionHistory.between(
        repository, commits[0], "main", paths=["b.md"], folder=repository.top / "docs"
    )

    assert set(history.parents) == {commits[6], commits[7]}


def test_a_failure_that_the_path_did_not_bring_is_laid_at_no_commit_of_the_path(
    repository: Repository, commits: list[str]
) -> None:
    history = RevisionHistory.between(repository, commits[0], "main", paths=["lib"])

    result = run_search(
        history.bisection().search(), lambda c: Verdict.BAD if c == commits[7] else Verdict.GOOD
    )

    assert result.first_bad == history.bad


@pytest.mark.parametrize("name", ["v1", "v2.1", "sidee", "doc-rework"])
def test_an_unknown_revision_is_named_with_near_ones(repository: Repository, name: str) -> None:
    with pytest.raises(UnknownRevision, match=f"`{name}`") as refused:
        RevisionHistory.between(repository, name, "main")

    assert refused.value.hint.startswith("did you mean `")


@pytest.mark.parametrize("name", ["", "-n1", "0123456789", "main:app.py", "v9~77", "a b\n"])
def test_what_is_no_commit_is_refused(repository: Repository, name: str) -> None:
    with pytest.raises(UnknownRevision):
        resolve(repository, name)


def test_names_of_all_kinds_are_read_as_git_reads_them(
    repository: Repository, commits: list[str]
) -> None:
    names = [commits[6], commits[6][:9], "v2.0", "main~1", "HEAD^"]

    ids = [resolve(repository, name) for name in names]

    assert ids == [commits[6]] * 5


def test_the_same_commit_on_both_ends_is_refused(
    repository: Repository, commits: list[str]
) -> None:
    with pytest.raises(SameEnds, match=commits[6][:10]) as refused:
        RevisionHistory.between(repository, "v2.0", "main~1")

    assert "`v2.0` and `main~1`" in str(refused.value)


def test_ends_the_other_way_round_are_refused_with_the_commands_to_type(
    repository: Repository, commits: list[str]
) -> None:
    assert commits
    with pytest.raises(EndsReversed, match=r"`v1\.0`.*older than `main`") as refused:
        RevisionHistory.between(repository, "main", "v1.0")

    assert "`whet bisect v1.0 main -- ...`" in refused.value.hint
    assert "`whet bisect --terms broken,fixed v1.0 main -- ...`" in refused.value.hint


def test_the_users_own_terms_are_used_when_ends_are_reversed(repository: Repository) -> None:
    with pytest.raises(EndsReversed, match=r"\(fast\) is older than `main` \(slow\)") as refused:
        RevisionHistory.between(repository, "main", "v1.0", terms=Terms.parse("slow,fast"))

    assert "--terms slow,fast" in refused.value.hint


def test_of_ends_on_two_branches_the_commit_where_they_part_is_the_old_one(
    repository: Repository, commits: list[str]
) -> None:
    history = RevisionHistory.between(repository, "docs-rework", "side")

    assert history.good == commits[1]
    assert set(history.parents) == {commits[3], commits[4]}
    assert commits[1][:10] in history.remark
    assert "`docs-rework` is not an ancestor of `side`" in history.remark


def test_by_first_parents_a_merge_stands_for_all_that_it_brought(
    repository: Repository, commits: list[str]
) -> None:
    history = RevisionHistory.between(repository, "v1.0", "main").line()

    assert list(history.parents) == [commits[each] for each in (7, 6, 5, 2)]
    assert history.parents[commits[5]] == (commits[2],)


def test_inside_of_a_merge_are_the_commits_that_it_brought_and_the_merge(
    repository: Repository, commits: list[str]
) -> None:
    inside = inside_of(repository, commits[5])

    assert inside is not None
    assert set(inside.parents) == {commits[each] for each in (3, 4, 5)}
    assert (inside.good, inside.bad) == (commits[2], commits[5])
    assert inside_of(repository, commits[6]) is None


def test_ends_with_nothing_in_common_are_refused(tmp_path: Path) -> None:
    commits = build_history(tmp_path, [(), (), (0, 1)])

    with pytest.raises(NotAnAncestor, match="no commit in common"):
        RevisionHistory.between(Repository(tmp_path), commits[0], commits[1])


def test_a_path_that_no_commit_touches_is_refused(repository: Repository) -> None:
    with pytest.raises(NothingBetween, match=r"`v1.0` and `main` touches `no/such`"):
        RevisionHistory.between(repository, "v1.0", "main", paths=["no/such"])


def test_a_path_outside_of_the_repository_is_refused(
    repository: Repository, tmp_path: Path
) -> None:
    with pytest.raises(BadUsage, match="outside"):
        RevisionHistory.between(repository, "v1.0", "main", paths=[str(tmp_path)])


def test_in_a_shallow_clone_the_next_step_is_to_fetch_the_rest(
    repository: Repository, commits: list[str], tmp_path: Path
) -> None:
    run_git(tmp_path, "clone", "-q", "--depth", "2", f"file://{repository.top}", "shallow")
    clone = Repository(tmp_path / "shallow")

    with pytest.raises(UnknownRevision) as unknown:
        RevisionHistory.between(clone, commits[2], "HEAD")
    assert "`git fetch --unshallow`" in unknown.value.hint

    run_git(clone.top, "fetch", "-q", "--depth", "1", "origin", commits[3])
    with pytest.raises(NotAnAncestor) as parted:
        RevisionHistory.between(clone, "FETCH_HEAD", "HEAD")
    assert "`git fetch --unshallow`" in parted.value.hint

    run_git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository.top}", "one")
    with pytest.raises(NothingBetween) as alone:
        RevisionLine.before(Repository(tmp_path / "one"), "HEAD")
    assert "`git fetch --unshallow`" in alone.value.hint


def test_a_commit_is_described_with_what_it_changed_and_the_merge_that_brought_it(
    repository: Repository, commits: list[str]
) -> None:
    description = describe(repository, commits[3], main_line=commits[7])

    assert description.files == ("lib/core.py", "lib/ünïcode name.py")
    assert description.summary.subject == "Change 3"
    assert description.summary.author == "A Developer"
    assert description.summary.date == "2001-09-09T01:49:40+00:00"
    assert description.merge is not None
    assert description.merge.commit == commits[5]
    assert str(description).splitlines() == [
        f"{commits[3][:7]} Change 3",
        "A Developer, 2001-09-09T01:49:40+00:00",
        f"came in with {commits[5][:7]} 2001-09-09 Change 5",
        "  lib/core.py",
        "  lib/ünïcode name.py",
    ]


@pytest.mark.parametrize("number", [0, 1, 2, 5, 6, 7])
def test_a_commit_of_the_main_line_came_in_with_no_merge(
    repository: Repository, commits: list[str], number: int
) -> None:
    description = describe(repository, commits[number], main_line=commits[7])

    assert description.merge is None
    assert set(FILES[number]) <= set(description.files)


def test_a_long_list_of_files_is_cut_and_counted(tmp_path: Path) -> None:
    names = {f"file{number:02}": "x" for number in range(20)}
    (commit,) = build_history(tmp_path, [()], files={0: names})

    shown = str(describe(Repository(tmp_path), commit, main_line=commit))

    assert shown.endswith("  file07\n  and 12 files more")


def test_summaries_come_for_many_commits_at_once(
    repository: Repository, commits: list[str]
) -> None:
    found = summaries(repository, commits)

    assert [found[commit].subject for commit in commits] == [f"Change {n}" for n in range(8)]
    assert found[commits[0]].short == commits[0][:7]
    assert summaries(repository, []) == {}


def test_the_line_before_a_bad_commit_follows_first_parents_and_knows_tags(
    repository: Repository, commits: list[str]
) -> None:
    line = RevisionLine.before(repository, "main")

    assert list(line.commits) == [commits[each] for each in (7, 6, 5, 2, 1, 0)]
    assert line.tagged == {1, 4}


def test_the_line_may_be_limited_to_a_path(repository: Repository, commits: list[str]) -> None:
    line = RevisionLine.before(repository, "main", paths=["app.py"])

    assert list(line.commits) == [commits[7], commits[1], commits[0]]


@pytest.mark.parametrize("paths", [(), ("lib",)])
def test_a_bad_commit_with_nothing_before_it_is_refused(
    repository: Repository, commits: list[str], paths: tuple[str, ...]
) -> None:
    with pytest.raises(NothingBetween, match="has no commit before it"):
        RevisionLine.before(repository, commits[0], paths=paths)


def test_a_random_history_keeps_all_of_its_commits(tmp_path: Path) -> None:
    parents = random_parents(60, seed=9)
    commits = build_history(tmp_path, parents)

    history = RevisionHistory.between(Repository(tmp_path), commits[0], commits[-1])

    assert set(history.parents) == set(commits[1:])


def test_a_damaged_repository_is_named_with_the_tool_that_looks_into_it(tmp_path: Path) -> None:
    commits = build_history(tmp_path, [(), (0,), (1,)])
    (tmp_path / ".git" / "objects" / commits[1][:2] / commits[1][2:]).unlink()

    with pytest.raises(HostFailure, match=str(tmp_path)) as between:
        RevisionHistory.between(Repository(tmp_path), commits[0], commits[2])
    with pytest.raises(HostFailure, match=str(tmp_path)):
        RevisionLine.before(Repository(tmp_path), commits[2])

    assert "`git fsck`" in between.value.hint
