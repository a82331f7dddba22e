"""The traces that JAX's profiler has left, each with the places of the user's functions."""

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from types import CodeType

from whet.host.files.agent_files import process_of
from whet.host.files.files import content_of

_TRACES = "plugins/profile/*/*.trace.json.gz"
_FILES = ".jax-files"
_MOST_BYTES, _PIECE_BYTES = 1 << 30, 1 << 20


def jax_traces(folder: Path) -> list[str]:
    """Return the traces of all processes as JSON; empty: none was written.

    One that began with the program gives way to those that `whet.capture` has recorded.
    """
    by_process: dict[int, list[tuple[str, Path]]] = {}
    for path in sorted(folder.glob(f"*.jax/{_TRACES}")):
        top = Path(path.relative_to(folder).parts[0])
        number = top.stem.partition("-")[2]
        by_process.setdefault(process_of(top), []).append((number, path))
    traces: list[str] = []
    for pid, numbered in by_process.items():
        captured = [path for number, path in numbered if number != "0"]
        places = json.dumps(list(_places(folder / f"{pid}{_FILES}")))
        for path in captured or [path for _, path in numbered]:
            with suppress(OSError, EOFError, zlib.error):  # a signal ended the program meanwhile
                data = _unpacked(path).decode("utf-8", "replace").lstrip()
                if data.startswith("{"):
                    traces.append(f'{{"pid": {pid}, "places": {places}, {data[1:]}')
    return traces


def _unpacked(path: Path) -> bytes:
    """Return what a packed file holds; a small one can hold very much."""
    with gzip.open(BytesIO(content_of(path, most_bytes=_MOST_BYTES, follows=False))) as file:
        parts: list[bytes] = []
        size = 0
        while part := file.read(_PIECE_BYTES):  # Python makes room for all that is asked for
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise OSError(f"{path} holds more than {_MOST_BYTES >> 20} MiB")
    return b"".join(parts)


def _places(told: Path) -> Iterator[tuple[str, int, str, str]]:
    """Yield the functions of the user's files, as JAX names them: by the name of their file alone."""
    with suppress(OSError):
        for line in dict.fromkeys(content_of(told).decode("utf-8", "replace").splitlines()):
            with suppress(OSError, ValueError, SyntaxError, RecursionError, MemoryError):
                code = compile(content_of(line), line, "exec", dont_inherit=True)
                for each in _codes(code):
                    yield Path(line).name, each.co_firstlineno, each.co_name, line


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)
