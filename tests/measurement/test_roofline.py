"""The least time of a step: laws."""

import math

from hypothesis import given
from hypothesis import strategies as st

from whet.measurement.expectations.roofline import Machine, Operator, least_seconds

AMOUNTS = st.floats(0, 1e12)
CALLS = st.lists(st.tuples(AMOUNTS, AMOUNTS), max_size=8).map(tuple)
OPERATORS = st.lists(CALLS.map(lambda calls: Operator(name="mm", calls=calls)), max_size=5)
MACHINES = st.builds(Machine, flops=st.floats(1e3, 1e15), bytes_moved=st.floats(1e3, 1e13))


@given(OPERATORS, MACHINES)
def test_a_step_is_never_quicker_than_its_arithmetic_or_its_bytes_alone(
    operators: list[Operator], machine: Machine
) -> None:
    least = least_seconds(operators, machine)

    assert least >= sum(each.flops for each in operators) / machine.flops * (1 - 1e-9)
    assert least >= sum(each.bytes_moved for each in operators) / machine.bytes_moved * (1 - 1e-9)


@given(OPERATORS, MACHINES, st.floats(1, 100), st.floats(1, 100))
def test_a_machine_that_reaches_more_lowers_the_bound(
    operators: list[Operator], machine: Machine, more_flops: float, more_bytes: float
) -> None:
    better = Machine(flops=machine.flops * more_flops, bytes_moved=machine.bytes_moved * more_bytes)

    assert least_seconds(operators, better) <= least_seconds(operators, machine) * (1 + 1e-9)


@given(OPERATORS, OPERATORS, MACHINES)
def test_the_least_times_of_parts_add_up(
    one: list[Operator], other: list[Operator], machine: Machine
) -> None:
    together = least_seconds([*one, *other], machine)

    assert math.isclose(
        together, least_seconds(one, machine) + least_seconds(other, machine), rel_tol=1e-9
    )
