"""A module that decodes somebody else's bytes has a fuzz target that enters it, or a reason why it has none."""

from benchmarks.faults.documents import DOCUMENTS
from benchmarks.faults.payloads import NAMES, SEEDS
from benchmarks.faults.places import ENTERED, REASONS, decoding_modules

from whet.reduction.payload_kinds import KINDS
from whet.reduction.settings.documents import document_in


def test_each_module_that_decodes_is_entered_by_a_fuzz_target_or_has_a_reason() -> None:
    entered = set(ENTERED.read_text("ascii").split())
    excused = {module for modules in REASONS.values() for module in modules}
    decoding = decoding_modules()
    hint = "write a target in `benchmarks/faults` and run `python -m benchmarks.faults.places`, or add a reason"
    assert decoding - entered - excused == set(), hint
    assert (entered | excused) - decoding == set(), "they decode nothing any more"
    assert entered & excused == set(), "a target enters them: the reason can go"


def test_each_kind_of_payload_takes_a_seed_of_its_own() -> None:
    refused = {
        name
        for name, seeds in SEEDS.items()
        if name in KINDS
        and not any(KINDS[name].claims(seed, NAMES.get(name, "")) for seed in seeds())
    }
    assert refused == set(), "what is drawn from these seeds never reaches the kind's own passes"


def test_each_language_of_settings_reads_its_first_seed() -> None:
    read = {name: document_in(name, seeds[0])[0] for name, seeds in DOCUMENTS.items()}
    assert [name for name, kind in read.items() if kind is None] == []
    assert len({kind.name for kind in read.values() if kind is not None}) == len(DOCUMENTS)
