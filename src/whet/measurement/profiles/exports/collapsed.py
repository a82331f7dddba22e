"""Collapsed stacks: a line for each stack, as `flamegraph.pl`, speedscope and inferno read them."""

from whet.core.failure import Frame
from whet.core.observations.profile import BYTES, COUNT, Profile

_MICROSECONDS = 1_000_000


def collapsed(profile: Profile) -> bytes:
    """Return a profile as collapsed stacks, in microseconds, bytes or counts."""
    scale = 1 if profile.unit in {BYTES, COUNT} else _MICROSECONDS
    lines: list[str] = []
    for stack in profile.stacks:
        amount = round(stack.number(profile.unit) * scale)
        if amount:
            words = [_plain(_frame_words(each)) for each in profile.lines_of(stack)]
            root = f"process {stack.pid}" + (f" {stack.thread}" if stack.thread else "")
            lines.append(f"{';'.join([_plain(root), *words])} {amount}\n")
    return "".join(lines).encode("utf-8", "backslashreplace")


def _frame_words(frame: Frame) -> str:
    where = f"{frame.path}:{frame.line}" if frame.line else frame.path
    return f"{frame.function} ({where})" if where else frame.function


def _plain(words: str) -> str:
    return words.replace(";", ",").replace("\n", " ")
