"""Follows what pytest loads and runs: its test modules, and the steps of each test.

pytest compiles test modules itself, with `assert` rewritten. What it reads and keeps stays its
own affair; only the code that it runs in the end is replaced, by the same with hooks.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from ..hiding.hidden_frames import hidden_frame
from ..hiding.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from ..rewriting.module_facts import Rewrite

    Follow = Callable[[CodeType, str, Rewrite], CodeType]
    Guard = Callable[[dict[str, object]], None]

REWRITER = "_pytest.assertion.rewrite"
_RUNNER = "_pytest.runner"
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STANDARD = os.path.dirname(os.__file__) + os.sep


class Suite:
    """The tests of a program that is pytest."""

    def __init__(self, follow: Follow, offer: Callable[[str], None]) -> None:
        """Make it ready.

        Args:
            follow: returns what is to be run in place of a test module's code.
            offer: called before each step of a test, with its name.
        """
        self._follow = follow
        self._offer = offer
        self._rewrites: Callable[..., None] | None = None
        self._version = ""
        self._reports: Callable[..., object] | None = None
        self._originals: list[tuple[dict[str, object], str, object]] = []

    def guards(self) -> dict[str, Guard]:
        """Return what is to be called with the namespaces of modules when they have been run."""
        if sys.version_info < (3, 11):
            return {}  # what is put in could be seen
        return {REWRITER: self._watch_rewriter, _RUNNER: self._watch_runner}

    def _watch_rewriter(self, module: dict[str, object]) -> None:
        self._rewrites = cast("Callable[..., None]", module["rewrite_asserts"])
        self._version = str(module.get("PYTEST_TAG", ""))
        self._put(module, "exec", self._exec)

    def _watch_runner(self, module: dict[str, object]) -> None:
        self._reports = cast("Callable[..., object]", module["call_and_report"])
        self._put(module, "call_and_report", self._call_and_report)

    def _put(self, module: dict[str, object], name: str, function: object) -> None:
        self._originals.append((module, name, module.get(name, exec)))
        module[name] = function

    def end(self) -> None:
        """Follow nothing any more: pytest calls its own functions again."""
        for module, name, original in self._originals:
            module[name] = original
        self._originals.clear()

    @hidden_frame
    def _exec(self, code: CodeType, space: dict[str, object]) -> None:
        """Run a module that pytest has compiled."""
        exec(self._followed(code, space), space)  # noqa: S102 - as pytest does

    def _followed(self, code: CodeType, space: dict[str, object]) -> CodeType:
        path, rewrites = code.co_filename, self._rewrites
        config = getattr(space.get("__loader__"), "config", None)
        if (
            rewrites is None
            or path.startswith(_STANDARD)
            or any(map(path.__contains__, _INSTALLED))
        ):
            return code
        rewrite: Rewrite = (
            lambda tree, text: rewrites(tree, text, path, config),
            self._mark(config),
        )
        return self._follow(code, str(space.get("__name__")), rewrite)

    def _mark(self, config: object) -> bytes:
        """Return what decides how pytest rewrites; empty: that isn't known."""
        ini: Callable[[str], object] | None = getattr(config, "getini", None)
        if not self._version or ini is None:
            return b""
        try:
            tells_of_passes = ini("enable_assertion_pass_hook")
        except ValueError:  # a pytest without it
            return b""
        return f"{self._version} {bool(tells_of_passes)}\n".encode()

    @hidden_frame
    def _call_and_report(self, item: object, when: str, *rest: object, **named: object) -> object:
        """Run a step of a test."""
        if when != "teardown":
            name = str(getattr(item, "nodeid", ""))
            self._offer(name if when == "setup" else f"{name} (set up)")
        assert self._reports is not None
        return self._reports(item, when, *rest, **named)
