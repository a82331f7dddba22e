"""whet's own git objects: in the user's state folder, not in the repository.

They contain uncommitted files, such as a file of passwords that git doesn't ignore. Objects and
references in the repository go wherever the repository goes: `git push --mirror`, `git clone`, a copy.
These don't, and git reads them as objects of an alternate.
"""

import os
from contextlib import suppress
from pathlib import Path

from whet.core.errors import CannotWrite
from whet.host.files.files import write_atomically
from whet.host.files.user_state import make_private, user_state

VARIABLE = "GIT_ALTERNATE_OBJECT_DIRECTORIES"


def own_folder() -> str:
    """Return the user's state folder; empty if there can be none. It need not be there yet.

    It may lie in a project, such as a home that is a repository: nothing in it is part of that.
    """
    with suppress(CannotWrite):
        return str(user_state(os.environ))
    return ""


def object_store() -> str:
    """Return the folder; empty if the user has none of their own. It need not be there yet."""
    folder = own_folder()
    return os.path.join(folder, "objects") if folder else ""


def plain_git_folder() -> str:
    """Return a git directory of whet's own that stays empty; empty if the user has no folder.

    A folder that is in no repository has its code kept by it: git wants one for each question.
    """
    folder = own_folder()
    return os.path.join(folder, "plain") if folder else ""


def make_plain_git_folder(folder: str) -> None:
    """Make it, if it doesn't exist.

    Raises:
        OSError: if it may not be made.
    """
    head = os.path.join(folder, "HEAD")
    if os.path.exists(head):
        return
    for name in ("refs", "objects"):
        make_private(Path(folder, name))
    write_atomically(Path(head), b"ref: refs/heads/none\n", mode=0o600)


def has_object(name: str) -> bool:
    """Whether whet keeps an object of this name itself."""
    store = object_store()
    return bool(store) and os.path.exists(os.path.join(store, name[:2], name[2:]))
