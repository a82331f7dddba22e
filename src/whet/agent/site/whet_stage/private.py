"""Imports modules for whet alone: the program neither sees them nor is asked for them.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _frozen_importlib
import _thread
import builtins
import sys
from gc import disable, enable, isenabled  # as they are before the program can replace them

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Shown = tuple["frozenset[str] | None", bool]

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
    return not _count_threads()


def stop_collecting() -> bool:
    """Let garbage stay; say whether it was collected.

    What whet makes would have it collected sooner, and what the program does then, such as closing
    a file, would be done where nobody sees it: in a copy that waits, for one.
    """
    was_collected = isenabled()
    disable()
    return was_collected


def collect_again(*, was_collected: bool) -> None:
    """Let garbage go as it did."""
    if was_collected:
        enable()


def show_own() -> Shown:
    """Let whet's own modules be found by what whet calls, and no garbage go meanwhile.

    Returns:
        what there was before (None: another thread may import, and finds what Python finds), and
        whether garbage was collected.
    """
    was_collected = stop_collecting()
    if not is_alone():
        return None, was_collected
    before = frozenset(sys.modules)
    for name, module in _own.items():
        sys.modules.setdefault(name, module)
    return before, was_collected


def hide_own(shown: Shown) -> None:
    """Let the program find no more modules than it did."""
    before, was_collected = shown
    if before is not None:
        for name in sys.modules.keys() - before:
            _own[name] = sys.modules.pop(name)
    collect_again(was_collected=was_collected)


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
