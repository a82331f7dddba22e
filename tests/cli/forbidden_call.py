"""Run a command in which the kernel refuses one system call: `forbidden_call.py CALL ERROR WORDS…`."""

import errno
import os
import sys

from whet.host.kernel.seccomp import Filter

# On x86_64; from the kernel's `syscall_64.tbl`. `O_TMPFILE` is `openat` with that flag.
NUMBERS = {
    "flock": 73, "inotify_init1": 294, "process_vm_readv": 310, "kcmp": 312, "renameat2": 316,
    "seccomp": 317, "memfd_create": 319, "userfaultfd": 323, "copy_file_range": 326, "statx": 332,
    "io_uring_setup": 425, "pidfd_send_signal": 424, "pidfd_open": 434, "clone3": 435,
    "close_range": 436, "openat2": 437, "unshare": 272, "ptrace": 101, "O_TMPFILE": 257,
}  # fmt: skip
_LOAD, _AND, _EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_THIRD_ARGUMENT, _TEMPORARY = 32, 0x400000


def main(call: str, error: str, *words: str) -> None:
    """Forbid the call, by name or number, and become the command."""
    number = NUMBERS[call] if call in NUMBERS else int(call)
    program = [(_LOAD, 0, 0, 0), (_EQUAL, 1, 0, number), (_RETURN, 0, 0, _ALLOW)]
    if call == "O_TMPFILE":
        program += [(_LOAD, 0, 0, _THIRD_ARGUMENT), (_AND, 0, 0, _TEMPORARY)]
        program += [(_EQUAL, 1, 0, _TEMPORARY), (_RETURN, 0, 0, _ALLOW)]
    program.append((_RETURN, 0, 0, _ERROR | int(vars(errno)[error])))
    _, refused = Filter(program).install(asks=False)
    assert not refused, errno.errorcode[refused]
    os.execvp(words[0], words)


if __name__ == "__main__":
    main(*sys.argv[1:])
