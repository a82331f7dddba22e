"""What a program asked of the kernel: which calls failed and on what, what it used, what it waited for.

Facts only: which of them matter is for `whet.evidence` to say.
"""

from dataclasses import dataclass

from whet.core.failure import Frame
from whet.core.text.record import (
    JsonObject,
    boolean,
    integer,
    number,
    optional_integer,
    optional_number,
    optional_record,
    records,
    text,
    texts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathFacts:
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
        near: names beside it that are much like the one that was not there.
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

    def to_json(self) -> dict[str, object]:
        """Return this as JSON data."""
        return {
            "existing": self.existing,
            "owner": self.owner,
            "group": self.group,
            "mode": self.mode,
            "file_system": self.file_system,
            "mount_point": self.mount_point,
            "is_read_only": self.is_read_only,
            "total_bytes": self.total_bytes,
            "free_bytes": self.free_bytes,
            "free_files": self.free_files,
            "user": self.user,
            "near": list(self.near),
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "PathFacts":
        """Return what ``to_json`` wrote."""
        return cls(
            existing=text(data, "existing"),
            owner=text(data, "owner", ""),
            group=text(data, "group", ""),
            mode=text(data, "mode", ""),
            file_system=text(data, "file_system", ""),
            mount_point=text(data, "mount_point", ""),
            is_read_only=boolean(data, "is_read_only"),
            total_bytes=integer(data, "total_bytes"),
            free_bytes=integer(data, "free_bytes"),
            free_files=optional_integer(data, "free_files"),
            user=text(data, "user", ""),
            near=texts(data, "near"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFiles:
    """What a process held open when it could open nothing more.

    Attributes:
        held: how many descriptors.
        most: how many it may have.
        kinds: what most of them are, such as ``/data/*.csv``, with how many.
    """

    held: int
    most: int
    kinds: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return this as JSON data."""
        kinds = [{"what": what, "count": count} for what, count in self.kinds]
        return {"held": self.held, "most": self.most, "kinds": kinds}

    @classmethod
    def from_json(cls, data: JsonObject) -> "OpenFiles":
        """Return what ``to_json`` wrote."""
        kinds = tuple(
            (text(each, "what"), integer(each, "count")) for each in records(data, "kinds")
        )
        return cls(held=integer(data, "held"), most=integer(data, "most"), kinds=kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCall:
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
        before_end_seconds: until its process ended, from then; None: it had not ended.
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
    seconds: float = 0.0
    before_end_seconds: float | None = None
    frames: tuple[Frame, ...] = ()
    started_by: tuple[Frame, ...] = ()
    facts: PathFacts | None = None
    open_files: OpenFiles | None = None
    looked_in: int = 0
    names: int = 0

    def to_json(self) -> dict[str, object]:
        """Return this as JSON data."""
        return {
            "call": self.call,
            "error": self.error,
            "path": self.path,
            "given": self.given,
            "detail": self.detail,
            "pid": self.pid,
            "process": self.process,
            "count": self.count,
            "order": self.order,
            "seconds": round(self.seconds, 6),
            "before_end_seconds": self.before_end_seconds,
            "frames": [frame.to_json() for frame in self.frames],
            "started_by": [frame.to_json() for frame in self.started_by],
            "facts": None if self.facts is None else self.facts.to_json(),
            "open_files": None if self.open_files is None else self.open_files.to_json(),
            "looked_in": self.looked_in,
            "names": self.names,
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "FailedCall":
        """Return what ``to_json`` wrote."""
        facts, held = optional_record(data, "facts"), optional_record(data, "open_files")
        return cls(
            call=text(data, "call"),
            error=text(data, "error"),
            path=text(data, "path"),
            given=text(data, "given", ""),
            detail=text(data, "detail", ""),
            pid=integer(data, "pid"),
            process=text(data, "process"),
            count=integer(data, "count"),
            order=integer(data, "order"),
            seconds=number(data, "seconds"),
            before_end_seconds=optional_number(data, "before_end_seconds"),
            frames=_frames(data, "frames"),
            started_by=_frames(data, "started_by"),
            facts=None if facts is None else PathFacts.from_json(facts),
            open_files=None if held is None else OpenFiles.from_json(held),
            looked_in=integer(data, "looked_in"),
            names=integer(data, "names"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LongCall:
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
    seconds: float = 0.0
    longest_seconds: float = 0.0
    is_under_way: bool = False
    frames: tuple[Frame, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return this as JSON data."""
        return {
            "call": self.call,
            "target": self.target,
            "pid": self.pid,
            "process": self.process,
            "count": self.count,
            "seconds": round(self.seconds, 6),
            "longest_seconds": round(self.longest_seconds, 6),
            "is_under_way": self.is_under_way,
            "frames": [frame.to_json() for frame in self.frames],
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "LongCall":
        """Return what ``to_json`` wrote."""
        return cls(
            call=text(data, "call"),
            target=text(data, "target"),
            pid=integer(data, "pid"),
            process=text(data, "process"),
            count=integer(data, "count"),
            seconds=number(data, "seconds"),
            longest_seconds=number(data, "longest_seconds"),
            is_under_way=boolean(data, "is_under_way"),
            frames=_frames(data, "frames"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUse:
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

    def to_json(self) -> dict[str, object]:
        """Return this as JSON data."""
        return {
            "path": self.path,
            "is_read": self.is_read,
            "is_written": self.is_written,
            "count": self.count,
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "FileUse":
        """Return what ``to_json`` wrote."""
        return cls(
            path=text(data, "path"),
            is_read=boolean(data, "is_read"),
            is_written=boolean(data, "is_written"),
            count=integer(data, "count"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressUse:
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

    def to_json(self) -> dict[str, object]:
        """Return this as JSON data."""
        return {
            "call": self.call,
            "address": self.address,
            "error": self.error,
            "count": self.count,
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "AddressUse":
        """Return what ``to_json`` wrote."""
        return cls(
            call=text(data, "call"),
            address=text(data, "address"),
            error=text(data, "error"),
            count=integer(data, "count"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCalls:
    """All that was seen of one trial, or of processes that were looked at for a while.

    Attributes:
        seen: how many calls were looked at.
        failed: how many of them failed.
        usual: how many of those are as usual as a search for a module; they are not told.
        failures: the others, in the order in which they came last.
        waits: calls that took long, the longest first.
        files: files that were opened.
        addresses: addresses that were used.
        processes: how many processes there were.
        notes: what could not be seen, in sentences.
    """

    seen: int = 0
    failed: int = 0
    usual: int = 0
    failures: tuple[FailedCall, ...] = ()
    waits: tuple[LongCall, ...] = ()
    files: tuple[FileUse, ...] = ()
    addresses: tuple[AddressUse, ...] = ()
    processes: int = 0
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return this as JSON data."""
        return {
            "seen": self.seen,
            "failed": self.failed,
            "usual": self.usual,
            "processes": self.processes,
            "failures": [each.to_json() for each in self.failures],
            "waits": [each.to_json() for each in self.waits],
            "files": [each.to_json() for each in self.files],
            "addresses": [each.to_json() for each in self.addresses],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "SystemCalls":
        """Return what ``to_json`` wrote."""
        return cls(
            seen=integer(data, "seen"),
            failed=integer(data, "failed"),
            usual=integer(data, "usual"),
            processes=integer(data, "processes"),
            failures=tuple(FailedCall.from_json(each) for each in records(data, "failures")),
            waits=tuple(LongCall.from_json(each) for each in records(data, "waits")),
            files=tuple(FileUse.from_json(each) for each in records(data, "files")),
            addresses=tuple(AddressUse.from_json(each) for each in records(data, "addresses")),
            notes=texts(data, "notes"),
        )


def _frames(data: JsonObject, name: str) -> tuple[Frame, ...]:
    return tuple(Frame.from_json(frame) for frame in records(data, name))
