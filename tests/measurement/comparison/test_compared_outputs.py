"""Whether two arms print the same."""

from hypothesis import given
from hypothesis import strategies as st

from whet.measurement.comparison.outputs import (
    SAME,
    SAME_BUT_TIMES,
    OutputDifference,
    compare_outputs,
)


@given(st.binary(max_size=200))
def test_any_output_is_the_same_as_itself(output: bytes) -> None:
    assert compare_outputs([output], [output]) == SAME


@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=30))
def test_outputs_without_numbers_that_differ_are_said_to(one: str, other: str) -> None:
    found = compare_outputs([one.encode()], [other.encode()])
    assert (found == SAME) is (one == other)


def test_times_dates_addresses_and_process_numbers_do_not_count() -> None:
    one = b"2026-01-05 10:11:12 pid 12: took 1.25 s, <object at 0x7f3a00>, /tmp/abc/x"
    other = b"2026-02-06 23:59:00 pid 7: took 13 ms, <object at 0x55aa01>, /tmp/def"

    assert compare_outputs([one], [other]) == SAME_BUT_TIMES


def test_a_result_that_differs_counts() -> None:
    found = compare_outputs([b"n = 3\nloss 0.25\n"], [b"n = 3\nloss 0.26\n"])
    assert found == OutputDifference(line=2, a="loss 0.25", b="loss 0.26")


def test_a_line_that_differs_between_runs_of_one_arm_does_not_count() -> None:
    a = [b"x\nrandom 12\nend", b"x\nrandom 15\nend"]
    b = [b"x\nrandom 99\nend", b"x\nrandom 4\nend"]

    said = compare_outputs(a, b)
    assert said == "the same output apart from a line that also differs between runs of one arm"
    assert isinstance(compare_outputs(a, [b"y\nrandom 1\nend"]), OutputDifference)


def test_an_output_that_ends_early_differs() -> None:
    found = compare_outputs([b"a\nb"], [b"a"])
    assert found == OutputDifference(line=2, a="b", b=None)
