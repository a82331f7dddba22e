"""Compiles the user's modules with marks in them: calls that tell whet where the program is; no line moves.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import os
import sys

from .report_file import is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from whet.agent.site.whet_probe.beside import execute, hidden_frame
    from whet.agent.site.whet_probe.instrument import bind
    from whet.agent.site.whet_probe.main_script import MainScript, whole
else:
    from whet_probe.beside import execute, hidden_frame
    from whet_probe.instrument import bind
    from whet_probe.main_script import MainScript, whole

REWRITER = "_pytest.assertion.rewrite"
_NOTHING: dict[object, object] = {}


def _same() -> Callable[..., object]:
    """Return what returns nothing, and isn't written in Python: a loop may call it often."""
    functools: Any = __import__("_functools")
    made: Callable[..., object] = functools.partial(_NOTHING.get, None)
    return made


class Cell:
    """Stands in code in the place of a mark, until that has seen enough: then of what costs nothing."""

    __slots__ = ("__call__",)

    def __init__(self, mark: Callable[..., object]) -> None:
        self.__call__ = mark

    def rest(self) -> None:
        """Look at nothing more; no audit hook hears of it.

        The rest returns the value that it is handed, and nothing where it is handed none.
        """
        self.__call__ = _same()

    def __reduce__(self) -> tuple[Any, ...]:
        """Be a function that does nothing where code is pickled for another machine."""
        return eval, ("lambda value=None: value",)


class Woven:
    """Compiles the user's modules with marks in them.

    Attributes:
        guards: what is called with the namespaces of certain modules when they have been run.
    """

    def __init__(self) -> None:
        """Take over nothing yet."""
        self._own: dict[str, bool] = {}
        self.guards: dict[str, Callable[[dict[str, Any]], None]] = {REWRITER: self._watch_rewriter}

    def weave(self, tree: Any) -> Callable[[str], object]:
        """Put marks into a tree; return what makes each of its text, as `bind` asks for."""
        raise NotImplementedError

    def begin(self) -> None:
        """Take over the main script."""
        script = sys.argv[0] if getattr(sys, "argv", None) else ""
        if script and os.path.isfile(script) and self._is_own(os.path.realpath(script)):
            MainScript(lambda path: self.code("__main__", path, lambda: whole(path))).begin()

    def code(self, _name: str, path: str, read: Callable[[], bytes]) -> CodeType | None:
        """Return the code of a module of the user's; None: it is another one, or can't be compiled."""
        if not self._is_own(path):
            return None
        try:
            code: CodeType | None = self._compiled(ast.parse(read(), path), path)
        except (SyntaxError, ValueError, OSError, RecursionError):
            code = None  # Python says so in its own words
        return code

    def _is_own(self, path: str) -> bool:
        found = self._own.get(path)
        if found is None:
            found = self._own[path] = is_own(path)
        return found

    def _compiled(self, tree: Any, path: str, rewrite: Callable[[Any], None] | None = None) -> Any:
        made = self.weave(tree)
        if rewrite is not None:
            rewrite(tree)
        code: Any = compile(tree, path, "exec", dont_inherit=True)
        return bind(code, made)

    def _watch_rewriter(self, module: dict[str, Any]) -> None:
        """Run test modules with marks; what pytest keeps of them has none."""
        rewrite = module["rewrite_asserts"]

        def woven(code: CodeType, space: dict[str, Any]) -> CodeType:
            path = code.co_filename
            if not self._is_own(path):
                return code
            source = whole(path)
            config = getattr(space.get("__loader__"), "config", None)
            made: CodeType = self._compiled(
                ast.parse(source, path), path, lambda tree: rewrite(tree, source, path, config)
            )
            return made

        @hidden_frame
        def run(code: CodeType, space: dict[str, Any]) -> None:
            execute(woven(code, space), space)

        module["exec"] = run
