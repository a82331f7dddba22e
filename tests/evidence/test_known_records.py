"""A clue names the records that a value came from only where each part of the value has one."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from whet.core.observations.clue import Clue, Mention, StepKind, TrailStep
from whet.evidence.provenance.sentences.wording import step_about, with_record

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
            held = TrailStep(says="", place=f"app.py:{line}")
            trail.append(step_about(held, StepKind.HOLDER, name))
        if has_record:
            spot = (("/data.csv", line),)
            read = TrailStep(says="", place=f"data.csv:{line}", source="1,2", record=spot)
            trail.append(step_about(read, StepKind.RECORD, name))

    clue = with_record(Clue(says="`x` is bad", why="it fails", trail=tuple(trail)))

    is_part_known = any(is_held and not has_record for _, is_held, has_record in operands)
    lines = [line for line, each in enumerate(operands, 1) if each[2]]
    assert bool(clue.record) == (bool(lines) and len(lines) <= 2 and not is_part_known)
    if clue.record:
        assert all(f"data.csv:{line}" in clue.record for line in lines)
        assert clue.records == tuple(("/data.csv", line) for line in lines)


@given(st.lists(st.sampled_from(StepKind), max_size=3), st.sets(st.sampled_from(Mention)))
def test_no_sentence_of_a_clue_or_of_its_trail_says_what_it_is(
    kinds: list[StepKind], mentions: set[Mention]
) -> None:
    steps = [
        step_about(TrailStep(says="", place=f"data.csv:{line}"), kind, "`a`")
        for line, kind in enumerate(kinds, 1)
    ]
    clue = Clue(says="`a` is bad", why="it fails", trail=tuple(steps), mentions=frozenset(mentions))
    mute = tuple(replace(step, says="?") for step in steps)

    told, untold = with_record(clue), with_record(replace(clue, trail=mute))
    assert (told.record, told.next_step) == (untold.record, untold.next_step)
    plain = tuple(TrailStep(says=step.says, place=step.place) for step in steps)
    assert not with_record(replace(clue, trail=plain, mentions=frozenset())).record
