"""Named sets of limits, and the limits of a request on this machine."""

import math
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from whet.core.errors import BadSetting, LimitMakesNoSense
from whet.core.limits import NAMED_LIMITS, Limits, size_bytes, speed_bytes
from whet.core.room import Disk, Room
from whet.host.files.memory import memory_left
from whet.workbench.trials.sensible_limits import check_limits

_DISKS = frozenset({"disk", "disk-free", "inodes"})
_NO_AMOUNTS = frozenset({"room", "spares_command"})


def limits_asked(
    options: Limits, name: str, own: Mapping[str, Mapping[str, object]] | None = None
) -> Limits:
    """Return the limits of a request: its own over those of a named set.

    A set says how small a machine is: where this one is smaller still, its limit does nothing.

    Args:
        options: what the options say.
        name: of a set; empty: none.
        own: sets from the settings.

    Raises:
        LimitMakesNoSense: if there is no such set, or an option asks for more than there is.
        BadSetting: if a set of the user's own has something that is no limit.
    """
    total, processors = memory_left().total_bytes, len(os.sched_getaffinity(0))
    check_limits(options, total, processors)
    if not name:
        return options
    sets = {**NAMED_LIMITS, **(own or {})}
    if name not in sets:
        raise LimitMakesNoSense(
            f"there is no set of limits called `{name}`",
            hint=f"there are {', '.join(f'`{each}`' for each in sorted(sets))}; "
            "your own go into `[limits.NAME]` of `whet.toml`",
        )
    limits = Limits()
    for option, words in sets[name].items():
        if option in _DISKS:
            limits = replace(limits, room=_with_disk(name, option, words, limits.room or Room()))
            continue
        limits = replace(limits, **_field(name, option, words))
    if (limits.memory_bytes or 0) > total:
        limits = replace(limits, memory_bytes=None)
    if (limits.memory_high_bytes or 0) > total:
        limits = replace(limits, memory_high_bytes=None)
    if (limits.cpus or 0) > processors:
        limits = replace(limits, cpus=None)
    if limits.room is not None and options.room is not None:
        own_room = replace(options.room, disks=options.room.disks or limits.room.disks)
        options = replace(options, room=own_room)
    return options.over(limits)


def _text(words: object) -> str:
    return str(words) if isinstance(words, str | int | float) else ""


def _with_disk(name: str, option: str, words: object, room: Room) -> Room:
    text = _text(words)
    size, _, path = text.partition(":")
    amount = int(size) if option == "inodes" and size.isdigit() else size_bytes(size)
    if not amount:
        raise BadSetting(
            f"`{option} = {text or type(words).__name__}` in the set of limits `{name}` isn't a "
            "limit",
            hint='write it as the option: `disk-free = "1M:/tmp"`',
        )
    disk = Disk(path=path, size_bytes=amount, is_rest=option == "disk-free")
    if option == "inodes":
        disk = Disk(path=path, inodes=amount)
    return replace(room, disks=(*room.disks, disk))


def _field(name: str, option: str, words: object) -> dict[str, Any]:
    plain = option.replace("-", "_")
    kinds = {each.name for each in fields(Limits) if each.name not in _NO_AMOUNTS}
    text = _text(words)
    if f"{plain}_bytes" in kinds:
        size = speed_bytes(text) if plain == "slow_disk" else size_bytes(text)
        if size is not None and size > 0:
            return {f"{plain}_bytes": size}
    elif plain in kinds:
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if 0 < number < math.inf:
            return {plain: number if plain == "cpus" else int(number)}
    raise BadSetting(
        f"`{option} = {words!r}` in the set of limits `{name}` isn't a limit",
        hint='write it as the option: `memory = "2G"`, `files = 64`',
    )
