"""A model of JAX as the rest of `tiny` sees models."""

from __future__ import annotations

from typing import Any

from ..skeleton import Part
from .frameworks import Split
from .parts import part_of


class JaxModel(Part):
    """A model with its modules.

    Attributes:
        value: the model itself.
        state: what it keeps beside itself; None: nothing.
    """

    def __init__(self, value: Any, state: Any, framework: Any) -> None:
        self.value = value
        self.state = state
        self._framework = framework
        part = part_of(value, framework)
        self.__dict__.update(vars(part))

    def split(self) -> Split:
        """Return the parameters, the other arrays, and what makes a model of both."""
        split: Split = self._framework.split(self.value, self.state)
        return split
