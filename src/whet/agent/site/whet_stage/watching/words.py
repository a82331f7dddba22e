"""Looks out for the first sight of the program's arguments, just before it.

Nothing tells of a look at `sys.argv`, so a list of whet's own is there until the first one. Its type
is what a program could see of it, and to see that it must look. From then on an ordinary list
is there.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import sys

from ..hiding.hidden_frames import caller, hidden_frame
from ..hiding.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LISTS = ("argv", "orig_argv")
_RUNNERS = ("<frozen runpy>",)  # puts the name of the module into `sys.argv` before it is run
_MADE_ANEW = ("__class__", "__init__", "__init_subclass__", "__new__", "__getattribute__")
_SPACE: Mapping[str, object] = vars(sys)


class Words:
    """Those of the program's arguments that a search varies."""

    def __init__(self, count: int, before_sight: Callable[[str], None]) -> None:
        """Make it ready.

        Args:
            count: how many of the last ones vary now; -1: none ever do.
            before_sight: is called before they are seen for the first time.
        """
        # Before 3.11 a traceback would show the functions that look out.
        self.are_awaited = count >= 0 and sys.version_info >= (3, 11)
        self._count = count
        self._before_sight = before_sight
        self._plain: list[list[str]] = []

    def begin(self) -> None:
        """Look out for them from now on."""
        for name in _LISTS if self.are_awaited else ():
            found = _SPACE.get(name)
            plain = cast("list[str]", found)
            if type(found) is list and len(plain) > self._count:
                self._plain.append(plain)
                setattr(sys, name, _watched(plain, self._meet))
            else:
                self.are_awaited = False

    def end(self) -> None:
        """Look out no more."""
        self.are_awaited = False
        for name in _LISTS:
            plain = next(
                (each for each in self._plain if _stands_for(_SPACE.get(name), each)), None
            )
            if plain is not None:
                setattr(sys, name, plain)

    def become(self, words: list[str]) -> None:
        """Be others."""
        for plain in self._plain:
            plain[len(plain) - self._count :] = words

    @hidden_frame
    def _meet(self) -> None:
        if self.are_awaited and caller().f_code.co_filename not in _RUNNERS:
            self._before_sight("its arguments")


def _stands_for(found: object, plain: list[str]) -> bool:
    # What is there may be anybody's, with a way of its own to be compared.
    return getattr(type(found), "stands_for", None) is plain


def _watched(plain: list[str], meet: Callable[[], None]) -> list[str]:
    """Return what does all that a list does, and says so before."""

    def through(name: str) -> Callable[..., object]:
        @hidden_frame
        def look(_: object, *given: object, **named: object) -> object:
            meet()
            found: Callable[..., object] = getattr(plain, name)
            return found(*given, **named)

        return look

    @hidden_frame
    def add_to(_: object, other: list[str]) -> object:
        meet()
        return other + plain

    looks: dict[str, object] = {
        name: through(name)
        for name, value in vars(list).items()
        if callable(value) and name not in _MADE_ANEW
    }
    looks.update({name: through(name) for name in ("__reduce__", "__reduce_ex__", "__str__")})
    looks.update(
        __radd__=add_to, __class__=property(lambda _: list), stands_for=plain, __slots__=()
    )
    watched: list[str] = type("list", (list,), looks)()
    return watched
