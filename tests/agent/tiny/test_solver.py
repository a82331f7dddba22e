"""Small dimensions for models that are scripted: shapes and constraints alone."""

from collections.abc import Callable
from typing import Any

import pytest

from whet.agent.tiny import fields, token_ids
from whet.agent.tiny.guess import shares
from whet.agent.tiny.refusals import RefusedError
from whet.agent.tiny.solver import Model, Solver

Tree = dict[str, Any]
Shapes = dict[str, tuple[int, ...]]


def attention(tree: Tree) -> Shapes:
    """Return what a layer of a decoder has, and refuse what no decoder can have."""
    heads, groups = tree["num_attention_heads"], tree["num_key_value_heads"]
    if tree["hidden_size"] % heads:
        raise ValueError(f"hidden_size must be divisible by num_attention_heads ({heads})")
    if heads % groups:
        raise ValueError("heads must be divisible by key-value heads")
    width, head = tree["hidden_size"], tree["hidden_size"] // heads
    return {
        "embedding": (tree["vocab_size"], width),
        **{f"layers.{n}.query": (width, width) for n in range(tree["num_hidden_layers"])},
        **{f"layers.{n}.key": (width, groups * head) for n in range(tree["num_hidden_layers"])},
        **{f"layers.{n}.up": (width, tree["intermediate_size"]) for n in range(1)},
    }


def solved(
    tree: Tree,
    shapes: Callable[[Tree], Shapes],
    *,
    complaint: Callable[[Tree], str] = lambda _tree: "",
    layers: list[tuple[int, list[Any]]] | None = None,
    most_params: int = 100_000,
    is_least: bool = True,
) -> Tree:
    def complains(small: Tree, *, must_run: bool) -> str:
        assert must_run in {True, False}
        try:
            shapes(small)
        except ValueError as error:
            return str(error)
        return complaint(small)

    model = Model(tree, shapes=shapes, complaint=complains, layers=layers or [])
    small: Tree = Solver(model, most_params, is_least=is_least).solve()
    return small


DECODER: Tree = {
    "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "sliding_window": 4096,
}  # fmt: skip


def test_only_dimensions_change_and_heads_keep_their_groups() -> None:
    small = solved(DECODER, attention, layers=[(32, ["decoder"] * 32)])

    assert small["num_hidden_layers"] == 1
    assert 1 < small["num_key_value_heads"] < small["num_attention_heads"] < 32
    assert small["hidden_size"] % small["num_attention_heads"] == 0
    assert {key: value for key, value in small.items() if not isinstance(value, int)} == {
        key: value for key, value in DECODER.items() if not isinstance(value, int)
    }


@pytest.mark.parametrize(("heads", "groups"), [(32, 32), (32, 1), (71, 1), (16, 2), (1, 1)])
def test_one_group_stays_one_and_as_many_stay_as_many(heads: int, groups: int) -> None:
    tree = {**DECODER, "hidden_size": 64 * heads, "num_attention_heads": heads}
    small = solved({**tree, "num_key_value_heads": groups}, attention)

    few, of_few = small["num_attention_heads"], small["num_key_value_heads"]
    assert (few == of_few) == (heads == groups)
    assert (of_few == 1) == (groups == 1)


def test_one_layer_of_each_kind_stays_in_its_order() -> None:
    kinds = ["window", "window", "full", "window", "window", "full"]
    tree = {**DECODER, "num_hidden_layers": 6, "layer_types": kinds}

    small = solved(tree, attention, layers=[(6, kinds)])

    assert small["layer_types"] == ["window", "full"]
    assert small["num_hidden_layers"] == 2


def test_layers_whose_kind_is_computed_stay_up_to_the_last_new_kind() -> None:
    kinds = ["dense", "dense", "experts"] + ["experts"] * 5
    tree = {**DECODER, "num_hidden_layers": 8, "first_dense": 2}

    def complaint(small: Tree) -> str:
        has_both = small["num_hidden_layers"] > small["first_dense"]
        return "" if has_both else "it lost a kind of layers"

    small = solved(tree, attention, complaint=complaint, layers=[(8, kinds)])

    assert small["num_hidden_layers"] == 3
    assert small["first_dense"] == 2


def test_dimensions_with_any_name_are_found_by_what_they_change() -> None:
    tree = {"fish": 512, "birds": 2048, "feathers": 7, "temperature": 300}

    def shapes(small: Tree) -> Shapes:
        return {"one": (small["fish"], small["birds"]), "other": (small["birds"],)}

    small = solved(tree, shapes)

    assert small["fish"] * small["birds"] <= 100_000
    assert small["feathers"] == 7
    assert small["temperature"] == 300


def test_a_constraint_that_no_name_hints_at_is_repaired() -> None:
    tree = {**DECODER, "pooled": 64}

    def complaint(small: Tree) -> str:
        return "" if small["intermediate_size"] % 24 == 8 else "it must be 24 n + 8"

    small = solved({**tree, "intermediate_size": 24 * 500 + 8}, attention, complaint=complaint)

    assert small["intermediate_size"] % 24 == 8
    assert small["hidden_size"] < 100


def test_a_number_that_a_complaint_mentions_is_a_dimension_too() -> None:
    tree = {**DECODER, "hidden_size": 2560, "state_part": 640}

    def complaint(small: Tree) -> str:
        fits = small["state_part"] * 4 == small["hidden_size"]
        return "" if fits else f"shape [1, {small['state_part']}] is invalid"

    small = solved(tree, attention, complaint=complaint)

    assert small["state_part"] * 4 == small["hidden_size"] < 2560


