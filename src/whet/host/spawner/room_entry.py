"""A forked process enters its sandbox: its own namespaces and mounts, each one checked.

It happens between fork and exec. Nothing is mounted in the machine's own namespace, so the sandbox
disappears with its last process, however that ends. The process sends the descriptors that its parent
may need later (what a disk held, what was written) over a socket.
"""

import _socket
import errno
import os
import stat

from whet.host.kernel import mounts
from whet.host.process.messages import Plan
from whet.host.process.room_reports import connected, send_descriptor

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from typing import TypeAlias

    # path, bytes (0: half of the memory), inodes (0: no limit)
    Space: TypeAlias = tuple[bytes, int, int]

_PAGE = 4096
_WHOLE_PROOF_BYTES = 1 << 20
_WHOLE_PROOF_FILES = 256
_MANY = 1 << 20  # a file system without a limit of files doesn't take one later
_ST_RDONLY = 1


class RoomRefusedError(Exception):
    """The room can't be made, or a limit in it doesn't hold.

    Attributes:
        number: of the system's error; 0: none, a limit doesn't hold.
        words: the failed step; for an ``overlay``, its folder.
        stage: ``room``; ``user room``: in a user namespace, as the machine's own gave none;
            ``overlay``: a folder in such a room could not be seen through.
    """

    def __init__(self, number: int, words: str, stage: str = "room") -> None:
        super().__init__(number, words)
        self.number = number
        self.words = words
        self.stage = stage


def enter(plan: Plan) -> None:
    """Move this process into its room. Its folder is entered again by whoever calls this.

    Raises:
        RoomRefusedError: if there is no way, or what was made doesn't hold.
    """
    reporter = _Reporter(plan.reporter)
    flags = mounts.CLONE_NEWNS
    flags |= mounts.CLONE_NEWNET if plan.network else 0
    flags |= (mounts.CLONE_NEWPID | mounts.CLONE_NEWIPC) if plan.has_own_pids else 0
    is_user = _leave(flags)
    try:
        mounts.keep_mounts_private()
        # Only now: what another namespace has open can't be shown here.
        real_folders = _opened(plan.real)
        # What holds a folder that is seen through is made so first: that folder stays writable.
        folders = [path for path, *_ in plan.overlays]
        around = [path for path in plan.read_only if any(_is_below(one, path) for one in folders)]
        for path in around:
            mounts.make_read_only(path)
        _show_through(plan.overlays, reporter, is_user=is_user)
        real_folders += _opened(plan.shown)
        for number, disk in enumerate(plan.disks):
            _mount_disk(disk, real_folders)
            reporter.send(b"disk %d" % number, disk[0])
        for path in plan.read_only:
            if path not in around:
                mounts.make_read_only(path)
        for path in plan.hidden:
            _hide(path)
        _put_back(real_folders)
        _open_to_agents(plan.real if around else ())
        _prove(plan.overlays, plan.disks, plan.read_only)
        if plan.network == "loopback":
            mounts.raise_loopback()
        if plan.network:
            _prove_network(plan.network)
    except OSError as error:
        what = error.filename if isinstance(error.filename, bytes) else str(error.filename).encode()
        way = "a user namespace" if is_user else "a mount namespace"
        words = f"{what.decode('utf-8', 'replace')} in {way}"
        stage = "user room" if is_user else "room"
        raise RoomRefusedError(error.errno or 0, words, stage) from error
    reporter.send(b"mounts", b"/proc/self/mountinfo", os.O_RDONLY)
    reporter.close()
    for descriptor, _ in real_folders:
        os.close(descriptor)


def _open_to_agents(paths: "tuple[bytes, ...]") -> None:
    """Let the agents of the trial write where they leave what they see."""
    for path in paths:
        mounts.make_writable(path)


def _leave(flags: int) -> bool:
    """Leave the machine's namespaces; say whether that took a user namespace."""
    uid, gid = os.geteuid(), os.getegid()
    try:
        mounts.unshare(flags)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise RoomRefusedError(error.errno or 0, "namespaces as root") from error
    else:
        return False
    try:
        mounts.unshare(flags | mounts.CLONE_NEWUSER)
        mounts.map_own_ids(uid, gid)
    except OSError as error:
        raise RoomRefusedError(error.errno or 0, "a user namespace", "user room") from error
    return True


class _Reporter:
    """Sends descriptors to the process that made the plan; silent if that is gone."""

    def __init__(self, name: bytes) -> None:
        self._socket = connected(name) if name else None

    def send(self, label: bytes, path: bytes, flags: int = os.O_PATH) -> None:
        if self._socket is not None:
            send_descriptor(self._socket, label, os.open(path, flags | os.O_CLOEXEC))

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


def _opened(paths: "tuple[bytes, ...]") -> "list[tuple[int, bytes]]":
    """Return descriptors of what stays visible, whatever is mounted over it."""
    folders: list[tuple[int, bytes]] = []
    for path in paths:
        try:
            folders.append((os.open(path, os.O_PATH | os.O_CLOEXEC), path))
        except OSError:
            continue  # it doesn't exist, so nothing is hidden
    return folders


