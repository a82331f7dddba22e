"""The error that names the system limit that stops whet itself."""

import errno
import os
import resource
from pathlib import Path

from whet.core.errors import FolderNotFound, HostFailure, WhetError
from whet.host.files.files import storage_error
from whet.host.files.user_state import user_state

_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE})
_BROKEN = frozenset({errno.EIO, errno.EREMOTEIO, errno.ESTALE, errno.ENOTCONN, errno.EUCLEAN})
_FILES = ("-n", resource.RLIMIT_NOFILE, 1)
_PROCESSES = ("-u", resource.RLIMIT_NPROC, 1)
_MEMORY = ("-v", resource.RLIMIT_AS, 1024)
_SIZE = ("-f", resource.RLIMIT_FSIZE, 1024)

_NO_THREAD = "can't start new thread"  # all that CPython says of it
_NOT_OPENED = "cannot open shared object file: "  # what the loader says of a library
# What the loader says of a library; the last where it has no memory for its own words.
_NOT_MAPPED = ("failed to map segment", "cannot allocate memory", "out of memory")


def refused(error: Exception) -> WhetError | None:
    """Return the error to show where the system has refused whet something; None: it is a bug.

    A full disk, a limit on memory or files: whet can't fix these.
    """
    if isinstance(error, OSError):
        return _of_system(error) or _of_folder()
    if isinstance(error, MemoryError) or _says(error, ImportError, *_NOT_MAPPED):
        return _no_memory()
    if isinstance(error, ImportError) and _NOT_OPENED in str(error):
        library, _, why = str(error).partition(f": {_NOT_OPENED}")
        return HostFailure(
            f"Python can't load `{library}`: {why}",
            hint="check the file and its folders (`ls -l`), and that its disk is mounted",
        )
    if isinstance(error, SystemError):  # raised by the interpreter alone, mostly short of memory
        return HostFailure(
            f"Python itself failed: {error}",
            hint="check the free memory (`free -h`, `ulimit -v`), then run the command again",
        )
    if _says(error, RuntimeError, _NO_THREAD):
        return _no_processes("whet can't start another thread")
    return None


def limits_of_files() -> str:
    """Return in words the limits of this process that keep it from writing or mapping a file.

    Who is refused isn't always told which of them it was; empty if there are none.
    """
    return _limits(_SIZE, _MEMORY)


def _of_system(error: OSError) -> WhetError | None:
    if error.errno in _NO_FILES:
        return HostFailure(
            f"whet can't open as many files as it needs: {error.strerror}{_limits(_FILES)}",
            hint="raise the limit: `ulimit -n 256`",
        )
    if error.errno == errno.ENOMEM:
        return _no_memory()
    if error.errno == errno.EAGAIN and error.filename is None:
        return _no_processes("whet can't start another process")
    if error.errno in _BROKEN:
        at = "" if error.filename is None else f" at `{error.filename}`"
        return HostFailure(
            f"a disk or network share failed{at}: {error.strerror}",
            hint="check the system's messages: `dmesg | tail`, `df -h`, `mount`",
        )
    if error.filename is None:
        return None
    path = Path(os.fsdecode(error.filename))
    problem = storage_error(error, path)
    if isinstance(problem, WhetError):
        return problem
    return _of_own(path) if error.errno == errno.ENOENT else None


def _of_own(path: Path) -> WhetError | None:
    """Return the error where something has gone that whet keeps in its own folder."""
    try:
        is_own = path.is_relative_to(user_state(os.environ))
    except WhetError:
        return None
    if not is_own:
        return None
    return HostFailure(
        f"whet's own file `{path}` is gone",
        hint="run the command again; if it fails again, check whether a program removes the file or its disk goes away",
    )


def _of_folder() -> WhetError | None:
    """Return the error where the current folder has gone: a share that is away, a folder removed."""
    try:
        os.getcwd()
    except OSError as error:
        return FolderNotFound(
            f"the current folder is gone, so whet can't continue: {error.strerror}",
            hint='once it is back, enter it again (`cd "$PWD"`); whet kept the trials so far',
        )
    return None


def _no_memory() -> WhetError:
    return HostFailure(
        f"whet has run out of memory{_limits(_MEMORY)}",
        hint="raise the limit (`ulimit -v unlimited`), or end other programs (`free -h`)",
    )


def _no_processes(what: str) -> WhetError:
    return HostFailure(
        f"{what}{_limits(_PROCESSES, _MEMORY)}",
        hint="check the limits: `ulimit -u`, `ulimit -v`, and in a container `pids.max`",
    )


def _limits(*limits: tuple[str, int, int]) -> str:
    """Return limits in words, as the shell counts them; empty if there are none."""
    rows = ((letter, resource.getrlimit(number)[0], unit) for letter, number, unit in limits)
    words = [
        f"`ulimit {letter}` is {soft // unit}"
        for letter, soft, unit in rows
        if soft != resource.RLIM_INFINITY
    ]
    return f" ({', '.join(words)})" if words else ""


def _says(error: Exception, kind: type[Exception], *words: str) -> bool:
    return isinstance(error, kind) and any(word in str(error).lower() for word in words)
