"""The switches that may make a failure more frequent."""

import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import BadSetting
from whet.core.room import Room
from whet.core.toggle import Toggle
from whet.workbench.toggle.amplifiers import AMPLIFIERS, go_together, hash_seed, sleeps_at
from whet.workbench.toggle.toggle import turned_on
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest

ALL = (*AMPLIFIERS, hash_seed(1), hash_seed(2), sleeps_at("threads", ("/a.py:f",), "there"))


def test_a_toggle_of_all_leaves_out_what_only_amplifies() -> None:
    known = known_toggles()

    assert not {each.name for each in AMPLIFIERS} & {each.name for each in chosen((), known)}
    assert chosen(("one-core",), known)[0].amplifies


def test_one_of_ones_own_may_amplify() -> None:
    known = known_toggles({"slow": {"variables": {"SLOW": "1"}, "amplifies": True}})

    assert known["slow"].amplifies
    with pytest.raises(BadSetting, match="amplifies"):
        known_toggles({"slow": {"variables": {}, "amplifies": "yes"}})


@given(st.sampled_from(ALL), st.sampled_from(ALL))
def test_what_goes_together_does_so_both_ways_and_sets_nothing_twice(
    one: Toggle, other: Toggle
) -> None:
    assert go_together(one, other) == go_together(other, one)
    if go_together(one, other):
        assert one.variables.keys().isdisjoint(other.variables)
        assert one.name != other.name


def test_two_orders_two_seeds_and_two_sets_of_places_exclude_each_other() -> None:
    named = {each.name: each for each in ALL}
    for one, other in itertools.combinations(named, 2):
        excludes = {one, other} in (
            {"reversed-tests", "shuffled-tests"},
            {"hash-seed=1", "hash-seed=2"},
            {"sleeps", "sleeps@threads"},
        )
        assert go_together(named[one], named[other]) != excludes, (one, other)


def test_what_is_put_around_a_program_counts_as_read_and_stands_beside_what_is_there() -> None:
    load = next(each for each in AMPLIFIERS if each.name == "cpu-load")
    assert load.room is not None
    room = Room(network="none").beside(load.room)

    assert load.took((), is_all=False) is True
    assert (room.network, room.cpu_load) == ("none", load.room.cpu_load)
    assert Room.from_json(json.loads(json.dumps(room.to_json()))) == room
    assert ("--cpu-load", str(room.cpu_load)) == tuple(room.options[-2:])


def test_what_starts_the_program_stands_before_it_and_is_in_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chaos, cores = known_toggles()["rr-chaos"], known_toggles()["one-core"]
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        trial = bench.build_trial(TrialRequest(command=("true", "x")))
        turned = turned_on(bench, trial, (chaos, cores))

    assert turned.command == ("rr", "record", "--chaos", "--wait", "true", "x")
    assert turned.environment["_RR_TRACE_DIR"].startswith(str(tmp_path))
    assert turned.environment["WHET_TOGGLES"] == "one-core"
    assert go_together(chaos, cores)
    assert not go_together(chaos, chaos)
