"""Which part of a trial's sandbox explains its failure: the disk, the network, or an injected fault."""

import errno
import os
import re
from dataclasses import replace

from whet.core.failure import Failure, FailureKind
from whet.core.limits import LimitMet, shown_share, shown_size
from whet.core.outcome import Outcome
from whet.core.room import Disk, Fault, Room
from whet.evidence.signature.limit_met import with_limit
from whet.evidence.signature.message import normalise
from whet.evidence.signature.shortage import first_sentence, shortage_of

_READ_ONLY = re.compile(r"\[Errno 30\]|Read-only file system|\bEROFS\b|os error 30\b")
_OFFLINE = re.compile(
    r"\[Errno (?:101|111|113|-2|-3|-5)\]|Network is unreachable|Connection refused|No route to host"
    r"|[Nn]ame or service not known|Temporary failure in name resolution|getaddrinfo failed"
    r"|Could not resolve host|\bENETUNREACH\b|No address associated with hostname"
)
_GPU = re.compile(
    r"\b(?:CUDA|HIP|GPU)\b|OutOfMemoryError|RESOURCE_EXHAUSTED|CU\w+_STATUS_ALLOC_FAILED"
)
# What programs say of a write of which the kernel took a part: there is no error number then.
_CUT_SHORT = re.compile(
    r"\b(?:[Ww]rote only|[Ss]hort (?:write|count)|[Pp]artial write|[Ww]rite (?:error|failed|failure)"
    r"|(?:[Ee]rror|[Ff]ailed) (?:writing|to write)|(?:[Cc]annot|[Cc]ould not|[Cc]an't) write)\b"
)
_FRAME = re.compile(r'File "[^"\n]*", line \d+')
_PATH = re.compile(r"'(/[^'\n]+)'|\"(/[^\"\n]+)\"|(/[^\s'\":,;()]+)")


def naming_room(failure: Failure, room: Room, outcome: Outcome, text: str) -> Failure:
    """Return the failure with the part of the sandbox that explains it, if one does.

    Args:
        failure: what the outcome shows on its own.
        room: the trial's sandbox.
        outcome: what has become of its disks.
        text: the end of what the program wrote.
    """
    # Where the program's own files lie says nothing about what it wrote.
    summary = _FRAME.sub("", f"{failure.summary}\n{text}")
    option, words = _met(failure, room, outcome, summary)
    if not option:
        return failure
    if failure.kind is FailureKind.EXIT and _is_disk(option):
        failure = _no_space(failure, summary)
    return with_limit(failure, option, words)


def naming_fault(failure: Failure, outcome: Outcome, text: str) -> Failure:
    """Return the failure with the fault that was hit and whose error the program speaks of.

    It goes before the limits: what they refuse looks the same, and nothing says that they did.
    """
    words = _FRAME.sub("", f"{failure.summary}\n{text}")
    for limit in outcome.limits_met:
        fault = Fault.parse(limit.process) if limit.name == "fail" else None
        if fault is not None and os.strerror(getattr(errno, fault.error, 0)) in words:
            return with_limit(failure, "fail", f"limit `--fail {fault.words}`")
    return failure


def _is_disk(option: str) -> bool:
    return option in {"disk", "disk-free", "inodes"}


def _no_space(failure: Failure, said: str) -> Failure:
    """Return a failure that speaks of the disk: not every tool does so in its last line."""
    kind = FailureKind.NO_SPACE_LEFT
    lines = [line for line in said.splitlines() if shortage_of("", line) is kind]
    lines = lines or [line for line in said.splitlines() if _CUT_SHORT.search(line)]
    signature = replace(
        failure.signature, kind=kind, message=normalise(first_sentence(lines[-1])), exit_code=None
    )
    return replace(failure, signature=signature, summary=lines[-1].strip())


def _met(failure: Failure, room: Room, outcome: Outcome, said: str) -> tuple[str, str]:
    """Return the option that explains a failure, without its dashes, and what to say of it."""
    is_full = any(_is_disk(limit.name) for limit in outcome.limits_met)
    if room.disks and (_is_no_space(failure, said) or (is_full and _CUT_SHORT.search(said))):
        return _disk_met(room, outcome.limits_met, said)
    for fault in room.faults:
        if os.strerror(getattr(errno, fault.error, 0)) in said:
            return "fail", f"limit `--fail {fault.words}`"
    if room.read_only and _READ_ONLY.search(said):
        path = _named(said, room.read_only)
        return "read-only", f"limit `--read-only {path or room.read_only[0]}`"
    if failure.kind is FailureKind.OUT_OF_MEMORY and is_about_gpus(said):
        return _gpu_met(room)
    if room.network and _OFFLINE.search(said):
        return "network", f"limit `--network {room.network}`"
    return "", ""


def is_about_gpus(said: str) -> bool:
    """Whether a failure for lack of memory speaks of a GPU's."""
    return _GPU.search(said) is not None


def _gpu_met(room: Room) -> tuple[str, str]:
    """Return the tighter one of what was left of a GPU and of what the program might take of it."""
    limits = [(size, "gpu-free", f"{gpu}=" if gpu else "") for gpu, size in room.gpu_free]
    if room.gpu_memory_bytes is not None:
        limits.append((room.gpu_memory_bytes, "gpu-memory", ""))
    if not limits:
        return "", ""
    size, option, gpu = min(limits)
    return option, f"limit `--{option} {gpu}{shown_size(size).replace(' ', '')}`"


def _is_no_space(failure: Failure, said: str) -> bool:
    return failure.kind is FailureKind.NO_SPACE_LEFT or (
        shortage_of("", said) is FailureKind.NO_SPACE_LEFT
    )


def _disk_met(room: Room, limits_met: tuple[LimitMet, ...], said: str) -> tuple[str, str]:
    paths = tuple(disk.path for disk in room.disks)
    path = _named(said, paths)
    full = {limit.name: limit for limit in limits_met}
    disk = next(
        (disk for disk in room.disks if path and _is_in(path, disk.path)),
        next((disk for disk in room.disks if disk.option in full), room.disks[0]),
    )
    # A disk may have free bytes and no free inodes.
    option = "inodes" if "inodes" in full and disk.inodes is not None else disk.option
    limit = full.get(option)
    words = f"{path or disk.path} (limit `--{option} {_amount(disk, option)}`"
    if limit is not None:
        usage = f"{limit.reached:g} of {limit.limit:g} files"
        if option != "inodes":
            usage = f"{shown_share(limit.reached, limit.limit)} used"
        words += f", {usage}"
    return option, f"{words})"


def _amount(disk: Disk, option: str) -> str:
    amount = f"{disk.inodes}" if option == "inodes" else shown_size(disk.size_bytes or 0)
    return f"{amount.replace(' ', '')}:{disk.path}"


def path_named(summary: str) -> str:
    """Return the last absolute path in a report of a failure; empty: there is none."""
    matches = [one or two or three for one, two, three in _PATH.findall(summary)]
    return matches[-1] if matches else ""


def _named(said: str, folders: tuple[str, ...]) -> str:
    """Return the last path below one of the folders that the program names; empty: none."""
    matches = [one or two or three for one, two, three in _PATH.findall(said)]
    inside = [path for path in matches if any(_is_in(path, folder) for folder in folders)]
    return inside[-1] if inside else ""


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
