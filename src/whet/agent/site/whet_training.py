"""Two slips of a training with PyTorch, mended while it runs: a switch for each.

``eval-without-grad``: what a module does where no gradients are computed, it does in eval mode; dropout
and batch statistics are for training. ``zero-grads``: an optimizer clears the gradients after each step;
otherwise those of earlier steps add to the next ones.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    Guard = Callable[[dict[str, Any]], None]

EVAL, ZERO = "eval-without-grad", "zero-grads"
_MOST_CALLERS = 40
_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]


class Training:
    """Mends a training in this process; tells who called what it has mended."""

    def __init__(self, tell: Callable[..., None], inside: set[str]) -> None:
        self._tell = tell
        self._inside = inside
        self._calls: set[int] = set()
        threads: Any = __import__("_thread")
        self._ident: Callable[[], int] = threads.get_ident

    def guards(self) -> dict[str, Guard]:
        """Return what changes the modules of PyTorch."""
        guards: dict[str, Guard] = {}
        if EVAL in self._inside:
            guards["torch.nn.modules.module"] = self._in_eval_mode
        if ZERO in self._inside:
            guards["torch.optim.optimizer"] = self._clearing
        return guards

    def _in_eval_mode(self, module: dict[str, Any]) -> None:
        made = module["Module"]
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

    def _note(self, switch: str) -> None:
        """Tell that something was mended, and on whose call."""
        callers: list[str] = []
        above: FrameType | None = _frame_above(2)
        while above is not None and len(callers) < _MOST_CALLERS:
            callers.append("{}:{}".format(above.f_lineno, above.f_code.co_filename))
            above = above.f_back
        self._tell("inside:" + switch, "called:" + "\x1f".join(callers))
