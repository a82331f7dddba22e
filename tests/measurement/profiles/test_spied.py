"""What py-spy writes is read: who ran, who waited, for how long, and in which thread."""

import json

from whet.core.observations.profile import (
    CPU_SECONDS,
    SECONDS,
    Obstacle,
    Profile,
    ProfiledProcess,
    Recording,
)
from whet.measurement.profiles.spied import read_spied


def is_own(path: str) -> bool:
    return path.startswith("/p/")


def running(*samples: list[int], name: str = 'Process 7 Thread 7 "MainThread"') -> bytes:
    frames = [
        {"name": "f", "file": "/p/a.py", "line": 3},
        {"name": "<module>", "file": "/p/a.py", "line": 9},
        {"name": "begin", "file": "/x/whet/agent/site/whet_profile.py", "line": 1},
        {"name": "thread (7): MainThread", "file": "", "line": 0},
        {"name": "called", "file": "/x/whet/agent/site/whet_sections/decorated.py", "line": 47},
        {"name": "dot", "file": "/lib/numpy.py", "line": 5},
    ]
    profile = {"name": name, "samples": list(samples), "weights": [0.01] * len(samples)}
    return json.dumps({"shared": {"frames": frames}, "profiles": [profile]}).encode()


def event(phase: str, at: float, name: str, line: int = 0, *, thread: int = 1) -> dict[str, object]:
    path = "/p/a.py" if line else ""
    return {
        "ph": phase, "ts": at * 1e6, "pid": 7, "tid": thread, "name": name,
        "args": {"filename": path, "line": line},
    }  # fmt: skip


def read(
    run: bytes,
    events: list[dict[str, object]],
    *,
    offset: float = 0.0,
    processes: tuple[ProfiledProcess, ...] = (),
) -> list[tuple[object, ...]]:
    recording = Recording(
        engine="py-spy", rate=100, running=run, present=json.dumps(events).encode(),
        offset=offset, processes=processes,
    )  # fmt: skip
    profile = read_spied(recording, is_own)
    return [
        (
            each.thread,
            [frame.line for frame in profile.lines_of(each)],
            {name: round(number, 6) for name, number in each.numbers.items()},
        )
        for each in profile.stacks
    ]


def test_each_look_at_a_thread_that_ran_counts_once_and_the_agents_own_lines_not() -> None:
    assert read(running([3, 1, 0], [3, 1, 0], [3, 1, 2]), []) == [("", [9, 3], {CPU_SECONDS: 0.02})]


def test_what_runs_inside_a_decorated_function_is_the_programs() -> None:
    looks = running([3, 1, 4, 0], [3, 1, 4, 5], [3, 1, 4], [3, 1, 4, 2, 5], [3, 1, 2, 0])

    assert read(looks, []) == [
        ("", [9, 3], {CPU_SECONDS: 0.02}),
        ("", [9, 5], {CPU_SECONDS: 0.01}),
    ]


def test_a_thread_waits_where_it_stands_until_its_stack_changes() -> None:
    events = [
        event("B", 1.0, "thread (7): MainThread"),
        event("B", 1.0, "<module>", 9),
        event("B", 1.0, "f", 3),
        event("E", 3.5, "f", 3),
        event("B", 3.5, "f", 4),
        event("E", 4.0, "f", 4),
        event("E", 4.0, "<module>", 9),
    ]
    assert read(b"", events) == [("", [9, 3], {SECONDS: 2.5}), ("", [9, 4], {SECONDS: 0.5})]


def test_what_another_thread_did_last_is_not_counted_as_it_may_have_ended() -> None:
    events = [
        event("B", 0.0, "thread (8): worker", thread=2),
        event("B", 0.0, "f", 3, thread=2),
        event("E", 1.0, "f", 3, thread=2),
        event("B", 1.0, "f", 4, thread=2),
        event("E", 9.0, "f", 4, thread=2),
    ]
    assert read(b"", events) == [("worker", [3], {SECONDS: 1.0})]


def test_the_main_thread_of_a_process_that_ended_earlier_waits_until_then() -> None:
    events = [
        event("B", 0.0, "thread (7): MainThread"),
        event("B", 0.0, "f", 3),
        event("E", 9.0, "f", 3),
    ]
    ended = (ProfiledProcess(pid=7, ended=2.5),)
    assert read(b"", events, offset=0.5, processes=ended) == [("", [3], {SECONDS: 2.0})]


def test_a_trace_that_was_cut_off_is_read_up_to_there() -> None:
    events = [event("B", 0.0, "f", 3), event("E", 1.0, "f", 3), event("B", 1.0, "f", 4)]
    cut = json.dumps(events).encode()[:-30]
    recording = Recording(engine="py-spy", rate=100, present=cut)
    (stack,) = read_spied(recording, is_own).stacks
    assert stack.numbers == {SECONDS: 1.0}


def test_stacks_that_py_spy_could_not_read_are_said_if_they_are_many() -> None:
    few = Recording(engine="", rate=1, complaint="Samples: 100 Errors: 2")
    many = Recording(engine="", rate=1, complaint="Samples: 100 Errors: 20")
    assert read_spied(few, is_own).notes == ()
    (note,) = read_spied(many, is_own).notes
    assert note.startswith("py-spy could not read 20 of 120 stacks")


def test_looks_without_a_line_of_python_are_said_if_they_are_many_and_no_profile_if_they_are_most() -> (
    None
):
    blind = [
        3
    ]  # the heading of the thread alone: so it is, too, if a name in the stack isn't UTF-8

    def seen(*samples: list[int]) -> Profile:
        return read_spied(Recording(engine="", rate=1, running=running(*samples)), is_own)

    few = seen(*[[3, 1, 0]] * 99, blind)
    many = seen(*[[3, 1, 0]] * 80, *[blind] * 20)
    most = seen([3, 1, 0], *[blind] * 20)
    assert (few.samples, few.notes, few.obstacle) == (99, (), None)
    assert (many.samples, many.obstacle) == (80, None)
    assert many.notes[0].startswith("in 20 of 100 looks, py-spy found no line of Python")
    assert (most.samples, most.obstacle) == (1, Obstacle.UNREAD)
