"""What whet keeps of an environment: no secrets, and nothing that changes on its own."""

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from whet.core.errors import WhetError
from whet.host.files.files import write_atomically
from whet.host.trial.trial_secrets import variable_with

_VOLATILE = frozenset({"_", "COLORFGBG", "COLUMNS", "GPG_AGENT_INFO", "GPG_TTY", "HISTCMD",
                       "INVOCATION_ID", "JOURNAL_STREAM", "LINES", "MAKEFLAGS", "MAKELEVEL",
                       "MFLAGS", "OLDPWD", "PROMPT", "PS1", "PWD", "PYTEST_CURRENT_TEST",
                       "RANDOM", "SECONDS", "SHLVL", "STY", "SYSTEMD_EXEC_PID",
                       "TERM_SESSION_ID", "TMUX", "TMUX_PANE", "WINDOW",
                       "WINDOWID"})  # fmt: skip
_VOLATILE_PREFIXES = ("ALACRITTY_", "DBUS_", "ITERM_", "KITTY_", "KONSOLE_", "SSH_", "VSCODE_",
                      "VTE_", "WEZTERM_", "WHET_", "WT_", "XDG_SESSION_", "XDG_SEAT",
                      "XDG_VTNR", "ZELLIJ")  # fmt: skip

_SALT_BYTES = 32
_MARK_CHARACTERS = 6


def environment_to_keep(environment: Mapping[str, str], *, state: Path) -> dict[str, str]:
    """Return the variables that a trial's record may show, sorted by name.

    A secret is replaced by a mark that tells whether it has changed, and no more.

    Args:
        environment: what the trial inherits.
        state: where the project's salt is kept.
    """
    salt = salt_of(state)
    return {
        name: variable_with(name, environment[name], lambda piece: _mark(piece.text, salt))
        for name in sorted(environment)
        if not changes_by_itself(name)
    }


def changes_by_itself(name: str) -> bool:
    """Whether a variable of this name differs from one shell or session to the next."""
    return name in _VOLATILE or name.startswith(_VOLATILE_PREFIXES)


def _mark(value: str, salt: bytes) -> str:
    data = value.encode("utf-8", "surrogateescape")
    # 24 bits show a change but not the secret: of a list of guesses one in 16 million fits by
    # chance, so that even with the salt no guess can be confirmed.
    digest = hashlib.blake2b(data, key=salt, digest_size=16).hexdigest()
    return f"<secret {digest[:_MARK_CHARACTERS]}>"


def salt_of(state: Path) -> bytes:
    """Return the random bytes of a state folder, made at their first use."""
    path = state / "salt"
    try:
        salt = path.read_bytes()
    except OSError:
        salt = b""
    if len(salt) == _SALT_BYTES:
        return salt
    salt = os.urandom(_SALT_BYTES)
    # If it can't be kept, marks differ from one whet to the next, and show nothing either.
    with suppress(OSError, WhetError):
        write_atomically(path, salt, mode=0o600)
    return salt
