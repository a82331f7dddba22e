"""What a step costs at least, in sentences and as JSON."""

from collections.abc import Iterator

from whet.cli.display.lines import shown_brief
from whet.core.text.quantity import shown_bytes
from whet.workbench.expect.estimate import StepEstimate

_SCALES = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
_MOST_OPERATORS = 5


def estimate_lines(of: StepEstimate) -> Iterator[str]:
    """Yield the bound, what it comes from, and the memory."""
    least = shown_brief(of.least_seconds)
    step = f"`{of.target.function}`"
    if of.seconds is None:
        yield f"{step} can't take less than {least} here"
    elif of.seconds < of.least_seconds:
        yield (
            f"{step} takes {shown_brief(of.seconds)}, less than the {least} that whet estimates: this"
            " machine reaches more than whet has measured"
        )
    else:
        times = f"the shortest of {of.runs} runs"
        yield f"{step} can't take less than {least} here; it takes {shown_brief(of.seconds)} ({times})"
    flops = sum(each.flops for each in of.operators)
    moved = sum(each.bytes_moved for each in of.operators)
    calls = sum(len(each.calls) for each in of.operators)
    reached = f"{_scaled(of.machine.flops)}FLOP/s ({of.dtype}, {_place(of)})"
    yield f"  arithmetic  {_scaled(flops)}FLOP; this machine reaches {reached}"
    rate = shown_bytes(round(of.machine.bytes_moved))
    yield f"  bytes       {shown_bytes(round(moved))} in {calls:,} operators; it reaches {rate}/s"
    ordered = sorted(of.operators, key=lambda each: -each.least_seconds(of.machine))
    most = [
        f"{each.name} {shown_brief(each.least_seconds(of.machine))}"
        for each in ordered[:_MOST_OPERATORS]
    ]
    if len(ordered) > 1:
        yield f"  at least    {', '.join(most)}"
    yield f"  memory      {_memory(of)}"
    if of.uncounted:
        names = ", ".join(of.uncounted)
        yield f"              what {names} keeps inside isn't counted: it is more than that"
    if of.held_bytes is not None:
        yield f"              the real run held {shown_bytes(of.held_bytes)}"


def _place(of: StepEstimate) -> str:
    if of.device != "cpu":
        return of.device
    return "1 thread" if of.threads == 1 else f"{of.threads} threads"


def _memory(of: StepEstimate) -> str:
    kinds = {name: size for name, size in of.memory.items() if name != "peak" and size}
    peak = of.memory["peak"]
    if "parameters" in of.memory:
        kinds["activations and temporary tensors"] = peak - sum(kinds.values())
        if "others" in kinds:
            kinds["inputs and other tensors"] = kinds.pop("others")
    words = [f"{name} {shown_bytes(size)}" for name, size in kinds.items() if size]
    return f"{shown_bytes(peak)} of tensors: {', '.join(words)}"


def _scaled(number: float) -> str:
    for letter, scale in _SCALES:
        if number >= scale:
            return f"{number / scale:.3g} {letter}"
    return f"{number:.3g} "


def estimate_json(of: StepEstimate) -> dict[str, object]:
    """Return it as JSON data."""
    return {
        "step": of.target.words,
        "library": of.target.library,
        "least_seconds": of.least_seconds,
        "seconds": of.seconds,
        "runs": of.runs,
        "flops": sum(each.flops for each in of.operators),
        "bytes": sum(each.bytes_moved for each in of.operators),
        "memory": dict(of.memory),
        "held_bytes": of.held_bytes,
        "dtype": of.dtype,
        "device": of.device,
        "threads": of.threads,
        "machine": of.machine.to_json(),
        "operators": [
            {
                "name": each.name,
                "calls": len(each.calls),
                "flops": each.flops,
                "bytes": each.bytes_moved,
                "least_seconds": each.least_seconds(of.machine),
            }
            for each in of.operators
        ],
    }
