"""A flame graph as a tree of functions: how much of a profile is below each call path."""

from dataclasses import dataclass, field

from whet.core.failure import Frame
from whet.core.observations.profile import Profile, Stack

_DEEPEST = 150
_IMPORT_SYSTEM = "<frozen importlib"


@dataclass(slots=True)
class FlameNode:
    """A function as it is called along one path.

    Attributes:
        frame: the function, and the line of it that cost most.
        amount: what it cost, with all that it calls.
        children: what it calls, by name and file.
        lines: what each of its lines cost.
    """

    frame: Frame
    amount: float = 0.0
    children: "dict[tuple[str, str], FlameNode]" = field(
        default_factory=dict["tuple[str, str]", "FlameNode"]
    )
    lines: dict[int, float] = field(default_factory=dict[int, float])

    @property
    def line(self) -> int:
        """The line of it that cost most."""
        return max(self.lines, key=lambda each: self.lines[each], default=self.frame.line)


ALL = Frame(path="", line=0, function="all", in_user_code=False)
"""The root: what calls everything."""


def flame(profile: Profile, name: str, *, only_main: bool = False) -> FlameNode:
    """Return the tree of a profile.

    Args:
        profile: the profile.
        name: which of its numbers.
        only_main: leave out all threads but the main ones.
    """
    root = FlameNode(ALL)
    for stack in profile.stacks:
        amount = stack.number(name)
        if amount and not (only_main and stack.thread):
            _add(root, profile, stack, amount)
    return root


def _add(root: FlameNode, profile: Profile, stack: Stack, amount: float) -> None:
    node = root
    node.amount += amount
    for frame in profile.lines_of(stack)[:_DEEPEST]:
        if frame.path.startswith(_IMPORT_SYSTEM):
            continue  # five frames for each import, which say nothing
        key = (frame.function, frame.path)
        child = node.children.get(key)
        if child is None:
            child = node.children[key] = FlameNode(frame)
        child.amount += amount
        child.lines[frame.line] = child.lines.get(frame.line, 0.0) + amount
        node = child