def _show_through(overlays: "tuple[Space, ...]", reporter: _Reporter, *, is_user: bool) -> None:
    points = mounts.mount_points()
    lowers = [os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC) for path, *_ in overlays]
    own = {path for path, *_ in overlays}
    paths = [
        one
        for path, *_ in overlays
        for one in _opened(tuple({point for point in points if _is_below(point, path)} - own))
    ]
    for number, ((path, size, inodes), lower) in enumerate(zip(overlays, lowers, strict=True)):
        looks = os.fstat(lower)
        mounts.mount_tmpfs(path, size_bytes=size, inodes=_MANY if inodes else 0, mode=0o755)
        top = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        for name in ("upper", "work"):
            os.mkdir(name, 0o755, dir_fd=top)
        upper = b"/proc/self/fd/%d/upper" % top
        os.chmod(upper, looks.st_mode & 0o7777)
        if not is_user:
            os.chown(upper, looks.st_uid, looks.st_gid)
        try:
            mounts.mount_overlay(path, lower, top, is_user=is_user)
        except OSError as error:
            if not is_user:
                raise
            raise RoomRefusedError(error.errno or 0, os.fsdecode(path), "overlay") from error
        if os.stat(path).st_dev == looks.st_dev:
            raise RoomRefusedError(0, f"`{os.fsdecode(path)}` is still the machine's own")
        if inodes:
            system = os.statvfs(upper)
            mounts.limit_inodes(b"/proc/self/fd/%d" % top, inodes + system.f_files - system.f_ffree)
        reporter.send(b"upper %d" % number, upper)
        os.close(top)
        os.close(lower)
    for descriptor, point in sorted(paths, key=lambda one: len(one[1])):
        if os.path.lexists(point):
            mounts.bind(descriptor, point)
        os.close(descriptor)


def _mount_disk(disk: "Space", kept: "list[tuple[int, bytes]]") -> None:
    """Mount a small file system, with room in it for what stays visible below."""
    path, size, inodes = disk
    looks = os.stat(path)
    mode = looks.st_mode & 0o7777
    mounts.mount_tmpfs(path, size_bytes=size, inodes=_MANY if inodes else 0, mode=mode)
    for descriptor, below in kept:
        if _is_below(below, path):
            _make_point(descriptor, below)
    if inodes:
        system = os.statvfs(path)
        mounts.limit_inodes(path, inodes + system.f_files - system.f_ffree)


def _hide(path: bytes) -> None:
    nothing = os.open(os.devnull, os.O_PATH | os.O_CLOEXEC)
    mounts.bind(nothing, path)
    os.close(nothing)


def _put_back(kept: "list[tuple[int, bytes]]") -> None:
    for descriptor, path in sorted(kept, key=lambda one: len(one[1])):
        mounts.bind(descriptor, path)


def _make_point(descriptor: int, path: bytes) -> None:
    """Make what a file or folder can be shown on."""
    parent = os.path.dirname(path)
    os.makedirs(parent, 0o755, exist_ok=True)
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.makedirs(path, 0o755, exist_ok=True)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _is_below(path: bytes, folder: bytes) -> bool:
    return path.startswith(folder.rstrip(b"/") + b"/")


def _prove(
    overlays: "tuple[Space, ...]", disks: "tuple[Space, ...]", read_only: "tuple[bytes, ...]"
) -> None:
    """Meet each limit once, before the program does."""
    for path, size, inodes in (*overlays, *disks):
        if size:
            _prove_size(path)
        if inodes:
            _prove_inodes(path, inodes)
    for path in read_only:
        if not os.statvfs(path).f_flag & _ST_RDONLY:
            raise RoomRefusedError(0, f"`{os.fsdecode(path)}` could still be written to")


def _prove_size(path: bytes) -> None:
    """Ask for one page more than there is: the kernel must say that there is no space."""
    name = os.path.join(path, b".whet-%d" % os.getpid())
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.unlink(name)
    try:
        state = os.fstatvfs(descriptor)
        free = state.f_bavail * state.f_frsize
        if free <= _WHOLE_PROOF_BYTES and free:
            os.posix_fallocate(descriptor, 0, free)
        try:
            os.posix_fallocate(descriptor, 0, free + _PAGE)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                return
            raise
    finally:
        os.close(descriptor)
    raise RoomRefusedError(0, f"`{os.fsdecode(path)}` took more than its size")


def _prove_inodes(path: bytes, inodes: int) -> None:
    state = os.statvfs(path)
    if inodes > _WHOLE_PROOF_FILES and state.f_ffree:
        return  # as the kernel says: to make them all would take longer than the program
    names: list[bytes] = []
    is_full = False
    try:
        for number in range(inodes + 1):
            name = os.path.join(path, b".whet-%d-%d" % (os.getpid(), number))
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            names.append(name)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        is_full = True
    finally:
        for name in names:
            os.unlink(name)
    if not is_full:
        raise RoomRefusedError(0, f"`{os.fsdecode(path)}` took more files than its limit")


def _prove_network(network: str) -> None:
    """Nothing outside can be reached, and one's own machine only if that was asked for."""
    if _reaches("192.0.2.1") or _reaches("127.0.0.1") != (network == "loopback"):  # RFC 5737
        raise RoomRefusedError(0, f"the network isn't `{network}`")


def _reaches(address: str) -> bool:
    probe = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    try:
        probe.connect((address, 9))
    except OSError:
        return False
    finally:
        probe.close()
    return True
