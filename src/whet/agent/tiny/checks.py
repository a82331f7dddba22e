"""What a small model must do before it is called made."""

from __future__ import annotations

from typing import Callable

from .refusals import brief, no_space


class Checks:
    """The checks of one model, in order.

    Attributes:
        results: for each its name, its state (`ok`, `failed`, `none`) and why.
    """

    def __init__(self) -> None:
        self.results: list[dict[str, str]] = []

    def run(self, name: str, check: Callable[[], str]) -> None:
        """Run one check: it returns why there is nothing to check, or raises.

        Raises:
            OSError: if there is no space left, which says nothing about the model.
        """
        try:
            nothing = check()
        except Exception as error:  # whatever the user's libraries raise
            full = no_space(error)
            if full is not None:
                raise full from error
            self.results.append({"name": name, "state": "failed", "why": brief(error)})
            return
        self.results.append({"name": name, "state": "none" if nothing else "ok", "why": nothing})
