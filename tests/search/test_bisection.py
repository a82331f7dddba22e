from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noisy_oracles import before

from whet.core.budget import StopReason
from whet.core.verdict import Verdict
from whet.search.history.bisection import Bisection, BisectionResult, Standing, bisect_graph
from whet.search.history.reach import weights
from whet.search.history.version_graph import line_of
from whet.search.proposal import Search, run_search

Graph = dict[int, tuple[int, ...]]


def line(bad: int) -> Search[int, BisectionResult[int]]:
    """Search the first bad one of the versions 1 to ``bad``, where 0 is good."""
    return bisect_graph(line_of(range(bad + 1)), bad, (0,))


@st.composite
def graphs(draw: st.DrawFn, max_size: int = 40) -> Graph:
    """Graphs of commits, newest first; the newest has all others before it."""
    size = draw(st.integers(1, max_size))
    parents: list[tuple[int, ...]] = []
    for number in range(size):
        above = st.lists(st.integers(0, number - 1), min_size=1, max_size=3, unique=True)
        parents.append(tuple(draw(above)) if number and draw(st.booleans()) else ())
        if number and not parents[-1]:
            parents[-1] = (number - 1,) if draw(st.booleans()) else ()
    used = {each for above in parents for each in above}
    tips = tuple(each for each in range(size) if each not in used)
    return {size: tips, **{each: parents[each] for each in reversed(range(size))}}


def after(graph: Graph, version: int) -> set[int]:
    """Return ``version`` and what has it before it."""
    found = {version}
    for each in sorted(graph):
        if found.intersection(graph[each]):
            found.add(each)
    return found


@given(graph=graphs(), data=st.data())
def test_the_culprit_is_found_on_any_graph(graph: Graph, data: st.DataObject) -> None:
    culprit = data.draw(st.sampled_from(sorted(graph)))
    failing = after(graph, culprit)

    result = run_search(
        bisect_graph(graph, max(graph)), lambda v: Verdict.BAD if v in failing else Verdict.GOOD
    )

    assert result.first_bad == culprit
    assert result.suspects == (culprit,)
    assert result.stopped is StopReason.FOUND
    assert result.last_good not in failing
    if graph[culprit]:
        assert result.last_good in graph[culprit]


@given(graph=graphs(), data=st.data())
def test_what_is_known_to_be_good_is_never_tested(graph: Graph, data: st.DataObject) -> None:
    good = data.draw(st.sets(st.sampled_from(sorted(set(graph) - {max(graph)})), max_size=3))
    known = set[int]().union(*(before(graph, each) for each in good))
    suspects = sorted(set(graph) - known)
    culprit = data.draw(st.sampled_from(suspects))
    failing = after(graph, culprit)

    def test(version: int) -> Verdict:
        assert version not in known
        return Verdict.BAD if version in failing else Verdict.GOOD

    bisection = Bisection(graph, max(graph), good)

    assert bisection.started_with == len(suspects)
    assert run_search(bisection.search(), test).first_bad == culprit


@given(graph=graphs(), data=st.data())
def test_with_skips_the_culprit_stays_among_the_suspects(graph: Graph, data: st.DataObject) -> None:
    culprit = data.draw(st.sampled_from(sorted(graph)))
    unclear = data.draw(st.sets(st.sampled_from(sorted(graph))))
    failing = after(graph, culprit)

    def test(version: int) -> Verdict:
        if version in unclear:
            return Verdict.SKIP
        return Verdict.BAD if version in failing else Verdict.GOOD

    result = run_search(bisect_graph(graph, max(graph)), test)

    assert culprit in result.suspects
    assert set(result.skipped) <= unclear
    if result.stopped is StopReason.FOUND:
        assert result.first_bad == culprit
    else:
        assert result.first_bad is None
        # All but the newest of them were skipped: nothing is left to test.
        assert len(set(result.suspects) - set(result.skipped)) == 1


@given(graph=graphs(), data=st.data())
def test_contradictory_answers_end_the_search_with_a_consistent_result(
    graph: Graph, data: st.DataObject
) -> None:
    told: dict[int, Verdict] = {}

    def test(version: int) -> Verdict:
        assert version not in told, "no version is tested twice"
        told[version] = data.draw(st.sampled_from(Verdict))
        return told[version]

    bisection = Bisection(graph, max(graph))
    result = run_search(bisection.search(), test)

    assert dict(result.tested) == told
    assert result == bisection.result()
    assert bisection.remaining == len(result.suspects) >= 1
    newest = result.suspects[-1]
    assert newest == max(graph) or told[newest] is Verdict.BAD
    assert not any(told.get(each) is Verdict.GOOD for each in result.suspects)
    if result.first_bad is not None:
        good = set[int]().union(*(before(graph, v) for v in told if told[v] is Verdict.GOOD))
        assert set(graph[result.first_bad]) <= good


