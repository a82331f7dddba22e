"""What a profile shows is said in sentences, each only if the numbers show it."""

from dataclasses import replace

from profile_makers import Costs, library, own, profile_of

from whet.core.failure import Frame
from whet.core.observations.profile import BYTES, Profile, ProfiledProcess
from whet.measurement.profiles.sentences import Measured, cpu_sentences, memory_sentences
from whet.measurement.profiles.stack_table import StackTable

LOADER = Frame(
    path="/v/site-packages/torch/utils/data/dataloader.py",
    line=700,
    function="_BaseDataLoaderIter.__next__",
    in_user_code=False,
)
IMPORT = library("_find_and_load", "<frozen importlib._bootstrap>")


def said(profile: Profile, cpu: float, wall: float) -> str:
    return "\n".join(cpu_sentences(profile, Measured(cpu_seconds=cpu, wall_seconds=wall)))


def test_a_program_that_waits_more_than_it_computes_is_told_with_the_line() -> None:
    waits: Costs = {(own(1), own(5, "load")): (0.1, 3.1), (own(1), own(6, "g")): (1.0, 1.0)}
    assert said(profile_of(waits), 1.1, 4.2) == (
        "The program waits more than it computes: 3.0 s of 4.1 s, most of it (3.0 s) at"
        " a.py:5 in load."
    )
    computes: Costs = {(own(1), own(5, "load")): (3.0, 3.1), (own(1), own(6, "g")): (1.0, 1.0)}
    assert said(profile_of(computes), 4.0, 4.2) == ""


def test_a_main_thread_that_waits_for_others_that_compute_does_not_idle() -> None:
    main = profile_of({(own(1),): (0.0, 4.0)})
    worker = profile_of({(own(1),): (3.8, 3.8)}, thread="worker")
    both = Profile(
        question="cpu", engine="", unit=main.unit, frames=main.frames, rate=100, samples=380,
        stacks=(*main.stacks, *worker.stacks),
    )  # fmt: skip
    assert "while other threads and processes compute" in said(both, 3.8, 4.0)
    assert "waits more than it computes" not in said(both, 3.8, 4.0)


def test_others_that_lack_a_processor_still_compute() -> None:
    main = profile_of({(own(1), own(7)): (0.0, 4.0)})
    worker = profile_of({(own(1),): (3.8, 3.8)}, thread="worker")
    both = replace(main, stacks=(*main.stacks, *worker.stacks))
    crowded = said(both, 1.0, 4.0)
    assert "The main thread waits for 4.0 s of 4.0 s" in crowded
    assert "waits more than it computes" not in crowded
    assert "was ready to run for 3.8 s, but had a processor for 1.0 s" in crowded


def test_a_training_loop_that_waits_for_data_is_told_with_its_line() -> None:
    loop: Costs = {
        (own(31, "train"), LOADER, library("get")): (0.2, 3.0),
        (own(33, "train"),): (2.0, 2.0),
    }
    assert (
        "Waiting for data takes 60% of the time (3.0 s): the data loader at a.py:31 in train"
        in (said(profile_of(loop), 2.2, 5.0))
    )
    fed: Costs = {
        (own(31, "train"), LOADER, library("get")): (0.1, 0.4),
        (own(33, "train"),): (4.0, 4.0),
    }
    assert "Waiting for data" not in said(profile_of(fed), 4.1, 4.4)


def test_imports_are_told_if_they_take_long() -> None:
    slow: Costs = {(own(2, "<module>"), IMPORT, library("exec")): (2.0, 2.0), (own(9),): (1.0, 1.0)}
    assert "Imports take 67% of the time (2.0 s), most at a.py:2." in said(profile_of(slow), 3, 3)
    quick: Costs = {(own(2, "<module>"), IMPORT): (0.1, 0.1), (own(9),): (1.0, 1.0)}
    assert "Imports" not in said(profile_of(quick), 1.1, 1.1)


def test_a_busy_machine_is_told() -> None:
    ready = profile_of({(own(9),): (4.0, 4.0)})
    assert "was ready to run for 4.0 s, but had a processor for 1.0 s" in said(ready, 1.0, 4.0)
    assert "ready to run" not in said(ready, 3.9, 4.0)


def test_few_samples_are_said_to_be_few() -> None:
    assert said(profile_of({(own(9),): (0.1, 0.1)}), 0.1, 0.1) == (
        "With 10 samples, the percentages are rough."
    )


def job(waits: dict[int, float]) -> Profile:
    """Return a profile of ranks that take 4 seconds, of which each waits for some."""
    parts = {
        rank: profile_of(
            {(own(5, "step"),): (4 - wait, 4 - wait), (own(6, "wait"),): (0.0, wait)}, pid=10 + rank
        )
        for rank, wait in waits.items()
    }
    processes = (
        ProfiledProcess(pid=1, name="torchrun"),
        *(ProfiledProcess(pid=10 + rank, parent=1, rank=rank) for rank in waits),
    )
    first = next(iter(parts.values()))
    stacks = tuple(stack for part in parts.values() for stack in part.stacks)
    return replace(first, stacks=stacks, processes=processes)


def test_the_rank_that_all_others_wait_for_is_the_straggler() -> None:
    slow = said(job({0: 2.0, 1: 0.1, 2: 2.2}), 9.7, 4.1)
    assert slow.startswith(
        "Rank 1 is the straggler: it waits for 100 ms and computes for 3.9 s, most at a.py:5 in"
        " step; the other ranks wait for 2.2 s."
    )
    assert "straggler" not in said(job({0: 0.2, 1: 0.1, 2: 0.3}), 11.4, 4.1)
    assert "straggler" not in said(job({0: 2.0, 1: 0.1, 2: 0.2}), 9.7, 4.1)  # two compute
    assert "straggler" not in said(job({0: 2.0}), 2.0, 4.1)


def test_addresses_that_are_reserved_are_not_called_memory() -> None:
    table = StackTable()
    table.add(1, "", (own(7, "load"),), BYTES, 14e9)
    table.add(1, "", (own(11, "make"),), BYTES, 6e8)
    profile = Profile(
        question="memory", engine="memray", unit=BYTES, frames=table.frames, stacks=table.stacks
    )

    def told(peak: int) -> str:
        measured = Measured(cpu_seconds=1.0, wall_seconds=1.0, peak_bytes=peak)
        return "\n".join(memory_sentences(profile, measured))

    few = told(800_000_000)
    assert "it never had more than 800 MB in RAM: a.py:7 in load reserves 14.0 GB" in few
    assert "come from" not in few
    assert "14.0 GB of 14.6 GB at the peak (96%) come from a.py:7" in told(14_700_000_000)
