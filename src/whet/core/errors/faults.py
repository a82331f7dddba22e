"""Errors that the user didn't cause."""

from whet.core.errors.base import SOFTWARE, WhetError


class HostFailure(WhetError):
    """The operating system refused something that whet needs."""

    exit_code = 71


class InternalFault(WhetError):
    """whet has a bug. Please report it with the file that the message names."""

    exit_code = SOFTWARE
