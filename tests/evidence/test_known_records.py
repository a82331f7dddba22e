"""A clue names the records that a value came from only where each part of the value has one."""

from hypothesis import given
from hypothesis import strategies as st

from whet.core.observations.clue import Clue, TrailStep
from whet.evidence.provenance.sentences.wording import HOLDS, RECORD_OF, with_record

OPERANDS = st.lists(
    st.tuples(st.sampled_from(["`a[0]`", "`b[-1]`", "`c.d`"]), st.booleans(), st.booleans()),
    min_size=1, max_size=3, unique_by=lambda each: each[0],
)  # fmt: skip


@given(OPERANDS)
def test_an_operand_taken_from_what_holds_it_needs_a_record_of_its_own(
    operands: list[tuple[str, bool, bool]],
) -> None:
    trail: list[TrailStep] = []
    for line, (name, is_held, has_record) in enumerate(operands, 1):
        if is_held:
            trail.append(TrailStep(says=f"{HOLDS} {name}", place=f"app.py:{line}"))
        if has_record:
            says = f"{RECORD_OF} {name}"
            trail.append(TrailStep(says=says, place=f"data.csv:{line}", source="1,2"))

    clue = with_record(Clue(says="`x` is bad", why="it fails", trail=tuple(trail)))

    is_part_known = any(is_held and not has_record for _, is_held, has_record in operands)
    lines = [line for line, each in enumerate(operands, 1) if each[2]]
    assert bool(clue.record) == (bool(lines) and len(lines) <= 2 and not is_part_known)
    if clue.record:
        assert all(f"data.csv:{line}" in clue.record for line in lines)