def test_what_cannot_be_solved_names_the_constraint_and_two_dimensions() -> None:
    def complaint(small: Tree) -> str:
        return "" if small == DECODER else "the width must be 4096"

    with pytest.raises(RefusedError, match=r"no small values for `\w+` and `\w+`: the width") as at:
        solved(DECODER, attention, complaint=complaint)

    assert at.value.kind == "unsolved"


def test_a_reference_that_does_not_run_is_told_as_that() -> None:
    with pytest.raises(RefusedError, match="the reference itself doesn't run: broken"):
        solved(DECODER, attention, complaint=lambda _: "broken")


def test_experts_that_are_chosen_stay_fewer_than_there_are() -> None:
    tree = {**DECODER, "num_experts": 256, "num_experts_per_tok": 8, "n_group": 8, "topk_group": 4}

    def shapes(small: Tree) -> Shapes:
        if small["num_experts"] % small["n_group"]:
            raise ValueError("experts must be divisible by groups")
        gate = {"gate": (small["num_experts"], small["hidden_size"])}
        return {**attention(small), **gate}

    small = solved(tree, shapes)

    assert 1 < small["num_experts_per_tok"] < small["num_experts"] < 10
    assert 1 <= small["topk_group"] < small["n_group"]


def test_sections_of_a_rotation_make_up_the_whole() -> None:
    assert shares([16, 24, 24], 4) == [1, 2, 1]
    assert sum(shares([16, 24, 24], 8)) == 8
    assert min(shares([1, 1, 62], 4)) == 1


def test_few_parameters_are_few() -> None:
    small = solved(DECODER, attention, most_params=3000)

    assert sum(_size(shape) for shape in attention(small).values()) <= 3000


@pytest.mark.parametrize("params", [1, 50])
def test_groups_of_heads_stay_groups_however_few_parameters_are_asked_for(params: int) -> None:
    small = solved(DECODER, attention, most_params=params)

    heads, groups = small["num_attention_heads"], small["num_key_value_heads"]
    assert heads > groups > 1
    assert small["hidden_size"] < DECODER["hidden_size"]


def test_a_tuple_of_sizes_stays_a_tuple() -> None:
    tree: Tree = {"widths": (640, 1280), "inner": {"sides": ((320, 3), (3, 3))}}
    fields.put(tree, ("widths", 1), 8)
    fields.put(tree, ("inner", "sides", 0, 0), 4)

    assert tree == {"widths": (640, 8), "inner": {"sides": ((4, 3), (3, 3))}}


@pytest.mark.parametrize("params", [10_000, 1_000_000, 100_000_000])
def test_many_parameters_are_near_what_was_asked_for(params: int) -> None:
    layers: list[tuple[int, list[Any]]] = [(32, ["decoder"] * 32)]

    small = solved(DECODER, attention, layers=layers, most_params=params, is_least=False)

    assert params / 3 < sum(map(_size, attention(small).values())) <= params
    assert small["hidden_size"] % small["num_attention_heads"] == 0


def _size(shape: tuple[int, ...]) -> int:
    number = 1
    for each in shape:
        number *= each
    return number


def test_tokens_stay_in_the_vocabulary_and_apart() -> None:
    tree: Tree = {
        "vocab_size": 10, "bos_token_id": 128000, "eos_token_id": [128001, 2], "pad_token_id": 9,
        "num_image_tokens": 99, "vision": {"image_token_index": 128000},
    }  # fmt: skip

    token_ids.keep_inside(tree)

    assert tree["eos_token_id"][1] == 2
    assert tree["pad_token_id"] == 9
    assert tree["num_image_tokens"] == 99
    assert tree["vision"]["image_token_index"] == tree["bos_token_id"]
    found = {tree["bos_token_id"], *tree["eos_token_id"], tree["pad_token_id"]}
    assert len(found) == 4
    assert max(found) < 10


def state_space(tree: Tree) -> Shapes:
    """Return what a layer of a state-space model has: its heads make up an expanded width."""
    inner = tree["hidden_size"] * tree["mamba_expand"]
    if tree["mamba_n_heads"] * tree["mamba_d_head"] != inner:
        raise ValueError("the heads do not match the width")
    return {
        "embedding": (tree["vocab_size"], tree["hidden_size"]),
        "into": (tree["hidden_size"], inner),
        "state": (tree["mamba_n_heads"], tree["mamba_d_state"]),
    }


@pytest.mark.parametrize(("heads", "size"), [(128, 64), (64, 128), (8, 1024)])
def test_heads_make_up_an_expanded_width_as_before(heads: int, size: int) -> None:
    tree = {
        "vocab_size": 32000, "hidden_size": 4096, "num_attention_heads": 32, "mamba_expand": 2,
        "mamba_n_heads": heads, "mamba_d_head": size, "mamba_d_state": 256,
    }  # fmt: skip

    small = solved(tree, state_space)

    assert small["mamba_n_heads"] * small["mamba_d_head"] == 2 * small["hidden_size"]
    assert small["hidden_size"] < 100
    assert small["mamba_n_heads"] > 1


def test_lists_that_name_layers_by_number_are_renumbered() -> None:
    section = {
        "types": ["a", "a", "b", "a"],
        "hybrid_layer_ids": [1, 2],
        "out_indices": [3],
        "eos_token_id": [1, 2],
        "mixed_layers": [2, 1],
        "sizes": [1, 2],
    }

    assert fields.lists_of(section, 4, [0, 2]) == {
        "types": ["a", "b"],
        "hybrid_layer_ids": [1],
        "out_indices": [],
    }
