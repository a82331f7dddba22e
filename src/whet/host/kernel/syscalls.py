"""A table of the system calls with which a program reads the file system or has effects outside itself.

The numbers are those of the kernel's tables (`syscall_64.tbl`, `asm-generic/unistd.h`).
"""

import os

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from typing import TypeAlias

    # name, what it does, then where its arguments stand: folder (-1: the working folder), path,
    # and one more that its kind knows
    Call: TypeAlias = tuple[str, str, int, int, int]

AT_FDCWD = -100
NO_LINKS = -2
"""In the table: the call never follows a link at the end of its path."""
MAGIC_FOLDER = 0x5768_6574
"""A folder descriptor that no process has, for absolute paths: it tags whet's own calls.

The kernel ignores the descriptor when the path is absolute, and the filter lets the call pass.
`whet_stage.hiding.unfiltered_calls` has it too.
"""
KIND_FOLDER = 0x5768_6575
"""Another one: it tags a look-up that tells the program a file's kind, and no more.

`whet_stage.hiding.unfiltered_calls` has it too. The filter asks about such a call as about any other.
"""
MAGIC_FLAGS = 0x4010
"""Flags of a `sendmsg` that is whet's own: `MSG_NOSIGNAL` and one that Unix sockets ignore."""

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What the kernel calls the machine's own kind of system call; linux/audit.h."""

# name, number on x86_64, number on aarch64 (-1: not there), kind, folder, path, more
#   open: more is the index of the flags      make: as `open`, for writing
#   look: more is the index of the flags; -1: follows links, -2: doesn't
#   madvise: only if no fork is to get the memory
#   effect: more is the index of a second folder (-1: working folder) if the name ends on `+`
_TABLE = """
    open               2   -1 open    -1 0  1
    creat             85   -1 make    -1 0 -1
    openat           257   56 open     0 1  2
    openat2          437  437 openat2  0 1  2
    stat               4   -1 look    -1 0 -1
    lstat              6   -1 look    -1 0 -2
    access            21   -1 look    -1 0 -1
    readlink          89   -1 look    -1 0 -2
    statfs           137   43 look    -1 0 -1
    newfstatat       262   79 look     0 1  3
    statx            332  291 look     0 1  2
    faccessat        269   48 look     0 1 -1
    faccessat2       439  439 look     0 1  3
    readlinkat       267   78 look     0 1 -2
    name_to_handle   303  264 look     0 1 -1
    getxattr         191    8 look    -1 0 -1
    lgetxattr        192    9 look    -1 0 -2
    listxattr        194   11 look    -1 0 -1
    llistxattr       195   12 look    -1 0 -2
    getxattrat       464  464 look     0 1  2
    listxattrat      465  465 look     0 1  2
    file_getattr     468  468 look     0 1  4
    inotify          254   27 look    -1 1 -1
    chdir             80   49 look    -1 0 -1
    execve            59  221 exec    -1 0 -1
    execveat         322  281 exec     0 1 -1
    mkdir             83   -1 mkdir   -1 0 -1
    mkdirat          258   34 mkdir    0 1 -1
    rmdir             84   -1 remove  -1 0 -1
    unlink            87   -1 remove  -1 0 -1
    unlinkat         263   35 remove   0 1 -1
    rename            82   -1 rename  -1 0 -1
    renameat         264   38 rename   0 1  2
    renameat2        316  276 rename   0 1  2
    link              86   -1 rename  -1 0 -1
    linkat           265   37 rename   0 1  2
    symlink           88   -1 effect  -1 1 -1
    symlinkat        266   36 effect   1 2 -1
    truncate          76   45 effect  -1 0 -1
    chmod             90   -1 effect  -1 0 -1
    fchmodat         268   53 effect   0 1 -1
    fchmodat2        452  452 effect   0 1 -1
    chown             92   -1 effect  -1 0 -1
    lchown            94   -1 effect  -1 0 -1
    fchownat         260   54 effect   0 1 -1
    utime            132   -1 effect  -1 0 -1
    utimes           235   -1 effect  -1 0 -1
    futimesat        261   -1 effect   0 1 -1
    utimensat        280   88 effect   0 1 -1
    setxattr         188    5 effect  -1 0 -1
    lsetxattr        189    6 effect  -1 0 -1
    setxattrat       463  463 effect   0 1 -1
    removexattr      197   14 effect  -1 0 -1
    lremovexattr     198   15 effect  -1 0 -1
    removexattrat    466  466 effect   0 1 -1
    file_setattr     469  469 effect   0 1 -1
    mknod            133   -1 effect  -1 0 -1
    mknodat          259   33 effect   0 1 -1
    fchmod            91   52 holds    0 -1 -1
    fchown            93   55 holds    0 -1 -1
    fsetxattr        190    7 holds    0 -1 -1
    fremovexattr     199   16 holds    0 -1 -1
    connect           42  203 address -1 1  2
    bind              49  200 address -1 1  2
    sendto            44  206 address -1 4  5
    sendmsg           46  211 message -1 1 -1
    sendmmsg         307  269 message -1 1 -1
    kill              62  129 kill    -1 0 -1
    pidfd_send_signal 424 424 bare    -1 -1 -1
    rt_sigqueueinfo  129  138 kill    -1 0 -1
    ptrace           101  117 bare    -1 -1 -1
    shmget            29  194 bare    -1 -1 -1
    semget            64  190 bare    -1 -1 -1
    msgget            68  186 bare    -1 -1 -1
    mq_open          240  180 bare    -1 -1 -1
    io_uring_setup   425  425 bare    -1 -1 -1
    open_by_handle   304  265 bare    -1 -1 -1
    mount            165   40 bare    -1 -1 -1
    umount           166   39 bare    -1 -1 -1
    mount_setattr    442  442 bare    -1 -1 -1
    move_mount       429  429 bare    -1 -1 -1
    open_tree        428  428 bare    -1 -1 -1
    open_tree_attr   467  467 bare    -1 -1 -1
    fsopen           430  430 bare    -1 -1 -1
    fsmount          432  432 bare    -1 -1 -1
    pivot_root       155   41 bare    -1 -1 -1
    chroot           161   51 bare    -1 -1 -1
    unshare          272   97 bare    -1 -1 -1
    setns            308  268 bare    -1 -1 -1
    madvise           28  233 bare    -1 -1 -1
"""
_SECCOMP = {"x86_64": 317, "aarch64": 277}


def machine() -> str:
    """Return the kind of machine this is, as `uname -m` says it."""
    return os.uname().machine


def release() -> "tuple[int, ...]":
    """Return the version of the kernel, major and minor."""
    words = os.uname().release.split("-")[0].split(".")[:2]
    return tuple(int(word) for word in words if word.isdigit())


def seccomp_number() -> int:
    """Return the number of `seccomp(2)`; -1: this kind of machine isn't known."""
    return _SECCOMP.get(machine(), -1)


def calls() -> "dict[int, Call]":
    """Return the watched calls of this machine by number."""
    column = {"x86_64": 1, "aarch64": 2}[machine()]
    table: dict[int, Call] = {}
    for line in _TABLE.split("\n"):
        words = line.split()
        if words and int(words[column]) >= 0:
            folder, path, more = map(int, words[4:])
            table[int(words[column])] = (words[0], words[3], folder, path, more)
    return table
