"""The traces that JAX's profiler has left, each with the places of the user's functions."""

import gzip
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType

_TRACES = "plugins/profile/*/*.trace.json.gz"
_FILES = ".jax-files"


def jax_traces(folder: Path) -> list[str]:
    """Return the traces of all processes as JSON; empty: none was written.

    One that began with the program gives way to those that `whet.capture` has recorded.
    """
    found: dict[str, list[tuple[str, Path]]] = {}
    for path in sorted(folder.glob(f"*.jax/{_TRACES}")):
        pid, _, number = path.relative_to(folder).parts[0].removesuffix(".jax").partition("-")
        found.setdefault(pid, []).append((number, path))
    traces: list[str] = []
    for pid, numbered in found.items():
        captured = [path for number, path in numbered if number != "0"]
        places = json.dumps(list(_places(folder / f"{pid}{_FILES}")))
        for path in captured or [path for _, path in numbered]:
            with suppress(OSError, EOFError):  # a signal ended the program meanwhile
                data = gzip.decompress(path.read_bytes()).decode("utf-8", "replace").lstrip()
                if data.startswith("{"):
                    traces.append(f'{{"pid": {int(pid)}, "places": {places}, {data[1:]}')
    return traces


def _places(told: Path) -> Iterator[tuple[str, int, str, str]]:
    """Yield the functions of the user's files, as JAX names them: by the name of their file alone."""
    with suppress(OSError):
        for line in dict.fromkeys(told.read_text("utf-8", "replace").splitlines()):
            with suppress(OSError, ValueError, SyntaxError):
                code = compile(Path(line).read_bytes(), line, "exec", dont_inherit=True)
                for each in _codes(code):
                    yield Path(line).name, each.co_firstlineno, each.co_name, line


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)
