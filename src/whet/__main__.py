"""The command ``whet``.

Nothing is imported up here that Python has not loaded on its own: Ctrl-C meanwhile is a traceback.
"""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_ELSEWHERE = (
    b"error: whet runs on Linux only, and this is %s: it starts and watches programs by calls that no"
    b" other kernel has\n\nhint: run it in a container or a virtual machine with Linux\n"
)


_NO_MEMORY = b"error: whet has run out of memory\n\nhint: `ulimit -v unlimited`\n"


def main() -> "NoReturn":
    """Run whet, and end this process with its exit code."""
    try:
        code = _code()
    except KeyboardInterrupt:  # while it was being imported: nothing has begun
        code = 130
    except (MemoryError, ImportError, SyntaxError, SystemError) as error:
        # While it was being imported: a limit that leaves room for Python alone.
        if not isinstance(error, MemoryError) and not _is_limited():
            raise
        os.write(2, _NO_MEMORY)
        code = 71
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, KeyboardInterrupt):
            continue  # its reader has gone, or Ctrl-C came
    # All that whet made is removed and the notebook is closed by now. Taking the interpreter
    # apart would cost 10 ms.
    os._exit(code)


def _is_limited() -> bool:
    """Whether a limit on memory holds here, read without a library that would have to be loaded."""
    limits = os.open("/proc/self/limits", os.O_RDONLY)
    _, _, rest = os.read(limits, 1 << 16).partition(b"Max address space")
    os.close(limits)
    return not rest.lstrip().startswith(b"unlimited")


def _code() -> int:
    if sys.platform != "linux":
        os.write(2, _ELSEWHERE % sys.platform.encode())
        os._exit(71)
    # A short life: most of what the imports make lives to the end, and looking through it again
    # and again costs 3 ms of a start.
    gc.set_threshold(50_000)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the parent closed it (`2>&-`)
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    from whet.agent.site.whet_true_sleep import is_under_faketime, sleep_in_true_time

    if is_under_faketime():
        sleep_in_true_time()
    from whet.cli.main import run_cli

    return run_cli(sys.argv[1:])


def _leave_out_the_current_folder() -> None:
    """Take off the path what `python -m` has put first: a `statistics.py` there isn't Python's own."""
    home = __file__.rsplit("/", 2)[0]
    if __spec__ is not None and not sys.flags.safe_path and sys.path[0] != home:
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_the_current_folder()
    main()
