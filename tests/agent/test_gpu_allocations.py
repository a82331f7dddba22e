"""What the allocator of a GPU held at its peak is found in its history."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from whet.agent.site.whet_allocations import at_peak

RECORDED = Path(__file__).resolve().parents[2] / "specimens" / "gpu" / "fragments.json"
"""The history of `specimens/gpu/programs/fragments.py` on an H100."""

MEBIBYTE = 1 << 20
Event = dict[str, Any]


def made(address: int, size: int, line: int) -> Event:
    frames = [{"name": "step", "filename": "train.py", "line": line}]
    return {"action": "alloc", "addr": address, "size": size, "frames": frames}


def freed(address: int, size: int) -> Event:
    return {"action": "free_completed", "addr": address, "size": size, "frames": []}


def lines(told: dict[str, Any]) -> dict[int, tuple[int, int]]:
    """Return bytes and blocks by the line that made them; line 0: not known."""
    return {stack[-1][2] if stack else 0: (size, count) for size, count, stack in told["blocks"]}


def test_the_history_of_a_real_gpu_is_walked_to_the_peak_and_not_to_the_end() -> None:
    snapshot = json.loads(RECORDED.read_text())
    told = at_peak(snapshot["device_traces"][0], snapshot["segments"])

    at_end = sum(
        block["size"]
        for segment in snapshot["segments"]
        for block in segment["blocks"]
        if block["state"] == "active_allocated"
    )
    assert lines(told) == {7: (256 * MEBIBYTE, 1), 11: (900 * MEBIBYTE, 40)}
    assert told["peak"] == 1156 * MEBIBYTE > at_end
    assert told["reserved_at_end"] == sum(each["total_size"] for each in snapshot["segments"])
    assert told["reserved"] == told["reserved_at_end"] - 128 * MEBIBYTE


def test_what_was_there_before_the_history_counts() -> None:
    kept = {"size": 5, "state": "active_allocated", "frames": made(1, 5, 30)["frames"]}
    segment = {"device": 0, "address": 1, "total_size": 20, "blocks": [kept]}
    told = at_peak([freed(9, 7), made(12, 4, 8)], [segment])

    assert told["peak"] == 12
    assert lines(told) == {30: (5, 1), 0: (7, 1)}


def test_the_size_that_was_refused_is_told() -> None:
    told = at_peak([made(1, 5, 3), {"action": "oom", "addr": 0, "size": 99, "frames": []}], [])
    assert (told["peak"], told["asked"]) == (5, 99)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3)), max_size=40))
def test_the_blocks_at_the_peak_are_all_that_was_held_then(steps: list[tuple[int, int]]) -> None:
    events: list[Event] = []
    live: dict[int, int] = {}
    most = 0
    for address, (size, kind) in enumerate(steps):
        if kind == 0 and live:
            oldest = next(iter(live))
            events.append(freed(oldest, live.pop(oldest)))
        else:
            live[address] = size
            events.append(made(address, size, kind))
        most = max(most, sum(live.values()))
    told = at_peak(events, [])
    assert told["peak"] == most
    assert sum(size for size, _ in lines(told).values()) == most
