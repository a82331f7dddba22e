"""When a snapshot is worth what it takes."""

import importlib.util
from types import ModuleType

from hypothesis import given
from hypothesis import strategies as st

import whet.agent

WORTH = 0.05
_seconds = st.floats(0.0, 2.0)


def _policy_module() -> ModuleType:
    # The agent's package is imported in processes that whet starts, by nobody else.
    file = f"{whet.agent.__path__[0]}/site/whet_stage/forking/snapshot_policy.py"
    spec = importlib.util.spec_from_file_location("snapshot_policy", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SnapshotPolicy = _policy_module().SnapshotPolicy


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.tuples(_seconds, _seconds)))
def test_snapshots_take_a_twentieth_of_the_time_beside_what_is_free(
    steps: list[tuple[float, float]],
) -> None:
    clock = Clock()
    snapshot_policy = SnapshotPolicy(WORTH, clock)
    spent = stretch = 0.0
    for work, cost in steps:
        clock.now += work
        stretch += work
        if snapshot_policy.is_due():
            assert stretch >= WORTH - 1e-9
            assert stretch >= 1.0 - 1e-9 or spent <= 0.05 * clock.now + 0.3 + 1e-9
            clock.now += cost
            spent += cost
            stretch = 0.0
            snapshot_policy.note(cost)


@given(st.lists(st.floats(WORTH, 1.0), max_size=20))
def test_a_short_program_has_a_snapshot_after_each_slow_stretch_on_a_slow_machine(
    stretches: list[float],
) -> None:
    clock = Clock()
    snapshot_policy = SnapshotPolicy(WORTH, clock)
    for stretch in stretches:
        clock.now += stretch + 1e-6
        assert snapshot_policy.is_due()
        snapshot_policy.note(0.015)


@given(st.lists(st.floats(0.005, 0.5), min_size=1, max_size=200))
def test_between_two_snapshots_in_the_rounds_of_a_loop_lies_a_quarter_of_the_time(
    rounds: list[float],
) -> None:
    clock = Clock()
    snapshot_policy = SnapshotPolicy(WORTH, clock)
    since = 0.0
    for seconds in rounds:
        clock.now += seconds
        is_far = clock.now - since >= min(max(WORTH, clock.now / 4), 1.0)
        assert snapshot_policy.is_due(again=True) == is_far
        if is_far:
            snapshot_policy.note(0.0)
            since = clock.now


def test_after_a_loop_a_snapshot_is_taken_however_many_there_were_in_it() -> None:
    clock = Clock()
    snapshot_policy = SnapshotPolicy(WORTH, clock)
    clock.now = 4.0
    snapshot_policy.note(0.0)

    clock.now += 2 * WORTH

    assert not snapshot_policy.is_due(again=True)
    assert snapshot_policy.is_due()


@given(costs=st.lists(_seconds), is_due=st.booleans())
def test_who_asks_for_a_snapshot_at_each_step_has_one(costs: list[float], *, is_due: bool) -> None:
    snapshot_policy = SnapshotPolicy(0.0, Clock())
    for cost in costs:
        assert snapshot_policy.is_due() if is_due else snapshot_policy.is_mark_due()
        snapshot_policy.note(cost)


def test_a_copy_begins_with_all_that_is_free() -> None:
    clock = Clock()
    snapshot_policy = SnapshotPolicy(WORTH, clock)
    snapshot_policy.note(100.0)
    clock.now += 2 * WORTH
    assert not snapshot_policy.is_due()

    snapshot_policy.begin()
    clock.now += 2 * WORTH

    assert snapshot_policy.is_due()


def test_a_snapshot_in_the_middle_of_a_statement_takes_none_from_the_next_statement() -> None:
    clock = Clock()
    snapshot_policy = SnapshotPolicy(WORTH, clock)
    clock.now = 2 * WORTH
    snapshot_policy.note(0.01, at_statement=False)

    assert not snapshot_policy.is_due()
    assert snapshot_policy.is_due(at_statement=True)
    snapshot_policy.note(0.01)
    assert not snapshot_policy.is_due(at_statement=True)
