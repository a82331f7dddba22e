"""Plain classes of `torch.nn.Module`: the whole numbers of their constructor are the configuration."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from .. import call_arguments, constructors, libraries
from . import number_types
from .reference import TorchReference

_ROWS, _LENGTH = call_arguments.ROWS, call_arguments.LENGTH
_WEIGHTS, _ARGUMENTS = "model.safetensors", "config.json"


class ModuleReference(TorchReference):
    """A class of modules with the arguments of its constructor.

    Attributes:
        tree: the arguments.
        model_class: the class.
        folder: always empty: it isn't read from one.
    """

    def __init__(self, name: str, found: Any, settings: dict[str, Any]) -> None:
        self._place = name
        self.model_class = found
        self.folder = ""
        self._constructor = constructors.constructor(found, settings)
        self.tree = self._constructor.tree

    @property
    def name(self) -> str:
        """What the class is called."""
        return str(self.model_class.__name__)

    def build(self, tree: Any, *, is_real: bool = False) -> Any:
        """Return a model, with random weights or without memory for any."""
        torch = libraries.torch()
        if is_real:
            torch.manual_seed(0)
            model = self._constructor.made(tree)
        else:
            with torch.device("meta"):
                model = self._constructor.made(tree)
        number_types.cast(model, self.types)
        return model.eval()

    def inputs(self, model: Any) -> dict[str, Any]:
        """Return inputs with which the model runs, tried by what its first layers take.

        Raises:
            RefusedError: if none is found.
        """
        takes = "its `forward` takes tensors of floating numbers or of whole ones"

        def call(given: dict[str, Any]) -> None:
            with libraries.torch().no_grad():
                model(**given)

        return call_arguments.first_that_runs(_inputs(model), call, self.name, takes)

    def save(self, model: Any, tree: Any, folder: str) -> None:
        """Write the weights, and how to make the model."""
        with open(os.path.join(folder, _ARGUMENTS), "w", encoding="utf-8") as file:
            json.dump(self._constructor.description(self._place, tree), file, indent=2)
        _safetensors().save_model(model, os.path.join(folder, _WEIGHTS))

    def load(self, folder: str) -> Any:
        """Return the model that was saved into a folder."""
        with open(os.path.join(folder, _ARGUMENTS), encoding="utf-8") as file:
            model = self.build(json.load(file)["arguments"], is_real=True)
        _safetensors().load_model(model, os.path.join(folder, _WEIGHTS))
        return model


def is_module_class(found: Any) -> bool:
    """Whether something is a class of modules."""
    torch = sys.modules.get("torch")  # the user's program has loaded it, if so
    return torch is not None and isinstance(found, type) and issubclass(found, torch.nn.Module)


def is_module(found: Any) -> bool:
    """Whether something is a module."""
    return is_module_class(type(found))


def _safetensors() -> Any:
    libraries.library("safetensors")
    return importlib.import_module("safetensors.torch")


def _inputs(model: Any) -> Iterator[dict[str, Any]]:
    """Yield inputs that the layers of a model could take, in the order of the layers."""
    names, flags = call_arguments.taken(model.forward)
    seen: set[tuple[int, ...]] = set()
    for module in model.modules():
        for tensor in _taken_by(module):
            shape = (*tensor.shape, int(tensor.is_floating_point()))
            if shape not in seen:
                seen.add(shape)
                yield {**flags, **{name: tensor.clone() for name in names}}


def _taken_by(module: Any) -> Iterator[Any]:
    torch = libraries.torch()
    torch.manual_seed(1)
    if hasattr(module, "num_embeddings"):
        yield torch.arange(_ROWS * _LENGTH).reshape(_ROWS, _LENGTH) % module.num_embeddings
    elif hasattr(module, "in_features"):
        yield torch.randn(_ROWS, module.in_features)
        yield torch.randn(_ROWS, _LENGTH, module.in_features)
    elif hasattr(module, "in_channels") and hasattr(module, "kernel_size"):
        for side in call_arguments.SIDES:
            sides = [side] * len(module.kernel_size)
            yield torch.randn(_ROWS, module.in_channels, *sides)
    elif hasattr(module, "input_size"):
        yield torch.randn(_ROWS, _LENGTH, module.input_size)
