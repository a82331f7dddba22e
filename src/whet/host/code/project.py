"""Where a project's state lives."""

import hashlib
import hmac
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from whet.core.errors import CannotWrite, StateNotOwned
from whet.core.text.shell_words import quoted
from whet.core.value_class import value_class
from whet.host.code.plain_folders import others_may_write
from whet.host.files.files import sync, write_atomically
from whet.host.files.refused import refused
from whet.host.files.user_key import user_key
from whet.host.files.user_state import is_private, make_private, user_state

STATE_FOLDER = ".whet"

_SUBFOLDERS = ("blobs", "made", "scratch", "pycache")
_MORE = ("claims", "worktrees", os.path.join("blobs", "incoming"))
ROOT_FILE = "root"
"""Names the project, for people who look at the folders of state."""

_IGNORE_FILE, _OWNER_FILE, _NOTEBOOK = ".gitignore", "owner", "notebook.db"


@value_class(kw_only=True)
class Project:
    """A project: the folder that whet works in, and where it keeps what it knows.

    Attributes:
        root: nearest folder upwards with a `.whet` or a `.git`, else the folder itself. A `.whet`
            that belongs to another user, or is in a folder that others can write to, such as `/tmp`,
            doesn't count.
        state: where the notebook is: in the user's own state folder, never in the project, as what
            is there may come from anybody. `WHET_DIR` moves it. `prepare` makes it.
        folder: where whet was called.
        key: the user's, with which a folder that `WHET_DIR` names is sealed; empty: it needs none.
    """

    root: Path
    state: Path
    folder: Path
    key: bytes = b""

    @classmethod
    def find(cls, folder: Path, environment: Mapping[str, str]) -> "Project":
        """Return the project that ``folder`` is in; nothing is made there yet.

        Raises:
            CannotWrite: if there is no folder of the user's own for its state.
        """
        folder = Path(os.path.abspath(folder))
        root = _nearest_marked(folder) or folder
        setting = environment.get("WHET_DIR", "")
        if setting:
            state = Path(os.path.abspath(folder / setting))
            return cls(root=root, state=state, folder=folder, key=user_key(environment))
        state = user_state(environment) / "projects" / _name_of(root)
        return cls(root=root, state=state, folder=folder)

    def prepare(self) -> None:
        """Make the state folder, which only the user may enter.

        Raises:
            CannotWrite: if it may not be made.
            DiskFull: if there is no space for it.
            StateNotOwned: if it is there and this user's whet has not made it on this machine.
        """
        self._check("")
        if not os.path.lexists(self.state / _SUBFOLDERS[-1]):  # made last: the rest is there
            self._make()
        for name in (*_SUBFOLDERS, *_MORE):
            self._check(name)
        if self.key and not self._is_sealed():
            raise not_owned(self.state)

    def _check(self, name: str) -> None:
        folder = self.state / name
        if os.path.isdir(folder) and not is_private(folder, others_may_write=True):
            raise StateNotOwned(
                f"`{folder}` isn't your own folder: it's a link, or another user owns it",
                hint="move it away, or set `WHET_DIR` to another folder that isn't a link",
            )

    def _make(self) -> None:
        try:
            make_private(self.state)
            names = set(os.listdir(self.state))
            if names & {_NOTEBOOK, *_SUBFOLDERS} and self.key and not self._is_sealed():
                raise not_owned(self.state)
            # A folder in which more lies is one that WHET_DIR names: its files aren't ours to
            # hide. What a whet that was killed here left behind has no more than these files.
            if names <= {_IGNORE_FILE, _OWNER_FILE}:
                write_atomically(self.state / _IGNORE_FILE, b"*\n", mode=0o600)
            self.seal()
            if not self.key:
                root = os.fsencode(os.path.realpath(self.root))
                write_atomically(self.state / ROOT_FILE, root, mode=0o600)
            for name in _SUBFOLDERS:
                (self.state / name).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            if (refusal := refused(error)) is not None:
                raise refusal from error
            # A file in its place, say: whatever it is, the next step is the same.
            raise CannotWrite(
                f"whet can't create the folder `{self.state}`: {error.strerror}",
                hint="set `WHET_DIR` to a folder that you can write to",
            ) from error

    def seal(self) -> None:
        """Write down that this user's whet has made the folder that `WHET_DIR` names."""
        if self.key:
            owner = self.state / _OWNER_FILE
            write_atomically(owner, self._seal().encode(), mode=0o600)
            sync(owner)
            sync(self.state)

    def _is_sealed(self) -> bool:
        with suppress(OSError, UnicodeDecodeError):
            seal = (self.state / _OWNER_FILE).read_text("ascii")
            return hmac.compare_digest(seal, self._seal())
        return False

    def _seal(self) -> str:
        # The inode is what a clone, a copy or an archive doesn't bring along.
        what = f"{self.state.stat().st_ino}".encode()
        return hashlib.blake2b(what, key=self.key).hexdigest()


def not_owned(state: Path) -> StateNotOwned:
    """Return the error for a folder of trials that whet has not made for this user here."""
    return StateNotOwned(
        f"`{state}` holds trials that your whet didn't record on this machine",
        hint=f"`whet notebook adopt {quoted(str(state))}` shows and adopts them",
    )


def _name_of(root: Path) -> str:
    """Return what the state of a project is called: its folder's name, and which one that is."""
    real = os.path.realpath(root)
    name = "".join(each if each.isalnum() or each in "-_." else "_" for each in root.name)
    return f"{name[:40] or 'root'}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:12]}"


def _nearest_marked(folder: Path) -> Path | None:
    # `.git` is a file in worktrees and submodules; a file `.whet` isn't whet's.
    # Not `Path.exists`, which raises where a folder above may not be entered.
    trusted = {os.geteuid(), _owner_of(folder)}  # root may work in the folder of a user
    for each in (folder, *folder.parents):
        state, repository = each / STATE_FOLDER, each / ".git"
        is_marked = os.path.isdir(state) and _owner_of(state) in trusted
        if (is_marked and not others_may_write(each)) or (
            os.path.exists(repository) and _owner_of(repository) in trusted
        ):
            return each
    return None


def _owner_of(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None
