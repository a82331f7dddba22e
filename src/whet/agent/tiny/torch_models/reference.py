"""What references to models of torch have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import libraries
from . import inputs
from .checks import TorchChecks


class TorchReference:
    """A reference whose models are modules of torch.

    Attributes:
        types: the types of its parameters where its constructor doesn't give them, by `types_in`.
        stored: the types of the tensors of its checkpoint, by name without numbers.
    """

    types: Mapping[str, str] = {}
    stored: Mapping[str, str] = {}

    def build(self, tree: Any, *, is_real: bool = False) -> Any:
        """Return a model, with random weights or without memory for any."""
        raise NotImplementedError

    def inputs(self, model: Any) -> dict[str, Any]:
        """Return inputs for a model."""
        raise NotImplementedError

    def parts_of(self, model: Any) -> Any:
        """Return a model that is made already as `skeleton.py` walks it."""
        return model

    def settled(self, model: Any, _tree: Any, _folder: str) -> Any:
        """Return a model as it is after saving: a type of the checkpoint may hold fewer digits."""
        return model

    def run(self, tree: Any) -> None:
        """Build a model and call it, to see whether it raises."""
        model = self.build(tree, is_real=True)
        with libraries.torch().no_grad():
            inputs.called(model, self.inputs(model))

    def checks(self, model: Any, given: dict[str, Any]) -> TorchChecks:
        """Return the checks of a model that is called with these inputs."""
        return TorchChecks(model, given)
