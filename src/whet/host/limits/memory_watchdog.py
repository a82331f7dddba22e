"""A memory limit for a whole process tree without control groups: whet samples and kills."""

from collections.abc import Collection

from whet.core.limits import LimitMet, Limits, shown_size
from whet.core.value_class import value_class
from whet.host.limits.enforcer import End, Plain
from whet.host.limits.groups.group_limits import met_in_groups
from whet.host.process.cleanup_journal import CleanupJournal


@value_class
class Watchdog:
    """Follows what the tree holds (PSS: a page of two processes counts half in each)."""

    way: str = "watchdog"

    def blocker(self, name: str, limits: Limits, /) -> str:
        """Return what it can't do: slow a program down."""
        if name == "memory-high":
            return "it can kill a program, but not slow it down"
        if limits.memory_bytes is None:
            return f"`--{name}` needs `--memory`"
        return ""

    def prepare(
        self,
        _names: Collection[str],
        limits: Limits,
        _cleanup_journal: CleanupJournal,
        /,
    ) -> "_Prepared":
        """Return what the spawner has to look at."""
        most = limits.memory_bytes or 0
        swap = limits.swap_bytes or 0
        return _Prepared(
            way=f"memory {shown_size(most)} by a watchdog",
            probes=(("memory seen",),),
            watches=(("memory seen", most, swap, int(limits.spares_command)),),
            limits=limits,
        )


@value_class(kw_only=True)
class _Prepared(Plain):
    limits: Limits

    def met(self, end: End, /) -> tuple[LimitMet, ...]:
        """Return what the watch has seen."""
        return met_in_groups(end, self.limits)
