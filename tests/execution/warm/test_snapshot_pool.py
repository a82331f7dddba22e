"""How many frozen copies are kept, and which."""

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from laboratory import guardians, spawners, until
from workshop import SLOW, Workshop

from whet.execution.snapshot_pool import SnapshotPool
from whet.execution.warm import WarmRuns
from whet.host.files.memory import MemoryLeft
from whet.host.process.process_tree import descendants_of
from whet.host.trial.process_snapshots import Blocker, Snapshot, Stage

MEGABYTE = 1 << 20


@dataclass
class Builder:
    """A ladder whose copies are this very process, and what it has dropped."""

    left: MemoryLeft = field(
        default_factory=lambda: MemoryLeft(total_bytes=1 << 50, available_bytes=1 << 49)
    )
    most: int = 3
    dropped: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        stage = Stage(address="")
        self.snapshot_pool = SnapshotPool(
            stage, self.dropped.append, most=self.most, look=lambda: self.left
        )

    def take(self, *seconds: float) -> None:
        for each in seconds:
            snapshot = Snapshot(
                number=int(each * 1000), pid=os.getpid(), kind="statement", place=f"at {each}",
                seconds=each, seen=(), sources={}, past=(),
            )  # fmt: skip
            self.snapshot_pool.stage.snapshots[snapshot.number] = snapshot
            self.snapshot_pool.grow(snapshot)

    @property
    def kept(self) -> list[float]:
        return sorted(each.seconds for each in self.snapshot_pool.stage.snapshots.values())

    @property
    def reasons(self) -> dict[str, str]:
        return {each.place: each.why for each in self.snapshot_pool.missing}


def test_of_two_that_are_close_the_later_one_stays() -> None:
    builder = Builder()

    builder.take(1, 5, 5.1, 9)
    builder.snapshot_pool.settle(None, ())

    assert builder.kept == [1, 5.1, 9]
    assert builder.dropped == [5000]
    assert builder.reasons == {"at 5": "3 others were more useful"}


def test_the_deepest_one_stays_whatever_comes() -> None:
    builder = Builder()

    builder.take(*(each / 10 for each in range(1, 300)))

    assert builder.kept[-1] == 29.9
    assert len(builder.kept) == 3
    assert builder.kept[0] < 25


def test_one_that_was_refused_goes_first() -> None:
    builder = Builder()
    builder.take(1, 5, 9)
    builder.snapshot_pool.refuse(
        builder.snapshot_pool.deepest_first()[0], "main.py has changed above", {}
    )

    builder.take(5.1)

    assert builder.kept == [1, 5, 5.1]


def test_one_that_was_refused_for_an_edit_of_the_same_place_is_asked_last() -> None:
    builder = Builder()
    builder.take(1, 5, 9)
    deepest = builder.snapshot_pool.deepest_first()[0]
    builder.snapshot_pool.refuse(deepest, "main.py has changed above", {"main.py": 3})

    def asked(edited: dict[str, int]) -> list[float]:
        return [each.seconds for each in builder.snapshot_pool.likeliest_first(lambda _: edited)]

    assert asked({"main.py": 3}) == [5, 1, 9]
    assert asked({"main.py": 7}) == asked({}) == [9, 5, 1]


