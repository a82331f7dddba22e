"""The options of ``whet bisect`` that search packages and Pythons."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import click

P = ParamSpec("P")
R = TypeVar("R")

_OPTIONS = [
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


def package_options(function: Callable[P, R]) -> Callable[P, R]:
    """Add the options for searches over packages and Pythons to a verb."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
