"""Inputs for a model, made from the signature of its `forward` and its configuration."""

from __future__ import annotations

import inspect
import re
from typing import Any

from .. import libraries

LENGTH = 8
_AUDIO_SAMPLES = 2000
_MOST_ATTEMPTS = 4


def made_inputs(model: Any) -> dict[str, Any]:
    """Return what to call a model of transformers with, on the CPU."""
    names = list(inspect.signature(model.forward).parameters)
    config = model.config
    text = _text_of(config)
    given: dict[str, Any] = {}
    for name in names:
        value = _input(name, model, config, text)
        if value is not None:
            given[name] = value
    return given


def _text_of(config: Any) -> Any:
    get = getattr(config, "get_text_config", None)
    return config if get is None else get()


def _input(name: str, model: Any, config: Any, text: Any) -> Any:
    torch = libraries.torch()
    main = getattr(model, "main_input_name", "input_ids")
    vocabulary = getattr(text, "vocab_size", None) or getattr(config, "vocab_size", None)
    is_sound = main in {"input_values", "input_features"}
    if name == "input_ids" and vocabulary and (main == name or "pixel_values" in _names(model)):
        return _tokens(vocabulary, config, text)
    if name == "mm_token_type_ids" and "image_grid_thw" in _names(model):
        return torch.zeros(1, LENGTH, dtype=torch.long)
    if name == "attention_mask" and main == "input_ids":
        return torch.ones(1, LENGTH, dtype=torch.long)
    if name == "decoder_input_ids" and vocabulary and not _is_without_decoder(config):
        return _tokens(vocabulary, config, text)
    if name == "pixel_values" and (main == name or _vision(config) is not None):
        is_packed = "image_grid_thw" in _names(model)
        return (_patches if is_packed else _image)(_vision(config) or config)
    if name == "image_grid_thw":
        side = 2 * getattr(_vision(config), "spatial_merge_size", 1)
        return torch.tensor([[1, side, side]])
    if is_sound and name == main:
        return _sound(name, config)
    return None


def _names(model: Any) -> list[str]:
    return list(inspect.signature(model.forward).parameters)


def _is_without_decoder(config: Any) -> bool:
    return not getattr(config, "is_encoder_decoder", False)


def _vision(config: Any) -> Any:
    return getattr(config, "vision_config", None)


def _tokens(vocabulary: int, config: Any, text: Any) -> Any:
    """Return tokens none of which means anything special, the last one apart."""
    torch = libraries.torch()
    settings: list[dict[str, Any]] = [vars(config), vars(text)]
    special = {
        value
        for each in settings
        for key, value in each.items()
        if key.endswith(("_id", "_index")) and isinstance(value, int)
    }
    ordinary = [token for token in range(min(vocabulary, 64)) if token not in special] or [0]
    row = [ordinary[place % len(ordinary)] for place in range(LENGTH)]
    eos = getattr(text, "eos_token_id", None)
    if isinstance(eos, int) and 0 <= eos < vocabulary:
        row[-1] = eos
    return torch.tensor([row])


def _image(config: Any) -> Any:
    torch = libraries.torch()
    size = getattr(config, "image_size", None) or getattr(config, "img_size", None) or 32
    height, width = (size, size) if isinstance(size, int) else (size[0], size[1])
    channels = getattr(config, "num_channels", None) or getattr(config, "in_channels", None) or 3
    torch.manual_seed(1)
    return torch.randn(1, channels, height, width)


def _patches(config: Any) -> Any:
    """Return the patches of one small image in a row, for models that pack images of any size."""
    torch = libraries.torch()
    side = 2 * getattr(config, "spatial_merge_size", 1)
    channels = getattr(config, "in_channels", None) or getattr(config, "num_channels", None) or 3
    values = channels * getattr(config, "temporal_patch_size", 1) * config.patch_size**2
    torch.manual_seed(1)
    return torch.randn(side * side, values)


def _sound(name: str, config: Any) -> Any:
    torch = libraries.torch()
    torch.manual_seed(1)
    if name == "input_values":
        return torch.randn(1, _AUDIO_SAMPLES)
    bins = getattr(config, "num_mel_bins", 80)
    frames = 2 * getattr(config, "max_source_positions", 50)
    return torch.randn(1, bins, frames)


def fitted(model: Any, given: dict[str, Any], error: Exception) -> bool:
    """Change inputs as a model asks for in its message; whether there was something to change."""
    counts = [int(number) for number in re.findall(r"\d+", str(error))]
    config = getattr(model, "config", None)
    token = None if config is None else _image_token(config)
    if "tokens" in str(error) and token is not None and "input_ids" in given:
        return _with_tokens(given, token, counts, config)
    return False


def _image_token(config: Any) -> int | None:
    for name in ("image_token_id", "image_token_index"):
        value = getattr(config, name, None)
        if isinstance(value, int):
            return value
    return None


def _with_tokens(given: dict[str, Any], token: int, counts: list[int], config: Any) -> bool:
    """Put as many tokens of an image in front as there are features of one."""
    torch = libraries.torch()
    ids = given["input_ids"]
    there = int((ids == token).sum())
    wanted = [count for count in counts if count > there]
    if not wanted and there in counts:  # it counts numbers, not features
        wanted = [there // max(1, getattr(_text_of(config), "hidden_size", 1))]
    if not wanted or wanted == [there]:
        return False
    ordinary = ids[:, ids[0] != token]
    front = torch.full((1, min(wanted)), token)
    given["input_ids"] = torch.cat([front, ordinary], 1)
    if "attention_mask" in given:
        given["attention_mask"] = torch.ones_like(given["input_ids"])
    if "mm_token_type_ids" in given:
        given["mm_token_type_ids"] = (given["input_ids"] == token).long()
    return True


def called(model: Any, given: dict[str, Any]) -> Any:
    """Call a model, with inputs that are changed until they fit."""
    for _ in range(_MOST_ATTEMPTS):
        try:
            return model(**given)
        except (ValueError, RuntimeError) as error:
            if not fitted(model, given, error):
                raise
    return model(**given)
