"""Tables, differences and merges of profiles: what is counted once stays counted once."""

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from profile_makers import Costs, library, own, profile_of

from whet.core.failure import Frame
from whet.core.observations.profile import CPU_SECONDS, Profile, ProfiledProcess
from whet.measurement.profiles.capture import captured, near_names
from whet.measurement.profiles.difference import difference
from whet.measurement.profiles.line_table import (
    UNSEEN,
    in_memory,
    lines_of,
    unseen,
    unseen_seconds,
)
from whet.measurement.profiles.merge import RUNS, merged

FRAMES = st.builds(
    Frame,
    path=st.sampled_from(["/p/a.py", "/p/b.py"]),
    line=st.integers(1, 4),
    function=st.sampled_from(["f", "g"]),
    in_user_code=st.booleans(),
)
SECONDS = st.floats(0, 100)
PROFILES = st.builds(
    profile_of,
    st.dictionaries(
        st.lists(FRAMES, min_size=1, max_size=4).map(tuple),
        st.tuples(SECONDS, SECONDS),
        max_size=8,
    ),
)


@given(PROFILES)
def test_each_cost_is_one_lines_own_cost(profile: Profile) -> None:
    table = lines_of(profile, most=1000)
    assert math.isclose(sum(each.own for each in table.lines), table.total, abs_tol=1e-6)
    assert all(each.own <= each.total + 1e-9 for each in table.lines)
    assert all(each.total <= table.total + 1e-6 for each in table.lines)


@given(PROFILES)
def test_own_lines_stand_before_those_of_libraries(profile: Profile) -> None:
    is_own = [each.frame.in_user_code for each in lines_of(profile, most=1000).lines]
    assert is_own == sorted(is_own, reverse=True)


@given(PROFILES, PROFILES)
def test_a_difference_turned_around_is_its_opposite(one: Profile, other: Profile) -> None:
    there = {(each.path, each.function): each.change for each in difference(one, other).lines}
    back = {(each.path, each.function): -each.change for each in difference(other, one).lines}
    assert there.keys() == back.keys()
    assert all(math.isclose(there[each], back[each], abs_tol=1e-6) for each in there)


@given(PROFILES)
def test_a_profile_differs_in_nothing_from_itself(profile: Profile) -> None:
    assert not difference(profile, profile).sure


@given(st.lists(PROFILES, min_size=1, max_size=3))
def test_a_merged_profile_is_an_average_run(profiles: list[Profile]) -> None:
    whole = merged(profiles)
    average = sum(each.total(CPU_SECONDS) for each in profiles) / len(profiles)
    assert math.isclose(whole.total(CPU_SECONDS), average, abs_tol=1e-6)
    assert whole.facts[RUNS] == len(profiles)
    assert whole.samples == sum(each.samples for each in profiles)


@given(PROFILES)
def test_a_profile_is_read_as_it_was_written(profile: Profile) -> None:
    assert Profile.from_json(profile.to_json()) == profile


def test_a_slower_function_is_a_sure_change_and_noise_is_none() -> None:
    before = profile_of({(own(3),): (1.0, 1.0), (own(9, "g"),): (0.50, 0.5)})
    after = profile_of({(own(4),): (2.0, 2.0), (own(9, "g"),): (0.52, 0.52)})
    found = difference(before, after)
    assert [(each.function, each.line) for each in found.sure] == [("f", 4)]
    assert math.isclose(found.sure[0].change, 1.0)


def test_what_a_line_calls_in_a_library_is_its_own_cost_and_is_named() -> None:
    profile = profile_of(
        {
            (own(1, "main"), own(5), library("loads")): (3.0, 3.0),
            (own(1, "main"), own(6)): (1.0, 1.0),
        }
    )
    first, second = lines_of(profile).lines
    assert (first.frame.line, first.own, first.total, first.calls) == (5, 3.0, 3.0, "loads")
    assert (second.frame.line, second.own, second.calls) == (6, 1.0, "")


