"""The limits, and the mechanisms that can enforce each of them, best first."""

from collections.abc import Sequence

from whet.core.limits import Limits
from whet.core.value_class import value_class
from whet.host.limits.enforcer import Enforcer
from whet.host.limits.groups.groups_v1 import GroupsV1
from whet.host.limits.groups.groups_v2 import GroupsV2
from whet.host.limits.memory_watchdog import Watchdog
from whet.host.limits.processors import Affinity
from whet.host.limits.rlimits import ResourceLimits


@value_class(kw_only=True)
class Family:
    """Limits that are enforced together, by one way for all of them.

    Attributes:
        names: as their options are called, without the dashes.
        ways: in the order in which they are tried.
    """

    names: tuple[str, ...]
    ways: Sequence[Enforcer]


_RESOURCE_LIMITS = ResourceLimits()
_V2, _V1 = GroupsV2(), GroupsV1()
_AFFINITY = Affinity()

FAMILIES: Sequence[Family] = (
    Family(names=("memory", "memory-high", "swap"), ways=(_V2, _V1, Watchdog())),
    Family(names=("processes",), ways=(_V2, _V1)),
    Family(names=("slow-disk",), ways=(_V2, _V1)),
    Family(names=("cpus",), ways=(_V2, _V1, _AFFINITY)),
    Family(names=("address-space",), ways=(_RESOURCE_LIMITS,)),
    Family(names=("files",), ways=(_RESOURCE_LIMITS,)),
    Family(names=("file-size",), ways=(_RESOURCE_LIMITS,)),
    Family(names=("stack",), ways=(_RESOURCE_LIMITS,)),
    Family(names=("cpu-seconds",), ways=(_RESOURCE_LIMITS,)),
)
"""A new limit needs its family here."""


def want_a_scope(limits: Limits, spawner: int) -> bool:
    """Whether limits could be enforced by control groups if this user's systemd gave them some."""
    names = [name for family in FAMILIES if _V2 in family.ways for name in family.names]
    asked = [name for name in names if asked_of(limits, name)]
    return bool(asked) and _V2.is_worth_a_scope(asked, spawner)


_FIELDS = {
    "memory": "memory_bytes",
    "memory-high": "memory_high_bytes",
    "swap": "swap_bytes",
    "address-space": "address_space_bytes",
    "file-size": "file_size_bytes",
    "stack": "stack_bytes",
    "cpu-seconds": "cpu_seconds",
    "slow-disk": "slow_disk_bytes",
}


def field_of(name: str) -> str:
    """Return the field of `Limits` that an option's limit is in."""
    return _FIELDS.get(name, name)


def asked_of(limits: Limits, name: str) -> bool:
    """Whether a limit is set."""
    return getattr(limits, field_of(name)) is not None
