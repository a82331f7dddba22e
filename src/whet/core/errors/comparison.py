"""Errors of a comparison."""

from whet.core.errors.base import DATA, WhetError


class OutputsDiffer(WhetError):
    """The two commands that are compared print different things, so they don't do the same work.

    A faster program that gives another answer isn't faster. Times, dates, addresses, process numbers,
    and lines that also differ between two runs of one command don't count. If the difference
    doesn't matter, write `--any-output`.
    """

    exit_code = DATA


class ArmFails(WhetError):
    """One of the two commands that are compared fails, or ends in another way than the other one.

    How long a program runs until it fails says nothing about how long it takes. Fix it first:
    `whet investigate -- COMMAND`. If both are meant to end like that, write `--any-output`.
    """

    exit_code = DATA
