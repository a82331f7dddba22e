"""A bisection that concludes from equal versions finds what one that tests them all finds."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.history.bisection import Bisection, BisectionResult
from whet.search.history.version_graph import line_of
from whet.search.history.what_matters import bisect_what_matters, limited
from whet.search.proposal import run_search


@dataclass
class Program:
    """Versions as what their files hold, and a test that looks at some of the files.

    It looks at the file 0, and from each on at the one that the number in it names.
    """

    versions: Sequence[Sequence[int]]
    parents: Mapping[int, Sequence[int]]
    bad: Collection[int]
    runs: list[int] = field(default_factory=list[int])

    def looks(self, version: int) -> dict[int, int]:
        files, seen = self.versions[version], dict[int, int]()
        at = 0
        while at not in seen:
            seen[at] = files[at]
            at = files[at] % len(files)
        return seen

    def truth(self, version: int) -> Verdict:
        """What it does hangs on what it looks at alone."""
        content = tuple(sorted(self.looks(version).items()))
        return Verdict.BAD if content in self.bad_contents else Verdict.GOOD

    @cached_property
    def bad_contents(self) -> set[tuple[tuple[int, int], ...]]:
        return {tuple(sorted(self.looks(each).items())) for each in self.bad}

    def test(self, version: int) -> Verdict:
        self.runs.append(version)
        return self.truth(version)

    def follows(self, versions: Collection[int]) -> Mapping[int, Verdict]:
        found: dict[int, Verdict] = {}
        for tested in (*self.runs, *self.ends):
            looks = self.looks(tested)
            for each in versions:
                if all(self.versions[each][at] == content for at, content in looks.items()):
                    found[each] = self.truth(tested)
        return found

    @property
    def ends(self) -> tuple[int, int]:
        return 0, len(self.versions) - 1

    def that_matter(self, parents: Mapping[int, Sequence[int]]) -> Collection[int]:
        seen = {at for tested in (*self.runs, *self.ends) for at in self.looks(tested)}
        return {
            version
            for version, above in parents.items()
            if any(
                self.versions[version][at] != self.versions[up][at] for up in above for at in seen
            )
        }

    def bisection(self) -> Bisection[int]:
        good, bad = self.ends
        return Bisection(self.parents, bad, (good,))


@st.composite
def histories(draw: st.DrawFn, *, is_line: bool) -> Program:
    files = draw(st.integers(2, 4))
    versions = [[draw(st.integers(0, files - 1)) for _ in range(files)]]
    parents: dict[int, tuple[int, ...]] = {0: ()}
    for number in range(1, draw(st.integers(3, 14))):
        above = [number - 1] if is_line else [draw(st.integers(max(0, number - 3), number - 1))]
        if not is_line and draw(st.booleans()):
            above = [number - 1, *(each for each in above if each != number - 1)]
        content = list(versions[above[0]])
        for _ in range(draw(st.integers(0, 2))):
            content[draw(st.integers(0, files - 1))] = draw(st.integers(0, files - 1))
        versions.append(content)
        parents[number] = tuple(above)
    last = len(versions) - 1
    newest_first = {number: parents[number] for number in range(last, 0, -1)}
    bad = draw(st.sets(st.integers(1, last)))
    return Program(versions, newest_first, {*bad, last})


def is_sound(program: Program, result: BisectionResult[int]) -> bool:
    """Whether a version was named that fails, and whose parent in the answer passes."""
    first, good = result.first_bad, result.last_good
    assert first is not None
    assert good is not None
    return program.truth(first) is Verdict.BAD and program.truth(good) is Verdict.GOOD


@given(histories(is_line=True))
def test_on_a_line_the_version_named_fails_and_the_one_before_it_passes(program: Program) -> None:
    if program.truth(0) is Verdict.BAD:
        return

    result = run_search(bisect_what_matters(program.bisection(), program), program.test)

    assert is_sound(program, result)
    assert result.last_good in program.parents[result.first_bad or 0]


@given(histories(is_line=True))
def test_where_the_failure_came_once_it_names_the_version_that_the_plain_search_names(
    program: Program,
) -> None:
    verdicts = [program.truth(each) for each in range(len(program.versions))]
    if (
        verdicts != sorted(verdicts, key=lambda each: each is Verdict.BAD)
        or verdicts[0] is Verdict.BAD
    ):
        return
    plain = run_search(program.bisection().search(), program.truth)

    result = run_search(bisect_what_matters(program.bisection(), program), program.test)

    assert result.first_bad == plain.first_bad
    assert result.last_good == plain.last_good
    assert len(program.runs) <= len(plain.tested) + 1


@given(histories(is_line=False))
def test_on_a_graph_the_version_named_fails_and_none_before_it_was_seen_to(
    program: Program,
) -> None:
    if program.truth(0) is Verdict.BAD:
        return

    result = run_search(bisect_what_matters(program.bisection(), program), program.test)

    assert result.first_bad is not None
    assert program.truth(result.first_bad) is Verdict.BAD
    told = dict(result.tested)
    assert all(program.truth(version) is verdict for version, verdict in told.items())
    assert all(told.get(parent) is not Verdict.BAD for parent in program.parents[result.first_bad])


def a_line(changes: Collection[int], count: int, culprit: int) -> Program:
    """Return a line on which file 0 changes at ``changes`` alone, and fails from one of them on."""
    content, versions = 0, list[list[int]]()
    for number in range(count):
        content += number in changes
        versions.append([2 * content, number])
    program = Program(versions, {}, [each for each in range(count) if each >= culprit])
    program.parents = {each: line_of(range(count))[each] for each in range(count - 1, 0, -1)}
    return program


@settings(max_examples=25)
@given(changes=st.sets(st.integers(1, 99), min_size=1, max_size=20).map(sorted), data=st.data())
def test_it_takes_no_more_runs_than_the_versions_that_matter_need(
    changes: list[int], data: st.DataObject
) -> None:
    program = a_line(changes, 100, data.draw(st.sampled_from(changes)))

    result = run_search(bisect_what_matters(program.bisection(), program), program.test)

    assert result.first_bad in changes
    assert len(program.runs) <= math.ceil(math.log2(len(changes)))


@given(histories(is_line=False), st.sets(st.integers(1, 13)))
def test_a_version_left_out_of_a_graph_is_stood_for_by_those_before_it(
    program: Program, kept: set[int]
) -> None:
    graph = limited(program.parents, kept)

    def reached(start: int, parents: Mapping[int, Sequence[int]]) -> set[int]:
        found = set(parents.get(start, ()))
        return found.union(*(reached(each, parents) for each in found))

    assert set(graph) == kept & set(program.parents)
    for version in graph:
        whole = reached(version, program.parents)
        assert reached(version, graph) & kept == whole & kept
