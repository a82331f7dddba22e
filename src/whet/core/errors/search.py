"""Errors about the things that a search needs."""

from whet.core.errors.base import DATA, INCOMPLETE, UNAVAILABLE, WhetError


class BaselineDoesNotFail(WhetError):
    """The command doesn't fail, so there is nothing to search for.

    A search needs a failure. Run the command until it fails; for a failure that comes and goes, use
    `whet repeat --amplify -- COMMAND`. If the command exits 0 although it is wrong, define "bad":
    `--bad-if 'stdout ~ NaN'`, `--bad-if 'seconds > 2'`, `--oracle SCRIPT`.
    """

    exit_code = DATA


class CopyFailsOtherwise(WhetError):
    """The command fails on the file itself, but not in the same way on a copy of it.

    A search varies a copy in a folder of its own, with links to the files next to the original.
    This program also reads something else, such as the folders above or the file's exact path.
    Move the data into a file that the program takes as an argument, or let a script put the copy in
    place: `whet shrink FILE --interesting SCRIPT`.
    """

    exit_code = DATA


class InputChanged(WhetError):
    """A file that no version contains changed while the search ran, such as the script or the oracle.

    Some versions ran with the old file, some with the new one: run the same line again.
    """

    exit_code = INCOMPLETE


class CheckHasNoPlace(WhetError):
    """The lines that fail today can't be put into an older version of their file.

    `whet investigate` tries today's check on older commits that lack it. Where the function that holds it
    doesn't exist yet, or was written quite differently, whet skips the commit: it says nothing about
    the cause.
    """

    exit_code = DATA


class SetupFailed(WhetError):
    """The command of `--setup` failed on a commit.

    Inside a search whet skips such a commit; at an end of the search, name another end, or fix
    the command: it starts at the top of a checkout of that commit, and in a separate Python
    environment if it names a Python tool.
    """

    exit_code = UNAVAILABLE


class NeverSucceeds(WhetError):
    """`whet starve --find` searches for the smallest amount that a command needs, but it never succeeds.

    It also fails without that limit: remove the other limits, or use `whet run` to see why.
    """

    exit_code = DATA