@pytest.mark.slow
def test_a_copy_is_asked_once_for_the_edits_of_one_place_and_again_for_another(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[int] = []
    refuse = SnapshotPool.refuse

    def noting(
        snapshot_pool: SnapshotPool, snapshot: Snapshot, why: str, edited: Mapping[str, int]
    ) -> None:
        refused.append(snapshot.number)
        refuse(snapshot_pool, snapshot, why, edited)

    monkeypatch.setattr(SnapshotPool, "refuse", noting)
    for early, late in [(1, 1), (1, 2), (2, 2), (3, 2), (4, 2), (1, 3)]:
        workshop.write({"main.py": f"{SLOW}print({early})\n{SLOW}print({late})\n"})
        workshop.run()

    assert [each.place for each in workshop.starts[1:]] == [
        "main.py:6", "main.py:3", "main.py:3", "main.py:3", "main.py:6"
    ]  # fmt: skip
    assert len(refused) == len(set(refused)) == 2  # the first one, and what the first edit has left
    assert all("has changed above" in each.why_not_deeper for each in workshop.starts[2:5])


def test_where_no_memory_is_left_there_is_no_other_one_and_it_is_said() -> None:
    builder = Builder()
    builder.left = MemoryLeft(total_bytes=10**9, available_bytes=10**7)

    builder.take(1)
    builder.snapshot_pool.settle(None, ())

    assert builder.kept == []
    assert builder.reasons == {"at 1": "only 10.0 MB of memory was left"}


def test_all_together_take_no_more_than_their_share() -> None:
    builder = Builder(most=12)
    builder.left = MemoryLeft(total_bytes=4 * MEGABYTE, available_bytes=4 * MEGABYTE)

    builder.take(1, 2, 3)
    builder.snapshot_pool.settle(None, ())

    assert builder.kept == [3]  # each of them holds more than all may
    assert builder.reasons["at 1"] == "all copies together took more than 2.1 MB"


def test_what_was_missing_before_a_start_stays_missing() -> None:
    builder = Builder()
    builder.take(5)
    builder.snapshot_pool.settle(None, [Blocker(place="at 2", seconds=2, why="an alarm is set")])
    builder.snapshot_pool.settle(builder.snapshot_pool.deepest_first()[0], ())
    assert builder.reasons == {"at 2": "an alarm is set"}

    builder.snapshot_pool.settle(None, ())

    assert builder.reasons == {}


def test_a_reason_stays_though_an_older_copy_is_at_the_same_place() -> None:
    builder = Builder()
    builder.take(5)
    first = builder.snapshot_pool.deepest_first()[0]
    later = Blocker(place=first.place, seconds=6, why="an alarm is set")

    builder.snapshot_pool.settle(None, [later])
    assert builder.reasons == {first.place: "an alarm is set"}

    builder.snapshot_pool.settle(None, [replace(later, seconds=4)])
    assert builder.reasons == {}, "there is a copy from after it"

    builder.snapshot_pool.refuse(first, "it has changed above", {})
    builder.snapshot_pool.settle(None, [replace(later, seconds=4)])
    assert builder.reasons == {first.place: "an alarm is set"}


@pytest.mark.slow
def test_a_long_program_never_keeps_more_copies_than_it_may(workshop: Workshop) -> None:
    workshop.runs._most = 2
    workshop.write({"main.py": f"{SLOW * 8}open('go').read()\nprint(1)\n"})
    os.mkfifo(workshop.folder / "go")
    until(lambda: 0 < len(guardians()) == len(spawners()))
    before = {*descendants_of(os.getpid())}

    future = workshop.warm.submit(workshop.trial())
    with (workshop.folder / "go").open("wb"):  # returns when the program stands there
        deadline = time.monotonic() + 30
        while len(found := {*descendants_of(os.getpid())} - before) > 4:  # observer, program, two
            assert time.monotonic() < deadline, found
    future.result()

    assert len(workshop.runs.snapshot_rows()) == 2


@pytest.mark.slow
def test_the_ladder_shows_what_each_rung_costs_and_saves(workshop: Workshop) -> None:
    workshop.write({"main.py": f"x = list(range(10**6))\n{SLOW}{SLOW}print(1)\n"})
    for _ in range(2):
        workshop.warm.submit(workshop.trial()).result()

    deep, early, *_ = workshop.runs.snapshot_rows()
    assert (deep.is_start, early.is_start) == (True, False)
    assert deep.saves_seconds > early.saves_seconds > 0.06
    assert deep.age_seconds > 0
    assert deep.looks > 0
    assert 1 << 20 < deep.own_bytes < 1 << 28
    assert workshop.runs.last.snapshots == len(workshop.runs.snapshot_rows())


@pytest.mark.slow
def test_who_wants_no_copies_has_none(workshop: Workshop) -> None:
    workshop.runs._most = 0
    workshop.write({"main.py": f"{SLOW}print(1)\n"})

    workshop.run()
    workshop.run()

    assert [start.place for start in workshop.starts] == ["", ""]


@pytest.mark.slow
def test_after_a_doubt_the_next_run_is_cold(workshop: Workshop) -> None:
    workshop.write({"main.py": f"{SLOW}print(1)\n"})
    workshop.run()
    workshop.run()
    workshop.runs.distrust("the last warm answer was wrong")
    workshop.run()
    workshop.run()

    assert [bool(start.place) for start in workshop.starts] == [False, True, False, True]
    assert workshop.starts[2].why_not_deeper == "the last warm answer was wrong"


def test_a_ladder_is_empty_before_the_first_run(workshop: Workshop) -> None:
    assert WarmRuns(workshop.laboratory.cleanup_journal).snapshot_rows() == ()


def spares(workshop: Workshop) -> set[int]:
    """Return the copies that have made themselves ready for a run to come."""
    runs = workshop.runs
    assert runs._snapshot_pool is not None
    kept = {each.pid for each in runs._snapshot_pool.stage.snapshots.values()}
    found = set[int]()
    for pid in descendants_of(os.getpid()):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        if pid not in kept and "main.py" in words:
            found.add(pid)
    return found


@pytest.mark.slow
def test_a_copy_is_ready_for_the_next_edit_before_it_is_saved(workshop: Workshop) -> None:
    workshop.write({"main.py": f"{SLOW}def f(): return 1\n{SLOW}print(f())\n"})
    workshop.run()

    until(lambda: len(spares(workshop)) == 1)
    (ready,) = spares(workshop)
    workshop.write({"main.py": f"{SLOW}def f(): return 1\n{SLOW}print(f(), 2)\n"})
    outcome = workshop.run()

    assert outcome.processes[0].pid == ready
    assert workshop.starts[-1].place == "main.py:6"


@pytest.mark.slow
def test_a_copy_that_was_ready_and_is_killed_is_made_again(workshop: Workshop) -> None:
    workshop.write({"main.py": f"{SLOW}print(1)\n"})
    workshop.run()
    until(lambda: len(spares(workshop)) == 1)
    for pid in spares(workshop):
        os.kill(pid, signal.SIGKILL)
    workshop.write({"main.py": f"{SLOW}print(2)\n"})

    workshop.run()
    workshop.write({"main.py": f"{SLOW}print(3)\n"})
    workshop.run()

    assert workshop.starts[-1].place == "main.py:3"


@pytest.mark.slow
def test_an_edit_that_a_ready_copy_refuses_may_be_taken_back(workshop: Workshop) -> None:
    texts = [f"x = {x}\n{SLOW}print(x, {y})\n" for x, y in ((1, 1), (2, 1), (1, 2), (1, 3))]
    for text in texts:
        workshop.write({"main.py": text})
        workshop.run()

    assert [start.place for start in workshop.starts] == ["", "", "main.py:4", "main.py:4"]


@pytest.mark.slow
def test_a_copy_that_was_refused_is_asked_after_those_that_have_taken_its_place(
    workshop: Workshop,
) -> None:
    pasts = [f"import time\ntime.sleep({seconds})\nprint({{}})\n" for seconds in (0.4, 0.2)]
    for text in (pasts[0].format(1), pasts[1].format(1), pasts[1].format(2), pasts[0].format(2)):
        workshop.write({"main.py": text})
        workshop.run()

    *_, went_on, taken_back = workshop.starts
    assert (went_on.place, went_on.why_not_deeper) == ("main.py:3", "")
    assert taken_back.place == "main.py:3"
