"""A journal of the resources that whet makes on the machine, written before it makes them.

It has one small file for each resource, named after the process that owns it. If whet was killed by
SIGKILL, the next one removes its resources (`CleanupJournal.sweep`).

The files are in the project's state folder. `WHET_DIR` can name a folder that came from anyone, so each
file is sealed with the user's own key, and whet ignores a file without a valid seal. A sweep removes
only resources that whet made.
"""

import errno
import hashlib
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from whet.core.errors import CannotWrite, HostFailure
from whet.core.text.json_record import Record
from whet.core.text.record import MalformedRecordError, as_record, decoded, text
from whet.core.value_class import value_class
from whet.host.files.files import path_of_part, remove_tree, storage_error, write_atomically
from whet.host.files.user_key import user_key
from whet.host.process.process_identity import ProcessIdentity

Kind: TypeAlias = Literal["folder", "worktree", "process", "group"]

SLOT_VARIABLE = "WHET_SLOT"
"""Marks each process of a trial with the spawner that it belongs to."""

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_NO_PLACE = {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS}


@value_class(kw_only=True)
class Resource(Record):
    """One thing that whet made.

    Attributes:
        kind: what it is.
        what: path of a folder, worktree or control group; pid of a process.
        repository: top folder of the repository that a worktree belongs to.
        start_ticks: start of a process, so that another one with its pid is left alone.
        token: what `WHET_SLOT` says in the environment of a process's descendants.
    """

    kind: Kind
    what: str
    repository: str = ""
    start_ticks: int = 0
    token: str = ""

    def remove(self) -> None:
        """Remove it from the machine; one that is gone is fine.

        Raises:
            OSError: if it can't be removed.
        """
        if self.kind == "process":
            ProcessIdentity(int(self.what), self.start_ticks).kill(signal.SIGKILL)
            if self.token:
                kill_marked(self.token)
        elif self.kind == "group":
            from whet.host.kernel.control_groups import remove_group

            remove_group(self.what)
        elif self.kind == "worktree":
            _remove_worktree(self.repository, Path(self.what))
        else:
            remove_tree(Path(self.what))


class CleanupJournal:
    """The registry of what this whet made, and of what dead ones left.

    Safe for many threads, and for many whets at once on one folder. A folder that several
    machines share is fine too: each sweeps only after the whets of its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mine: dict[str, tuple[Resource, Path]] = {}
        self._lock = threading.Lock()
        self._made = 0
        self._key: bytes | None = None
        owner = ProcessIdentity.of(os.getpid())
        self._owner = ProcessIdentity(os.getpid(), 0) if owner is None else owner

    def temporary_folder(self, prefix: str = "whet-") -> Path:
        """Make an empty folder under ``$TMPDIR`` that only this user may enter.

        Raises:
            DiskFull: if there is no space left.
            CannotWrite: if it may not be made.
        """
        parent = Path(os.environ.get("TMPDIR") or "/tmp").absolute()  # noqa: S108 - a name nobody can guess, mode 0700
        while True:
            name = "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in os.urandom(8))
            path = parent / f"{prefix}{name}"
            self.adopt("folder", str(path))
            try:
                path.mkdir(mode=0o700)
            except FileExistsError:
                self.forget(str(path))
            except OSError as error:
                self.forget(str(path))
                if error.errno in _NO_PLACE:
                    raise CannotWrite(
                        f"whet can't make a folder in `{parent}`, where temporary files go: {error.strerror}",
                        hint="set `TMPDIR` to a folder that you can write to, or unset it",
                    ) from error
                raise storage_error(error, path) from error
            else:
                return path

    def write_file(self, path: Path, data: bytes, *, mode: int = 0o666) -> None:
        """Write a file whole or not at all; the part goes too when whet is killed on the way.

        Args:
            path: the file.
            data: what it will hold.
            mode: permissions of a new file, less the umask.

        Raises:
            DiskFull: if there is no space left; ``path`` is as it was.
            CannotWrite: if the folder may not be written to; ``path`` is as it was.
        """
        beside = path_of_part(path)
        self.adopt("folder", str(beside))
        try:
            write_atomically(path, data, mode=mode, beside=beside)
        finally:
            if not os.path.lexists(beside):
                self.forget(str(beside))

    def adopt(
        self,
        kind: Kind,
        path_or_pid: str,
        *,
        repository: str = "",
        token: str = "",
    ) -> None:
        """Write down that this whet owns a thing; best done just before it is made.

        Args:
            kind: what it is.
            path_or_pid: absolute path of a folder or worktree; pid of a process.
            repository: top folder of the repository that a worktree belongs to.
            token: for a process, what `WHET_SLOT` says in its descendants' environment.

        Raises:
            DiskFull: if there is no space left.
            CannotWrite: if the registry may not be written.
        """
        start_ticks = 0
        if kind == "process":
            identity = ProcessIdentity.of(int(path_or_pid))
            start_ticks = 0 if identity is None else identity.start_ticks
        resource = Resource(
            kind=kind,
            what=path_or_pid,
            repository=repository,
            start_ticks=start_ticks,
            token=token,
        )
        with self._lock:
            self._made += 1
            record = self._folder / f"{self._owner.pid}-{self._owner.start_ticks}-{self._made}.json"
            self._mine[path_or_pid] = (resource, record)
        try:
            self._write(record, resource)
        except OSError as error:
            self._mine.pop(path_or_pid, None)
            raise storage_error(error, record) from error

    def forget(self, path_or_pid: str) -> None:
        """Remove the entry of a resource that is gone, or now belongs to another process."""
        with self._lock:
            _, record = self._mine.pop(path_or_pid, (None, None))
        if record is not None:
            with suppress(OSError):
                record.unlink()

    def discard(self, path: Path) -> None:
        """Remove a folder or worktree now and forget it; one that is gone is fine.

        What can't be removed stays written down and is tried again at the next start.

        Raises:
            HostFailure: if it can't be removed.
        """
        with self._lock:
            resource, _ = self._mine.get(str(path), (Resource(kind="folder", what=str(path)), 0))
        try:
            resource.remove()
        except OSError as error:
            raise HostFailure(
                f"whet can't remove `{path}`: {error.strerror}",
                hint=f"check what blocks it: `ls -lR {path}`, `findmnt`",
            ) from error
        self.forget(str(path))

    def discard_all(self) -> None:
        """Remove everything that this process made, the newest first."""
        if os.getpid() != self._owner.pid:
            return  # a forked child owns nothing of its parent's
        with self._lock:
            mine = [resource for resource, _ in self._mine.values()]
        for resource in reversed(mine):
            with suppress(OSError):
                resource.remove()
                self.forget(resource.what)

    def sweep(self) -> None:
        """Remove what whets that are dead left behind. Costs one folder listing if there is none."""
        for record in self._records():
            owner = _owner_of(record.name)
            if owner is None or owner == self._owner or owner.is_alive:
                continue
            with suppress(OSError):
                self._remove_of_dead(record)

    def _remove_of_dead(self, record: Path) -> None:
        try:
            data = as_record(decoded(record.read_bytes()), record.name)
            resource = Resource.from_json(data)
            place, seal = text(data, "place"), text(data, "seal")
        except (ValueError, RecursionError, MalformedRecordError):
            # Killed while it was written: what it names was not made yet.
            record.unlink()
            return
        if not seal or seal != self._seal(resource, place):
            return  # another user's, or nobody's: what it names may be anything
        here, boot = _place().split("\n", 1)
        there, its_boot = place.split("\n", 1)
        if there != here:
            return  # another machine or container shares this folder: its pids mean nothing here
        if boot == its_boot or resource.kind != "process":
            resource.remove()
        record.unlink()

    def _seal(self, resource: Resource, place: str) -> str:
        """Return what proves that this user's whet wrote a record; empty if nothing can."""
        if self._key is None:
            self._key = user_key(os.environ)
        if not self._key:
            return ""
        what = json.dumps([resource.to_json(), place]).encode()
        return hashlib.blake2b(what, key=self._key).hexdigest()

    def _records(self) -> Iterator[Path]:
        try:
            with os.scandir(self._folder) as entries:
                names = [entry.name for entry in entries]
        except OSError:
            return
        for name in names:
            yield self._folder / name

    def _write(self, record: Path, resource: Resource) -> None:
        place = _place()
        seal = self._seal(resource, place)
        data = json.dumps({**resource.to_json(), "place": place, "seal": seal}).encode()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            descriptor = os.open(record, flags, 0o666)
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(record, flags, 0o666)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)


