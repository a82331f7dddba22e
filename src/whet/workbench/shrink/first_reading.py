"""Reading a binary file and what is in it once in another process, because the library of its format may never return."""

import math
import sys

from whet.core.errors import PayloadUnreadable
from whet.host.process.tool import exit_code_in_time

_BINARY, _HEAD_BYTES = b"\0", 4096
_PATIENCE_SECONDS = 20.0
_SECONDS_PER_MIB = 2.0
# Where whet is killed meanwhile, the kernel ends it. It ends without Python's clean-up: a library's
# thread that still starts at that moment would abort the process, though the file was read.
_READS = """
import os, resource, sys
soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
soft = {most} if soft == resource.RLIM_INFINITY else min(soft, {most})
resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
sys.path[:] = {path!r}
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
    program = _READS.format(
        path=sys.path, most=2 * math.ceil(seconds), sign=_BINARY, head=_HEAD_BYTES
    )
    command = (sys.executable, "-I", "-S", "-c", program, name)
    code = exit_code_in_time(command, data, seconds)
    if code is not None and code >= 0:
        return  # what is wrong with it otherwise, its reader says
    happened = (
        f"did not come to an end within {seconds:.0f} s"
        if code is None
        else f"was killed by signal {-code}"
    )
    raise PayloadUnreadable(
        f"the library that reads files such as `{name}` {happened}: the file may be damaged",
        hint="check it with the format's own tools (`h5dump`, `parquet-tools`), or write it again",
    )
