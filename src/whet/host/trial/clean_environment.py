"""The environment of a program right after a login, before a shell adds to it."""

import os
import pwd

_PATH = "/usr/local/bin:/usr/bin:/bin"


def clean_environment() -> dict[str, str]:
    """Return the variables of a fresh login of the present user."""
    try:
        user = pwd.getpwuid(os.getuid())
    except KeyError:  # a container that runs as a number
        return {"PATH": _PATH}
    return {
        "HOME": user.pw_dir,
        "LOGNAME": user.pw_name,
        "PATH": _PATH,
        "SHELL": user.pw_shell,
        "USER": user.pw_name,
    }
