"""whet's own working trees, in which other revisions run next to the user's checkout."""

import errno
import os
import re
import threading
from functools import cached_property
from pathlib import Path

from whet.core.errors import HostFailure, UnknownRevision
from whet.core.trial import CodeState
from whet.host.code.checkout import check_out
from whet.host.code.code_restore import raw_folder, restore
from whet.host.code.relocation import Relocation
from whet.host.code.set_up import SetUp
from whet.host.code.submodules import populate_submodules
from whet.host.files.files import remove_tree, storage_error
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.git import GitFailedError, Repository

# git lists all worktrees to add one, and stops at one that another git is just adding
# ("failed to read .git/worktrees/NAME/commondir: Success"). A lock keeps the threads of one
# whet apart; another whet may still be in the way for as long as a file is written.
_ATTEMPTS = 5
_SET_UP = 3  # slots with a setup of another state that are kept beside those in use
_UNFILTERED = (
    "a git filter fails on a commit (is git-lfs installed, are its objects here?), or only the"
    " repository's own settings name it (whet runs those of `git config --global`): files are"
    " there as they are committed, such as pointers"
)
_LEAST_BYTES = 64 * 1024
_FULL_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

_TRY = "try it yourself: `git worktree add --detach /tmp/try COMMIT`"
_OF_PARTIAL_CLONE = "promisor remote"
_PARTIAL = (
    "this is a partial clone, and whet lets git fetch only if the remote answers and the repository's own settings"
    " name no programs (`git config --local --list`); fetch the rest first: `git fetch --refetch --no-filter`"
)


