"""Reading a binary file and what is in it once in another process, because the library of its format may never return."""

import math
import sys
from pathlib import Path

from whet.core.errors import PayloadUnreadable
from whet.core.text.quantity import shown_bytes
from whet.host.files.memory import memory_left
from whet.host.process.tool import exit_code_in_time

_BINARY, _HEAD_BYTES = b"\0", 4096
_PATIENCE_SECONDS = 20.0
_SECONDS_PER_MIB = 2.0
_MEMORY_SHARE, _MEMORY_IS_FULL = 0.8, 99
_WHOLE_BYTES = 64 << 20
"""A table that is larger is read from its start alone: it would take as long as the sample itself."""
_ARROW_SIGNS = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")

# Where whet is killed meanwhile, the kernel ends it. It ends without Python's clean-up: a library's
# thread that still starts at that moment would abort the process, though the file was read.
_LIMITED = """
import os, resource, sys
soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
soft = {most} if soft == resource.RLIM_INFINITY else min(soft, {most})
resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
soft = {memory} if soft == resource.RLIM_INFINITY else min(soft, {memory})
resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
sys.path[:] = {path!r}
"""
_READS = """
from whet.reduction.payload_kinds import kinds_of
from whet.reduction.reducer import DEEPEST
def read(data, name, depth):
    for kind in kinds_of(data, name=name):
        if kind.inside is not None and depth < DEEPEST:
            for part in kind.inside(data):
                if {sign!r} in part.content[:{head}]:
                    read(part.content, part.name, depth + 1)
try:
    read(sys.stdin.buffer.read(), sys.argv[1], 0)
except MemoryError:
    os._exit({full})
finally:
    os._exit(0)
"""
_READS_TABLES = """
from pathlib import Path
from whet.sampling.kinds import open_source
try:
    for table in open_source(Path(sys.argv[1]), "").tables:
        for _ in table.batches(None):
            if not {is_whole}:
                break
except MemoryError:
    os._exit({full})
finally:
    os._exit(0)
"""


def read_first_elsewhere(
    data: bytes, name: str, *, patience_seconds: float = _PATIENCE_SECONDS
) -> None:
    """Check that reading a file and the files in it comes to an end, and doesn't end the process.

    Ctrl-C doesn't stop a library written in C, and no handler hears of its crash. A damaged HDF5
    file can keep its library busy forever, and a Parquet file has ended a process.

    Args:
        data: its content.
        name: its file name.
        patience_seconds: time that reading may take, beside what its size asks for.

    Raises:
        PayloadUnreadable: if it doesn't.
    """
    if _BINARY not in data[:_HEAD_BYTES]:
        return  # no library reads it that isn't Python's
    seconds = patience_seconds + _SECONDS_PER_MIB * (len(data) >> 20)
    program = _READS.format(sign=_BINARY, head=_HEAD_BYTES, full=_MEMORY_IS_FULL)
    _end_elsewhere(program, name, name, data, seconds)


def read_table_first_elsewhere(path: Path, *, patience_seconds: float = _PATIENCE_SECONDS) -> None:
    """Check that reading a Parquet or Arrow file, or a folder of these, doesn't end the process.

    Args:
        path: the file or folder.
        patience_seconds: time that reading may take, beside what its size asks for.

    Raises:
        PayloadUnreadable: if it does, or doesn't come to an end.
    """
    files = list(path.glob("**/*.arrow")) if path.is_dir() else [path]
    if not any(map(_is_arrow, files)):
        return
    size = sum(each.stat().st_size for each in files)
    is_whole = size <= _WHOLE_BYTES
    seconds = patience_seconds + _SECONDS_PER_MIB * (min(size, _WHOLE_BYTES) >> 20)
    program = _READS_TABLES.format(is_whole=is_whole, full=_MEMORY_IS_FULL)
    _end_elsewhere(program, str(path), path.name, b"", seconds)


def _is_arrow(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(8).startswith(_ARROW_SIGNS)
    except OSError:
        return False  # whoever reads it says why it can't


def _end_elsewhere(program: str, argument: str, name: str, data: bytes, seconds: float) -> None:
    memory = int(memory_left().available_bytes * _MEMORY_SHARE)
    limited = _LIMITED.format(path=sys.path, most=2 * math.ceil(seconds), memory=memory)
    command = (sys.executable, "-I", "-S", "-c", limited + program, argument)
    code = exit_code_in_time(command, data, seconds)
    if code is None:
        happened = f"did not come to an end within {seconds:.0f} s"
    elif code == _MEMORY_IS_FULL:
        happened = f"needs more memory than there is ({shown_bytes(memory)})"
    elif code < 0:
        happened = f"was killed by signal {-code}"
    else:
        return  # what is wrong with it otherwise, its reader says
    raise PayloadUnreadable(
        f"the library that reads files such as `{name}` {happened}: the file may be damaged",
        hint="check it with the format's own tools (`h5dump`, `parquet-tools`), or write it again",
    )
