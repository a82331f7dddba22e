"""The options of the room that a trial runs in: the same for every verb that runs trials."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import click

from whet.cli.option_groups import MACHINE, options_of
from whet.core.errors import BadUsage
from whet.core.limits import size_bytes
from whet.core.room import Disk, Fault, Room
from whet.core.text.quantity import bounded

if TYPE_CHECKING:
    from typing import Any

_option = options_of(MACHINE)

ROOM_OPTIONS: "Sequence[Callable[[Any], Any]]" = [
    _option(
        "--disk",
        "room_disk",
        multiple=True,
        metavar="SIZE[:DIR]",
        help="Put an in-memory file system of this size in place of DIR ($TMPDIR).",
    ),
    _option(
        "--disk-free",
        "room_disk_free",
        multiple=True,
        metavar="SIZE[:DIR]",
        help="Leave only SIZE free in DIR ($TMPDIR); whatever the trial writes there is discarded.",
    ),
    _option(
        "--inodes",
        "room_inodes",
        multiple=True,
        metavar="N[:DIR]",
        help="Allow at most N files in the file system of --disk, or in a new one.",
    ),
    _option(
        "--read-only",
        "room_read_only",
        multiple=True,
        metavar="PATH",
        help="Forbid writes to PATH.",
    ),
    _option(
        "--clean",
        "room_clean",
        is_flag=True,
        help="Start every trial from the same files; discard what it writes to the project, /tmp and"
        " /dev/shm. Parallel trials don't see each other.",
    ),
    _option(
        "--keep-writes",
        "room_keep_writes",
        default="",
        metavar="DIR",
        help="With --clean: list the files that the trial wrote to the project, and keep them in DIR.",
    ),
    _option(
        "--network",
        "room_network",
        type=click.Choice(["none", "loopback"]),
        help="Cut off the network, or leave only a private loopback.",
    ),
    _option(
        "--clock",
        "room_clock",
        default="",
        metavar="TIME",
        help="Start the trial's clock at TIME, such as 2038-01-19 (needs libfaketime).",
    ),
    _option(
        "--fail",
        "room_fail",
        multiple=True,
        metavar="CALL:ERROR[@N|%N][:GLOB]",
        help="Make system calls fail: the Nth, every Nth, only on matching files; such as 'write:ENOSPC@5'.",
    ),
    _option(
        "--gpus",
        "room_gpus",
        default="",
        metavar="none|N",
        help="Hide all GPUs, or all but N.",
    ),
    _option(
        "--gpu-free",
        "--gpu",
        "room_gpu_free",
        multiple=True,
        metavar="SIZE",
        help="Leave only SIZE free on each visible GPU, or on one: 0=3G.",
    ),
    _option(
        "--gpu-memory",
        "room_gpu_memory",
        default="",
        metavar="SIZE",
        help="GPU memory that torch or JAX may use per process and GPU.",
    ),
    _option(
        "--cpu-load",
        "room_cpu_load",
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Keep N other processes busy on the CPUs meanwhile.",
    ),
]


def room_of(values: Mapping[str, object]) -> Room | None:
    """Return what the options say; None: nothing.

    Raises:
        BadUsage: if one of them can't be read.
    """
    room = Room(
        disks=_disks(values),
        read_only=_words(values, "room_read_only"),
        is_clean=bool(values["room_clean"]),
        keep_writes=str(values["room_keep_writes"]),
        network=str(values["room_network"] or ""),
        clock=str(values["room_clock"]),
        faults=tuple(_fault(word) for word in _words(values, "room_fail")),
        gpus=_gpus(str(values["room_gpus"])),
        gpu_free=tuple(_gpu_free(word) for word in _words(values, "room_gpu_free")),
        gpu_memory_bytes=_gpu_memory(str(values["room_gpu_memory"])),
        cpu_load=cast("int", values["room_cpu_load"]),
    )
    return None if room == Room() else room


def _words(values: Mapping[str, object], name: str) -> tuple[str, ...]:
    return cast("tuple[str, ...]", values[name])


def _disks(values: Mapping[str, object]) -> tuple[Disk, ...]:
    counts = dict(_count(word) for word in _words(values, "room_inodes"))
    disks: list[Disk] = []
    for option in ("disk", "disk_free"):
        for word in _words(values, f"room_{option}"):
            size, path = _size(word, f"--{option.replace('_', '-')}")
            # `--inodes` without a folder counts for the first of them.
            inodes = counts.pop(path, None) or (counts.pop("", None) if not disks else None)
            is_rest = option == "disk_free"
            disks.append(Disk(path=path, size_bytes=size, inodes=inodes, is_rest=is_rest))
    return (*disks, *(Disk(path=path, inodes=count) for path, count in counts.items()))


def _size(word: str, option: str) -> tuple[int, str]:
    size, _, path = word.partition(":")
    size_in_bytes = size_bytes(size)
    if not size_in_bytes:
        raise BadUsage(
            f"`{option} {word}` doesn't start with a size",
            hint=f"write `{option} 1G` or `{option} 50M:/tmp`",
        )
    return size_in_bytes, path


_MOST_GPUS = 1024


def _count(word: str) -> tuple[str, int]:
    count, _, path = word.partition(":")
    if not count.isascii() or not count.isdigit() or not bounded(count):
        raise BadUsage(
            f"`--inodes {word}` doesn't start with a number of files",
            hint="write `--inodes 100` or `--inodes 100:/tmp`",
        )
    return path, bounded(count)


def _fault(word: str) -> Fault:
    fault = Fault.parse(word)
    if fault is None:
        raise BadUsage(
            f"`--fail {word}` doesn't say which call fails, and how",
            hint="write `--fail write:ENOSPC@5`, `--fail 'openat:EMFILE%2:*.pt'`",
        )
    return fault


def _gpus(word: str) -> int | None:
    if word == "none":
        return 0
    if word and not (word.isascii() and word.isdigit()):
        raise BadUsage(
            f"`--gpus {word}` is no number of GPUs", hint="write `--gpus none` or `--gpus 1`"
        )
    count = bounded(word) if word else None
    if count is not None and count > _MOST_GPUS:
        raise BadUsage(
            f"`--gpus {count}` is more than a machine has", hint="write `--gpus none` or `--gpus 1`"
        )
    return count


def _gpu_free(word: str) -> tuple[str, int]:
    gpu, equals, words = word.rpartition("=")
    size = size_bytes(words)
    if size is None or (equals and not (gpu.isascii() and gpu.isdigit())):
        raise BadUsage(
            f"`--gpu-free {word}` isn't a size", hint="write `--gpu-free 3G` or `--gpu-free 0=3G`"
        )
    return gpu, size


def _gpu_memory(word: str) -> int | None:
    size = size_bytes(word) if word else None
    if word and not size:
        raise BadUsage(f"`--gpu-memory {word}` isn't a size", hint="write `--gpu-memory 3G`")
    return size
