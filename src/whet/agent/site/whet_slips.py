"""Slips that no line fails on, mended while the program runs: a switch for each.

``reseeded-forks``: a forked process draws random numbers of its own, and not those that each of the others
draws; ``alike-forks`` is the control: all draw the same ones still, but others than without it. The rest are
slips of a training with PyTorch.

``eval-without-grad``: what a module does where no gradients are computed, it does in eval mode; dropout
and batch statistics are for training. ``zero-grads``: an optimizer clears the gradients after each step;
otherwise those of earlier steps add to the next ones. ``registered``: a module that is asked for its
parameters, to convert them all or to switch its mode, also has those in its lists and dicts of modules, and its tensors
that take gradients.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    Guard = Callable[[dict[str, Any]], None]

EVAL, ZERO, REGISTERED = "eval-without-grad", "zero-grads", "registered"
RESEEDED, ALIKE = "reseeded-forks", "alike-forks"
SLIPS = {EVAL, ZERO, REGISTERED, RESEEDED, ALIKE}
_SEED = 20_011
_MOST_GENERATORS = 1000
_OF_MODULES = {"_parameters", "_buffers", "_modules"}
_CONTAINERS: Any = (list, tuple, dict)
_MOST_CALLERS = 40
_CONVERT = "_apply"
_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]


class Slips:
    """Mends the slips in this process; tells who called what it has mended."""

    def __init__(self, tell: Callable[..., None], inside: set[str]) -> None:
        self._tell = tell
        self._inside = inside
        self._calls: set[int] = set()
        self._assigned: dict[tuple[int, str], str] = {}
        threads: Any = __import__("_thread")
        self._ident: Callable[[], int] = threads.get_ident

    def guards(self) -> dict[str, Guard]:
        """Return what changes modules when they have been run."""
        guards: dict[str, Guard] = {}
        if {RESEEDED, ALIKE} & self._inside and hasattr(os, "register_at_fork"):
            guards["numpy.random"] = self._reseeding_numpy
            guards["torch"] = self._reseeding_torch
        if {EVAL, REGISTERED} & self._inside:
            guards["torch.nn.modules.module"] = self._mend_modules
        if ZERO in self._inside:
            guards["torch.optim.optimizer"] = self._clearing
        return guards

    def _reseeding_numpy(self, module: dict[str, Any]) -> None:
        """Reseed NumPy's generators in a forked process, as Python reseeds its own."""
        make: Any = module["default_rng"]
        made: list[Any] = []

        def default_rng(*given: Any, **named: Any) -> Any:
            generator = make(*given, **named)
            made.extend([generator] if len(made) < _MOST_GENERATORS else [])
            return generator

        def reseed(seed: int | None) -> None:
            module["seed"](seed)
            for each in made:
                bits = each.bit_generator
                bits.state = bits.__class__(seed).state

        module["default_rng"] = default_rng
        self._at_fork(reseed)

    def _reseeding_torch(self, module: dict[str, Any]) -> None:
        generator = module["default_generator"]

        def reseed(seed: int | None) -> None:
            generator.seed() if seed is None else generator.manual_seed(seed)

        self._at_fork(reseed)

    def _at_fork(self, reseed: Callable[[int | None], object]) -> None:
        switch, seed = (ALIKE, _SEED) if ALIKE in self._inside else (RESEEDED, None)
        os.register_at_fork(
            after_in_child=lambda: reseed(seed), after_in_parent=lambda: self._note(switch, above=3)
        )

    def _mend_modules(self, module: dict[str, Any]) -> None:
        made = module["Module"]
        if EVAL in self._inside:
            self._in_eval_mode(made)
        if REGISTERED in self._inside:
            self._registering(made)

    def _registering(self, made: Any) -> None:
        """Have a module register what it holds when it is asked for its parameters, converts or switches."""
        assign, ask = made.__setattr__, made.named_parameters
        convert = getattr(made, _CONVERT)

        def assigned(own: Any, name: str, value: Any) -> None:
            # Looked at by its classes alone: an attribute may be code of the program's.
            if isinstance(value, _CONTAINERS) or _is_tensor(value):
                self._assigned[id(own), name] = _callers(_frame_above(1))
            assign(own, name, value)

        def named_parameters(own: Any, *given: Any, **named: Any) -> Any:
            for each in list(own.modules()):
                for parameter, place in self._register(each, made):
                    self._tell_if_it_learns(parameter, place)
            return ask(own, *given, **named)

        def converted(own: Any, *given: Any, **named: Any) -> Any:
            found = [one for each in list(own.modules()) for one in self._register(each, made)]
            before = [(each, place, _kind_of(each)) for each, place in found]
            result = convert(own, *given, **named)
            for each, place, kind in before:
                if _kind_of(each) != kind:
                    self._tell(*_registered_at(place))
            return result

        made.__setattr__, made.named_parameters = assigned, named_parameters
        self._switching(made)
        setattr(made, _CONVERT, converted)

    def _switching(self, made: Any) -> None:
        """Have a module register what it holds when it is switched between training and evaluation."""
        switch = made.train

        def train(own: Any, *given: Any, **named: Any) -> Any:
            left_out = [
                (one, self._assigned.get((id(each), name)), one.training)
                for each in list(own.modules())
                for name, value in list(_attributes(each).items())
                for _, one in (() if name in _OF_MODULES else _items_of(value))
                if isinstance(one, made)
            ]
            for each in list(own.modules()):
                self._register(each, made)
            result = switch(own, *given, **named)
            for one, place, mode in left_out:
                if one.training != mode:
                    self._tell(*_registered_at(place))
            return result

        made.train = train

    def _register(self, own: Any, made: Any) -> list[tuple[Any, str | None]]:
        """Register what a module holds; return the parameters that it has by that, with where it got them."""
        torch: Any = sys.modules["torch"]
        found: list[tuple[Any, str | None]] = []
        for name, value in list(_attributes(own).items()):
            if name in _OF_MODULES:
                continue
            learning = [(key, each) for key, each in _items_of(value) if isinstance(each, made)]
            place = self._assigned.get((id(own), name))
            for key, each in learning:
                own.add_module("{}_{}".format(name, str(key).replace(".", "_")), each)
                found += self._register(each, made)
                found += [(one, place) for one in list(each.parameters())]
            is_tensor: bool = (
                isinstance(value, torch.Tensor) and value.requires_grad and value.is_leaf
            )
            if is_tensor:
                delattr(own, name)
                own.register_parameter(name, torch.nn.Parameter(value.data))
                found.append((getattr(own, name), place))
        return found

    def _tell_if_it_learns(self, parameter: Any, place: str | None) -> None:
        """Tell of a parameter when it gets a gradient: one that gets none is meant to stay as it is."""
        if parameter.requires_grad:

            def tell(_gradient: object) -> None:
                self._tell(*_registered_at(place))

            parameter.register_hook(tell)

    def _in_eval_mode(self, made: Any) -> None:
        call = made.__call__

        def called(own: Any, *given: Any, **named: Any) -> Any:
            ident = self._ident()
            is_trained = ident in self._calls or vars(sys.modules["torch"])["is_grad_enabled"]()
            if is_trained or not own.training:
                return call(own, *given, **named)
            self._note(EVAL)
            modes = [(each, each.training) for each in own.modules()]
            own.eval()
            self._calls.add(ident)
            try:
                return call(own, *given, **named)
            finally:
                self._calls.discard(ident)
                for each, mode in modes:
                    each.training = mode

        made.__call__ = called

    def _clearing(self, module: dict[str, Any]) -> None:
        after_steps: Any = module.get("register_optimizer_step_post_hook")

        def clear(optimizer: Any, _given: Any, _named: Any) -> None:
            self._note(ZERO)
            for group in optimizer.param_groups:
                for each in group["params"]:
                    each.grad = None

        if after_steps is not None:  # from PyTorch 2.0 on
            after_steps(clear)

    def _note(self, switch: str, above: int = 2) -> None:
        """Tell that something was mended, and on whose call."""
        self._tell("inside:" + switch, "called:" + _callers(_frame_above(above)))


def _callers(frame: FrameType) -> str:
    """Return a frame and those above it, each with its line."""
    callers: list[str] = []
    above: FrameType | None = frame
    while above is not None and len(callers) < _MOST_CALLERS:
        callers.append("{}:{}".format(above.f_lineno, above.f_code.co_filename))
        above = above.f_back
    return "\x1f".join(callers)


def _registered_at(place: str | None) -> list[str]:
    return ["inside:" + REGISTERED, *(["called:" + place] if place else [])]


def _kind_of(tensor: Any) -> tuple[Any, Any]:
    return tensor.dtype, tensor.device


def _items_of(value: Any) -> list[tuple[Any, Any]]:
    """Return what a list, a tuple or a dict holds, with its keys."""
    if not isinstance(value, _CONTAINERS):
        return []
    keys: list[Any] = list(value if hasattr(value, "keys") else range(len(value)))
    return [(key, value[key]) for key in keys]


def _is_tensor(value: Any) -> bool:
    return any(each.__name__ == "Tensor" for each in type(value).__mro__)


def _attributes(own: Any) -> dict[str, Any]:
    return own.__dict__  # type: ignore[no-any-return]
