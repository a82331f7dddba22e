"""A program that does not end is signed by what its stacks have in common."""

import pytest
from failed_runs import PROJECT
from hypothesis import given
from hypothesis import strategies as st

from whet.core.failure import FailureKind, FailureSignature, Frame
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.evidence.signature.classify import classify, headline

TRIAL = Trial(command=("python", "loop.py"), cwd=PROJECT)
JSON = "/usr/lib/python3.11/json/decoder.py"

places = st.sampled_from([("loop.py", "step"), ("loop.py", "check"), (JSON, "decode")])


def sample(*frames: tuple[str, str], line: int = 1) -> tuple[Frame, ...]:
    return tuple(
        Frame(path=path, line=line, function=function, in_user_code=False)
        for path, function in frames
    )


def signature(*stacks: tuple[Frame, ...]) -> FailureSignature:
    failure = classify(TRIAL, Outcome(exit_code=None, timed_out=True, stacks=stacks))
    assert failure is not None
    return failure.signature


OUTER = (("loop.py", "<module>"), ("loop.py", "search"))


@given(
    st.lists(st.tuples(st.lists(places, max_size=4), st.integers(1, 99)), min_size=1, max_size=4)
)
def test_where_in_the_loop_a_sample_was_taken_does_not_count(
    inner: list[tuple[list[tuple[str, str]], int]],
) -> None:
    in_the_loop_itself = sample(*OUTER)
    stacks = [sample(*OUTER, *frames, line=line) for frames, line in inner]

    signed = signature(in_the_loop_itself, *stacks)

    assert signed.kind is FailureKind.TIMEOUT
    assert signed.user_function == "loop.py:search"
    assert signed.library_function == ""


def test_a_library_that_every_sample_waits_in_counts() -> None:
    waiting = (*OUTER, (JSON, "decode"))

    signed = signature(sample(*waiting, (JSON, "scan")), sample(*waiting))

    assert signed.library_function == "json/decoder.py:decode"


def test_two_loops_are_two_bugs() -> None:
    assert signature(sample(*OUTER)) != signature(sample(("loop.py", "<module>"),
                                                         ("loop.py", "load")))  # fmt: skip


@pytest.mark.parametrize("depth", [101, 102, 350])
def test_endless_descent_is_signed_by_its_cycle(depth: int) -> None:
    frames = [("loop.py", "f" if level % 2 else "g") for level in range(depth)]

    assert signature(sample(*frames)).user_function == "loop.py:f loop.py:g"


def test_without_a_stack_a_timeout_has_no_place() -> None:
    signed = signature()

    assert signed == FailureSignature(kind=FailureKind.TIMEOUT)
    assert signature((), ()) == signed


def test_stacks_with_nothing_in_common_give_no_place() -> None:
    assert signature(sample(("a.py", "f")), sample(("b.py", "g"))).user_function == ""


def test_a_timeout_is_told_with_its_time_and_place() -> None:
    stacks = (sample(*OUTER, line=12),)
    failure = classify(
        TRIAL, Outcome(exit_code=None, signal=9, timed_out=True, wall_seconds=5.02, stacks=stacks)
    )

    assert failure is not None
    assert failure.summary == "no end after 5.02 s, in loop.py:search"
    assert headline(failure) == "timeout in loop.py:search (line 12)"
    assert [frame.function for frame in failure.frames] == ["<module>", "search"]
    assert all(frame.in_user_code for frame in failure.frames)


def test_too_much_output_is_a_failure_of_its_own() -> None:
    failure = classify(TRIAL, Outcome(exit_code=None, signal=9, overran_output=True))

    assert failure is not None
    assert failure.signature == FailureSignature(
        kind=FailureKind.EXIT, message="more output than its limit"
    )
    assert headline(failure) == "more output than its limit"
