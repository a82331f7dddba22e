"""The disk speed of a trial: which disks there are, and how much a trial read and wrote.

A control group has a limit for each whole disk, by its number, in bytes per second and for each
direction: `blkio.throttle` in version 1, `io.max` in version 2.
"""

import os
import stat
from collections.abc import Iterator

from whet.core.limits import shown_size
from whet.host.kernel.control_groups import read_words

READS_V1, WRITES_V1 = "blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"
_BLOCK_DEVICES = "/sys/dev/block"
_HARDLY_BYTES = 256 << 10  # the probe's own, and a folder or two


def mounted_disks() -> tuple[str, ...]:
    """Return the numbers of the disks that file systems lie on here: ``254:0``."""
    lines = read_words("/proc/self/mountinfo").splitlines()
    return tuple(dict.fromkeys(disk for line in lines for disk in _disks_of(line)))


def v1_limits(bytes_per_second: int) -> Iterator[tuple[str, str]]:
    """Yield the files of a group of version 1, and what to write to each."""
    for disk in mounted_disks():
        for name in (READS_V1, WRITES_V1):
            yield name, f"{disk} {bytes_per_second}"


def v2_limits(bytes_per_second: int) -> Iterator[tuple[str, str]]:
    """Yield the files of a group of version 2, and what to write to each."""
    for disk in mounted_disks():
        yield "io.max", f"{disk} rbps={bytes_per_second} wbps={bytes_per_second}"


def blocker(own: str, version: int) -> str:
    """Return why disks can't be slowed down by a group below ``own``; empty: they can."""
    name = READS_V1 if version == 1 else "io.max"
    if version == 1 and not os.path.exists(f"{own}/{name}"):
        return "the kernel can't slow disks (CONFIG_BLK_DEV_THROTTLING)"
    if not mounted_disks():
        return "no mounted file system is on a local disk"
    limited = any(not line.endswith("max") for line in _limits_of(own, version))
    return f"`{own}` already has such a limit, which the trial would escape" if limited else ""


def traffic_words(folder: str, version: int) -> str:
    """Return what a trial has read from disks and written to them, as a note for the user."""
    read, written = _traffic_v1(folder) if version == 1 else _traffic_v2(folder)
    amounts = f"{shown_size(read)} read from disks, {shown_size(written)} written to them"
    later = "; buffered writes weren't slowed (control groups of version 1)" if version == 1 else ""
    if read + written <= _HARDLY_BYTES:
        return f"`--slow-disk` had nothing to slow: {amounts}, the rest was in memory{later}"
    return f"`--slow-disk`: {amounts}{later}"


def _limits_of(own: str, version: int) -> list[str]:
    if version == 1:
        files = (READS_V1, WRITES_V1)
        return [line for name in files for line in read_words(f"{own}/{name}").splitlines()]
    return [
        word
        for line in read_words(f"{own}/io.max").splitlines()
        for word in line.split()[1:]
        if word.startswith(("rbps=", "wbps="))
    ]


def _traffic_v1(folder: str) -> tuple[int, int]:
    input_bytes = output_bytes = 0
    for line in read_words(f"{folder}/blkio.throttle.io_service_bytes").splitlines():
        words = line.split()  # 254:0 Read 4096
        input_bytes += int(words[2]) if words[1:2] == ["Read"] else 0
        output_bytes += int(words[2]) if words[1:2] == ["Write"] else 0
    return input_bytes, output_bytes


def _traffic_v2(folder: str) -> tuple[int, int]:
    input_bytes = output_bytes = 0
    for line in read_words(f"{folder}/io.stat").splitlines():
        fields = dict(word.split("=", 1) for word in line.split()[1:] if "=" in word)
        input_bytes += int(fields.get("rbytes", 0))
        output_bytes += int(fields.get("wbytes", 0))
    return input_bytes, output_bytes


def _disks_of(line: str) -> Iterator[str]:
    """Yield the disk that a line of mountinfo is about; proc_pid_mountinfo(5)."""
    number, source = line.split(" ")[2], line.partition(" - ")[2].split(" ")[1]
    if number.startswith("0:"):  # btrfs has numbers of its own
        try:
            state = os.stat(source)
        except OSError:
            return
        if not stat.S_ISBLK(state.st_mode):
            return
        number = f"{os.major(state.st_rdev)}:{os.minor(state.st_rdev)}"
    place = f"{_BLOCK_DEVICES}/{number}"
    if os.path.exists(f"{place}/partition"):  # only a whole disk can be slowed
        place = os.path.dirname(os.path.realpath(place))
    device = read_words(f"{place}/dev").strip()
    if device:
        yield device