def test_only_the_main_threads_of_ranks_wait_for_the_program() -> None:
    processes = (
        ProfiledProcess(pid=1),
        ProfiledProcess(pid=2, parent=1, rank=0),
        ProfiledProcess(pid=3, parent=2, rank=0),
    )
    launcher = profile_of({(own(1),): (0.0, 9.0)}, pid=1, processes=processes)
    rank = profile_of({(own(2),): (1.0, 5.0)}, pid=2, processes=processes)
    whole = Profile(
        question="cpu", engine="by hand", unit=CPU_SECONDS, frames=(*launcher.frames, *rank.frames),
        stacks=(*launcher.stacks, *(type(each)(frames=(1,), pid=2, numbers=each.numbers) for each in rank.stacks)),
        processes=processes,
    )  # fmt: skip
    assert lines_of(whole).waits == 4.0


def test_a_captured_function_has_what_it_calls_and_nothing_around_it() -> None:
    profile = profile_of(
        {
            (own(1, "main"), own(5, "Net.step", "/p/app/net.py"), library("dot")): (2.0, 2.0),
            (own(1, "main"), own(9, "step", "/p/other.py")): (1.0, 1.0),
        }
    )
    part = captured(profile, "app.net:Net.step")
    assert part.total(CPU_SECONDS) == 2.0
    assert [each.function for each in part.lines_of(part.stacks[0])] == ["Net.step", "dot"]
    assert captured(profile, "app.net:step").total(CPU_SECONDS) == 2.0
    for file in ("net.py", "app/net.py", "./app/net.py"):
        assert captured(profile, f"{file}:Net.step").total(CPU_SECONDS) == 2.0
    assert not captured(profile, "et.py:Net.step").stacks
    assert captured(profile, "__main__:step").total(CPU_SECONDS) == 3.0
    assert not captured(profile, "net.app:step").stacks
    assert near_names(profile, "net:Net.stpe")[0] == "net:Net.step"


def test_a_line_with_more_than_was_in_ram_only_reserved_it() -> None:
    table = lines_of(profile_of({(own(7),): (14e9, 0.0), (own(11),): (6e8, 0.0)}))

    held = in_memory(table, 800_000_000)

    assert [each.frame.line for each in held.lines] == [11]
    assert round(held.total) == 600_000_000
    assert in_memory(table, 0) == table


def test_what_the_kernel_counts_and_the_profiler_did_not_see_is_no_waiting() -> None:
    computes: Costs = {(own(1), own(5)): (0.1, 1.0), (own(1), own(6)): (0.02, 0.2)}
    sleeps: Costs = {(own(1), own(5)): (0.1, 1.0), (own(1), own(6)): (1.0, 1.1)}
    for costs, cpu, queued, waits in (
        (computes, 0.9, 0.5, 0.0),  # a busy machine: too few looks
        (computes, 0.12, 1.0, 0.08),  # it had no processor
        (computes, 0.12, 0.0, 1.08),
        (sleeps, 1.1, 0.0, 1.0),
    ):
        profile = profile_of(costs)
        counted = replace(profile, facts={UNSEEN: unseen(profile, cpu, queued)})
        assert math.isclose(lines_of(counted).waits, waits, abs_tol=1e-9)
        missed = max(cpu + queued - profile.total(CPU_SECONDS), 0.0)
        assert math.isclose(unseen_seconds(counted), missed, abs_tol=1e-9)


def test_what_children_compute_is_not_counted_for_the_process_that_waits_for_them() -> None:
    processes = (ProfiledProcess(pid=1, cpu_seconds=0.1), ProfiledProcess(pid=2, parent=1))
    profile = profile_of({(own(1),): (0.3, 4.0)}, pid=1, processes=processes)
    assert math.isclose(unseen(profile, 4.0, 0.0), 1.0)


def test_what_ran_before_the_profiler_began_was_not_missed() -> None:
    processes = (ProfiledProcess(pid=1, cpu_seconds=0.5, busy_before=0.4),)
    profile = profile_of({(own(1),): (0.2, 4.0)}, pid=1, processes=processes)
    assert math.isclose(unseen(profile, 0.5, 0.1), 1.0)
    assert math.isclose(unseen(profile, 0.5, 0.5), 3.0)


def test_what_was_missed_in_several_runs_is_an_average() -> None:
    runs = [
        replace(profile_of({(own(1),): (1.0, 3.0)}), facts={UNSEEN: each}) for each in (1.0, 2.0)
    ]
    assert math.isclose(lines_of(merged(runs)).waits, 1.5)
