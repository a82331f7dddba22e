"""What references to models of torch have in common."""

from __future__ import annotations

from typing import Any

from . import checks, inputs, libraries


class TorchReference:
    """A reference whose models are modules of torch."""

    def build(self, tree: Any, *, is_real: bool = False) -> Any:
        """Return a model, with random weights or without memory for any."""
        raise NotImplementedError

    def inputs(self, model: Any) -> dict[str, Any]:
        """Return inputs for a model."""
        raise NotImplementedError

    def parts_of(self, model: Any) -> Any:
        """Return a model that is made already as `skeleton.py` walks it."""
        return model

    def run(self, tree: Any) -> None:
        """Build a model and call it, to see whether it raises."""
        model = self.build(tree, is_real=True)
        with libraries.torch().no_grad():
            inputs.called(model, self.inputs(model))

    def checks(self, model: Any, given: dict[str, Any]) -> checks.TorchChecks:
        """Return the checks of a model that is called with these inputs."""
        return checks.TorchChecks(model, given)
