"""Types of numbers that differ from tensor to tensor, such as a norm in float32 among bfloat16."""

from __future__ import annotations

import importlib
import json
import os
import re
import struct
from collections.abc import Iterable, Mapping
from typing import Any

from .. import libraries
from ..skeleton import numberless

_FLOATS = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
}
"""What safetensors calls them, and torch."""

_HEADER = struct.Struct("<Q")
_SUFFIX = ".safetensors"


def pattern_of(types: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the type of each tensor by its name without numbers, where all layers agree."""
    found: dict[str, set[str]] = {}
    for name, each in types:
        found.setdefault(numberless(name), set()).add(each)
    return {name: next(iter(each)) for name, each in found.items() if len(each) == 1}


def types_in(model: Any) -> dict[str, str]:
    """Return the pattern of a model of torch."""
    return pattern_of((name, str(each.dtype)) for name, each in model.named_parameters())


def cast(model: Any, pattern: Mapping[str, str]) -> None:
    """Give the parameters of a model of torch the types that a pattern of `types_in` names."""
    torch = libraries.torch()
    for name, each in model.named_parameters():
        wanted = pattern.get(numberless(name), str(each.dtype))
        if wanted != str(each.dtype) and each.is_floating_point():
            each.data = each.data.to(getattr(torch, wanted.rpartition(".")[2]))


def keep_as_loading_does(model: Any, dtype: Any) -> None:
    """Let the modules be float32 that `from_pretrained` loads so in any case."""
    torch = libraries.torch()
    kept: set[str] = set(getattr(model, "_keep_in_fp32_modules_strict", None) or ())
    if dtype == torch.float16:
        kept |= set(getattr(model, "_keep_in_fp32_modules", None) or ())
    if dtype not in (torch.float16, torch.bfloat16) or not kept:
        return
    is_kept = re.compile("|".join(each.replace("*", ".*") for each in sorted(kept))).search
    for name, each in model.named_parameters():
        if each.dtype == dtype and is_kept(name):
            each.data = each.data.float()


# ---- files ----


def most_frequent(pattern: Mapping[str, str]) -> Any:
    """Return the type of torch that most tensors of a checkpoint have; None: it has none."""
    named = [_FLOATS[each] for each in pattern.values() if each in _FLOATS]
    return getattr(libraries.torch(), max(named, key=named.count)) if named else None


def types_in_files(folder: str) -> dict[str, dict[str, str]]:
    """Return for each safetensors file of a folder the type of each tensor, in its words."""
    found: dict[str, dict[str, str]] = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(_SUFFIX):
            place = os.path.join(folder, name)
            with open(place, "rb") as file:
                (length,) = _HEADER.unpack(file.read(_HEADER.size))
                header = json.loads(file.read(length))
            found[place] = {
                key: each["dtype"] for key, each in header.items() if key != "__metadata__"
            }
    return found


def cast_files(folder: str, pattern: Mapping[str, str]) -> bool:
    """Give the tensors of a folder's files the types of a checkpoint; whether any had another one."""
    has_changed = False
    for place, types in types_in_files(folder).items():
        wanted = {
            name: pattern[numberless(name)]
            for name, each in types.items()
            if each in _FLOATS and pattern.get(numberless(name), each) in _FLOATS
            and pattern.get(numberless(name), each) != each
        }  # fmt: skip
        if wanted:
            _rewrite(place, wanted)
            has_changed = True
    return has_changed


def _rewrite(place: str, wanted: Mapping[str, str]) -> None:
    libraries.library("safetensors")
    torch, library = libraries.torch(), importlib.import_module("safetensors.torch")
    tensors = library.load_file(place)
    for name, each in wanted.items():
        tensors[name] = tensors[name].to(getattr(torch, _FLOATS[each]))
    library.save_file(tensors, place, {"format": "pt"})


def differing(folder: str, pattern: Mapping[str, str]) -> str:
    """Check the types in a folder's files; return why there is nothing to check."""
    types = {name: each for file in types_in_files(folder).values() for name, each in file.items()}
    same = [name for name in types if numberless(name) in pattern]
    if not same:
        return "no tensor has a name of the checkpoint"
    for name in same:
        asked = pattern[numberless(name)]
        assert types[name] == asked or asked not in _FLOATS, "`%s` is %s, not %s" % (
            name, types[name], asked,
        )  # fmt: skip
    return ""
