"""A loop that a program doesn't leave has all samples of its profile, whatever it calls."""

from whet.core.failure import Frame
from whet.core.observations.profile import CPU_SECONDS, Profile, Stack
from whet.measurement.profiles.endless import endless_loop

SOURCE = """def walk(start):
    at = start
    while at:
        at = following(at)
        for each in range(3):
            weigh(each)
    return at


def weigh(each):
    return each


walk(1)
"""


def profile(*stacks: tuple[tuple[tuple[int, str], ...], float]) -> Profile:
    frames: list[Frame] = []
    rows: list[Stack] = []
    for stack, cost in stacks:
        numbers: list[int] = []
        for line, function in stack:
            frame = Frame(path="main.py", line=line, function=function, in_user_code=True)
            if frame not in frames:
                frames.append(frame)
            numbers.append(frames.index(frame))
        rows.append(Stack(frames=tuple(numbers), numbers={CPU_SECONDS: cost}))
    return Profile(
        question="cpu", engine="x", unit=CPU_SECONDS, frames=tuple(frames), stacks=tuple(rows)
    )


MODULE = (14, "<module>")


def test_the_loop_around_all_lines_is_named_with_the_busiest_line() -> None:
    found = endless_loop(
        profile(
            ((MODULE, (4, "walk")), 3.0),
            ((MODULE, (6, "walk"), (11, "weigh")), 6.0),
            ((MODULE, (5, "walk")), 1.0),
        ),
        lambda _: SOURCE,
    )
    assert found is not None
    assert (found.line, found.busiest.line, found.share) == (3, 11, 1.0)
    assert not found.is_counted


def test_an_inner_loop_is_named_where_all_samples_are_in_it() -> None:
    found = endless_loop(profile(((MODULE, (6, "walk"), (11, "weigh")), 6.0)), lambda _: SOURCE)
    assert found is not None
    assert found.line == 5
    assert found.is_counted


def test_samples_before_and_after_a_loop_are_in_no_loop() -> None:
    told = profile(((MODULE, (4, "walk")), 3.0), ((MODULE, (2, "walk")), 3.0))
    assert endless_loop(told, lambda _: SOURCE) is None
    assert endless_loop(profile(), lambda _: SOURCE) is None
    assert endless_loop(profile(((MODULE, (4, "walk")), 3.0)), lambda _: "while") is None
