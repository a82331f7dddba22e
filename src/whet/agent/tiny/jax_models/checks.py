"""What a small model of JAX must do before it is called made."""

from __future__ import annotations

from typing import Any, Callable

from .. import checks, libraries, skeleton
from .call import called, outputs, untraceable
from .model import JaxModel


class JaxChecks(checks.Checks):
    """The checks of a model of JAX."""

    def __init__(self, model: JaxModel, given: dict[str, Any]) -> None:
        super().__init__()
        self._model = model
        self._given = given

    def forward(self) -> str:
        """Call it: the numbers that come out are finite."""
        numpy = libraries.library("jax").numpy
        found = self._answered(self._model)
        assert found, "no array comes out"
        assert all(bool(numpy.isfinite(each).all()) for each in found), (
            "not all that comes out is finite"
        )
        return ""

    def backward(self) -> str:
        """Go back: some parameter has a gradient, and each is finite."""
        jax = libraries.library("jax")
        values, others, whole = self._model.split()
        assert values, "it has no parameters"

        def loss(parameters: list[Any], held: list[Any]) -> Any:
            answers = outputs(called(whole(parameters, held), self._given))
            return sum(_weighed(each) for each in answers)

        try:
            gradients = jax.jit(jax.grad(loss))(values, others)
        except untraceable():
            return "JAX can't trace a call: its way depends on numbers"
        assert all(bool(jax.numpy.isfinite(each).all()) for each in gradients), (
            "a gradient isn't finite"
        )
        assert any(bool((each != 0).any()) for each in gradients), "no parameter has a gradient"
        return ""

    def generate(self) -> str:
        """Say that there is nothing to check."""
        return "it has no `generate`"

    def saved(self, folder: str, load: Callable[[str], JaxModel], save: Callable[[], None]) -> str:
        """Save it and load it: the same comes out, in the same types."""
        numpy = libraries.library("jax").numpy
        save()
        loaded = load(folder)
        assert self._types(self._model) == self._types(loaded), (
            "the types of its parameters differ after loading"
        )
        assert skeleton.shared(self._model) == skeleton.shared(loaded), (
            "what was shared isn't any more after loading"
        )
        one, other = self._answered(self._model), self._answered(loaded)
        assert len(one) == len(other), "it answers in another form after loading"
        assert all(bool(numpy.array_equal(mine, its)) for mine, its in zip(one, other)), (
            "other numbers come out after loading"
        )
        return ""

    @staticmethod
    def _types(model: JaxModel) -> list[tuple[str, str]]:
        return [(name, str(each.dtype)) for name, each in model.named_parameters()]

    def _answered(self, model: JaxModel) -> list[Any]:
        values, others, whole = model.split()
        answered: list[Any] = _compiled(
            lambda *held: outputs(called(whole(*held), self._given)), values, others
        )
        return answered


def _compiled(function: Callable[..., Any], *values: list[Any]) -> Any:
    """Call a function compiled; as it is if its way depends on numbers."""
    jax = libraries.library("jax")
    try:
        return jax.jit(function)(*values)
    except untraceable():
        return function(*values)


def _weighed(answer: Any) -> Any:
    """Return a sum in which no symmetry cancels: that of a softmax is 1 whatever comes in."""
    numpy = libraries.library("jax").numpy
    flat = numpy.real(answer).astype(numpy.float32).reshape(-1)
    return (flat * numpy.cos(numpy.arange(flat.size))).sum()
