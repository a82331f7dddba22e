"""The options that limit what a trial may use: the same for every verb that runs trials."""

from collections.abc import Mapping
from typing import cast

import click

from whet.cli.option_groups import LIMITS, options_of
from whet.cli.options.rooms import room_of
from whet.core.limits import Limits, size_bytes, speed_bytes
from whet.core.text.quantity import bounded


class Size(click.ParamType[int]):
    """Bytes, or a number with a unit: ``300M``, ``5G``, ``1.5GiB``; a letter is a power of 1024."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the size in bytes."""
        if isinstance(value, int):
            return value
        size = size_bytes(str(value))
        if size is None or size <= 0:
            self.fail(f"`{value}` is not a size: write 300M, 5G or 1.5G", param, ctx)
        return size


class Speed(click.ParamType[int]):
    """Bytes a second: ``5MB/s``, or ``5M``; a letter is a power of 1024."""

    name = "size/s"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the bytes a second."""
        if isinstance(value, int):
            return value
        speed = speed_bytes(str(value))
        if speed is None or speed <= 0:
            self.fail(f"`{value}` is not a speed: write 5MB/s or 300K/s", param, ctx)
        return speed


class Processors(click.ParamType[float]):
    """How many processors: ``1``, ``0.5``."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        words = str(value)
        try:
            count = float(words) if words.isascii() else 0.0
        except ValueError:
            count = 0.0
        if not 0 < count < float("inf"):
            self.fail(f"`{value}` is not a number of processors: write 1 or 0.5", param, ctx)
        return count


class Count(click.ParamType[int]):
    """How many of something: ``64``."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the number."""
        words = str(value)
        if not words.isascii() or not words.isdigit() or not bounded(words):
            self.fail(f"`{words}` is not a number of 1 or more: write 64", param, ctx)
        return bounded(words)


_COUNT = Count()

_option = options_of(LIMITS)

# With a prefix: `shrink` has files of its own.
LIMIT_OPTIONS = [
    _option(
        "--limits",
        "limit_set",
        default="",
        metavar="NAME",
        help="Use a set of limits: laptop, tiny-container, or your own.",
    ),
    _option(
        "--memory",
        "limit_memory",
        type=Size(),
        help="Memory for all processes together; above it they are killed.",
    ),
    _option(
        "--memory-high",
        "limit_memory_high",
        type=Size(),
        help="Memory above which they are slowed down.",
    ),
    _option("--swap", "limit_swap", type=Size(), help="Swap on top of the memory. [none]"),
    _option(
        "--address-space",
        "limit_address_space",
        type=Size(),
        help="Address space per process (ulimit -v).",
    ),
    _option(
        "--cpus", "limit_cpus", type=Processors(), help="CPUs that it may use at once, such as 0.5."
    ),
    _option("--files", "limit_files", type=_COUNT, metavar="N", help="Open files per process."),
    _option(
        "--processes",
        "limit_processes",
        type=_COUNT,
        metavar="N",
        help="Number of processes and threads at once.",
    ),
    _option(
        "--file-size", "limit_file_size", type=Size(), help="Largest file that may be written."
    ),
    _option(
        "--stack", "limit_stack", type=Size(), help="Stack size of each process's main thread."
    ),
    _option(
        "--cpu-seconds",
        "limit_cpu_seconds",
        type=_COUNT,
        metavar="N",
        help="CPU time per process, in seconds.",
    ),
    _option(
        "--slow-disk",
        "limit_slow_disk",
        type=Speed(),
        help="Slow disk reads and writes down to this rate.",
    ),
]


def limits_of(values: Mapping[str, object]) -> Limits:
    """Return what the options say."""
    return Limits(
        memory_bytes=cast("int | None", values["limit_memory"]),
        memory_high_bytes=cast("int | None", values["limit_memory_high"]),
        swap_bytes=cast("int | None", values["limit_swap"]),
        address_space_bytes=cast("int | None", values["limit_address_space"]),
        cpus=cast("float | None", values["limit_cpus"]),
        files=cast("int | None", values["limit_files"]),
        processes=cast("int | None", values["limit_processes"]),
        file_size_bytes=cast("int | None", values["limit_file_size"]),
        stack_bytes=cast("int | None", values["limit_stack"]),
        cpu_seconds=cast("int | None", values["limit_cpu_seconds"]),
        slow_disk_bytes=cast("int | None", values["limit_slow_disk"]),
        room=room_of(values),
    )
