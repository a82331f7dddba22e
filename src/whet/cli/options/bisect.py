"""The options of ``whet bisect`` that search packages and Pythons."""

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import click

from whet.core.errors import BadUsage

P = ParamSpec("P")
R = TypeVar("R")

_OPTIONS = [
    click.option(
        "--with",
        "pins",
        multiple=True,
        metavar="NAME==VERSION",
        help="With --package: install this release of another package, too.",
    ),
    click.option(
        "--packages",
        is_flag=True,
        help="Find the package: GOOD and BAD are files of pins, `now`, or a date.",
    ),
    click.option(
        "--python",
        "pythons",
        default="",
        metavar="3.10..3.13",
        help="Search Python versions; name a set of packages to install it on each.",
    ),
]


def pinned(words: Sequence[str], package: str) -> dict[str, str]:
    """Return the releases that stand beside those of the package that is searched.

    Raises:
        BadUsage: if a word names no release, or no package is searched.
    """
    pins: dict[str, str] = {}
    for word in words:
        name, _, version = (part.strip() for part in word.partition("=="))
        if not name or not version or not package or name == package:
            raise BadUsage(
                f"`--with {word}` doesn't name a release of a second package",
                hint="write `whet bisect --package numpy --with pandas==2.1.0 GOOD BAD -- COMMAND`",
            )
        pins[name] = version
    return pins


def package_options(function: Callable[P, R]) -> Callable[P, R]:
    """Add the options for searches over packages and Pythons to a verb."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