class Worktrees:
    """Slots that are brought from revision to revision and used again.

    The user's checkout, index, HEAD and stash aren't touched; what git writes down about a
    slot is removed with it. Safe for many threads: each slot belongs to one at a time.

    Args:
        repository: the user's working tree, or a bare repository.
        cleanup_journal: where slots are written down before they are made.
        place: folder for the slots; short, as programs put sockets and build paths below it.
    """

    def __init__(
        self, repository: Repository, cleanup_journal: CleanupJournal, place: Path
    ) -> None:
        self.repository = repository
        self._cleanup_journal = cleanup_journal
        self._place = Path(os.path.realpath(place))
        self._lock = threading.Lock()
        self._adding = threading.Lock()
        self._free: dict[Path, str] = {}  # slot to the commit that it is on
        self._used: dict[Path, str] = {}
        self._notes: dict[Path, tuple[str, ...]] = {}
        self._set_up: dict[Path, SetUp] = {}
        self._unfiltered: set[Path] = set()

    @cached_property
    def git_folder(self) -> str:
        """Git's own folder of the repository, which all its working trees share; a real path."""
        question = ("rev-parse", "--path-format=absolute", "--git-common-dir")
        return os.path.realpath(self.repository.get(*question))

    def checkout(self, revision: str, state: str = "") -> Path:
        """Return a folder that holds ``revision`` and nothing else, until it is given back.

        Args:
            revision: what to check out.
            state: digest of all that a setup reads there. What the setup left in a slot
                (`note_set_up`) stays in it for revisions of the same state.

        Raises:
            UnknownRevision: if the repository doesn't have it.
            HostFailure: if it can't be checked out.
        """
        commit = self.commit_of(revision)
        slot = self._slot_for(commit, state)
        notes = populate_submodules(self.repository, commit, slot)
        with self._lock:
            unfiltered = (_UNFILTERED,) if slot in self._unfiltered else ()
            self._notes[slot] = (*notes, *unfiltered)
        return slot

    def checkout_code(self, code: CodeState) -> Path:
        """Return a folder that holds the files a trial ran on, until it is given back.

        HEAD is what it was; what was not committed is there as uncommitted changes.

        Raises:
            CodeNotKept: if the repository no longer has it.
            UnknownRevision: if the repository no longer has the commit below it.
            HostFailure: if it can't be checked out.
        """
        slot = self._slot_for(self.commit_of(code.commit or code.snapshot or "HEAD"))
        self._cleanup_journal.adopt("folder", str(raw_folder(slot)))
        try:
            notes = restore(self.repository, code, slot)
        finally:
            self._cleanup_journal.discard(raw_folder(slot))
        with self._lock:
            self._notes[slot] = notes
            self._used[slot] = ""
        return slot

    def commit_of(self, revision: str) -> str:
        """Return the full name of the commit that ``revision`` means.

        Raises:
            UnknownRevision: if the repository has none of that name; a full name isn't looked up.
        """
        if _FULL_NAME.fullmatch(revision):
            return revision  # a search asks for many; that one is missing shows at its checkout
        return self._looked_up(revision)

    def _looked_up(self, revision: str) -> str:
        what = ("--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        answer = self.repository.ask("rev-parse", *what)
        if answer.exit_code != 0:
            raise UnknownRevision(
                f"`{self.repository.top}` has no revision `{revision}`",
                hint="`git log --oneline` and `git tag` list its revisions",
            )
        # With `--end-of-options` git 2.30 to 2.39 print that option too.
        return answer.text.split("\n")[-1]

    def notes_on(self, slot: Path) -> tuple[str, ...]:
        """Return what isn't in the slot as it was for the user, in sentences."""
        with self._lock:
            return self._notes.get(slot, ())

    def relocation(self, slot: Path) -> Relocation:
        """Return what folders and commands are called in the slot."""
        return Relocation(repository=self.repository, place=slot)

    def is_set_up(self, slot: Path) -> bool:
        """Whether what a setup left is in the slot."""
        return slot in self._set_up

    def note_set_up(self, slot: Path, state: str) -> None:
        """Keep what is in the slot now for other revisions of this state."""
        set_up = SetUp.of(slot, state)
        with self._lock:
            self._set_up[slot] = set_up

    def environment_beside(self, slot: Path) -> Path:
        """Return a new empty folder for what is installed for this slot; it goes with its setup."""
        folder = slot.with_name(f"{slot.name}-env")
        self._cleanup_journal.adopt("folder", str(folder))
        remove_tree(folder)
        folder.mkdir()
        return folder

    def give_back(self, slot: Path) -> None:
        """Say that nothing runs in the slot any more: it may be used for another revision."""
        with self._lock:
            if slot in self._used:
                self._free[slot] = self._used.pop(slot)

    def discard_all(self) -> None:
        """Remove every slot, those in use too, and what git wrote down about them."""
        with self._lock:
            slots = [*self._free, *self._used]
            self._free.clear()
            self._used.clear()
        for slot in slots:
            self._cleanup_journal.discard(slot)

    def _slot_for(self, commit: str, state: str = "") -> Path:
        slot = self._take_free(commit, state)
        if slot is not None:
            try:
                self._bring(slot, commit, state)
            except (GitFailedError, OSError):
                # A trial may break what it runs in: a lock left behind, a folder without rights.
                with self._lock:
                    del self._used[slot]
                    self._set_up.pop(slot, None)
                self._cleanup_journal.discard(slot)
            else:
                return slot
        return self._new_slot(commit)

    def _bring(self, slot: Path, commit: str, state: str) -> None:
        """Bring a slot to a commit, with what its setup left if that is of the same state."""
        with self._lock:
            set_up = self._set_up.get(slot)
        if set_up is not None and set_up.state == state:
            self._check_out(slot, commit, is_clean=False)
            if set_up.put_back(slot):
                return
        with self._lock:
            self._set_up.pop(slot, None)
        self._check_out(slot, commit)

    def _check_out(self, slot: Path, commit: str, *, is_clean: bool = True) -> None:
        is_filtered = check_out(slot, commit, is_clean=is_clean)
        with self._lock:
            self._unfiltered.discard(slot)
            if not is_filtered:
                self._unfiltered.add(slot)

    def _take_free(self, commit: str, state: str) -> Path | None:
        with self._lock:
            if not self._free:
                return None
            # One that is there already needs the least work.
            ranks = {slot: self._rank(slot, commit, state) for slot in self._free}
            slot = min(ranks, key=lambda slot: ranks[slot])
            if ranks[slot][0] and len(self._free) < _SET_UP:
                return None  # the setup in it may be wanted again
            del self._free[slot]
            self._used[slot] = commit
            return slot

    def _rank(self, slot: Path, commit: str, state: str) -> tuple[bool, bool, bool]:
        """Return how much there is to lose, and then to do, if a slot is taken."""
        set_up = self._set_up.get(slot)
        is_other = set_up is not None and set_up.state != state
        return is_other, set_up is None and bool(state), self._free[slot] != commit

    def _new_slot(self, commit: str) -> Path:
        self._place.mkdir(parents=True, exist_ok=True)
        slot = self._place / os.urandom(3).hex()
        self._cleanup_journal.adopt("worktree", str(slot), repository=self.repository.worktrees_of)
        try:
            self._add_worktree(slot, commit)
            self._check_out(slot, commit)
        except (GitFailedError, OSError) as error:
            is_full = _is_full(self._place)  # git says only that it can't write
            self._cleanup_journal.discard(slot)
            if is_full:
                raise storage_error(OSError(errno.ENOSPC, ""), slot) from error
            self._looked_up(commit)
            raise HostFailure(
                f"git can't check out `{commit[:10]}`: {error}",
                hint=_PARTIAL if _OF_PARTIAL_CLONE in str(error) else _TRY,
            ) from error
        with self._lock:
            self._used[slot] = commit
        return slot

    def _add_worktree(self, slot: Path, commit: str) -> None:
        how = ("--quiet", "--detach", "--no-checkout", "--force")
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._adding:
                    self.repository.get("worktree", "add", *how, str(slot), commit)
            except GitFailedError:
                if attempt == _ATTEMPTS:
                    raise
            else:
                return


def _is_full(folder: Path) -> bool:
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize < _LEAST_BYTES or (room.f_files > 0 and not room.f_favail)
