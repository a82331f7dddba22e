"""A table of the system calls that whet can make fail, and of the arguments that name a file.

Calls with a path are in `whet.host.kernel.syscalls`. The numbers are those of the kernel's tables
(`syscall_64.tbl`, `asm-generic/unistd.h`).
"""

from whet.host.kernel.syscalls import calls, machine

# name, number on x86_64, number on aarch64 (-1: not there), index of the file descriptor (-1: none)
_TABLE = """
    read              0   63  0
    write             1   64  0
    close             3   57  0
    poll              7   -1 -1
    lseek             8   62  0
    mmap              9  222  4
    mprotect         10  226 -1
    munmap           11  215 -1
    brk              12  214 -1
    ioctl            16   29  0
    pread64          17   67  0
    pwrite64         18   68  0
    readv            19   65  0
    writev           20   66  0
    pipe             22   -1 -1
    mremap           25  216 -1
    msync            26  227 -1
    dup              32   23  0
    dup2             33   -1  0
    dup3            292   24  0
    sendfile         40   71  0
    socket           41  198 -1
    accept           43  202  0
    recvfrom         45  207  0
    recvmsg          47  212  0
    shutdown         48  210  0
    listen           50  201  0
    socketpair       53  199 -1
    setsockopt       54  208  0
    clone            56  220 -1
    fork             57   -1 -1
    vfork            58   -1 -1
    fcntl            72   25  0
    flock            73   32  0
    fsync            74   82  0
    fdatasync        75   83  0
    ftruncate        77   46  0
    fchdir           81   50  0
    getdents64      217   61  0
    fallocate       285   47  0
    preadv          295   69  0
    pwritev         296   70  0
    preadv2         327  286  0
    pwritev2        328  287  0
    accept4         288  242  0
    eventfd2        290   19 -1
    epoll_create1   291   20 -1
    pipe2           293   59 -1
    sync_file_range 277   84  0
    splice          275   76  2
    tee             276   77  1
    memfd_create    319  279 -1
    getrandom       318  278 -1
    copy_file_range 326  285  2
    clone3          435  435 -1
    close_range     436  436 -1
    mlock           149  228 -1
    setrlimit       160  164 -1
    sched_setaffinity 203 122 -1
    timerfd_create  283   85 -1
    inotify_init1   294   26 -1
    fstat             5   80  0
    statfs_of       138   44  0
"""


def faultable() -> "dict[str, tuple[int, int, int, int]]":
    """Return number, descriptor, folder and path of each call by name; -1: it has none.

    The last three are indices of its arguments; a folder of -1 is the working folder.
    """
    column = {"x86_64": 1, "aarch64": 2}[machine()]
    places: dict[str, tuple[int, int, int, int]] = {}
    for number, (name, _, folder, path, _) in calls().items():
        places[_NAMES.get(name, name)] = (number, -1, folder, path)
    for line in _TABLE.split("\n"):
        words = line.split()
        if words and int(words[column]) >= 0:
            places[_NAMES.get(words[0], words[0])] = (int(words[column]), int(words[3]), -1, -1)
    return places


# Shorter there, or called otherwise by the manual.
_NAMES = {
    "name_to_handle": "name_to_handle_at",
    "inotify": "inotify_add_watch",
    "open_by_handle": "open_by_handle_at",
    "umount": "umount2",
    "statfs_of": "fstatfs",
}
