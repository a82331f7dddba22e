"""The checks of a small model of torch."""

from __future__ import annotations

from typing import Any, Callable, Optional

from .. import checks, fields, libraries, skeleton
from . import inputs

_NEW_TOKENS = 2
_ROUNDINGS = 32


def outputs(result: Any) -> list[Any]:
    """Return the tensors of floating numbers that a model answers with."""
    torch = libraries.torch()
    if isinstance(result, torch.Tensor):
        return [result] if result.is_floating_point() else []
    parts: list[Any] = []  # a cache has none, for one
    if fields.is_mapping(result):
        parts = list(result.values())
    elif fields.is_list(result):
        parts = list(result)
    return [each for value in parts for each in outputs(value) if value is not None]


class TorchChecks(checks.Checks):
    """The checks of a model of torch."""

    def __init__(self, model: Any, given: dict[str, Any]) -> None:
        super().__init__()
        self._model = model
        self._given = given

    def forward(self) -> str:
        """Call it: the numbers that come out are finite."""
        torch = libraries.torch()
        with torch.no_grad():
            found = outputs(inputs.called(self._model, self._given))
        assert found, "no tensor comes out"
        assert all(bool(torch.isfinite(each).all()) for each in found), (
            "not all that comes out is finite"
        )
        return ""

    def backward(self) -> str:
        """Go back: some parameter has a gradient, and each is finite."""
        torch = libraries.torch()
        self._model.train()
        try:
            found = outputs(inputs.called(self._model, self._given))
            total: Any = sum(each.float().sum() for each in found if each.requires_grad)
            assert isinstance(total, torch.Tensor), "nothing that comes out has a gradient"
            total.backward()
            gradients = [each.grad for each in self._model.parameters() if each.grad is not None]
            assert gradients, "no parameter has a gradient"
            assert all(bool(torch.isfinite(each).all()) for each in gradients), (
                "a gradient isn't finite"
            )
        finally:
            self._model.zero_grad()
            self._model.eval()
        return ""

    def generate(self) -> str:
        """Write two tokens."""
        can = getattr(self._model, "can_generate", lambda: False)
        if not can():
            return "it has no `generate`"
        given = {key: value for key, value in self._given.items() if key != "decoder_input_ids"}
        before = given["input_ids"].shape[1] if "input_ids" in given else 0
        written = self._model.generate(
            **given, max_new_tokens=_NEW_TOKENS, min_new_tokens=_NEW_TOKENS, do_sample=False
        )
        assert written.shape[-1] >= _NEW_TOKENS, "it wrote no tokens after %d" % before
        return ""

    def saved(
        self, folder: str, load: Callable[[str], Any], save: Optional[Callable[[], None]] = None
    ) -> str:
        """Save it and load it: the same comes out, in the same types, and what is shared stays shared."""
        torch = libraries.torch()
        self._model.save_pretrained(folder) if save is None else save()
        loaded = load(folder)
        same = [(str(each.dtype), name) for name, each in self._model.named_parameters()]
        assert same == [(str(each.dtype), name) for name, each in loaded.named_parameters()], (
            "the types of its parameters differ after loading"
        )
        assert skeleton.shared(self._model) == skeleton.shared(loaded), (
            "what was shared isn't any more after loading"
        )
        held, found = self._model.state_dict(), loaded.state_dict()
        assert held.keys() == found.keys(), "it has other tensors after loading"
        for name, each in held.items():
            assert _is_same(each, found[name]), "`%s` has other numbers after loading" % name
        with torch.no_grad():
            torch.manual_seed(2)
            one = outputs(inputs.called(self._model, self._given))
            torch.manual_seed(2)
            other = outputs(inputs.called(loaded, self._given))
        pairs = zip(one, other)
        assert len(one) == len(other), "it answers in another form after loading"
        assert all(_is_close(mine, theirs) for mine, theirs in pairs), (
            "other numbers come out after loading"
        )
        return ""


def _is_same(one: Any, other: Any) -> bool:
    torch = libraries.torch()
    same: bool = one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())
    return same


def _is_close(one: Any, other: Any) -> bool:
    """Whether numbers differ by rounding alone: the same weights at another address are added in another order."""
    torch = libraries.torch()
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    most = _ROUNDINGS * torch.finfo(one.dtype).eps * max(1.0, float(one.abs().max()))
    return bool(((one - other).abs() <= most).all())
