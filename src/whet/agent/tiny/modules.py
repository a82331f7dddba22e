"""Plain classes of `torch.nn.Module`: the whole numbers of their constructor are the configuration."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import os
from collections.abc import Iterator
from typing import Any

from . import fields, libraries, skeleton
from .factories import Named
from .refusals import RefusedError, brief

_ROWS, _LENGTH, _SIDE = 2, 8, 32
_NOTHING: Any = object()
_WEIGHTS, _ARGUMENTS = "model.safetensors", "config.json"


class ModuleReference:
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
        self.tree = _arguments(found, settings)

    @property
    def name(self) -> str:
        """What the class is called."""
        return str(self.model_class.__name__)

    def build(self, tree: Any, *, is_real: bool = False) -> Any:
        """Return a model, with random weights or without memory for any."""
        torch = libraries.torch()
        if is_real:
            torch.manual_seed(0)
            return self.model_class(**copy.deepcopy(tree)).eval()
        with torch.device("meta"):
            return self.model_class(**copy.deepcopy(tree)).eval()

    def inputs(self, model: Any) -> dict[str, Any]:
        """Return inputs with which the model runs, tried by what its first layers take.

        Raises:
            RefusedError: if none is found.
        """
        torch = libraries.torch()
        last: BaseException | None = None
        for given in _inputs(model):
            try:
                with torch.no_grad():
                    model(**given)
            except Exception as error:
                last = error
            else:
                return given
        why = "it takes no arguments" if last is None else brief(last)
        raise RefusedError(
            "unsolved", "no input was found with which `%s` runs: %s" % (self.name, why),
            "check that its `forward` takes tensors of floating numbers or of whole ones",
        )  # fmt: skip

    def save(self, model: Any, tree: Any, folder: str) -> None:
        """Write the weights, and how to make the model."""
        with open(os.path.join(folder, _ARGUMENTS), "w", encoding="utf-8") as file:
            json.dump({"class": self._place, "arguments": tree}, file, indent=2)
        _safetensors().save_model(model, os.path.join(folder, _WEIGHTS))

    def load(self, folder: str) -> Any:
        """Return the model that was saved into a folder."""
        with open(os.path.join(folder, _ARGUMENTS), encoding="utf-8") as file:
            model = self.build(json.load(file)["arguments"], is_real=True)
        _safetensors().load_model(model, os.path.join(folder, _WEIGHTS))
        return model


def of_instance(found: Named, settings: dict[str, Any]) -> ModuleReference:
    """Return the reference for a model that is made already: by the arguments of what made it.

    Raises:
        RefusedError: if they aren't known.
    """
    if found.function is not None and _has_sizes(_arguments(found.function, settings)):
        return ModuleReference(found.name, found.function, settings)
    made: Any = found.value.__class__
    parameters = inspect.signature(made).parameters
    held = {name: getattr(found.value, name, _NOTHING) for name in parameters}
    lost = [name for name, value in held.items() if not _is_plain(value)]
    if not lost and not _has_sizes(held):
        lost = ["sizes"]
    if not lost:
        given = {**held, **(settings if found.function is None else {})}
        reference = ModuleReference("%s:%s" % (made.__module__, made.__qualname__), made, given)
        if settings or skeleton.shapes(reference.build(held)) == skeleton.shapes(found.value):
            return reference
        lost = ["sizes"]
    raise RefusedError(
        "unsolved",
        "`%s` gives a `%s`, which doesn't keep what it was made with: `%s`"
        % (found.name, made.__name__, "`, `".join(lost)),
        "name a function or class whose arguments are its sizes:"
        " `whet tiny package.module:make --set width=512`",
    )


def is_module_class(found: Any) -> bool:
    """Whether something is a class of modules."""
    return isinstance(found, type) and issubclass(found, libraries.torch().nn.Module)


def _safetensors() -> Any:
    libraries.library("safetensors")
    return importlib.import_module("safetensors.torch")


def _arguments(found: Any, settings: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(found).parameters
    known = {
        name: each for name, each in parameters.items() if each.kind is not each.VAR_POSITIONAL
    }
    takes_any = any(each.kind is each.VAR_KEYWORD for each in known.values())
    unknown = [name for name in settings if name not in known and not takes_any]
    if unknown:
        raise RefusedError(
            "usage", "`%s` takes no `%s`" % (found.__name__, unknown[0]),
            "it takes: %s" % ", ".join(known),
        )  # fmt: skip
    given = {
        name: each.default
        for name, each in known.items()
        if each.default is not each.empty and _is_plain(each.default)
    }
    given.update(settings)
    missing = [
        name
        for name, each in known.items()
        if each.default is each.empty and name not in given and each.kind is not each.VAR_KEYWORD
    ]
    if missing:
        raise RefusedError(
            "usage", "`%s` needs `%s`" % (found.__name__, "`, `".join(missing)),
            "give the sizes of the real one: `--set %s=VALUE`" % missing[0],
        )  # fmt: skip
    return given


def _has_sizes(arguments: dict[str, Any]) -> bool:
    return any(True for _ in fields.numbers(arguments))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, list, tuple, dict))


def _inputs(model: Any) -> Iterator[dict[str, Any]]:
    """Yield inputs that the layers of a model could take, in the order of the layers."""
    names = [
        name
        for name, each in inspect.signature(model.forward).parameters.items()
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]
    seen: set[tuple[int, ...]] = set()
    for module in model.modules():
        for tensor in _taken_by(module):
            shape = (*tensor.shape, int(tensor.is_floating_point()))
            if shape not in seen:
                seen.add(shape)
                yield {name: tensor.clone() for name in names}


def _taken_by(module: Any) -> Iterator[Any]:
    torch = libraries.torch()
    torch.manual_seed(1)
    if hasattr(module, "num_embeddings"):
        yield torch.arange(_ROWS * _LENGTH).reshape(_ROWS, _LENGTH) % module.num_embeddings
    elif hasattr(module, "in_features"):
        yield torch.randn(_ROWS, module.in_features)
        yield torch.randn(_ROWS, _LENGTH, module.in_features)
    elif hasattr(module, "in_channels") and hasattr(module, "kernel_size"):
        sides = [_SIDE] * len(module.kernel_size)
        yield torch.randn(_ROWS, module.in_channels, *sides)
    elif hasattr(module, "input_size"):
        yield torch.randn(_ROWS, _LENGTH, module.input_size)
