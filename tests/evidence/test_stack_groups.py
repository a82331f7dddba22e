"""Equal stacks are told once, and nobody is left out."""

import re

from hypothesis import given
from hypothesis import strategies as st

from whet.core.failure import Frame
from whet.core.observations.stack import ProcessStack, TaskStack, ThreadStack
from whet.evidence.stacks.stack_groups import (
    groups_of,
    motion,
    numbers,
    sentence,
    task_groups,
    task_sentence,
)


def frame(function: str, line: int = 1, path: str = "loss.py") -> Frame:
    return Frame(path=path, line=line, function=function, in_user_code="/" not in path)


FRAMES = st.lists(st.sampled_from([frame("main"), frame("train"), frame("save")]), max_size=3)
THREADS = st.lists(
    FRAMES.map(lambda frames: ThreadStack(number=0, frames=tuple(frames))), max_size=3
)
TASKS = st.lists(
    st.builds(
        TaskStack,
        name=st.sampled_from(["a", "b"]),
        frames=FRAMES.map(tuple),
        awaits=st.sampled_from(["", "a", "runs", "is ready"]),
    ),
    max_size=3,
)
PROCESSES = st.lists(st.tuples(THREADS, TASKS), max_size=6).map(
    lambda many: [
        ProcessStack(pid=10 + n, threads=tuple(threads), tasks=tuple(tasks))
        for n, (threads, tasks) in enumerate(many)
    ]
)


@given(PROCESSES)
def test_every_thread_that_was_seen_is_in_exactly_one_group(processes: list[ProcessStack]) -> None:
    seen = [
        (each.pid, at) for each in processes for at, one in enumerate(each.threads) if one.frames
    ]
    told = [
        (
            member.process.pid,
            next(i for i, t in enumerate(member.process.threads) if t is member.thread),
        )
        for group in groups_of(processes)
        for member in group.members
    ]

    assert sorted(told) == sorted(seen)


@given(PROCESSES)
def test_two_main_threads_are_together_exactly_if_their_stacks_are_equal(
    processes: list[ProcessStack],
) -> None:
    main = [group for group in groups_of(processes) if group.is_main]

    assert len({group.frames for group in main}) == len(main)
    for group in main:
        assert {member.thread.frames for member in group.members} == {group.frames}


@given(PROCESSES)
def test_every_task_is_in_the_one_group_of_its_stack_and_is_told(
    processes: list[ProcessStack],
) -> None:
    groups = task_groups(processes)

    assert len({group.frames for group in groups}) == len(groups)
    assert sorted(task.name for group in groups for _, task in group.members) == sorted(
        task.name for each in processes for task in each.tasks
    )
    for group in groups:
        assert {task.frames for _, task in group.members} == {group.frames}
        assert all(task.name in task_sentence(group) for _, task in group.members)


def test_tasks_tell_what_they_await_and_where() -> None:
    wait = (frame("fill", 14, "app.py"), frame("Queue.get", 158, "lib/queues.py"))
    tasks = [TaskStack(name=name, frames=wait) for name in ("a", "b")]
    tasks.append(TaskStack(name="c", frames=(frame("watch", 3),), awaits="a"))
    tasks.append(TaskStack(name="d", frames=(), awaits="is ready"))
    groups = task_groups([ProcessStack(pid=1, tasks=tuple(tasks))])

    assert [task_sentence(group) for group in groups] == [
        "2 tasks (a, b) await Queue.get() in fill() at app.py:14",
        "task c awaits in watch() at loss.py:3, for a",
        "task d: not started yet",
    ]


@given(st.lists(st.integers(0, 60), min_size=1))
def test_numbers_are_told_as_they_are(values: list[int]) -> None:
    text = numbers(values)
    found: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text.partition(" and ")[0]):
        found |= set(range(int(first), int(last or first) + 1))

    assert found <= set(values)
    assert " and " in text or found == set(values)


@given(PROCESSES)
def test_a_process_comes_back_from_json(processes: list[ProcessStack]) -> None:
    assert [ProcessStack.from_json(each.to_json()) for each in processes] == processes


def test_the_rank_that_does_something_else_stands_apart() -> None:
    waiting = (frame("main"), frame("all_reduce", 40), frame("wait", 9, "/lib/sync.py"))
    saving = (frame("main"), frame("save", 12, "ckpt.py"))
    ranks = [
        ProcessStack(
            pid=100 + rank,
            rank=rank,
            threads=(ThreadStack(number=1, frames=saving if rank == 3 else waiting),),
        )
        for rank in range(8)
    ]

    assert [sentence(group) for group in groups_of(ranks)] == [
        "7 ranks (0-2, 4-7) wait in all_reduce() at loss.py:40 (wait)",
        "rank 3 waits in save() at ckpt.py:12",
    ]


def test_cpu_time_tells_spinning_from_waiting() -> None:
    def told(share: float, *, moved: bool) -> str:
        thread = ThreadStack(number=1, frames=(frame("poll"),), has_moved=moved)
        return motion(ProcessStack(pid=1, cpu_share=share, threads=(thread,)))

    assert told(0.0, moved=False) == "waits"
    assert told(0.98, moved=False) == "stays there: it spins, or computes (98% CPU)"
    assert told(0.98, moved=True) == "moves (98% CPU)"
    assert motion(ProcessStack(pid=1)) == ""


def test_other_threads_are_told_by_name_and_process() -> None:
    process = ProcessStack(
        pid=7,
        threads=(
            ThreadStack(number=7, frames=(frame("main"),)),
            ThreadStack(number=8, name="loader", frames=(frame("read", 5),), is_running=True),
        ),
    )

    assert (
        sentence(groups_of([process])[1])
        == "thread loader of process 7 is busy in read() at loss.py:5"
    )
