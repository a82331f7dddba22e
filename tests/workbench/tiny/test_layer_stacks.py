"""Fewer layers: every kind stays, in order, and the configuration counts what is left."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import CheckpointUnreadable
from whet.workbench.tiny.layer_stacks import renamed, stacks_of, with_layers


def tensors_of(prefix: str, forms: list[str]) -> dict[str, object]:
    """Return the tensors of a stack of layers, one letter for the form of each."""
    return {f"{prefix}.{number}.weight": form for number, form in enumerate(forms)}


@given(
    st.lists(st.sampled_from("ab"), min_size=1, max_size=12),
    st.lists(st.sampled_from(["full", "window"]), min_size=12, max_size=12),
    st.sets(st.integers(0, 11)),
    st.integers(1, 14),
)
def test_what_stays_has_every_kind_in_its_order_and_is_counted_anew(
    forms: list[str], types: list[str], dense: set[int], most: int
) -> None:
    count = len(forms)
    settings: dict[str, object] = {
        "num_hidden_layers": count,
        "layer_types": types[:count],
        "mlp_only_layers": sorted(each for each in dense if each < count),
        "hidden_size": count,
    }
    tensors = tensors_of("model.layers", forms) | {"embed.weight": "e"}

    (stack,) = stacks_of(tensors, settings)
    kept = stack.chosen(most)

    kinds = [(forms[each], types[each], each in dense) for each in range(count)]
    assert {kinds[each] for each in kept} == {*kinds}
    assert list(kept) == sorted({*kept})
    assert len(kept) == min(count, max(most, len({*kinds})))

    names = {old: renamed(old, [(stack, kept)]) for old in tensors}
    assert {new: tensors[old] for old, new in names.items() if new} == {
        "embed.weight": "e",
        **tensors_of("model.layers", [forms[each] for each in kept]),
    }
    assert with_layers(settings, settings, [(stack, kept)]) == {
        "num_hidden_layers": len(kept),
        "layer_types": [types[each] for each in kept],
        "mlp_only_layers": [place for place, each in enumerate(kept) if each in dense],
        "hidden_size": count,
    }


CASES: dict[str, tuple[dict[str, int], dict[str, Any], dict[str, Any]]] = {
    "an encoder and a decoder": (
        {"encoder.block": 6, "decoder.block": 6},
        {"num_layers": 6, "num_decoder_layers": 6},
        {"num_layers": 2, "num_decoder_layers": 2},
    ),
    "two names of one number": (
        {"model.encoder.layers": 6, "model.decoder.layers": 4},
        {"encoder_layers": 6, "num_hidden_layers": 6, "decoder_layers": 4},
        {"encoder_layers": 2, "num_hidden_layers": 2, "decoder_layers": 2},
    ),
    "text and images": (
        {"vision_model.encoder.layers": 5, "text_model.encoder.layers": 5},
        {"text_config": {"num_hidden_layers": 5}, "vision_config": {"num_hidden_layers": 5}},
        {"text_config": {"num_hidden_layers": 2}, "vision_config": {"num_hidden_layers": 2}},
    ),
    "experts within layers": (
        {"h": 4, "h.0.experts": 8, "h.1.experts": 8, "h.2.experts": 8, "h.3.experts": 8},
        {"n_layer": 4, "num_experts": 8},
        {"n_layer": 2, "num_experts": 8},
    ),
    "convolutions that are as many as layers": (
        {"features.conv_layers": 7, "encoder.layers": 7},
        {"num_hidden_layers": 7, "conv_dim": [8] * 7, "num_feat_extract_layers": 7},
        {"num_hidden_layers": 2, "conv_dim": [8] * 7, "num_feat_extract_layers": 7},
    ),
    "layers that predict more tokens": (
        {"model.layers": 5},
        {"num_hidden_layers": 4, "num_nextn_predict_layers": 1, "first_k_dense_replace": 3},
        {"num_hidden_layers": 2, "num_nextn_predict_layers": 1, "first_k_dense_replace": 2},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_names_of_a_stack_tell_which_number_counts_it(case: str) -> None:
    stacks, settings, expected = CASES[case]
    tensors: dict[str, object] = {}
    for prefix, count in stacks.items():
        tensors |= tensors_of(prefix, ["a"] * count)

    found = [(each, (0, 1)) for each in stacks_of(tensors, settings)]

    assert with_layers(settings, settings, found) == expected


def test_a_pattern_that_the_library_writes_out_is_written_out() -> None:
    given_settings = {"num_hidden_layers": 4, "pattern": 2}
    whole = {**given_settings, "layer_types": ["w", "f", "w", "f"]}

    (stack,) = stacks_of(tensors_of("layers", ["a"] * 4), whole)

    assert with_layers(given_settings, whole, [(stack, (0, 1))]) == {
        "num_hidden_layers": 2,
        "pattern": 2,
        "layer_types": ["w", "f"],
    }


def test_without_a_stack_the_numbers_are_told() -> None:
    with pytest.raises(CheckpointUnreadable, match=r"num_hidden_layers = 12"):
        stacks_of(tensors_of("group", ["a"]), {"num_hidden_layers": 12})


def test_a_configuration_that_counts_a_billion_layers_costs_nothing() -> None:
    settings: dict[str, object] = {"num_hidden_layers": 10**12}
    with pytest.raises(CheckpointUnreadable, match="as the configuration counts layers"):
        stacks_of({**tensors_of("layers", ["a"]), f"layers.{'9' * 5000}.w": "a", "layers.².w": "a"}, settings)  # fmt: skip
