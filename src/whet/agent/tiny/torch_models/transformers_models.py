"""Models of transformers: a configuration becomes a model, on a device without memory or for real."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import os
import re
import sys
from typing import Any

from .. import libraries
from ..fields import is_list, is_mapping
from ..libraries import imported, library
from ..refusals import RefusedError, brief
from . import inputs, number_types
from .reference import TorchReference

_MAPPINGS = (
    "MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING",
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING",
    "MODEL_FOR_CTC_MAPPING",
    "MODEL_FOR_MASKED_LM_MAPPING",
    "MODEL_FOR_CAUSAL_LM_MAPPING",
    "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING",
    "MODEL_MAPPING",
)


class TransformersModel(TorchReference):
    """A model of transformers by its reference configuration.

    Attributes:
        tree: the configuration as it is written in `config.json`.
        model_class: the class that is built.
        folder: where it was read from; empty: nowhere.
    """

    def __init__(self, config: Any, model_class: Any, folder: str = "") -> None:
        self._config_class: Any = type(config)
        self.tree = config.to_dict()
        self.tree.setdefault("architectures", None)
        self.model_class = model_class
        self.folder = folder
        self.dtype = getattr(config, "dtype", None) or getattr(config, "torch_dtype", None)

    @property
    def name(self) -> str:
        """What the class is called."""
        return str(self.model_class.__name__)

    def config(self, tree: Any) -> Any:
        """Return the configuration that a tree writes down."""
        return self._config_class.from_dict(copy.deepcopy(tree))

    def build(self, tree: Any, *, is_real: bool = False) -> Any:
        """Return a model, with random weights or without memory for any."""
        torch = libraries.torch()
        config = self.config(tree)
        if is_real:
            torch.manual_seed(0)
            model = self._built(config)
        else:
            with torch.device("meta"):
                model = self._built(config)
        number_types.keep_as_loading_does(model, self.dtype)
        number_types.cast(model, self.types)
        return model.eval()

    def _built(self, config: Any) -> Any:
        build = getattr(self.model_class, "_from_config", None)
        if build is None:
            return self.model_class(config)
        return build(config, dtype=self.dtype) if self.dtype is not None else build(config)

    def inputs(self, model: Any) -> dict[str, Any]:
        """Return inputs for a model."""
        return inputs.made_inputs(model)

    def save(self, model: Any, _tree: Any, folder: str) -> None:
        """Write a model into a folder, in the types of the checkpoint."""
        model.save_pretrained(folder)
        number_types.cast_files(folder, self.stored)

    def settled(self, model: Any, _tree: Any, folder: str) -> Any:
        """Return a model as it is after saving: a type of the checkpoint may hold fewer digits."""
        if not self.stored:
            return model
        model.save_pretrained(folder)
        return self.load(folder) if number_types.cast_files(folder, self.stored) else model

    def load(self, folder: str) -> Any:
        """Return the model that was saved into a folder."""
        model = self.model_class.from_pretrained(folder).eval()
        number_types.cast(model, self.types)
        return model


def read_reference(request: dict[str, Any]) -> TransformersModel:
    """Return the model that a request names: a folder, a `config.json`, a class of configurations."""
    transformers = library("transformers")
    _hush(transformers)
    model = str(request["model"])
    settings = dict(request.get("settings") or {})
    path = os.path.abspath(model)
    file = os.path.join(path, "config.json") if os.path.isdir(path) else path
    if os.path.isfile(file):
        config = _read_config(transformers, file, request)
        model_class = _class_of(transformers, config, file, request)
        for key, value in settings.items():
            if not _is_read(config, key, model_class):
                raise _unread(config, key)
            setattr(config, key, value)
        found = TransformersModel(config, model_class, os.path.dirname(file))
        found.stored = dict(request.get("stored") or {})
        if found.dtype is None:
            found.dtype = number_types.most_frequent(found.stored)
        return found
    if ":" in model and not request.get("may_download"):
        return of_class(transformers, imported(model), settings)
    if hasattr(transformers, model):
        found = getattr(transformers, model)
        return of_class(transformers, found, settings)
    if request.get("may_download"):
        config = transformers.AutoConfig.from_pretrained(
            model, trust_remote_code=bool(request.get("trusts_code"))
        )
        return TransformersModel(config, _class_of(transformers, config, "", request), "")
    near = _nearest(transformers, model)
    hint = (
        "did you mean `%s`?" % near
        if near
        else "name a folder with a `config.json`, or `pkg.mod:Class`"
    )
    raise RefusedError(
        "unknown", "`%s` isn't a folder, a `config.json` or a class of transformers" % model, hint
    )


def _hush(transformers: Any) -> None:
    logging = transformers.logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def of_class(transformers: Any, found: Any, settings: dict[str, Any]) -> TransformersModel:
    """Return the model of a class: of a configuration, or of models that have one."""
    is_config = isinstance(found, type) and issubclass(found, _config_base(transformers))
    config_class = found if is_config else getattr(found, "config_class", None)
    if config_class is None:
        raise RefusedError(
            "unknown",
            "`%s` has no configuration" % getattr(found, "__name__", found),
            "name a class of configurations, such as LlamaConfig, or of modules of torch, flax.nnx or Equinox",
        )
    try:
        config = config_class(**settings)
    except Exception as error:
        raise RefusedError(
            "usage",
            "`%s` refuses its settings: %s" % (config_class.__name__, brief(error)),
            "check `--set`",
        ) from error
    model_class = _default_class(config) if is_config else found
    for key in settings:
        _refuse_unread(config, settings, key, model_class)
    return TransformersModel(config, model_class)


def _refuse_unread(config: Any, settings: dict[str, Any], key: str, model_class: Any) -> None:
    rest = {name: each for name, each in settings.items() if name != key}
    try:
        others = type(config)(**rest)
    except Exception:  # without it the rest doesn't fit together, so it is read
        return
    is_all = dict(others.to_dict(), **{key: settings[key]}) == config.to_dict()
    if is_all and not _is_read(others, key, model_class):
        raise _unread(others, key)


def _is_read(config: Any, key: str, model_class: Any) -> bool:
    """Whether a configuration has a setting, or its module or that of its model names it."""
    if hasattr(config, key):
        return True
    return _names(model_class.__module__, key) or _names(config.__class__.__module__, key)


def _names(module: str, key: str) -> bool:
    try:
        source = inspect.getsource(sys.modules[module])
    except (OSError, TypeError, KeyError):
        return False
    return re.search(r"\b%s\b" % re.escape(key), source) is not None


def _unread(config: Any, key: str) -> RefusedError:
    """Return the refusal of a setting that nothing reads."""
    import difflib

    near = difflib.get_close_matches(key, list(config.to_dict()), 1)
    hint = "did you mean `%s`?" % near[0] if near else "check `--set`"
    return RefusedError("usage", "`%s` has no `%s`" % (type(config).__name__, key), hint)


def of_model(model: Any, settings: dict[str, Any]) -> TransformersModel:
    """Return the reference for a model that is made already."""
    _hush(library("transformers"))
    for key, value in settings.items():
        if not _is_read(model.config, key, type(model)):
            raise _unread(model.config, key)
        setattr(model.config, key, value)
    found = TransformersModel(model.config, type(model))
    found.types = number_types.types_in(model)
    return found


def _config_base(transformers: Any) -> Any:
    return getattr(transformers, "PreTrainedConfig", None) or transformers.PretrainedConfig


def _read_config(transformers: Any, file: str, request: dict[str, Any]) -> Any:
    try:
        with open(file, encoding="utf-8") as opened:
            tree: Any = json.load(opened)
    except (ValueError, RecursionError) as error:
        raise RefusedError(
            "unknown", "`%s` isn't JSON: %s" % (file, error), "check the file"
        ) from error
    if not is_mapping(tree):
        raise RefusedError(
            "unknown", "`%s` isn't a JSON object" % file, "name the `config.json` of a model"
        )
    kind = str(tree.get("model_type", ""))
    trusts = bool(request.get("trusts_code"))
    is_known = kind in transformers.CONFIG_MAPPING
    if tree.get("auto_map") and not is_known and not trusts:
        raise RefusedError(
            "untrusted",
            "`%s` needs code of its own, which whet doesn't run unasked: %s"
            % (file, json.dumps(tree["auto_map"])),
            "read that code, then add `--trust-remote-code`",
        )
    if not kind and not trusts:
        raise RefusedError(
            "unknown",
            "`%s` names no `model_type`" % file,
            "add it, or name the class of the configuration, such as `LlamaConfig`",
        )
    if not is_known and not trusts:
        raise RefusedError(
            "unknown",
            "transformers %s knows no model type `%s`" % (transformers.__version__, kind),
            "upgrade transformers, or name the class: `pkg.mod:Class`",
        )
    try:
        return transformers.AutoConfig.from_pretrained(
            os.path.dirname(file) if os.path.basename(file) == "config.json" else file,
            trust_remote_code=trusts and not is_known,
        )
    except Exception as error:
        raise RefusedError(
            "unknown",
            "transformers refuses `%s`: %s" % (file, brief(error)),
            "check the configuration",
        ) from error


def _class_of(transformers: Any, config: Any, file: str, request: dict[str, Any]) -> Any:
    for name in getattr(config, "architectures", None) or ():
        if hasattr(transformers, name):
            return getattr(transformers, name)
    if request.get("trusts_code") and getattr(config, "auto_map", None):
        for key, reference in config.auto_map.items():
            if key.startswith("AutoModel"):
                dynamic = importlib.import_module("transformers.dynamic_module_utils")
                return dynamic.get_class_from_dynamic_module(reference, os.path.dirname(file))
    return _default_class(config)


def _default_class(config: Any) -> Any:
    auto = importlib.import_module("transformers.models.auto.modeling_auto")
    for name in _MAPPINGS:
        mapping = getattr(auto, name, None)
        if mapping is not None and type(config) in mapping:
            found: Any = mapping[type(config)]
            return found[0] if is_list(found) else found
    raise RefusedError(
        "unknown",
        "transformers has no model for `%s`" % type(config).__name__,
        "name the class of the model",
    )


def _nearest(transformers: Any, name: str) -> str:
    import difflib

    names = [each for each in dir(transformers) if each.endswith("Config")]
    return (difflib.get_close_matches(name, names, 1) or [""])[0]
