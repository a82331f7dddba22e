"""Takes down what the compiler warns of, which Python says once, however often whet compiles.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _warnings
import sys

from .private import is_alone
from .typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    Warned = tuple[type[Warning], str, int]  # category, message, line

_EVERY = [("always", None, Warning, None, 0)]


class WarningsOfCompiler:
    """A context manager that stands in for the module `warnings` while something is compiled.

    The compiler is C: it looks in that module for filters and for what shows a warning, and warns
    in its own way if nobody has imported it.

    Attributes:
        found: what it has warned of.
    """

    def __init__(self) -> None:
        self.found: set[Warned] = set()
        self.filters: object = _EVERY
        # The interpreter keeps what it has last found.
        self.defaultaction: object = vars(_warnings)["_defaultaction"]
        self.onceregistry: object = vars(_warnings)["_onceregistry"]
        self._real: ModuleType | None = None
        self._stands_in = False

    def __enter__(self) -> set[Warned]:
        """Stand in; what is compiled must not run anything of the program's."""
        self._stands_in = is_alone()  # another thread might warn meanwhile
        if self._stands_in:
            self._real = sys.modules.get("warnings")
            sys.modules["warnings"] = cast("ModuleType", self)
        return self.found

    def __exit__(self, *_: object) -> None:
        """Let everything be as it was."""
        if not self._stands_in:
            return
        self.found = set()
        self.filters = _warnings.filters
        try:
            _warnings.warn_explicit("", Warning, "", 0)
        except Warning:  # the user wants them to be errors
            pass
        if self._real is None:
            del sys.modules["warnings"]
        else:
            sys.modules["warnings"] = self._real

    def WarningMessage(  # noqa: N802 - as of `warnings`
        self, message: Warning, category: type[Warning], _file: str, line: int, *_: object
    ) -> Warned:
        """Return what is to be shown."""
        return category, str(message), line

    def _showwarnmsg(self, warned: Warned) -> None:
        self.found.add(warned)


def are_any_shown(found: set[Warned]) -> bool:
    """Whether Python might show any of the warnings of a module's text."""
    return any(map(_is_shown, {category for category, _, _ in found}))


def _is_shown(category: type[Warning]) -> bool:
    for action, message, of, module, line in _warnings.filters:
        # What the compiler warns of belongs to no module but the file.
        if module == "__main__" or not issubclass(category, of):
            continue
        if action != "ignore" or not (message or module or line):
            return action != "ignore"
    return True
