"""Runs a module with another text than its file has: an experiment that leaves the file as it is.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from whet.agent.site.whet_probe.beside import execute
    from whet.agent.site.whet_probe.main_script import MainScript
else:
    from whet_probe.beside import execute
    from whet_probe.main_script import MainScript

_REWRITER = "_pytest.assertion.rewrite"


def begin(_folder: str, wish: str) -> Edit:
    """Return what compiles the module; ``wish`` is its path, a line end, and its text."""
    path, _, text = wish.partition("\n")
    edit = Edit(path, text)
    edit.begin()
    return edit


class Edit:
    """Compiles one module from another text.

    Attributes:
        guards: what is called with the namespaces of certain modules when they have been run.
    """

    def __init__(self, path: str, text: str) -> None:
        """Make it ready for a file by its real path."""
        self._path = path
        self._text = text
        self.guards: dict[str, Callable[[dict[str, Any]], None]] = {_REWRITER: self._watch_rewriter}

    def begin(self) -> None:
        """Take over the main script, if it is the module."""
        script = sys.argv[0] if getattr(sys, "argv", None) else ""
        if script and os.path.isfile(script) and os.path.realpath(script) == self._path:
            MainScript(lambda path: self.code("__main__", path, None)).begin()

    def code(self, _name: str, path: str, _read: object) -> CodeType | None:
        """Return the code of the module; None: it is another one."""
        if os.path.realpath(path) != self._path:
            return None
        code: CodeType = compile(self._text, path, "exec", dont_inherit=True)
        return code

    def _watch_rewriter(self, module: dict[str, Any]) -> None:
        """Have pytest rewrite the other text, where the module is one of tests."""
        rewrite = module["rewrite_asserts"]

        def run(code: CodeType, space: dict[str, Any]) -> None:
            path = code.co_filename
            if os.path.realpath(path) == self._path:
                tree = ast.parse(self._text, path)
                rewrite(
                    tree, self._text.encode(), path, getattr(space["__loader__"], "config", None)
                )
                code = compile(tree, path, "exec", dont_inherit=True)
            execute(code, space)

        module["exec"] = run
