"""Another time of day for a trial: libfaketime."""

import importlib
import os
import platform
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from whet.core.errors import ClockNotPossible
from whet.core.value_class import value_class
from whet.host.limits.enforcer import Plain
from whet.host.process.cleanup_journal import CleanupJournal

_NAME = "libfaketimeMT.so.1"  # the one for programs with threads
_SLACK_SECONDS = 60.0

_SHARED_MEMORY = Path(os.sep, "dev", "shm")
_SHARED_BYTES = 4096
_SEMAPHORE = 1  # the kind: one that any process may release


@value_class(kw_only=True)
class PreparedClock(Plain):
    """The clock of one trial.

    Attributes:
        undone: removes what its processes share.
    """

    undone: ExitStack

    def close(self) -> None:
        """Remove what its processes share."""
        self.undone.close()


def prepare_clock(
    moment: str, environment: Mapping[str, str], cleanup_journal: CleanupJournal
) -> PreparedClock:
    """Return the variables that start the trial's clock at a moment; a probe has read it.

    Args:
        moment: local time, as `datetime` writes it.
        environment: what the trial has otherwise.
        cleanup_journal: where it is written down what there is of it.

    Raises:
        ClockNotPossible: if there is no libfaketime, or a program doesn't see that time.
    """
    library = _library()
    others = environment.get("LD_PRELOAD", "")
    faked = {
        "LD_PRELOAD": f"{library}:{others}" if others else library,
        "FAKETIME": f"@{moment}",
        # How long something takes is to stay true: timeouts and sleeps go by this clock.
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "WHET_CLOCK": "1",  # for the agent
    }
    with ExitStack() as undone:
        faked |= _shared(cleanup_journal, undone)
        _prove(moment, {**environment, **faked})
        return PreparedClock(way="libfaketime", environment=faked, undone=undone.pop_all())


def _shared(cleanup_journal: CleanupJournal, undone: ExitStack) -> dict[str, str]:
    """Make what libfaketime shares between processes, which it leaves behind when they are killed."""
    name = f"whet-{os.urandom(8).hex()}"
    for each in (_SHARED_MEMORY / f"sem.{name}", _SHARED_MEMORY / name):
        cleanup_journal.adopt("folder", str(each))
        undone.callback(cleanup_journal.discard, each)
    (_SHARED_MEMORY / name).write_bytes(bytes(_SHARED_BYTES))
    # libfaketime doesn't always make the lock itself; each process then has names of its own.
    importlib.import_module("_multiprocessing").SemLock(_SEMAPHORE, 1, 1, f"/{name}", unlink=False)
    return {"FAKETIME_SHARED": f"/{name} /{name}"}


def _library() -> str:
    folders = (
        f"/usr/lib/{platform.machine()}-linux-gnu/faketime",
        "/usr/lib/faketime",
        "/usr/lib64/faketime",
        "/usr/local/lib/faketime",
    )
    for folder in folders:
        path = os.path.join(folder, _NAME)
        if os.path.exists(path):
            return path
    raise ClockNotPossible(
        f"`--clock` needs {_NAME}, which isn't in {', '.join(folders)}",
        hint="`apt-get install faketime`, or your system's package libfaketime",
    )


def _prove(moment: str, environment: Mapping[str, str]) -> None:
    from whet.host.process.tool import ToolMissingError, call_tool

    try:
        answer = call_tool(["date", "+%s"], environment=environment)
    except (ToolMissingError, OSError) as error:
        raise ClockNotPossible(
            f"whet couldn't read the clock: {error}",
            hint="install coreutils: whet checks the clock with its `date`",
        ) from error
    wanted = datetime.fromisoformat(moment).timestamp()
    seen = float(answer.text) if answer.text.lstrip("-").isdigit() else 0.0
    if not 0 <= seen - wanted < _SLACK_SECONDS:
        raise ClockNotPossible(
            f"`date` didn't print {moment}: {answer.text or answer.complaint}",
            hint="unset `LD_PRELOAD`, in case another library is in the way",
        )
