"""Limits of each process that the kernel enforces on its own: setrlimit(2)."""

import resource
import signal
from collections.abc import Collection

from whet.core.limits import LimitMet, Limits
from whet.core.value_class import value_class
from whet.host.limits.enforcer import End, Order, Plain
from whet.host.process.cleanup_journal import CleanupJournal

_NUMBERS = {
    "address-space": resource.RLIMIT_AS,
    "files": resource.RLIMIT_NOFILE,
    "file-size": resource.RLIMIT_FSIZE,
    "stack": resource.RLIMIT_STACK,
    "cpu-seconds": resource.RLIMIT_CPU,
}
_SIGNALS = {"file-size": signal.SIGXFSZ, "cpu-seconds": signal.SIGXCPU}


@value_class
class ResourceLimits:
    """One `setrlimit` for each limit; it needs no right, as long as it lowers what there is."""

    way: str = "resource limit"

    def blocker(self, name: str, limits: Limits, /) -> str:
        """Return why the limit can't be set: it is above the one that this process has itself."""
        _, hard = resource.getrlimit(_NUMBERS[name])
        most = _amounts(limits)[name]
        if hard != resource.RLIM_INFINITY and most > hard:
            return f"this process itself can have at most {hard} (`ulimit -H`)"
        return ""

    def prepare(
        self,
        names: Collection[str],
        limits: Limits,
        _cleanup_journal: CleanupJournal,
        /,
    ) -> "_Prepared":
        """Return the steps that set the limits."""
        amounts = {name: most for name, most in _amounts(limits).items() if name in names}
        return _Prepared(
            way=", ".join(f"{name} by {self.way}" for name in amounts),
            steps=tuple(_step(name, most) for name, most in amounts.items()),
            probes=tuple((name, most) for name, most in amounts.items()),
            amounts=amounts,
        )


@value_class(kw_only=True)
class _Prepared(Plain):
    amounts: dict[str, int]

    def met(self, end: End, /) -> tuple[LimitMet, ...]:
        """Return the limit whose signal ended the command, if one did."""
        return tuple(
            LimitMet(
                name=name, limit=self.amounts[name], reached=self.amounts[name], was_killed=True
            )
            for name, number in _SIGNALS.items()
            if name in self.amounts and end.signal == number
        )


def _step(name: str, most: int) -> Order:
    # At the hard limit of CPU time the kernel kills; a second before it sends SIGXCPU.
    return ("limit", _NUMBERS[name], most, most + 1 if name == "cpu-seconds" else most)


def _amounts(limits: Limits) -> dict[str, int]:
    amounts = {
        "address-space": limits.address_space_bytes,
        "files": limits.files,
        "file-size": limits.file_size_bytes,
        "stack": limits.stack_bytes,
        "cpu-seconds": limits.cpu_seconds,
    }
    return {name: most for name, most in amounts.items() if most is not None}
