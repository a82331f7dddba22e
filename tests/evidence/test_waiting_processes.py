"""What became of a process or a task that another one waits for, from the stacks of a hang."""

from dataclasses import replace

from whet.core.failure import Frame
from whet.core.observations.clue import Placing, Sureness
from whet.core.observations.stack import ProcessEnd, ProcessStack, TaskStack, ThreadStack
from whet.evidence.stacks.waiting_processes import process_clues

LIBRARY = "/usr/lib/python3.11/multiprocessing/"
AT = Placing("/home/ada")


def frame(path: str, line: int, function: str) -> Frame:
    return Frame(path=path, line=line, function=function, in_user_code=path.startswith("/home"))


def process(pid: int, *frames: Frame, name: str = "", parent: int = 0) -> ProcessStack:
    thread = ThreadStack(number=pid, frames=frames)
    return ProcessStack(pid=pid, name=name, parent=parent, threads=(thread,))


JOINS = process(
    1, frame("/home/ada/main.py", 9, "main"), frame(f"{LIBRARY}process.py", 149, "BaseProcess.join")
)
STUCK = process(
    2, frame("/home/ada/main.py", 8, "main"),
    frame(f"{LIBRARY}queues.py", 199, "Queue._finalize_join"), name="filler", parent=1,
)  # fmt: skip
WORKS = process(3, frame("/home/ada/main.py", 4, "work"), name="other", parent=1)
MAPS = process(
    1, frame("/home/ada/main.py", 7, "main"), frame(f"{LIBRARY}pool.py", 367, "Pool.map")
)


def test_a_process_that_cannot_end_before_its_queue_is_read_is_told_with_who_waits() -> None:
    (clue,) = process_clues([JOINS, STUCK], [], AT)

    assert clue.sureness is Sureness.SEEN
    assert clue.line == 9
    assert "process `filler` has done its work and cannot end" in clue.says


def test_while_another_process_works_it_may_be_that_one() -> None:
    (clue,) = process_clues([JOINS, STUCK, WORKS], [], AT)

    assert clue.sureness is Sureness.POSSIBLE


def test_a_worker_that_was_killed_is_told_with_who_waits_for_its_work() -> None:
    gone = ProcessEnd(pid=4, name="Worker-1", code=-9)
    (clue,) = process_clues([MAPS, WORKS], [gone], AT)

    assert clue.says == (
        "process `Worker-1` was killed by SIGKILL; main.py:7 still waits for its work"
    )
    assert process_clues([MAPS], [replace(gone, code=-15)], AT) == []  # the program ended it
    assert process_clues([MAPS, process(4)], [gone], AT) == []  # it was ended after the hang
    assert process_clues([JOINS], [gone], AT) == []  # who waits for its end has it


def test_a_task_that_died_is_the_cause_where_another_one_waits_at_what_both_use() -> None:
    task = TaskStack(
        name="worker", frames=(frame("/home/ada/main.py", 5, "work"),), died="KeyError: 'x'"
    )
    apart = replace(JOINS, tasks=(task,))
    together = replace(JOINS, tasks=(replace(task, shares=(("queue", "Task-1"),)),))

    assert [each.sureness for each in process_clues([apart], [], AT)] == [Sureness.POSSIBLE]
    (clue,) = process_clues([together], [], AT)
    assert clue.sureness is Sureness.SEEN
    assert "; task `Task-1` waits at `queue`, which both use" in clue.says
