"""Imports modules for whet alone: the program neither sees them nor is asked for them.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _frozen_importlib
import _thread
import builtins
import sys
from gc import (  # as they are before the program can replace them
    disable,
    enable,
    get_count,
    isenabled,
)
from types import CellType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    # whether garbage is collected, and how many objects of each generation count for the next time
    Collecting = tuple[bool, tuple[int, int, int]]
    Shown = tuple["frozenset[str] | None", Collecting]

_finders = list(sys.meta_path)  # the program may put one of its own in front
_path = list(sys.path)
_import = vars(builtins)["__import__"]
_count_threads: Callable[[], int] = vars(_thread)["_count"]  # beside the first one


def private_import(name: str) -> ModuleType:
    """Return a module of the standard library that the program may not have imported."""
    if name in sys.modules:
        return sys.modules[name]
    finders, path = sys.meta_path[:], sys.path[:]
    sys.meta_path[:], sys.path[:] = _finders, _path
    try:
        # What `import` itself calls: the program may have another `__import__`.
        module: ModuleType = vars(_frozen_importlib)["_gcd_import"](name)
    finally:
        sys.meta_path[:], sys.path[:] = finders, path
        sys.modules.pop(name, None)
    return module


def is_import_replaced() -> bool:
    """Whether the program hears of each import: it would hear of whet's."""
    return vars(builtins)["__import__"] is not _import


_own: dict[str, ModuleType] = {}


def is_alone() -> bool:
    """Whether no thread but this one can run Python code, and see what whet does meanwhile."""
    return not _count_threads() or bool(_asleep)


_asleep: list[object] = []
"""What a copy that waits has of other threads: their memory, until it runs on."""


def note_asleep(what: object) -> None:
    """Note that there are no other threads in this process for now; None: there are again."""
    _asleep[:] = [] if what is None else [what]


_BALLAST_COUNT = 20_000  # what stays of an edit of some hundred lines
_ballast: list[object] = [CellType() for _ in range(_BALLAST_COUNT)]
"""Small objects that the collector counts as made when they are, and as gone when they go."""


def stop_collecting() -> Collecting:
    """Let garbage stay; return what `collect_again` is to be given.

    What whet makes would have it collected sooner, and what the program does then, such as closing
    a file, would be done where nobody sees it: in a copy that waits, for one.
    """
    was_collected = isenabled()
    disable()
    return was_collected, get_count()


def collect_again(before: Collecting) -> None:
    """Let garbage go as it did, when it would have gone had whet made nothing meanwhile."""
    was_collected, (young, _, _) = before
    made = get_count()[0] - young
    if made > 0:
        del _ballast[-made:]
    else:
        _ballast.extend(CellType() for _ in range(-made))
    if was_collected:
        enable()


def show_own() -> Shown:
    """Let whet's own modules be found by what whet calls, and no garbage go meanwhile.

    Returns:
        what there was before (None: another thread may import, and finds what Python finds), and
        how garbage was collected.
    """
    collecting = stop_collecting()
    if not is_alone():
        return None, collecting
    before = frozenset(sys.modules)
    for name, module in _own.items():
        sys.modules.setdefault(name, module)
    return before, collecting


def hide_own(shown: Shown) -> None:
    """Let the program find no more modules than it did."""
    before, collecting = shown
    if before is not None:
        for name in sys.modules.keys() - before:
            _own[name] = sys.modules.pop(name)
    collect_again(collecting)


def invalidate_caches() -> None:
    """Let modules be found that are new, as `importlib.invalidate_caches` does."""
    # From 3.13 on that imports `importlib.metadata`, which is slow and would be found there.
    metadata = "importlib.metadata"
    is_stand_in = metadata not in sys.modules
    if is_stand_in:
        sys.modules[metadata] = type(sys)(metadata)
        vars(sys.modules[metadata])["MetadataPathFinder"] = _NoFinder
    try:
        for finder in sys.meta_path:
            invalidate: Callable[[], None] | None = getattr(finder, "invalidate_caches", None)
            if invalidate is not None:
                invalidate()
    finally:
        if is_stand_in:
            del sys.modules[metadata]


class _NoFinder:
    @staticmethod
    def invalidate_caches() -> None:
        """Do nothing: there are no caches."""
