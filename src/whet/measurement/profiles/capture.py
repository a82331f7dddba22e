"""A part of a profile: what one function did, with all that it called."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import replace

from whet.core.failure import Frame
from whet.core.observations.profile import Profile, Stack

_MAIN = "__main__"
_SUFFIX = ".py"


def captured(profile: Profile, target: str) -> Profile:
    """Return the stacks that pass through a function, from it on; none if it was never seen.

    Args:
        profile: the whole profile.
        target: ``package.module:Class.method`` or ``folder/file.py:Class.method``.
    """
    module, _, function = target.partition(":")
    stacks = tuple(_inside(profile, module, function))
    return replace(profile, stacks=stacks)


def near_names(profile: Profile, target: str) -> list[str]:
    """Return functions of the user's own code that a mistyped target may mean."""
    suffix = _SUFFIX if target.partition(":")[0].endswith(_SUFFIX) else ""
    names = {
        f"{_module_of(each.path)}{suffix}:{each.function}"
        for each in profile.frames
        if each.in_user_code and "<" not in each.function
    }
    return difflib.get_close_matches(target, sorted(names), n=3, cutoff=0.4)


def _inside(profile: Profile, module: str, function: str) -> Iterator[Stack]:
    is_it = [_is_called(each, module, function) for each in profile.frames]
    for stack in profile.stacks:
        place = next((n for n, number in enumerate(stack.frames) if is_it[number]), None)
        if place is not None:
            yield replace(stack, frames=stack.frames[place:])


def _is_called(frame: Frame, module: str, function: str) -> bool:
    name = frame.function
    if name != function and not name.endswith(f".{function}"):
        return False
    if module == _MAIN:
        return frame.in_user_code
    if module.endswith(_SUFFIX):
        file = module.removeprefix("./")
        return frame.path == file or frame.path.endswith(f"/{file}")
    path = module.replace(".", "/")
    return (
        re.search(rf"(?:^|[/\\]){re.escape(path)}(?:\.py|[/\\]__init__\.py)$", frame.path)
        is not None
    )


def _module_of(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(_SUFFIX)