@given(size=st.integers(1, 5000), data=st.data())
def test_a_line_takes_no_more_tests_than_the_logarithm_of_its_length(
    size: int, data: st.DataObject
) -> None:
    culprit = data.draw(st.integers(1, size))

    result = run_search(line(size), lambda v: Verdict.BAD if v >= culprit else Verdict.GOOD)

    assert (culprit, culprit - 1) == (result.first_bad, result.last_good)
    assert len(result.tested) <= (size - 1).bit_length()


@given(graph=graphs(), data=st.data())
def test_each_answer_leaves_at_most_what_the_other_answer_would_not(
    graph: Graph, data: st.DataObject
) -> None:
    bisection = Bisection(graph, max(graph))
    search = bisection.search()
    best = max(
        (
            min(len(before(graph, each)), len(graph) - len(before(graph, each)))
            for each in graph
            if each != max(graph)
        ),
        default=0,
    )
    if best == 0:
        return
    next(search)

    with suppress(StopIteration):
        search.send([data.draw(st.sampled_from([Verdict.GOOD, Verdict.BAD]))])

    assert bisection.remaining <= len(graph) - best, "the first test does not halve best"


@given(graph=graphs(max_size=60))
def test_each_version_reaches_those_before_it(graph: Graph) -> None:
    parents = [graph[each] for each in range(len(graph))]

    reached = weights(range(len(graph)), parents, all_of_them=True)

    assert reached == {each: len(before(graph, each)) for each in range(len(graph))}


@given(graph=graphs(max_size=60))
def test_what_is_left_uncounted_cannot_halve_better(graph: Graph) -> None:
    parents = [graph[each] for each in range(len(graph))]
    total = len(graph)

    reached = weights(range(total), parents, all_of_them=False)

    best = max(min(weight, total - weight) for weight in reached.values())
    for each in range(total):
        weight = len(before(graph, each))
        assert reached.get(each, weight) == weight
        assert each in reached or min(weight, total - weight) < best or total == 1


@settings(max_examples=20)
@given(graph=graphs(), data=st.data())
def test_standings_tell_of_each_version_what_is_known(graph: Graph, data: st.DataObject) -> None:
    culprit = data.draw(st.sampled_from(sorted(graph)))
    failing = after(graph, culprit)
    bisection = Bisection(graph, max(graph))
    run_search(bisection.search(), lambda v: Verdict.BAD if v in failing else Verdict.GOOD)

    standings = bisection.standings()

    assert set(standings) == set(graph)
    assert Standing.SUSPECT not in standings.values()
    for version in before(graph, culprit) - {culprit}:
        assert standings[version] in {Standing.TESTED_GOOD, Standing.IMPLIED_GOOD}
    found_bad = {v for v, was in bisection.tested if was is Verdict.BAD} | {max(graph)}
    for version in found_bad:
        for each in after(graph, version):
            assert standings[each] in {Standing.TESTED_BAD, Standing.IMPLIED_BAD}
    assert culprit in found_bad


def test_a_search_stopped_early_tells_what_is_left() -> None:
    bisection = Bisection(line_of(range(11)), 10, (0,))
    search = bisection.search()
    next(search)
    search.send([Verdict.SKIP])
    search.close()

    assert (bisection.remaining, bisection.steps_left()) == (10, 4)
    assert bisection.result().stopped is StopReason.AMBIGUOUS
    assert bisection.result().last_good == 0
    assert list(bisection.standings().values()) == [
        Standing.TESTED_GOOD,
        *([Standing.SUSPECT] * 4),
        Standing.SKIPPED,
        *([Standing.SUSPECT] * 4),
        Standing.TESTED_BAD,
    ]


def test_the_last_good_one_is_the_good_one_last_tested_where_skips_leave_several() -> None:
    unclear = {6, 7, 8, 9}

    def test(version: int) -> Verdict:
        if version in unclear:
            return Verdict.SKIP
        return Verdict.GOOD if version < 6 else Verdict.BAD

    result = run_search(line(16), test)

    assert result.suspects == (6, 7, 8, 9, 10)
    assert result.stopped is StopReason.AMBIGUOUS
    assert result.last_good == 5


