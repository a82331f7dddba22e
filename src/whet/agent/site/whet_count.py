"""Counts how often a function of a module is called, from which file, and who called it first.

The module is compiled with one call more at the beginning of each function that is asked for; that
call counts. Nothing else is traced. In the main script, which Python itself compiles, calls are
counted by a profile function, which slows all of them down.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, see `whet.host.syscalls`
_SUFFIX, _COUNTS = ".where", ".where-counts"
_MARK = "whet counts here"
_MOST_FRAMES = 30
_MOST_FUNCTIONS = 512
_NUMBER_BYTES = 8
_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]


class Counting:
    """Counts in one process; each process has files of its own.

    Attributes:
        module: the module whose functions are counted.
    """

    def __init__(self, folder: str, target: str) -> None:
        self.module, _, self._name = target.partition(":")
        self._folder = folder
        self._functions: list[str] = []
        self._pid = 0
        self._counts: Any = None

    def code(self, source: bytes, path: str) -> CodeType | None:
        """Return a module's code that counts; None if it cannot be compiled."""
        try:
            tree = ast.parse(source, path)
        except (SyntaxError, ValueError):
            return None
        self._mark(tree, "")
        code = compile(tree, path, "exec", dont_inherit=True)
        self._tell({"file": path, "module": self.module, "by": _stack(_frame_above(1))})
        return self._bound(code, path)

    def watch_script(self) -> None:
        """Count calls in the main script, if it is the module that is asked for."""
        script = sys.argv[0] if getattr(sys, "argv", None) else ""
        name = os.path.splitext(os.path.basename(script))[0]
        if self.module not in {name, "__main__"} or not os.path.isfile(script):
            return
        self.module = "__main__"  # under its own name it is another module, which is not this one
        path = os.path.abspath(script)
        self._tell({"file": path, "module": "__main__", "by": []})
        counters: dict[CodeType, Callable[[], None] | None] = {}

        def profile(frame: FrameType, event: str, _argument: object) -> None:
            if event == "call":
                code = frame.f_code
                if code not in counters:
                    counters[code] = self._counter_for(code, path)
                count = counters[code]
                if count is not None:
                    count()

        sys.setprofile(profile)
        threading = sys.modules.get("threading")
        if threading is not None:
            threading.setprofile(profile)

    def _counter_for(self, code: CodeType, path: str) -> Callable[[], None] | None:
        name = getattr(code, "co_qualname", code.co_name).replace(".<locals>", "")
        is_asked = self._is_asked(name) and code.co_name != "<module>"
        if not is_asked or os.path.abspath(code.co_filename) != path:
            return None
        return self._counter(name, path, depth=3)

    def _is_asked(self, name: str) -> bool:
        return not self._name or name == self._name or name.startswith(self._name + ".")

    def _mark(self, node: Any, within: str) -> None:
        for child in getattr(node, "body", []):
            kind = type(child).__name__
            if kind in {"FunctionDef", "AsyncFunctionDef", "ClassDef"}:
                name = within + child.name
                self._mark(child, name + ".")
                if kind != "ClassDef" and self._is_asked(name):
                    self._insert(child, name)
            else:
                for part in ("body", "orelse", "finalbody", "handlers"):
                    for inner in getattr(child, part, []):
                        self._mark(_Block([inner]), within)

    def _insert(self, function: Any, name: str) -> None:
        first = function.body[0]
        has_docstring = ast.get_docstring(function, clean=False) is not None
        mark = ast.Constant(value="{}:{}".format(_MARK, name), kind=None)
        # By an attribute: Python warns of a text that is called.
        calling = ast.Attribute(value=mark, attr="__call__", ctx=ast.Load())
        call = ast.Expr(value=ast.Call(func=calling, args=[], keywords=[]))
        for each in ast.walk(call):
            if isinstance(each, (ast.stmt, ast.expr)):
                ast.copy_location(each, first)
        function.body.insert(1 if has_docstring else 0, call)

    def _bound(self, code: CodeType, path: str) -> CodeType:
        """Return code in which each mark is what counts."""
        consts: list[object] = []
        for each in code.co_consts:
            if isinstance(each, type(code)):
                consts.append(self._bound(each, path))
            elif isinstance(each, str) and each.startswith(_MARK + ":"):
                consts.append(self._counter(each.partition(":")[2], path, depth=2))
            else:
                consts.append(each)
        return code.replace(co_consts=tuple(consts))

    def _counter(self, name: str, path: str, depth: int) -> Callable[[], None]:
        if len(self._functions) >= _MOST_FUNCTIONS:
            return lambda: None
        number = len(self._functions)
        self._functions.append(name)
        called: set[int] = set()

        def count() -> None:
            pid = os.getpid()
            if pid != self._pid:
                self._open(pid)
            if pid not in called:
                called.add(pid)
                by = _stack(_frame_above(depth))
                self._tell({"function": name, "number": number, "file": path, "by": by})
            self._counts[number] += 1

        return count

    def _open(self, pid: int) -> None:
        """Have numbers in a file, so that they are there however the process ends."""
        import mmap

        path = os.path.join(self._folder, "{}{}".format(pid, _COUNTS))
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600, dir_fd=_MAGIC_FOLDER)
        try:
            os.ftruncate(descriptor, _MOST_FUNCTIONS * _NUMBER_BYTES)
            shared = mmap.mmap(descriptor, _MOST_FUNCTIONS * _NUMBER_BYTES)
        finally:
            os.close(descriptor)
        self._counts = memoryview(shared).cast("Q")
        self._pid = pid

    def _tell(self, told: dict[str, object]) -> None:
        told["pid"], told["at"] = os.getpid(), time.time()
        line = json.dumps(told).encode("ascii") + b"\n"
        path = os.path.join(self._folder, "{}{}".format(os.getpid(), _SUFFIX))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o600, dir_fd=_MAGIC_FOLDER)
        except OSError:
            return
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


class _Block:
    """Statements inside an `if` or a `try`, as the body of something."""

    def __init__(self, body: list[Any]) -> None:
        self.body = body


def _stack(frame: FrameType | None) -> list[list[object]]:
    """Return file, line and function of frames, innermost last, without those of the import system."""
    found: list[list[object]] = []
    while frame is not None and len(found) < _MOST_FRAMES:
        code = frame.f_code
        if not code.co_filename.startswith("<frozen importlib"):
            found.append(
                [code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)]
            )
        frame = frame.f_back
    return found[::-1]
