"""How a user names a trial: by number, by name, or counted from the last one."""

import re
from typing import TYPE_CHECKING

import click

from whet.core.text.quantity import bounded

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COUNTED = re.compile(r"-([1-9][0-9]{0,8})")
"""It looks like an option; `last~N` doesn't."""


class TrialName(click.ParamType[int | str]):
    """A trial: ``12``, ``base``, ``last``, ``last~2``; ``-1`` is the last, ``-2`` the one before."""

    name = "trial"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Return a number, or a name for the notebook to find."""
        words = _counted(str(value))
        return bounded(words) if words.isascii() and words.isdigit() else words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        """Return the trials that it may be."""
        from whet.cli.completion import completed_trial

        return completed_trial(incomplete)


class TrialCommand(click.Command):
    """A command about trials: ``-1`` and ``-2`` are trials, and no options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        return super().parse_args(ctx, [_counted(each) for each in args])


def _counted(word: str) -> str:
    match = _COUNTED.fullmatch(word)
    return word if match is None else f"last~{int(match[1]) - 1}"
