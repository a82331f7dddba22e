"""A disk that is slow on purpose: the kernel makes the program wait, and what was slowed is said."""

import time
from pathlib import Path

import pytest
from laboratory import Laboratory
from starving import groups_left, need, only, python, starve

from whet.core.errors import LimitNotEnforced
from whet.core.limits import Limits, shown_size, size_bytes, speed_bytes
from whet.host.limits import disk_speed
from whet.host.limits.enforcer import Enforcer, Plain
from whet.host.limits.groups.groups_v1 import GroupsV1
from whet.host.limits.groups.groups_v2 import GroupsV2

_SPEED = 4 << 20
_SLOW = Limits(slow_disk_bytes=_SPEED)
_WRITES = """
import os, sys
place = os.open("written", os.O_WRONLY | os.O_CREAT)
os.write(place, b"1" * int(sys.argv[1]))
os.fsync(place)
"""


@pytest.fixture(params=[GroupsV2(), GroupsV1()], ids=lambda way: way.way)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Enforcer:
    chosen: Enforcer = request.param
    need(chosen, "slow-disk", _SLOW)
    only(monkeypatch, "slow-disk", chosen)
    return chosen


def test_a_program_waits_for_a_slow_disk_and_it_is_said_what_went_through(
    laboratory: Laboratory, way: Enforcer
) -> None:
    size = 2 << 20
    began = time.monotonic()
    outcome = starve(laboratory, *python(_WRITES), str(size), limits=_SLOW)

    # Before its first wait the kernel lets the bytes of a tenth of a second through.
    assert time.monotonic() - began > size / _SPEED - 0.15
    assert outcome.exit_code == 0, outcome.stderr.tail(1000)
    assert outcome.limited_by == (f"disks 4 MiB a second by {way.way}",)
    (note,) = outcome.notes
    assert note.startswith("`--slow-disk`: "), note
    assert " written to them" in note
    assert groups_left() == []


def test_a_program_that_reads_no_disk_is_said_to_have_met_nothing(
    laboratory: Laboratory, way: Enforcer
) -> None:
    (note,) = starve(laboratory, "true", limits=_SLOW).notes
    assert note.startswith("`--slow-disk` had nothing to slow: "), (way, note)


class _Pretender:
    """A way that says it slows disks down, and does nothing."""

    way = "pretence"

    def blocker(self, _name: str, _limits: Limits, /) -> str:
        return ""

    def prepare(self, _names: object, _limits: Limits, _cleanup_journal: object, /) -> Plain:
        return Plain(way=self.way, probes=(("disks", "", (), ()),))


def test_nothing_is_run_on_a_disk_that_is_as_fast_as_ever(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "slow-disk", _Pretender())
    with pytest.raises(LimitNotEnforced, match="slow-disk"):
        starve(laboratory, "touch", "was_run", limits=_SLOW)
    assert not (laboratory.work / "was_run").exists()


def test_where_no_group_slows_disks_each_way_says_what_it_lacks(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_speed, "mounted_disks", lambda: ())
    for each in (GroupsV1(), GroupsV2()):
        only(monkeypatch, "slow-disk", each)
        with pytest.raises(LimitNotEnforced, match=rf"`--slow-disk` here \({each.way}: "):
            starve(laboratory, "true", limits=_SLOW)


def test_what_is_slowed_is_a_whole_disk() -> None:
    disks = disk_speed.mounted_disks()
    if not disks:
        pytest.skip("no mounted file system is on a local disk")
    for disk in disks:
        assert Path("/sys/dev/block", disk).exists()
        assert not Path("/sys/dev/block", disk, "partition").exists()


@pytest.mark.parametrize("words", ["5MB/s", "5M/s", "5M", " 5 MiB/s"])
def test_a_speed_is_a_size_a_second(words: str) -> None:
    assert speed_bytes(words) == size_bytes("5M")
    assert shown_size(speed_bytes(words) or 0) == "5 MiB"


@pytest.mark.parametrize("words", ["5X/s", "/s", "5M/h", "-5M/s", ""])
def test_what_is_no_speed_is_not_read(words: str) -> None:
    assert speed_bytes(words) is None
