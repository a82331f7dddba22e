"""Where a trial runs: what it sees of the disk, the network, the clock and the system. Values only."""

import re
from dataclasses import fields, replace

from whet.core.text.json_record import Record, pairs, sparse
from whet.core.text.quantity import bounded
from whet.core.value_class import value_class

_FAULT = re.compile(r"(?P<call>[a-z_0-9]+):(?P<error>E[A-Z0-9]+)(?:(?P<how>[@%])(?P<count>\d+))?")


def compact_size(count: int) -> str:
    """Return a size as an option takes it: ``100M``."""
    for power, unit in ((30, "G"), (20, "M"), (10, "K")):
        if count % (1 << power) == 0:
            return f"{count >> power}{unit}"
    return str(count)


@value_class(kw_only=True)
class Disk(Record):
    """A small file system.

    Attributes:
        path: the folder where it is; empty: the one for temporary files.
        size_bytes: how much it holds; None: as much as memory allows.
        inodes: how many files and folders it holds; None: no limit.
        is_rest: what is in the folder already stays there, and this is what is left beside it.
    """

    path: str = ""
    size_bytes: int | None = None
    inodes: int | None = None
    is_rest: bool = False

    @property
    def option(self) -> str:
        """The name of its option, without the dashes."""
        if self.size_bytes is None:
            return "inodes"
        return "disk-free" if self.is_rest else "disk"

    @property
    def options(self) -> list[str]:
        """This disk as words of a command line."""
        place = f":{self.path}" if self.path else ""
        words: list[str] = []
        if self.size_bytes is not None:
            words += [f"--{self.option}", f"{compact_size(self.size_bytes)}{place}"]
        if self.inodes is not None:
            words += ["--inodes", f"{self.inodes}{place}"]
        return words


@value_class(kw_only=True)
class Fault(Record):
    """A system call that fails on purpose.

    Attributes:
        call: name of the call, such as ``write``.
        error: name of the error, such as ``ENOSPC``.
        nth: the first of the program's calls that fails, from 1.
        step: every ``step``-th call after that one fails too; 0: only that one.
        glob: only calls on a file whose path or name is like that; empty: on any.
    """

    call: str
    error: str
    nth: int = 1
    step: int = 1
    glob: str = ""

    @classmethod
    def parse(cls, words: str) -> "Fault | None":
        """Return the fault that ``write:ENOSPC@5`` or ``openat:EMFILE%2:*.pt`` describes."""
        first, second, rest = (*words.split(":", 2), "", "")[:3]
        found = _FAULT.fullmatch(f"{first}:{second}")
        if found is None:
            return None
        count = bounded(found["count"] or "1")
        if count < 1:
            return None
        is_share = found["how"] != "@"
        return cls(
            call=found["call"],
            error=found["error"],
            nth=count,
            step=count if is_share else 0,
            glob=rest,
        )

    @property
    def words(self) -> str:
        """What `parse` reads."""
        how = f"@{self.nth}" if not self.step else f"%{self.step}" if self.step > 1 else ""
        return f"{self.call}:{self.error}{how}" + (f":{self.glob}" if self.glob else "")

    def hits(self, count: int) -> bool:
        """Whether the program's call number ``count`` of this kind fails, counted from 1."""
        return count == self.nth or (
            self.step > 0 and count > self.nth and (count - self.nth) % self.step == 0
        )


@value_class(kw_only=True)
class Room(Record):
    """What a trial has around it instead of the machine as it is; nothing of it outlives the trial.

    Attributes:
        disks: small file systems.
        read_only: files and folders that can't be written to.
        is_clean: what the trial writes to the project and for a while vanishes with it.
        project: folder whose files a clean room protects.
        keep_writes: folder in which what it wrote to the project is kept; empty: nowhere.
        network: ``none``, ``loopback`` (of its own) or empty: the machine's.
        clock: date and time at which the trial's clock starts; empty: the machine's.
        faults: system calls that fail.
        gpus: how many GPUs it sees; None: all.
        hidden: files that it finds empty, such as the device nodes of GPUs.
        gpu_free: bytes that are left free, by the GPU's number as text; empty text: each.
        gpu_memory_bytes: how much of each GPU torch and JAX may take in one process; None: all.
        cpu_load: how many processes keep processors busy beside it.
    """

    disks: tuple[Disk, ...] = sparse(())
    read_only: tuple[str, ...] = sparse(())
    is_clean: bool = sparse(default=False)
    project: str = sparse("")
    keep_writes: str = sparse("")
    network: str = sparse("")
    clock: str = sparse("")
    faults: tuple[Fault, ...] = sparse(())
    gpus: int | None = sparse(None)
    hidden: tuple[str, ...] = sparse(())
    gpu_free: tuple[tuple[str, int], ...] = sparse((), pairs("gpu", "bytes"))
    gpu_memory_bytes: int | None = sparse(None)
    cpu_load: int = sparse(0)

    @property
    def needs_namespaces(self) -> bool:
        """Whether the trial sees other mounts or another network than the machine."""
        mounts = (self.disks, self.read_only, self.hidden, self.is_clean, self.clock)
        return any(mounts) or bool(self.network)

    def beside(self, other: "Room") -> "Room":
        """Return this room with what another one has, where that isn't as usual."""
        asked = {name: getattr(other, name) for name in _USUAL}
        return replace(
            self, **{name: value for name, value in asked.items() if value != _USUAL[name]}
        )

    @property
    def disk_bytes(self) -> int:
        """How much the small file systems hold together: they lie in memory."""
        return sum(disk.size_bytes or 0 for disk in self.disks)

    @property
    def options(self) -> list[str]:
        """This room as words of a command line, less what only keeps what was written."""
        words = [word for disk in self.disks for word in disk.options]
        words += [word for path in self.read_only for word in ("--read-only", path)]
        words += ["--clean"] if self.is_clean else []
        words += ["--network", self.network] if self.network else []
        words += ["--clock", self.clock] if self.clock else []
        words += [word for fault in self.faults for word in ("--fail", fault.words)]
        words += ["--gpus", str(self.gpus)] if self.gpus is not None else []
        for gpu, size in self.gpu_free:
            words += ["--gpu-free", f"{gpu}={compact_size(size)}" if gpu else compact_size(size)]
        if self.gpu_memory_bytes is not None:
            words += ["--gpu-memory", compact_size(self.gpu_memory_bytes)]
        words += ["--cpu-load", str(self.cpu_load)] if self.cpu_load else []
        return words


_PLAIN = Room()
_USUAL = {each.name: getattr(_PLAIN, each.name) for each in fields(Room)}
