"""What a program asked of the kernel: which calls failed and on what, what it used, what it waited for.

Facts only: which of them matter is for `whet.evidence` to say.
"""

from typing import cast

from whet.core.failure import Frame
from whet.core.text.json_record import Codec, Record, kept_by, pairs, sparse
from whet.core.text.record import number
from whet.core.value_class import value_class

_SECONDS = Codec(lambda value: round(cast("float", value), 6), number)
"""Kept to the microsecond."""


@value_class(kw_only=True)
class PathFacts(Record):
    """What was true of a path at the moment when a call on it failed.

    Attributes:
        existing: the path itself, or the nearest folder above it that was there.
        owner: user who owns that.
        group: its group.
        mode: its permissions, as ``ls -l`` writes them.
        file_system: kind of the file system that it lies on, such as ``ext4``.
        mount_point: where that is mounted.
        is_read_only: it is mounted so.
        total_bytes: how much it holds.
        free_bytes: how much of it an ordinary user may still fill.
        free_files: how many files may still be made; None: it has no such limit.
        user: who asked.
        near: names beside it that are much like the one that didn't exist.
    """

    existing: str
    owner: str = ""
    group: str = ""
    mode: str = ""
    file_system: str = ""
    mount_point: str = ""
    is_read_only: bool = False
    total_bytes: int = 0
    free_bytes: int = 0
    free_files: int | None = None
    user: str = ""
    near: tuple[str, ...] = ()


@value_class(kw_only=True)
class OpenFiles(Record):
    """What a process held open when it could open nothing more.

    Attributes:
        held: how many descriptors.
        most: how many it may have.
        kinds: what most of them are, such as ``/data/*.csv``, with how many.
    """

    held: int
    most: int
    kinds: tuple[tuple[str, int], ...] = kept_by(pairs("what", "count"), ())


@value_class(kw_only=True)
class FailedCall(Record):
    """One system call that failed, as often as it did so in one process on one path.

    Attributes:
        call: its name, such as ``openat``.
        error: name of the error, such as ``ENOENT``.
        path: what it was about: an absolute path, an address, ``pipe:[17]``; empty: nothing.
        given: the path as the program wrote it, where that is another one.
        detail: more of its arguments, such as ``4096 bytes``; empty: nothing to tell.
        pid: the process.
        process: its command line.
        count: how often.
        order: how many failing calls the trial had seen when it came last.
        seconds: since the beginning, when it came last.
        before_end_seconds: until its process ended, or whet began to end it, from then; None: it had
            not ended.
        frames: Python lines that made it, innermost last, as it came last; empty: not known.
        started_by: Python lines that had started its process, where it is no Python itself.
        facts: on the path.
        open_files: of the process, where it had too many.
        looked_in: in how many folders it looked for the same name, if in many; else 0.
        names: how many names in the same folder it stands for, if many; else 0.
    """

    call: str
    error: str
    path: str = ""
    given: str = ""
    detail: str = ""
    pid: int = 0
    process: str = ""
    count: int = 1
    order: int = 0
    seconds: float = kept_by(_SECONDS, 0.0)
    before_end_seconds: float | None = None
    frames: tuple[Frame, ...] = ()
    started_by: tuple[Frame, ...] = ()
    facts: PathFacts | None = None
    open_files: OpenFiles | None = None
    looked_in: int = 0
    names: int = 0


@value_class(kw_only=True)
class LongCall(Record):
    """A system call that a process waited in.

    Attributes:
        call: its name, such as ``connect``.
        target: what it waited for: a path, an address, a pipe; empty: not known.
        pid: the process.
        process: its command line.
        count: how often.
        seconds: all of them together.
        longest_seconds: the longest of them.
        is_under_way: it still waited when it was looked at last.
        frames: Python lines that made it, innermost last; empty: not known.
    """

    call: str
    target: str = ""
    pid: int = 0
    process: str = ""
    count: int = 1
    seconds: float = kept_by(_SECONDS, 0.0)
    longest_seconds: float = kept_by(_SECONDS, 0.0)
    is_under_way: bool = False
    frames: tuple[Frame, ...] = ()


@value_class(kw_only=True)
class FileUse(Record):
    """A file that was opened.

    Attributes:
        path: where it is.
        is_read: it was opened to be read.
        is_written: it was opened to be written, or something was renamed to it.
        count: how often.
    """

    path: str
    is_read: bool = False
    is_written: bool = False
    count: int = 1


@value_class(kw_only=True)
class FileLook(Record):
    """Questions of one process whether a path exists, all of which found it.

    Attributes:
        path: where it is.
        count: how many.
        before_end_seconds: from the last of them until the process ended, or whet began to end it;
            None: it had not ended.
        frames: Python lines that asked, innermost last; empty: not known.
    """

    path: str
    count: int = 1
    before_end_seconds: float | None = None
    frames: tuple[Frame, ...] = ()


@value_class(kw_only=True)
class AddressUse(Record):
    """A network address, or a local socket's, that was used.

    Attributes:
        call: how: ``connect``, ``bind``, ``sendto``.
        address: such as ``127.0.0.1:80``, ``[::1]:80``, ``unix:/run/x.sock``.
        error: name of the error with which that failed last; empty: it did not.
        count: how often.
    """

    call: str
    address: str
    error: str = ""
    count: int = 1


@value_class(kw_only=True)
class SystemCalls(Record):
    """All that was seen of one trial, or of processes that were looked at for a while.

    Attributes:
        seen: how many calls were looked at.
        failed: how many of them failed.
        usual: how many of those are as usual as a search for a module; they aren't told.
        processes: how many processes there were.
        failures: the others, in the order in which they came last.
        waits: calls that took long, the longest first.
        files: files that were opened.
        looks: paths that were looked for again and again, and found.
        addresses: addresses that were used.
        notes: what could not be seen, in sentences.
    """

    seen: int = 0
    failed: int = 0
    usual: int = 0
    processes: int = 0
    failures: tuple[FailedCall, ...] = ()
    waits: tuple[LongCall, ...] = ()
    files: tuple[FileUse, ...] = ()
    looks: tuple[FileLook, ...] = sparse(())
    addresses: tuple[AddressUse, ...] = ()
    notes: tuple[str, ...] = ()
