"""Commits of real repositories are equal to a run when nothing that it looked at differs."""

import tempfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from history_builder import build_history
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.bisection.equal_trees import EqualTrees
from whet.core.observations.file_accesses import READS_GIT, FileAccesses
from whet.core.verdict import Verdict
from whet.host.code.git_trees import GitTrees
from whet.host.process.git import Repository
from whet.search.history.bisection import Bisection
from whet.search.history.version_graph import line_of
from whet.search.history.what_matters import bisect_what_matters
from whet.search.proposal import run_search

PATHS = ("main", "a/x", "a/y", "a/b/z", "c/x", "d")
FOLDERS = ("", "a", "a/b", "c")

State = Mapping[str, str]


@dataclass
class Wanderer:
    """A program that goes where what it has seen so far sends it, and fails by what it has seen.

    Attributes:
        seed: another program for each.
        limit: it fails from so much on.
        looks: what it looked at in its last run.
    """

    seed: int
    limit: int
    paths: set[str] = field(default_factory=set[str])
    folders: set[str] = field(default_factory=set[str])

    def run(self, state: State) -> Verdict:
        self.paths, self.folders = set(), set()
        seen = str(self.seed)
        for _ in range(4):
            number = zlib.crc32(seen.encode())
            seen += self._look(state, number % 3, number // 3)
        return Verdict.BAD if zlib.crc32(seen.encode()) % 10 >= self.limit else Verdict.GOOD

    def _look(self, state: State, kind: int, number: int) -> str:
        path = PATHS[number % len(PATHS)]
        if kind == 0:
            self.paths.add(path)
            return state.get(path, "absent")
        if kind == 1:
            self.paths.add(path.rpartition("/")[0] or path)
            folder = path.rpartition("/")[0]
            return (
                str(any(name.startswith(f"{folder}/") for name in state))
                if folder
                else str(path in state)
            )
        folder = FOLDERS[number % len(FOLDERS)]
        self.folders.add(folder)
        inside = [
            name[len(folder) + bool(folder) :]
            for name in state
            if name.startswith(f"{folder}/" if folder else "")
        ]
        return str(sorted({name.partition("/")[0] for name in inside}))

    @property
    def looks(self) -> FileAccesses:
        return FileAccesses(paths=tuple(self.paths), folders=tuple(self.folders))


@st.composite
def states(draw: st.DrawFn) -> list[State]:
    found: list[State] = [{path: "0" for path in PATHS if draw(st.booleans())}]
    for _ in range(draw(st.integers(2, 9))):
        state = dict(found[-1])
        path = draw(st.sampled_from(PATHS))
        if draw(st.booleans()):
            state.pop(path, None)
        else:
            state[path] = draw(st.sampled_from("0123"))
        found.append(state)
    return found


def history_of(folder: Path, line: list[State]) -> list[str]:
    files = {
        number: {name: f"{content}\n" for name, content in state.items()}
        for number, state in enumerate(line)
    }
    parents = [(number - 1,) if number else () for number in range(len(line))]
    return build_history(folder, parents, files=files, whole=True)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(line=states(), seed=st.integers(0, 999))
def test_a_commit_that_follows_does_what_the_tested_one_does(line: list[State], seed: int) -> None:
    program = Wanderer(seed, 5)
    with tempfile.TemporaryDirectory() as place:
        commits = history_of(Path(place, "r"), line)
        trees = GitTrees(Repository(Path(place, "r")))
        for tested, state in zip(commits, line, strict=True):
            equal = EqualTrees(trees)
            verdict = program.run(state)
            equal.learn(tested, verdict, program.looks)
            looks = program.looks
            for commit in equal.known(commits):
                other = line[commits.index(commit)]
                assert program.run(other) is verdict
                assert program.looks == looks


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(line=states(), seed=st.integers(0, 999))
def test_the_search_with_conclusions_names_what_the_one_without_names(
    line: list[State], seed: int
) -> None:
    program = Wanderer(seed, 5)
    truth = [program.run(state) for state in line]
    if truth[0] is Verdict.BAD or truth[-1] is Verdict.GOOD:
        return
    with tempfile.TemporaryDirectory() as place:
        commits = history_of(Path(place, "r"), line)
        equal = EqualTrees(GitTrees(Repository(Path(place, "r"))))
        runs: list[str] = []

        def test(commit: str) -> Verdict:
            runs.append(commit)
            verdict = program.run(line[commits.index(commit)])
            equal.learn(commit, verdict, program.looks)
            return verdict

        class Following:
            def follows(self, versions: Collection[str]) -> Mapping[str, Verdict]:
                return {each: verdict for each, (verdict, _) in equal.known(versions).items()}

            def that_matter(self, parents: Mapping[str, Sequence[str]]) -> Collection[str]:
                return equal.that_matter(parents)

        test(commits[0])
        test(commits[-1])
        graph = line_of(commits)
        bisection = Bisection(graph, commits[-1], (commits[0],))
        found = run_search(bisect_what_matters(bisection, Following()), test)
        plain = Bisection(graph, commits[-1], (commits[0],)).search()
        expected = run_search(plain, lambda commit: truth[commits.index(commit)])

    named = commits.index(found.first_bad or "")
    assert truth[named] is Verdict.BAD
    assert truth[named - 1] is Verdict.GOOD
    if truth.count(Verdict.BAD) == len(line) - truth.index(Verdict.BAD):
        assert found.first_bad == expected.first_bad
    assert len(runs) == len(set(runs))


def test_an_equal_tree_is_equal_whatever_was_looked_at(tmp_path: Path) -> None:
    one, two = {"a": "1"}, {"a": "2"}
    commits = history_of(tmp_path / "r", [one, two, one])
    for gap, expected in (("ptrace", {commits[2]}), (READS_GIT, set[str]())):
        equal = EqualTrees(GitTrees(Repository(tmp_path / "r")))

        equal.learn(commits[0], Verdict.GOOD, FileAccesses(gap=gap, paths=("a",)))

        assert set(equal.known(commits)) == expected


def test_nothing_follows_from_a_run_whose_looks_were_not_noted(tmp_path: Path) -> None:
    commits = history_of(tmp_path / "r", [{"a": "1"}, {"a": "1"}])
    equal = EqualTrees(GitTrees(Repository(tmp_path / "r")))

    equal.learn(commits[0], Verdict.GOOD, None)

    assert equal.known(commits) == {}
    assert equal.that_matter({commits[1]: (commits[0],)}) == {commits[1]}


def test_a_submodule_counts_by_its_commit(tmp_path: Path) -> None:
    commits = history_of(tmp_path / "r", [{"a": "1"}, {"a": "1"}])
    repository = Repository(tmp_path / "r")
    made: list[str] = []
    for commit in commits:
        entry = f"160000 {commit}\tlib\0"
        repository.get("update-index", "--add", "-z", "--index-info", stdin=entry.encode())
        tree = repository.get("write-tree")
        made.append(
            repository.get(
                "-c", "user.name=A", "-c", "user.email=a@b", "commit-tree", tree, "-m", "x"
            )
        )
    equal = EqualTrees(GitTrees(repository))

    equal.learn(made[0], Verdict.GOOD, FileAccesses(paths=("lib", "lib/x")))

    assert equal.known([made[1]]) == {}


def test_looks_are_kept_whole() -> None:
    looks = FileAccesses(
        gap="mount", paths=("a", "b/\udcff"), folders=("",), moved=("c",), calls=7, held_seconds=0.5
    )

    assert FileAccesses.from_bytes(looks.to_bytes()) == looks
