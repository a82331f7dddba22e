"""Facts about any process from Linux's `/proc`: state, command, rank, CPU time."""

import os
import re
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from whet.core.value_class import value_class

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK")
_TICKS = os.sysconf("SC_CLK_TCK")
_STATE, _PARENT, _USER, _SYSTEM = 0, 1, 11, 12  # fields of /proc/PID/stat after the name


@value_class(kw_only=True)
class ProcessFacts:
    """A process at one moment.

    Attributes:
        pid: its number.
        parent: that of its parent.
        command: its command line, in one line.
        state: a letter of proc(5).
        cpu_seconds: user and system time of all its threads.
        waits_in: the kernel function that it waits in; empty: unknown.
        rank: its place in a distributed job, if it has one.
        switches: how often each of its threads has been on a processor.
    """

    pid: int
    parent: int
    command: str
    state: str
    cpu_seconds: float
    waits_in: str = ""
    rank: int | None = None
    switches: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])


def facts_of(pid: int) -> ProcessFacts | None:
    """Return the facts about a process; None if it is gone."""
    folder = Path(f"/proc/{pid}")
    try:
        line = (folder / "stat").read_bytes()
        words = (folder / "cmdline").read_bytes()
    except OSError:
        return None
    fields = line[line.rfind(b")") + 2 :].split()
    command = " ".join(os.fsdecode(words).split("\0")).strip()
    return ProcessFacts(
        pid=pid,
        parent=int(fields[_PARENT]),
        command=" ".join(command.split())
        or f"[{os.fsdecode(line[line.find(b'(') + 1 : line.rfind(b')')])}]",
        state=fields[_STATE].decode(),
        cpu_seconds=(int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS,
        waits_in=_text(folder / "wchan").strip("0"),
        rank=_rank(folder),
        switches=_switches(folder),
    )


def busy_seconds(pid: int) -> float:
    """Return how long a process's main thread has run, or was ready to run; 0: that isn't known.

    Source: proc(5), `schedstat`.
    """
    try:
        ran, queued, _ = _text(Path(f"/proc/{pid}/schedstat")).split()
        return (int(ran) + int(queued)) / 1e9
    except ValueError:
        return 0.0


def all_pids() -> list[int]:
    """Return the numbers of all processes."""
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def agent_folder_of(pid: int) -> Path | None:
    """Return where the agents of a process's trial write; None: it is of none, or gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            name, _, value = line.partition(b"=")
            if name == b"WHET_AGENT" and value:
                return Path(os.fsdecode(value))
    return None


def is_of_trial(pid: int) -> bool:
    """Whether a process belongs to one of whet's trials."""
    with suppress(OSError):
        return b"\0WHET_TRIAL=1\0" in b"\0" + Path(f"/proc/{pid}/environ").read_bytes()
    return False


def with_those_above(pid: int) -> set[int]:
    """Return a process and those that led to it."""
    family: set[int] = set()
    above: int | None = pid
    while above:
        family.add(above)
        facts = facts_of(above)
        above = None if facts is None else facts.parent
    return family


def matching(pattern: "re.Pattern[str]") -> list[int]:
    """Return the processes whose command line matches, but those that led to this one."""
    own = with_those_above(os.getpid())
    pids: list[int] = []
    for pid in all_pids():
        facts = None if pid in own else facts_of(pid)
        if facts is not None and facts.state != "Z" and pattern.search(facts.command):
            pids.append(pid)
    return pids


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _rank(folder: Path) -> int | None:
    with suppress(OSError):
        pairs = (folder / "environ").read_bytes().split(b"\0")
        values = {name: value for name, _, value in (pair.partition(b"=") for pair in pairs)}
        for name in _RANKS:
            value = values.get(name.encode(), b"")
            if value.isdigit():
                return int(value)
    return None


def _switches(folder: Path) -> dict[int, tuple[int, ...]]:
    """Return of each thread what changes when it runs: its time on a processor, its turns."""
    counts: dict[int, tuple[int, ...]] = {}
    with suppress(OSError):
        for name in os.listdir(folder / "task"):
            statistics = _text(folder / "task" / name / "schedstat")
            counts[int(name)] = tuple(map(int, statistics.split()))
    return counts
