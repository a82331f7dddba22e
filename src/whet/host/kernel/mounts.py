"""Namespaces and mounts of this process: unshare(2), mount(2), mount_setattr(2).

It runs between fork and exec and imports as little as it can. If the kernel refuses a call, the
function raises `OSError` with the path or the call in it.
"""

import _socket
import ctypes
import fcntl
import os
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _SLAVE = 1, 2, 4, 32, 4096, 16384, 1 << 19
_KEPT = 1 | 2 | 4 | 8 | 1024 | 2048 | (1 << 21)  # flags that a user may not take off again
_AT_RECURSIVE, _AT_EMPTY_PATH = 0x8000, 0x1000
_ATTR_RDONLY = 1
_MOUNT_SETATTR = 442  # the same number on every machine
_AT_FDCWD = -100
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Leave the namespaces of the parent, those in ``flags``."""
    _check(_libc.unshare(flags), "unshare")


def map_own_ids(uid: int, gid: int) -> None:
    """In a new user namespace: stay who one is. All other users are `nobody` here."""
    _write("/proc/self/setgroups", b"deny")
    _write("/proc/self/uid_map", b"%d %d 1" % (uid, uid))
    _write("/proc/self/gid_map", b"%d %d 1" % (gid, gid))


def keep_mounts_private() -> None:
    """Let nothing that is mounted from here on be seen outside."""
    _mount(b"none", b"/", b"", _REC | _SLAVE, b"")


def mount_tmpfs(path: bytes, *, size_bytes: int, inodes: int, mode: int) -> None:
    """Mount an empty file system in memory.

    Args:
        path: a folder.
        size_bytes: how much it holds; 0: half of the memory, as the kernel does.
        inodes: how many files and folders it holds, itself counted; 0: no limit.
        mode: of its top folder.
    """
    options = b"mode=%o,nr_inodes=%d" % (mode, inodes)
    if size_bytes:
        options += b",size=%d" % size_bytes
    _mount(b"tmpfs", path, b"tmpfs", _NOSUID | _NODEV, options)


def limit_inodes(path: bytes, inodes: int) -> None:
    """Change how many files and folders a file system in memory holds."""
    _mount(b"tmpfs", path, b"tmpfs", _REMOUNT | _NOSUID | _NODEV, b"nr_inodes=%d" % inodes)


def mount_overlay(path: bytes, lower: int, upper: int, *, is_user: bool) -> None:
    """Show a folder at ``path`` so that writes to it go elsewhere.

    Args:
        path: where it is shown.
        lower: descriptor of the folder that is shown.
        upper: descriptor of a folder that holds `upper` and `work`.
        is_user: made in a user's own namespace, where marks of the system can't be set.
    """
    # By descriptor: a path may hold the commas and colons that separate the options.
    options = (
        b"lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d/upper,workdir=/proc/self/fd/%d/work"
    )
    options = options % (lower, upper, upper) + (b",userxattr" if is_user else b"")
    _mount(b"whet", path, b"overlay", 0, options)


def bind(source: int, path: bytes) -> None:
    """Show at ``path``, with all that is mounted below, what a descriptor is open on."""
    _mount(b"/proc/self/fd/%d" % source, path, b"", _BIND | _REC, b"")


def make_read_only(path: bytes) -> None:
    """Let nothing write to a file or folder, nor to what is mounted below it."""
    source = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        bind(source, path)
    finally:
        os.close(source)
    attributes = struct.pack("=QQQQ", _ATTR_RDONLY, 0, 0, 0)
    call = _libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, _AT_RECURSIVE, attributes, 32)
    if call < 0:  # Linux before 5.12: the mount itself, and nothing below it
        flags = os.statvfs(path).f_flag & _KEPT
        _mount(b"none", path, b"", _BIND | _REMOUNT | _RDONLY | flags, b"")


def make_writable(path: bytes) -> None:
    """Let a mount of this namespace's own be written to, as far as what it shows allows."""
    attributes = struct.pack("=QQQQ", 0, _ATTR_RDONLY, 0, 0)
    if _libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, 0, attributes, 32) < 0:
        flags = os.statvfs(path).f_flag & _KEPT & ~_RDONLY
        _mount(b"none", path, b"", _BIND | _REMOUNT | flags, b"")


def mount_proc() -> None:
    """Show the processes of this namespace, and no others."""
    _mount(b"proc", b"/proc", b"proc", _NOSUID | _NODEV | 8, b"")


def raise_loopback() -> None:
    """Let a new network namespace reach itself under 127.0.0.1 and ::1."""
    with_socket = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    request = bytearray(struct.pack("16sH22x", b"lo", 0))
    fcntl.ioctl(with_socket.fileno(), _SIOCGIFFLAGS, request)
    flags = struct.unpack_from("H", request, 16)[0]
    struct.pack_into("H", request, 16, flags | _IFF_UP)
    fcntl.ioctl(with_socket.fileno(), _SIOCSIFFLAGS, request)
    with_socket.close()


def mount_points() -> list[bytes]:
    """Return where something is mounted, as this process sees it, in the order of mounting."""
    descriptor = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:
        return points_of(file.readall())


def points_of(mountinfo: bytes) -> list[bytes]:
    """Return the mount points in the text of a `/proc/PID/mountinfo`."""
    return [_unescaped(line.split(b" ", 5)[4]) for line in mountinfo.splitlines()]


def _unescaped(path: bytes) -> bytes:
    for code, letter in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
        path = path.replace(code, letter)
    return path


def _mount(source: bytes, target: bytes, kind: bytes, flags: int, options: bytes) -> None:
    status = _libc.mount(source, target, kind, ctypes.c_ulong(flags), options)
    _check(status, b"mount of %s on %s" % (kind or b"a folder", target))


def _check(done: int, what: "str | bytes") -> None:
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