def test_one_suspect_needs_no_test() -> None:
    result = run_search(line(1), lambda _: pytest.fail("tested"))

    assert (result.first_bad, result.last_good, result.tested) == (1, 0, ())


def test_a_bad_root_has_no_good_version_before_it() -> None:
    result = run_search(bisect_graph({"b": ("a",), "a": ()}, "b"), lambda _: Verdict.BAD)

    assert (result.first_bad, result.last_good) == ("a", None)


def test_a_good_version_outside_of_the_graph_is_named_as_the_last_good_one() -> None:
    bisection = Bisection({"c": ("b",), "b": ("a",)}, "c", ("a",))

    result = run_search(bisection.search(), lambda _: Verdict.SKIP)

    assert result.last_good == "a"
    assert bisection.standings() == {"b": Standing.SKIPPED, "c": Standing.TESTED_BAD}


def test_a_parent_outside_of_the_graph_is_good() -> None:
    result = run_search(bisect_graph({"b": ("a",), "a": ("o",)}, "b"), lambda _: Verdict.BAD)

    assert (result.first_bad, result.last_good) == ("a", "o")


def test_the_good_parent_that_was_tested_is_named_before_one_that_is_only_implied() -> None:
    graph = {"m": ("a", "b"), "b": ("o",), "a": ("o",), "o": ()}

    result = run_search(
        bisect_graph(graph, "m", ("o",)), lambda v: Verdict.GOOD if v != "m" else Verdict.BAD
    )

    assert result.first_bad == "m"
    assert result.last_good == "a"
    assert {"a", "b"} == {version for version, _ in result.tested}


@pytest.mark.parametrize(
    ("graph", "bad", "good"),
    [
        ({"a": ()}, "b", ()),
        ({"a": ()}, "a", ("a",)),
        ({"b": ("a",), "a": ("b",)}, "b", ()),
    ],
    ids=["bad end unknown", "bad end good", "cycle"],
)
def test_a_graph_without_a_bad_end_is_refused(
    graph: dict[str, tuple[str, ...]], bad: str, good: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match=r"graph|after"):
        Bisection(graph, bad, good)


@pytest.mark.slow
def test_a_hundred_thousand_commits_with_merges_are_searched_in_seconds_not_hours() -> None:
    # Every third commit merges a branch: 33,000 merges, each of which git walks.
    graph: Graph = {0: ()}
    for number in range(1, 100_000):
        graph[number] = (number - 1, number - 3) if number % 3 == 0 else (number - 1,)
    graph = {each: graph[each] for each in reversed(graph)}
    tested = 0

    def test(version: int) -> Verdict:
        nonlocal tested
        tested += 1
        if tested == 1:
            return Verdict.SKIP  # makes the search count all of them
        return Verdict.BAD if version >= 77_777 else Verdict.GOOD

    result = run_search(bisect_graph(graph, 99_999), test)

    assert result.first_bad == 77_777
    assert tested <= 20


@given(graphs(), st.data())
def test_verdicts_that_are_told_twice_tell_what_they_told_once(
    graph: Graph, data: st.DataObject
) -> None:
    bad = max(graph)
    culprit = data.draw(st.integers(0, bad))
    fails = after(graph, culprit)
    if bad not in fails:
        return
    once, twice = Bisection(graph, bad), Bisection(graph, bad)
    while questions := once.questions(3):
        told = {each: Verdict.BAD if each in fails else Verdict.GOOD for each in questions}
        once.learn(told)
        twice.learn(told)
        twice.learn(told)
        assert (once.suspects, once.tested) == (twice.suspects, twice.tested)


@given(st.integers(3, 200), st.data())
def test_a_skip_that_turns_out_bad_or_good_later_leads_to_the_same_version(
    size: int, data: st.DataObject
) -> None:
    culprit = data.draw(st.integers(1, size))
    unclear = data.draw(st.sets(st.integers(1, size - 1), max_size=size // 2))
    bisection = Bisection(line_of(range(size + 1)), size, (0,))
    search = bisection.search()
    skipped: list[int] = []
    batch = next(search, None)
    while batch is not None:
        (version,) = batch
        is_late = version in unclear and data.draw(st.booleans())
        skipped += [version] if is_late else []
        true = Verdict.BAD if version >= culprit else Verdict.GOOD
        with suppress(StopIteration):
            batch = search.send([Verdict.SKIP if is_late else true])
            continue
        break
    for version in skipped:
        true = Verdict.BAD if version >= culprit else Verdict.GOOD
        bisection.learn({version: true})

    assert bisection.result().first_bad == culprit
    assert bisection.result().stopped is StopReason.FOUND
