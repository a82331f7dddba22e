"""The file format of speedscope (https://www.speedscope.app/file-format-schema.json)."""

import json
from collections.abc import Mapping, Sequence

from whet.core.observations.profile import BYTES, COUNT, Profile, Stack

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(profile: Profile, name: str) -> bytes:
    """Return a profile as speedscope reads it: one profile for each thread."""
    unit = "bytes" if profile.unit == BYTES else "none" if profile.unit == COUNT else "seconds"
    threads: dict[tuple[int, str], list[Stack]] = {}
    for stack in profile.stacks:
        if stack.number(profile.unit):
            threads.setdefault((stack.pid, stack.thread), []).append(stack)
    data = {
        "$schema": _SCHEMA,
        "name": name,
        "exporter": "whet",
        "activeProfileIndex": 0,
        "shared": {
            "frames": [
                {"name": each.function, "file": each.path, "line": each.line}
                for each in profile.frames
            ]
        },
        "profiles": [_profile(profile, unit, thread, stacks) for thread, stacks in threads.items()],
    }
    return json.dumps(data).encode()


def _profile(
    profile: Profile, unit: str, thread: tuple[int, str], stacks: Sequence[Stack]
) -> Mapping[str, object]:
    pid, name = thread
    weights = [each.number(profile.unit) for each in stacks]
    return {
        "type": "sampled",
        "name": f"process {pid} {name or 'main thread'}",
        "unit": unit,
        "startValue": 0,
        "endValue": sum(weights),
        "samples": [list(each.frames) for each in stacks],
        "weights": weights,
    }
