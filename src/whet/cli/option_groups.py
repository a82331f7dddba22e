"""Options that all verbs take which run trials: each declares the group in which help shows it."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from typing import Any

COMMAND, STOPPING, BAD = "The command", "Stopping it", "What counts as bad"
LIMITS, MACHINE, NOTES = "Limits", "The machine", "Your notes"
GROUPS = (COMMAND, STOPPING, BAD, LIMITS, MACHINE, NOTES)
"""The groups in the order in which help shows them."""


class GroupedOption(click.Option):
    """An option of a group.

    Attributes:
        group: one of `GROUPS`.
    """

    def __init__(self, *words: "Any", group: str, **more: "Any") -> None:
        """Make it as click does."""
        super().__init__(*words, **more)
        self.group = group


def options_of(group: str) -> "Callable[..., Callable[[Any], Any]]":
    """Return what declares an option of a group, as `click.option` declares another one."""
    return partial(click.option, cls=GroupedOption, group=group)
