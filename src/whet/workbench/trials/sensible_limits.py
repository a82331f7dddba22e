"""Limits that make sense on this machine: high enough to start, and not above what it has."""

from collections.abc import Mapping

from whet.core.errors import LimitMakesNoSense
from whet.core.limits import Limits, shown_size
from whet.core.value_class import value_class

_LEAST_BYTES = 1 << 20
_LEAST_STACK_BYTES = 16 << 10
_LEAST_FILES = 3
_LEAST_SPEED = 4096  # a page a second
_LEAST_CPUS = 0.01  # the least quota of a control group: 1 of 100 ms
_MOST_PROCESSES = 1 << 22  # PID_MAX_LIMIT of the kernel
_MOST_CPU_SECONDS = 1 << 32


@value_class(kw_only=True)
class _Bound:
    """A least or a most of one limit.

    Attributes:
        option: as the user writes it.
        amount: what was asked for; None: nothing.
        bound: the amount that still makes sense.
        why: what is wrong with one beyond it.
        hint: the next step.
        is_size: it counts bytes.
    """

    option: str
    amount: float | None
    bound: float
    why: str
    hint: str
    is_size: bool = False

    def refuse(self) -> LimitMakesNoSense:
        """Return the error that names both."""
        amount = self.amount or 0
        number = f"{amount:g}" if isinstance(amount, float) else f"{amount}"
        amount_text = shown_size(amount) if self.is_size else number
        return LimitMakesNoSense(f"`--{self.option} {amount_text}` is {self.why}", hint=self.hint)


def check_limits(limits: Limits, total_bytes: int, processors: int) -> None:
    """Refuse what makes no sense here.

    Raises:
        LimitMakesNoSense: with the least that works, or what there is.
    """
    for bound in _least(limits):
        if bound.amount is not None and bound.amount < bound.bound:
            raise bound.refuse()
    for bound in _most(limits, total_bytes, processors):
        if bound.amount is not None and bound.amount > bound.bound:
            raise bound.refuse()
    if limits.swap_bytes is not None and limits.memory_bytes is None:
        raise LimitMakesNoSense(
            f"`--swap {shown_size(limits.swap_bytes)}` limits nothing on its own: `--swap` needs"
            " `--memory`",
            hint="write `--memory 5G --swap 3G`",
        )
    if (limits.memory_high_bytes or 0) > (limits.memory_bytes or total_bytes):
        raise LimitMakesNoSense(
            f"`--memory-high {shown_size(limits.memory_high_bytes or 0)}` is above "
            f"`--memory {shown_size(limits.memory_bytes or 0)}`, so it has no effect",
            hint="lower it below `--memory`",
        )


def _sizes(why: str, bounds: Mapping[str, tuple[int | None, int]], hint: str = "") -> list[_Bound]:
    """Return bounds of sizes by option, each with what was asked for; the hint names the least."""
    return [
        _Bound(
            option=option,
            amount=amount,
            bound=bound,
            why=why,
            hint=hint or f"the least that works is {shown_size(bound)}",
            is_size=True,
        )
        for option, (amount, bound) in bounds.items()
    ]


def _least(limits: Limits) -> tuple[_Bound, ...]:
    sizes = {
        "memory": (limits.memory_bytes, _LEAST_BYTES),
        "address-space": (limits.address_space_bytes, _LEAST_BYTES),
        "stack": (limits.stack_bytes, _LEAST_STACK_BYTES),
    }
    return (
        *_sizes("less than any program needs to start", sizes),
        _Bound(
            option="files",
            amount=limits.files,
            bound=_LEAST_FILES,
            why="less than every program starts with",
            hint=f"the least is {_LEAST_FILES}: standard input, output and error",
        ),
        _Bound(
            option="slow-disk",
            amount=limits.slow_disk_bytes,
            bound=_LEAST_SPEED,
            why="less than one page in a second",
            hint=f"the least that works is {_LEAST_SPEED}; such as `--slow-disk 5MB/s`",
        ),
        _Bound(
            option="cpus",
            amount=limits.cpus,
            bound=_LEAST_CPUS,
            why="less than the kernel gives out",
            hint=f"the least that works is {_LEAST_CPUS}",
        ),
    )


def _most(limits: Limits, total_bytes: int, processors: int) -> tuple[_Bound, ...]:
    less = "lower it, or leave it out"
    sizes = {
        "memory": (limits.memory_bytes, total_bytes),
        "memory-high": (limits.memory_high_bytes, total_bytes),
    }
    return (
        *_sizes(f"more than this machine's {shown_size(total_bytes)}", sizes, less),
        _Bound(
            option="cpus",
            amount=limits.cpus,
            bound=processors,
            why=f"more than this machine's {processors}",
            hint=less,
        ),
        _Bound(
            option="processes",
            amount=limits.processes,
            bound=_MOST_PROCESSES,
            why=f"more than a kernel's maximum of {_MOST_PROCESSES}",
            hint=less,
        ),
        _Bound(
            option="cpu-seconds",
            amount=limits.cpu_seconds,
            bound=_MOST_CPU_SECONDS,
            why="more than a century",
            hint=less,
        ),
    )