def kill_marked(token: str) -> None:
    """Kill every process whose environment says that it belongs to the spawner ``token``.

    This is for trees that lost their spawner; one that lives knows its own.
    """
    mark = f"{SLOT_VARIABLE}={token}".encode()
    is_left = True
    while is_left:  # until none is left: one may fork while the list is read
        is_left = False
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                is_left = _kill_if_marked(int(name), mark) or is_left


def _kill_if_marked(pid: int, mark: bytes) -> bool:
    identity = ProcessIdentity.of(pid)
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            is_marked = mark in file.read().split(b"\0")
    except OSError:
        return False
    return is_marked and identity is not None and identity.kill(signal.SIGKILL)


def _place() -> str:
    """Return host and pid namespace, then the boot: where and when a pid means something."""
    namespace = boot = ""
    with suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{os.uname().nodename} {namespace}\n{boot}"


def _owner_of(name: str) -> ProcessIdentity | None:
    parts = name.removesuffix(".json").split("-")
    if len(parts) != len(("pid", "start", "number")) or not all(part.isdigit() for part in parts):
        return None
    return ProcessIdentity(int(parts[0]), int(parts[1]))


def _remove_worktree(top: str, path: Path) -> None:
    from whet.host.process.git import Repository

    remove_tree(path)
    if not Path(top).is_dir():
        return
    repository = Repository(Path(top))
    # git takes a worktree whose folder is gone for one to be forgotten. `git worktree prune`
    # would forget the user's own too, such as one on a drive that isn't mounted just now.
    # Twice `--force`: git asks for it when the worktree is locked.
    answer = repository.ask("worktree", "remove", "--force", "--force", str(path))
    if answer.exit_code != 0:
        git_folder = repository.ask("rev-parse", "--path-format=absolute", "--git-common-dir")
        if git_folder.exit_code != 0:  # its disk is away: what git keeps comes back with it
            raise OSError(errno.ENOENT, "its repository is missing", top)
        # Held open: if its disk goes away now, the entry is still removed from that.
        lock = os.open(git_folder.text, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _remove_entry(lock, path)
        finally:
            os.close(lock)


def _remove_entry(shared: int, path: Path) -> None:
    """Remove what git keeps of a worktree, where git has removed nothing or only some of it."""
    entry = Path(f"/proc/self/fd/{shared}/worktrees/{path.name}")
    with suppress(FileNotFoundError):
        if (entry / "gitdir").read_text(errors="surrogateescape").strip() != f"{path}/.git":
            return  # another worktree of that name
    remove_tree(entry)
    with suppress(OSError):
        entry.parent.rmdir()  # as git does after the last one
