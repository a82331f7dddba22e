"""Imports modules for whet alone: the program neither sees them nor is asked for them.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_finders = list(sys.meta_path)  # the program may put one of its own in front
_path = list(sys.path)


def private_import(name: str) -> ModuleType:
    """Return a module of the standard library that the program may not have imported."""
    if name in sys.modules:
        return sys.modules[name]
    finders, path = sys.meta_path[:], sys.path[:]
    sys.meta_path[:], sys.path[:] = _finders, _path
    try:
        import _frozen_importlib  # what `import` itself calls, were it not replaced

        module: ModuleType = vars(_frozen_importlib)["_gcd_import"](name)
    finally:
        sys.meta_path[:], sys.path[:] = finders, path
        sys.modules.pop(name, None)
    return module
