"""whet and `git bisect` test the same commits of the same history."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest
from history_builder import build_history, descendants, random_parents, run_git

from whet.core.verdict import Verdict
from whet.search.history.bisection import bisect_graph
from whet.search.proposal import run_search

Tested = list[tuple[str, Verdict]]


def graph_of(folder: Path, *ends: str) -> dict[str, tuple[str, ...]]:
    listed = run_git(folder, "rev-list", "--parents", *ends)
    lines = [line.split() for line in listed.splitlines()]
    return {commit: tuple(parents) for commit, *parents in lines}


def answers_to_git(folder: Path, good: str, bad: str, answers: Mapping[str, Verdict]) -> Tested:
    """Run `git bisect run` with a script that knows the answers."""
    for verdict in Verdict:
        ids = [commit for commit, answer in answers.items() if answer is verdict]
        (folder / verdict.value).write_text("\n".join(ids) + "\n")
    script = folder / "judge"
    script.write_text(
        "commit=$(git rev-parse BISECT_HEAD)\n"
        "grep -q $commit skip && exit 125\n"
        "grep -q $commit bad && exit 1\n"
        "exit 0\n"
    )
    run_git(folder, "bisect", "start", "--no-checkout", bad, good)
    try:
        run_git(folder, "bisect", "run", "sh", str(script))
    except AssertionError:  # git's exit code is 2 if only skipped commits are left
        assert Verdict.SKIP in answers.values()
    log = run_git(folder, "bisect", "log").splitlines()
    run_git(folder, "bisect", "reset")
    words = [line.split() for line in log if line.startswith("git bisect ")][1:]
    return [(commit, Verdict(verdict)) for _, _, verdict, commit in words]


def answers_to_whet(folder: Path, good: str, bad: str, answers: Mapping[str, Verdict]) -> Tested:
    graph = graph_of(folder, bad, f"^{good}")
    result = run_search(bisect_graph(graph, bad), lambda commit: answers[commit])
    return list(result.tested)


def answers_for(
    commits: Sequence[str],
    parents: Sequence[Sequence[int]],
    culprit: int,
    skipped: Collection[int] = (),
) -> dict[str, Verdict]:
    failing = descendants(parents, culprit)
    answers = {
        commit: Verdict.BAD if number in failing else Verdict.GOOD
        for number, commit in enumerate(commits)
    }
    answers |= dict.fromkeys([commits[each] for each in skipped], Verdict.SKIP)
    return answers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "seed"), [(40, 1), pytest.param(400, 2, marks=pytest.mark.long), (600, 4)]
)
def test_the_same_commits_are_tested_in_the_same_order_as_git_tests_them(
    tmp_path: Path, size: int, seed: int
) -> None:
    parents = random_parents(size, seed=seed)
    commits = build_history(tmp_path, parents)
    good, bad = commits[0], commits[-1]
    for culprit in (size // 3, size - 2):
        answers = answers_for(commits, parents, culprit)

        assert answers_to_whet(tmp_path, good, bad, answers) == answers_to_git(
            tmp_path, good, bad, answers
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "step_seconds"),
    [pytest.param(5000, 60, marks=pytest.mark.long), (400, 0)],
    ids=["thousands", "all in the same second"],
)
def test_where_the_ways_part_from_gits_whet_takes_no_more_tests(
    tmp_path: Path, size: int, step_seconds: int
) -> None:
    # git takes what is within 0.1 % of half; and equal dates change its order from step to step.
    parents = random_parents(size, seed=5)
    commits = build_history(tmp_path, parents, step_seconds=step_seconds)
    good, bad = commits[0], commits[-1]
    whet_tests = git_tests = 0
    for culprit in (size // 4, size // 2, size - 2):
        answers = answers_for(commits, parents, culprit)
        by_whet = answers_to_whet(tmp_path, good, bad, answers)
        by_git = answers_to_git(tmp_path, good, bad, answers)

        assert len(by_whet) <= len(by_git) + 1
        whet_tests += len(by_whet)
        git_tests += len(by_git)

    assert whet_tests <= git_tests + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("skipped", "part_of_gits"),
    [(range(60, 180), 0.9), ([each for each in range(1, 238) if each // 3 % 4 == 0], 1.1)],
    ids=["half of it in one stretch", "three of each twelve"],
)
def test_a_stretch_of_skips_costs_fewer_tests_than_git_takes_and_single_ones_no_more(
    tmp_path: Path, skipped: Collection[int], part_of_gits: float
) -> None:
    parents = random_parents(240, seed=3)
    commits = build_history(tmp_path, parents)
    good, bad = commits[0], commits[-1]
    whet_tests = git_tests = 0
    for culprit in (20, 58, 190, 229):
        answers = answers_for(commits, parents, culprit, skipped)
        whet_tests += len(answers_to_whet(tmp_path, good, bad, answers))
        git_tests += len(answers_to_git(tmp_path, good, bad, answers))

    assert whet_tests <= part_of_gits * git_tests


class GitsTests:
    """The tests that git makes, asked of git once for each state that a search can come to."""

    def __init__(self, folder: Path, parents: Sequence[Sequence[int]]) -> None:
        self._folder = folder
        self._parents = parents
        self._commits = build_history(folder, parents)
        self._choices: dict[tuple[int, frozenset[int]], int] = {}

    def count(self, culprit: int) -> int:
        failing = descendants(self._parents, culprit)
        bad, good, count = len(self._parents) - 1, frozenset({0}), 0
        while (asked := self._choice(bad, good)) != bad:
            count += 1
            bad, good = (asked, good) if asked in failing else (bad, good | {asked})
        return count

    def _choice(self, bad: int, good: frozenset[int]) -> int:
        state = (bad, good)
        if state not in self._choices:
            ends = [self._commits[bad], *(f"^{self._commits[each]}" for each in sorted(good))]
            answer = run_git(self._folder, "rev-list", "--bisect", *ends)
            self._choices[state] = self._commits.index(answer)
        return self._choices[state]


@pytest.mark.parametrize(
    ("size", "seed"),
    [
        pytest.param(40, 1, marks=pytest.mark.slow),
        *(pytest.param(200, seed, marks=pytest.mark.long) for seed in range(10, 16)),
    ],
)
def test_over_all_culprits_mean_and_worst_case_are_no_more_than_gits(
    tmp_path: Path, size: int, seed: int
) -> None:
    parents = random_parents(size, seed=seed)
    git = GitsTests(tmp_path, parents)
    graph = {number: tuple(parents[number]) for number in reversed(range(1, size))}
    by_git = [git.count(culprit) for culprit in range(1, size)]
    by_whet: list[int] = []
    for culprit in range(1, size):
        fails = descendants(parents, culprit).__contains__
        verdicts = {each: Verdict.BAD if fails(each) else Verdict.GOOD for each in graph}
        result = run_search(bisect_graph(graph, size - 1, (0,)), verdicts.__getitem__)
        assert result.first_bad == culprit
        by_whet.append(len(result.tested))

    assert sum(by_whet) <= sum(by_git)
    assert max(by_whet) <= max(by_git)
