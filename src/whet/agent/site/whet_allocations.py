"""Lets torch tell which lines hold the memory of its GPUs at the peak, for `whet profile --gpu-heap`.

torch's allocator keeps a history with stacks, which begins when the program first turns to a GPU. At
the end of the program the history is walked through to the moment at which most was held: that
serves after an error, too, when the tensors have gone.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    Tell = Callable[[str, bytes], None]
    Blocks = dict[int, tuple[int, Sequence[Any]]]

_SUFFIX = ".allocations"
_MOST_EVENTS, _MOST_FRAMES = 200_000, 60
_ANY_ERROR = (Exception,)


def begin(_folder: str, tell: Tell) -> dict[str, Callable[[dict[str, object]], None]]:
    """Return what is called when torch has been imported.

    Args:
        tell: writes to a file of this process, by the end of its name.
    """
    return {"torch": _Allocator(tell).begin}


class _Allocator:
    """torch's allocator in this process."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._pid = os.getpid()
        self._cuda: Any = None
        self._memory: dict[str, Any] = {}
        self._is_recording = False

    def begin(self, module: dict[str, object]) -> None:
        """Wait until the program turns to a GPU; torch has been imported."""
        import atexit

        self._cuda = module["cuda"]
        self._memory = vars(self._cuda.memory)
        atexit.register(self._end)
        try:
            vars(self._cuda)["_lazy_call"](self._record)
        except _ANY_ERROR as error:  # a torch that has no such call
            self._say({"complaint": str(error)})

    def _record(self) -> None:
        try:
            self._memory["_record_memory_history"](max_entries=_MOST_EVENTS, stacks="python")
            self._is_recording = True
        except _ANY_ERROR as error:
            self._say({"complaint": str(error)})

    def _end(self) -> None:
        if os.getpid() != self._pid or not self._is_recording:
            return
        try:
            self._say_all(self._memory["_snapshot"]())
        except _ANY_ERROR as error:
            self._say({"complaint": str(error)})

    def _say_all(self, snapshot: dict[str, list[Any]]) -> None:
        for number, events in enumerate(snapshot["device_traces"]):
            segments = [each for each in snapshot["segments"] if each["device"] == number]
            if events or segments:
                free, total = self._cuda.mem_get_info(number)
                self._say({"gpu": number, "used": total - free, **at_peak(events, segments)})

    def _say(self, told: dict[str, Any]) -> None:
        import json

        self._tell(_SUFFIX, json.dumps(told).encode() + b"\n")


def at_peak(events: Sequence[Any], segments: Iterable[Any]) -> dict[str, Any]:
    """Return what one GPU's allocator held when it held most.

    Args:
        events: its history, oldest first; what came before may be missing.
        segments: what it holds at the end.
    """
    at_first, reserved = _at_first(events, list(segments))
    held = sum(size for size, _ in at_first.values())
    most, peak_at, reserved_then = held, -1, reserved
    live, asked = dict(at_first), 0
    for place, event in enumerate(events):
        held += _change(live, event)
        reserved += {"segment_alloc": 1, "segment_free": -1}.get(event["action"], 0) * event["size"]
        if event["action"] == "oom":
            asked = event["size"]
        if held > most:
            most, peak_at, reserved_then = held, place, reserved
    live = dict(at_first)
    for event in events[: peak_at + 1]:
        _change(live, event)
    sums: dict[str, list[Any]] = {}
    for size, frames in live.values():
        stack = [[each["name"], each["filename"], each["line"]] for each in frames[:_MOST_FRAMES]]
        block = sums.setdefault(str(stack), [0, 0, stack[::-1]])
        block[0] += size
        block[1] += 1
    return {
        "peak": most, "reserved": reserved_then, "reserved_at_end": reserved,
        "asked": asked, "is_cut": len(events) >= _MOST_EVENTS, "blocks": list(sums.values()),
    }  # fmt: skip


def _change(live: Blocks, event: Any) -> int:
    """Do to the blocks what an event did; return by how much they have grown."""
    if event["action"] == "alloc":
        live[event["addr"]] = (event["size"], event.get("frames", ()))
        return int(event["size"])
    if event["action"] == "free_completed":
        size, _ = live.pop(event["addr"], (0, ()))
        return -size
    return 0


def _at_first(events: Sequence[Any], segments: Sequence[Any]) -> tuple[Blocks, int]:
    """Return the blocks that were there before a history begins, and how much was reserved."""
    reserved = sum(each["total_size"] for each in segments)
    made: set[int] = set()
    first: Blocks = {}
    for event in events:
        action = event["action"]
        reserved -= {"segment_alloc": 1, "segment_free": -1}.get(action, 0) * event["size"]
        if action == "alloc":
            made.add(event["addr"])
        elif action == "free_completed" and event["addr"] not in made:
            first[event["addr"]] = (event["size"], ())
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated" and address not in made:
                first[address] = (block["size"], block.get("frames", ()))
            address += block["size"]
    return first, reserved
