"""A module that decodes bytes of somebody else has a fuzz target, or a reason why it has none."""

from benchmarks.faults.places import ENTERED, REASONS, decoding_modules


def test_each_module_that_decodes_is_entered_by_a_fuzz_target_or_has_a_reason() -> None:
    entered = set(ENTERED.read_text("ascii").split())
    excused = {module for modules in REASONS.values() for module in modules}
    decoding = decoding_modules()
    hint = "write a target in `benchmarks/faults` and run `python -m benchmarks.faults.places`, or add a reason"
    assert decoding - entered - excused == set(), hint
    assert (entered | excused) - decoding == set(), "they decode nothing any more"
    assert entered & excused == set(), "a target enters them: the reason can go"
