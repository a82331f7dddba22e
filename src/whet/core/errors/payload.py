"""Errors about a payload and its format."""

from whet.core.errors.base import DATA, NO_INPUT, NO_PERMISSION, UNAVAILABLE, USAGE, WhetError


class PayloadMissing(WhetError):
    """The file to shrink doesn't exist. Check the path; it is relative to `--cwd`."""

    exit_code = NO_INPUT


class PayloadEmpty(WhetError):
    """The file to shrink is empty: there is nothing to remove."""

    exit_code = DATA


class PayloadIsFolder(WhetError):
    """The command's standard input can't be a folder. Name one file in it.

    whet can shrink a folder that is one of the command's arguments: `whet shrink FOLDER -- COMMAND FOLDER`.
    """

    exit_code = DATA


class PayloadTooLarge(WhetError):
    """The folder to shrink is too large: each trial gets a copy of it.

    Move out what the failure doesn't need, such as `.git`, environments and build folders, or
    name a subfolder.
    """

    exit_code = DATA


class PayloadUnreadable(WhetError):
    """whet can't read the file to shrink. `ls -l FILE` shows who can read it."""

    exit_code = NO_PERMISSION


class PayloadNotInCommand(WhetError):
    """The command doesn't name the file to shrink, so whet can't vary it.

    Write it there exactly as you give it to `whet shrink`, or write `{}` instead:
    `whet shrink data.csv -- python load.py --input={}`. Standard input is `--stdin FILE`.
    """

    exit_code = USAGE


class UnknownFormat(WhetError):
    """There is no payload format with that name.

    Without a name, whet looks at the content and uses every format that fits. The message
    lists all formats.
    """

    exit_code = USAGE


class NotEnoughMemory(WhetError):
    """What you asked for takes more memory than this machine has left. whet made nothing.

    Make it smaller: most failures show on a payload with two rows.
    """

    exit_code = UNAVAILABLE
