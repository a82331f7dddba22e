"""Classes of flax.nnx and Equinox: the whole numbers of their constructor are the configuration."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from .. import constructors
from .call import called, fitting_inputs, traced
from .checks import JaxChecks
from .frameworks import drawn_with
from .model import JaxModel

_ARGUMENTS = "config.json"


class JaxReference:
    """A class of modules, or a function that makes them, with its arguments.

    Attributes:
        tree: the arguments.
        model_class: the class or function.
        folder: always empty: it isn't read from one.
        stored: always empty: it has no checkpoint.
    """

    stored: Mapping[str, str] = {}

    def __init__(self, name: str, found: Any, settings: dict[str, Any], framework: Any) -> None:
        self._place = name
        self._framework = framework
        self.model_class = found
        self.folder = ""
        drawn = drawn_with(found, settings, framework)
        self._constructor = constructors.constructor(found, settings, drawn)
        self.tree = self._constructor.tree

    @property
    def name(self) -> str:
        """What the class is called."""
        return str(self.model_class.__name__)

    def build(self, tree: Any, *, is_real: bool = False) -> JaxModel:
        """Return a model, with random weights or without memory for any."""

        def make() -> Any:
            drawn = drawn_with(self.model_class, tree, self._framework)
            return self.model_class(**self._constructor.arguments(tree), **drawn)

        library = self._framework
        value, state = library.made(make) if is_real else library.made_without_memory(make)
        return JaxModel(value, state, library)

    def parts_of(self, model: Any) -> JaxModel:
        """Return a model that is made already as `skeleton.py` walks it."""
        return JaxModel(model, None, self._framework)

    def inputs(self, model: JaxModel) -> dict[str, Any]:
        """Return inputs with which the model runs.

        Raises:
            RefusedError: if none is found.
        """
        values, others, whole = model.split()

        def call(given: dict[str, Any]) -> Any:
            return traced(lambda *held: called(whole(*held), given), values, others)

        return fitting_inputs(model, call, self.name)

    def settled(self, model: JaxModel, _tree: Any, _folder: str) -> JaxModel:
        """Return a model as it is after saving."""
        return model

    def run(self, tree: Any) -> None:
        """Build a model and trace a call, to see whether it raises."""
        self.inputs(self.build(tree))

    def checks(self, model: JaxModel, given: dict[str, Any]) -> JaxChecks:
        """Return the checks of a model that is called with these inputs."""
        return JaxChecks(model, given)

    def save(self, model: JaxModel, tree: Any, folder: str) -> None:
        """Write the weights, and how to make the model."""
        with open(os.path.join(folder, _ARGUMENTS), "w", encoding="utf-8") as file:
            json.dump(self._constructor.description(self._place, tree), file, indent=2)
        self._framework.save(model.value, model.state, folder)

    def load(self, folder: str) -> JaxModel:
        """Return the model that was saved into a folder."""
        with open(os.path.join(folder, _ARGUMENTS), encoding="utf-8") as file:
            model = self.build(json.load(file)["arguments"], is_real=True)
        value, state = self._framework.load(model.value, model.state, folder)
        return JaxModel(value, state, self._framework)
