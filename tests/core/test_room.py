"""A room as data: what is written can be read, and a fault hits the calls that its words say."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.limits import Limits
from whet.core.room import Disk, Fault, Room

paths = st.text(min_size=1, max_size=8).map(lambda text: f"/{text}")
sizes = st.integers(1, 1 << 50)
disks = st.builds(
    Disk,
    path=paths,
    size_bytes=st.none() | sizes,
    inodes=sizes,
    is_rest=st.booleans(),
)
counts = st.integers(1, 1000)
globs = st.sampled_from(["", "*.pt", "/tmp/*:*", "a b"])
faults = st.builds(
    lambda call, error, nth, is_share, glob: Fault(
        call=call, error=error, nth=nth, step=nth if is_share else 0, glob=glob
    ),
    st.sampled_from(["write", "openat", "pread64"]),
    st.sampled_from(["ENOSPC", "EIO"]),
    counts,
    st.booleans(),
    globs,
)
rooms = st.builds(
    Room,
    disks=st.lists(disks, max_size=2, unique_by=lambda disk: disk.path).map(tuple),
    read_only=st.lists(paths, max_size=2).map(tuple),
    gpu_memory_bytes=st.none() | sizes,
    is_clean=st.booleans(),
    project=st.sampled_from(["", "/home/ada/x"]),
    keep_writes=st.sampled_from(["", "/home/ada/kept"]),
    network=st.sampled_from(["", "none", "loopback"]),
    clock=st.sampled_from(["", "2038-01-19 03:14:07"]),
    faults=st.lists(faults, max_size=2).map(tuple),
    gpus=st.none() | st.integers(0, 8),
    gpu_free=st.lists(st.tuples(st.sampled_from(["", "0", "1"]), sizes), max_size=2).map(tuple),
    hidden=st.lists(paths, max_size=2).map(tuple),
)


@given(rooms)
def test_a_room_survives_being_written_down(room: Room) -> None:
    limits = Limits(room=room)
    assert Limits.from_json(json.loads(json.dumps(limits.to_json()))) == limits


def test_without_a_room_nothing_of_it_is_written() -> None:
    """The keys of all trials before rooms stay as they were."""
    assert Limits().to_json() == {"wall_seconds": None, "output_bytes": None}


@given(faults)
def test_the_words_of_a_fault_are_read_as_they_are_written(fault: Fault) -> None:
    assert Fault.parse(fault.words) == fault


@given(counts)
def test_one_call_is_hit_and_no_other(nth: int) -> None:
    fault = Fault.parse(f"write:EIO@{nth}")
    assert fault is not None
    assert [count for count in range(1, 2002) if fault.hits(count)] == [nth]


@given(counts)
def test_a_share_is_hit_evenly(step: int) -> None:
    fault = Fault.parse(f"write:EIO%{step}")
    assert fault is not None
    hits = [count for count in range(1, 2002) if fault.hits(count)]
    assert hits == list(range(step, 2002, step))


def test_without_a_number_every_call_is_hit() -> None:
    fault = Fault.parse("write:EIO")
    assert fault is not None
    assert all(fault.hits(count) for count in range(1, 100))


@pytest.mark.parametrize(
    "words", ["", "write", "write:", ":EIO", "write:EIO@0", "write:EIO@", "write:eio", "w rite:EIO"]
)
def test_what_is_no_fault_is_none(words: str) -> None:
    assert Fault.parse(words) is None


@given(rooms)
def test_the_options_of_a_room_make_the_same_room(room: Room) -> None:
    """What is handed to somebody else as a command line is what was run."""
    import click

    from whet.cli.options.rooms import ROOM_OPTIONS, room_of

    @click.command()
    def command() -> None: ...

    for option in ROOM_OPTIONS:
        option(command)
    context = command.make_context("whet", room.options)
    plain = replace(
        room, project="", keep_writes="", hidden=(), disks=tuple(map(_as_typed, room.disks))
    )
    asked = room_of(context.params) or Room()
    assert sorted(asked.disks, key=repr) == sorted(plain.disks, key=repr)
    assert replace(asked, disks=()) == replace(plain, disks=())


def _as_typed(disk: Disk) -> Disk:
    return disk if disk.size_bytes is not None else replace(disk, is_rest=False)
