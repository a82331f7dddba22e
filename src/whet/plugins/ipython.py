"""``%load_ext whet``: cell magics for IPython and Jupyter.

IPython calls `load_ipython_extension`; nothing here imports it.
"""

import ast
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Protocol

from whet.agent.site.whet_sections.recorder import FOLDER, Process
from whet.agent.site.whet_sections.sections import section
from whet.core.errors import BadUsage
from whet.core.text.quantity import shown_bytes, shown_seconds

_OBJECTS = "--objects"
_NANOSECONDS = 1e9
_FEWEST, _MOST, _MOST_DIGITS = 8, 10_000, 5
_LABELS = {"gpu": "GPU", "jax_gpu": "JAX's GPU", "python": "Python's own"}


class Compiler(Protocol):
    """What IPython compiles cells with."""

    def cache(self, _source: str, /) -> str:
        """Keep source for tracebacks; return the name of its file."""
        ...

    def ast_parse(self, _source: str, _path: str, /) -> ast.Module:
        """Parse Python source."""
        ...


class Shell(Protocol):
    """What the magics need of IPython's `InteractiveShell`."""

    compile: Compiler
    user_ns: dict[str, object]

    def register_magic_function(
        self, _function: Callable[[str, str], object], _kind: str, _name: str, /
    ) -> None:
        """Make a function known as a magic."""
        ...

    def transform_cell(self, _cell: str, /) -> str:
        """Return Python source for what a cell says."""
        ...

    def transform_ast(self, _node: ast.Module, /) -> ast.Module:
        """Return what the program's transformers make of a cell."""
        ...


def load_ipython_extension(shell: Shell) -> None:
    """Register the magics; IPython calls it at ``%load_ext whet``."""
    shell.register_magic_function(lambda line, cell: _section(shell, line, cell), "cell", "section")
    shell.register_magic_function(lambda line, cell: _leak(shell, line, cell), "cell", "leak")


def _section(shell: Shell, line: str, cell: str) -> object:
    """Measure a cell; return the value of its last expression.

    Raises:
        BadUsage: if the line isn't ``%%section NAME [--objects]``, or the cell awaits something.
    """
    words = shlex.split(line)
    is_counting = _OBJECTS in words
    names = [each for each in words if each != _OBJECTS]
    if len(names) != 1 or names[0].startswith("-"):
        raise BadUsage(
            f"`%%section {line}` doesn't name one section",
            hint=f"write `%%section load`; `{_OBJECTS}` also counts Python's objects",
        )
    name = names[0]
    statements, last = _compiled(shell, cell)
    if FOLDER:
        with section(name, objects=is_counting):
            return _run(shell, statements, last)
    process = Process("")
    span = process.begin(name, objects=is_counting)
    try:
        return _run(shell, statements, last)
    finally:
        process.end(span, time.monotonic_ns())
        sums = span.sums
        figures = (sums.nanoseconds, sums.cpu, sums.peak, sums.kept)
        sys.stdout.write(f"{_sentence(name, figures, sums.more)}\n")


def _leak(shell: Shell, line: str, cell: str) -> None:
    """Repeat a cell in this process, and tell what it leaves behind each time.

    Raises:
        BadUsage: if the line isn't ``%%leak [COUNT]``, or the cell awaits something.
    """
    from whet.workbench.leak.here import repeat_here
    from whet.workbench.leak.words import leak_lines

    count = line.strip()
    if count and not (count.isdecimal() and _FEWEST <= int(count[:_MOST_DIGITS]) <= _MOST):
        raise BadUsage(
            f"`%%leak {count}` isn't a number of repetitions from {_FEWEST} to {_MOST}",
            hint="write `%%leak`, or `%%leak 100`",
        )
    statements, last = _compiled(shell, cell, "leak")
    found = repeat_here(
        lambda: _run(shell, statements, last), shell.user_ns, int(count) if count else None
    )
    sys.stdout.write("\n".join(leak_lines(found)) + "\n")


def _run(shell: Shell, statements: CodeType, last: CodeType | None) -> object:
    exec(statements, shell.user_ns)
    return None if last is None else eval(last, shell.user_ns)


def _compiled(shell: Shell, cell: str, magic: str = "section") -> tuple[CodeType, CodeType | None]:
    """Return the statements of a cell, and its last one if that is an expression to show.

    Raises:
        BadUsage: if it awaits something outside of a function.
        SyntaxError: if it isn't Python.
    """
    source = shell.transform_cell(cell)
    path = shell.compile.cache(source)  # so that a traceback shows its lines
    tree = shell.transform_ast(shell.compile.ast_parse(source, path))
    end = tree.body[-1] if tree.body else None
    last: CodeType | None = None
    try:
        if isinstance(end, ast.Expr) and not cell.rstrip().endswith(";"):
            tree.body.pop()
            last = compile(ast.Expression(end.value), path, "eval")
        return compile(tree, path, "exec"), last
    except SyntaxError as error:
        if "await" not in str(error) and "async" not in str(error):
            raise
        raise BadUsage(
            f"`%%{magic}` can't measure a cell that awaits",
            hint="put `with whet.section('NAME'):` into the cell"
            if magic == "section"
            else "await in a function, and call it with `asyncio.run` in a script: `whet leak -- python FILE`",
        ) from error


def _sentence(
    name: str, figures: tuple[int, int, int, int], more: Mapping[str, tuple[int, int]]
) -> str:
    nanoseconds, cpu, peak, kept = figures
    parts = [
        f"{shown_seconds(nanoseconds / _NANOSECONDS)} wall",
        f"{shown_seconds(cpu / _NANOSECONDS)} CPU",
    ]
    if peak >= 0:
        parts.append(f"peak {shown_bytes(peak)}, kept {_signed(kept)}")
    for counter, (most, change) in more.items():
        if counter == "objects":
            parts.append(f"{change:+,} objects")
        elif counter in _LABELS:
            label = _LABELS[counter]
            high = f"peak {shown_bytes(most)}, " if most >= 0 else ""
            parts.append(f"{label} memory {high}kept {_signed(change)}")
    return f"{name}: {' · '.join(parts)}"


def _signed(count: int) -> str:
    return f"{'-' if count < 0 else '+'}{shown_bytes(abs(count))}"
