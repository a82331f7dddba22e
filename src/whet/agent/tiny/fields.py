"""The numbers of a configuration: where they stand, and what their names hint at.

A name is a hint alone: whether a number is a dimension is found out by building the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Tuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeGuard

Path = Tuple[Any, ...]  # keys and positions, from the whole configuration down to one number
Tree = Any

LAYERS = re.compile(r"^(num|n)_?.*layers?$|_layers$|^layers$|^depth$|^num_blocks$|^n_block$")
HEADS = re.compile(r"heads?$|^n_head_|heads?_kv$")
KEY_VALUE = re.compile(r"kv|key_value|value_heads")
HEAD_SIZE = re.compile(r"head_?dim$|head_size$|^d_kv$|_d_head$|^d_head$")
VOCABULARY = re.compile(r"vocab_size|^(n|num)?_?vocab(ulary)?$")
POSITIONS = re.compile(r"^(max|n)_?.*positions?(_embeddings)?$|max_seq(uence)?_len")
EXPERTS = re.compile(r"^(num|n)_(local_|routed_)?experts$|^moe_num_experts$|^num_moe_experts$")
CHOSEN = re.compile(r"experts_per_tok|top_?k|_k$")
GROUPS = re.compile(r"group")
EXPANSION = re.compile(r"(^|_)expand$|expansion(_factor)?$")
ROTARY = re.compile(r"^rotary_(dim|ndims)$|rope_head_dim$")
SECTIONS = re.compile(r"section$")
IMAGE = re.compile(r"^image_size$|^img_size$")
PATCH = re.compile(r"^patch_size$")
WINDOW = re.compile(r"^sliding_window$|^attention_window$|^local_attention$")
IDENTIFIER = re.compile(r"(_id|_ids|_index|_idx|_seed|token_id|id2label|label2id)$")
NUMBERS_OF_LAYERS = re.compile(r"layers?(_|$)|indic|index|idx")
WIDTH = re.compile(
    r"hidden|width|_dim$|dim$|size$|embd?$|d_model|d_ff|rank$|inner|intermediate|ffn|channels"
)
MAIN_WIDTH = re.compile(r"^(hidden_size|d_model|n_embd|embed_dim|dim|model_dim|hidden_dim|width)$")


def numbers(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """Yield each whole number of a configuration with its place, lists as they are."""
    if is_mapping(tree):
        for key, value in tree.items():
            if isinstance(key, str) and not key.startswith("_"):
                yield from numbers(value, (*path, key))
    elif is_list(tree):
        if all(is_number(each) for each in tree):
            for place, value in enumerate(tree):
                yield (*path, place), value
        else:
            for place, value in enumerate(tree):
                yield from numbers(value, (*path, place))
    elif is_number(tree):
        yield path, tree


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether it is a part of a configuration with names."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether it is a list or a tuple."""
    return isinstance(value, (list, tuple))


def is_number(value: object) -> bool:
    """Whether it is a whole number and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def get(tree: Tree, path: Path) -> Any:
    """Return what stands at a place."""
    for key in path:
        tree = tree[key]
    return tree


def put(tree: Tree, path: Path, value: object) -> None:
    """Put something in a place, in a tree that is the caller's own; a tuple becomes another one."""
    parent = get(tree, path[:-1])
    if isinstance(parent, tuple):
        items: list[Any] = [*parent]
        items[path[-1]] = value
        put(tree, path[:-1], tuple(items))
    else:
        parent[path[-1]] = value


def name_of(path: Path) -> str:
    """Return the last name of a place: a number in a list is called as the list."""
    return next(str(key) for key in reversed(path) if isinstance(key, str))


def shown(path: Path) -> str:
    """Return a place in words: ``text_config.hidden_size``, ``conv_dim[0]``."""
    text = ""
    for key in path:
        text += "[%d]" % key if isinstance(key, int) else "." * bool(text) + key
    return text


def section_of(path: Path) -> Path:
    """Return the place of the part of the configuration that a number belongs to."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path[:-1]


def sections(tree: Tree) -> dict[Path, dict[Path, int]]:
    """Return the numbers of a configuration, by the part of it that they stand in."""
    found: dict[Path, dict[Path, int]] = {}
    for path, value in numbers(tree):
        found.setdefault(section_of(path), {})[path] = value
    return found


def may_be_dimension(path: Path, value: int) -> bool:
    """Whether a number could be one: no identifier of a token, and more than one."""
    return value > 1 and not any(IDENTIFIER.search(key) for key in path if isinstance(key, str))


def keep_layers(tree: Tree, reference: Tree, path: Path, kinds: list[int], count: int) -> None:
    """Leave as many layers: those that show each kind, then the first others of the reference.

    Args:
        tree: is changed.
        reference: the whole configuration.
        path: the place of the number of layers.
        kinds: the places of the layers that show each kind.
        count: how many layers to leave.
    """
    whole = get(reference, path)
    others = [each for each in range(whole) if each not in kinds]
    places = sorted([*kinds, *others][:count])
    put(tree, path, len(places))
    get(tree, path[:-1]).update(lists_of(get(reference, path[:-1]), whole, places))


def lists_of(section: Mapping[str, Any], count: int, places: list[int]) -> dict[str, list[Any]]:
    """Return the lists of a part of a configuration that say something of layers, as some layers stay.

    A list has an entry for each layer, or names layers by their numbers.

    Args:
        section: the part.
        count: how many layers there are.
        places: those that stay.
    """
    changed: dict[str, list[Any]] = {}
    for key, value in section.items():
        if not is_list(value):
            continue
        if len(value) == count:
            changed[key] = [value[place] for place in places]
        elif NUMBERS_OF_LAYERS.search(key) and _are_numbers_below(value, count):
            changed[key] = [places.index(each) for each in value if each in places]
    return changed


def _are_numbers_below(values: Sequence[Any], count: int) -> bool:
    if not values or not all(is_number(each) and 0 <= each < count for each in values):
        return False
    return list(values) == sorted(set(values))


def differences(old: Tree, new: Tree, path: Path = ()) -> Iterator[tuple[str, object, object]]:
    """Yield each field that differs between two configurations, whole lists in one."""
    if is_mapping(old) and is_mapping(new):
        for key in [*old, *(key for key in new if key not in old)]:
            if not str(key).startswith("_"):
                yield from differences(old.get(key), new.get(key), (*path, str(key)))
    elif old != new and not (_is_empty(old) and _is_empty(new)):
        yield shown(path), old, new


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, (Mapping, list)) and not value)
