"""A named switch of the environment: what it does, and how one sees that it took."""

import re
from collections.abc import Collection, Mapping
from dataclasses import field

from whet.core.room import Room
from whet.core.value_class import value_class

_LIBRARY = "library"


@value_class(kw_only=True)
class Toggle:
    """A switch that a program heeds, without an edit of its code.

    Attributes:
        name: what it is called on the command line.
        does: what it does, in a few words.
        read: when a program reads it.
        variables: what it sets.
        inside: what the agent does in the program, by name (`whet_toggles`).
        signs: what shows that somebody has read it, any of them: ``module:NAME`` was imported,
            ``library:NAME`` is mapped, ``flag:NAME`` is set, ``inside:NAME`` was done. None: the
            interpreter or the C library reads it whenever it starts.
        simplifies: it takes a source of disorder away: a thread, a process, a device.
        only_slows: it changes little but how fast things go, so that it may hide a race.
        only_tells: it changes what is written, and nothing else.
        amplifies: it may make a failure more frequent that comes only sometimes.
        refusal: a pattern of what a program says that doesn't work with it; empty: all do.
        room: what it puts around the program, if anything.
        wrapper: the program that starts the program, with its options; empty: none.
    """

    name: str
    does: str
    read: str = "when the program starts"
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    inside: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    simplifies: bool = False
    only_slows: bool = False
    only_tells: bool = False
    amplifies: bool = False
    refusal: str = ""
    room: Room | None = None
    wrapper: tuple[str, ...] = ()

    def is_refusal(self, said: str) -> bool:
        """Whether a program that failed with these words doesn't work with the switch at all."""
        return bool(self.refusal) and re.search(self.refusal, said) is not None

    def took(self, told: Collection[str], *, is_all: bool) -> bool | None:
        """Return whether the program has read it; None: that isn't known.

        Args:
            told: the signs that the program has given.
            is_all: it came to its end, and told all. One that is killed doesn't.
        """
        if any(_is_given(sign, told) for sign in self.signs):
            return True
        if self.room is not None:
            return True  # nothing in the program has to read it
        if not self.signs:
            return True if told or is_all else None
        return False if is_all else None


def _is_given(sign: str, told: Collection[str]) -> bool:
    kind, _, name = sign.partition(":")
    if kind == _LIBRARY:  # `libgomp` for `libgomp-a34b3233.so.1`
        return any(each.startswith(sign) for each in told)
    return f"{kind}:{name}" in told


def together(toggles: Collection[Toggle]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the variables and the names of what is done inside, of several at once."""
    variables: dict[str, str] = {}
    inside: list[str] = []
    for toggle in toggles:
        variables.update(toggle.variables)
        inside += toggle.inside
    return variables, tuple(dict.fromkeys(inside))
