"""Compiles the modules that are asked for with calls where they are probed (before Python 3.12).

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import os
import sys

from .beside import execute, hidden_frame
from .hits import LAMBDA
from .instrument import Mark, Wanted, bind, weave
from .main_script import MainScript, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from .hits import Hits, Probe

    Guard = Callable[[dict[str, Any]], None]

_REWRITER, _RUNPY = "_pytest.assertion.rewrite", "runpy"
_OPTIMIZED = 0x01  # of functions, not of classes


class Loading:
    """Compiles modules.

    Attributes:
        guards: what is called with the namespaces of certain modules when they have been run.
    """

    def __init__(self, hits: Hits, early: frozenset[str]) -> None:
        """Make it ready.

        Args:
            hits: acts on what is met.
            early: modules that were there before anything could be put into them.
        """
        self._hits = hits
        self._early = early
        self._raises = any(each.kind == "raise" for each in hits.probes)
        self._woven: set[str] = set()
        self._made: dict[int, CodeType] = {}
        self._is_runpy_new = True
        self.guards: dict[str, Guard] = {_REWRITER: self._watch_rewriter}

    def begin(self) -> None:
        """Take over the main script, if it is one that is asked for; hear of the others."""
        for probe in self._hits.probes:
            if self._hits.is_held(probe, self._early):
                self._hits.report.tell({"early": probe.path, "probe": probe.number})
        sys.addaudithook(self._hear)
        script = sys.argv[0] if getattr(sys, "argv", None) else ""
        path = os.path.realpath(script) if script and os.path.isfile(script) else ""
        if path and (self._raises or self._hits.of_file(path, "__main__")):
            MainScript(lambda name: self.code("__main__", name, lambda: whole(name))).begin()

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import" and arguments[0] == _RUNPY and self._is_runpy_new:
            self._is_runpy_new = False
            __import__(_RUNPY)
            self._watch_files_run(sys.modules[_RUNPY].__dict__)
        elif event == "exec":
            self._check(arguments[0])

    def _check(self, code: Any) -> None:
        """Tell of a module in which something is asked for, and which others have compiled."""
        is_module = getattr(code, "co_name", "") == "<module>"
        if is_module and id(code) not in self._made:
            path = self._hits.path_of(code.co_filename)
            probes = self._hits.of_file(path, "")
            if probes:
                numbers = [each.number for each in probes]
                self._hits.report.tell({"unwoven": path, "probes": numbers})

    # ---- modules ----

    def code(self, name: str, path: str, read: Callable[[], bytes]) -> CodeType | None:
        """Return the code of a module that is asked for; None: it isn't, or can't be compiled."""
        real = self._hits.path_of(path)
        probes = self._hits.of_file(real, name)
        raises = self._raises and self._hits.is_own(path)
        if not probes and not raises:
            return None
        try:
            tree = ast.parse(read(), path)
            code = self.woven(tree, path, probes, raises=raises)
        except (SyntaxError, ValueError, OSError, RecursionError):
            return None  # Python says so in its own words
        if probes:
            self._hits.loads(real, name, probes)
        return code

    def woven(self, tree: ast.Module, path: str, probes: list[Probe], *, raises: bool) -> CodeType:
        """Return the code of a tree with marks in it."""
        self._put_marks(tree, path, probes, raises=raises)
        return self._compiled(tree, path)

    def _compiled(self, tree: ast.Module, path: str) -> CodeType:
        code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        code = bind(code, self._mark)
        self._made[id(code)] = code
        return code

    def _put_marks(self, tree: ast.Module, path: str, probes: list[Probe], *, raises: bool) -> None:
        wanted = Wanted()
        wanted.raises = raises
        for probe in probes:
            if probe.kind == "line":
                wanted.lines.setdefault(probe.line, []).append(probe.number)
            elif probe.kind == "loop":
                wanted.loops.setdefault(probe.loop, []).append(probe.number)
            elif probe.name == LAMBDA:
                of_line = wanted.lambdas.setdefault(probe.line, {})
                of_line.setdefault(probe.kind, []).append(self._hits.number(probe, LAMBDA))
        wanted.calls = self._numbers("call", probes)
        wanted.returns = self._numbers("return", probes)
        wanted.traced = self._numbers("trace", probes)
        if raises:
            self._woven.add(path)
        weave(tree, wanted)

    def _numbers(self, kind: str, probes: list[Probe]) -> Callable[[str], list[int]]:
        asked, number = [each for each in probes if each.kind == kind], self._hits.number
        return lambda name: [number(each, name) for each in asked if each.is_asked(name)]

    def _mark(self, text: str) -> object:
        kind, _, told = text.partition(":")
        hits = self._hits
        if kind == "raised":
            spans = [tuple(map(int, each.split("-"))) for each in told.split(",") if each]
            return Mark(lambda frame, _value: self._raised(frame, spans))
        numbers = [int(each) for each in told.split(",")]
        made: dict[str, Callable[[FrameType, tuple[object, ...]], None]] = {
            "line": lambda frame, _value: hits.at(numbers, frame),
            "call": lambda frame, _value: hits.at(numbers, frame),
            "return": lambda frame, value: hits.at(numbers, frame, __return__=value[0]),
            "enter": lambda frame, _value: hits.enters(numbers, frame),
            "leave": lambda frame, value: hits.leaves(frame, value[0], None),
            "fail": lambda frame, _value: hits.leaves(frame, None, sys.exc_info()[1]),
        }
        return Mark(made[kind])

    def _raised(self, frame: FrameType, spans: list[tuple[int, ...]]) -> None:
        """Tell of an error that leaves what is guarded, unless it was told of further in."""
        error = sys.exc_info()[1]
        trace = None if error is None else error.__traceback__
        if error is None or trace is None:
            return
        if any(first <= trace.tb_lineno <= last for first, last in spans):
            return
        below = trace.tb_next
        while below is not None:
            code = below.tb_frame.f_code
            is_guarded = code.co_name == "<module>" or (
                code.co_flags & _OPTIMIZED and code.co_name[:1] != "<"
            )
            if is_guarded and code.co_filename in self._woven:
                return
            below = below.tb_next
        self._hits.raised(frame, error)

    # ---- what others compile ----

    def _watch_rewriter(self, module: dict[str, Any]) -> None:
        """Run test modules with marks; what pytest keeps of them has none."""
        rewrite = module["rewrite_asserts"]

        def woven(code: CodeType, space: dict[str, Any]) -> CodeType:
            path, name = code.co_filename, str(space.get("__name__"))
            real = self._hits.path_of(path)
            probes = self._hits.of_file(real, name)
            raises = self._raises and self._hits.is_own(path)
            if not probes and not raises:
                return code
            source = whole(path)
            tree = ast.parse(source, path)
            self._put_marks(tree, path, probes, raises=raises)
            rewrite(tree, source, path, getattr(space.get("__loader__"), "config", None))
            self._hits.loads(real, name, probes)
            return self._compiled(tree, path)

        @hidden_frame
        def run(code: CodeType, space: dict[str, Any]) -> None:
            execute(woven(code, space), space)

        module["exec"] = run

    def _watch_files_run(self, runpy: dict[str, Any]) -> None:
        """Let a file that is run as a script have its marks, as by a spawned process of `multiprocessing`."""
        read: Callable[..., Any] = runpy["_get_code_from_file"]

        def _get_code_from_file(*arguments: Any) -> Any:
            path = os.fsdecode(arguments[-1])
            code = self.code("", path, lambda: whole(path))
            if code is None:
                return read(*arguments)
            return (code, path) if sys.version_info < (3, 12) else code

        runpy["_get_code_from_file"] = _get_code_from_file
