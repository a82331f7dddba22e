"""The user's Python makes the models; its refusals become errors of whet."""

import errno
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import whet.agent.tiny
from whet.core.errors import (
    BadUsage,
    CannotWrite,
    DiskFull,
    HostFailure,
    LibraryMissing,
    ModelCodeNotTrusted,
    ModelUnknown,
    ModelUnsolved,
    TokenizerUnreadable,
    WhetError,
)
from whet.core.text.record import text
from whet.host.python.asked_python import AskedPython
from whet.workbench.trials.bench import Workbench

_SCRIPT = Path(whet.agent.tiny.__file__).with_name("worker.py")

_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}

_ERRORS: Mapping[str, type[WhetError]] = {
    "unknown": ModelUnknown,
    "unsolved": ModelUnsolved,
    "untrusted": ModelCodeNotTrusted,
    "missing": LibraryMissing,
    "usage": BadUsage,
    "tokenizer": TokenizerUnreadable,
}


class ModelMaker:
    """Asks the user's Python for models."""

    def __init__(self, python: AskedPython) -> None:
        self._python = python

    def ask(self, request: Mapping[str, object]) -> dict[str, object]:
        """Return what the worker answers to a request.

        Raises:
            ModelUnknown, ModelUnsolved, ModelCodeNotTrusted, TokenizerUnreadable,
                LibraryMissing, BadUsage: as it says.
            DiskFull, CannotWrite: if it couldn't write the model.
            HostFailure: if it broke.
        """
        answer = self._python.ask(request)
        if "refused" not in answer:
            return answer
        kind, message = text(answer, "refused"), text(answer, "message")
        if kind == "disk":
            raise _disk_error(answer, message)
        error = _ERRORS.get(kind, HostFailure)
        raise error(message, hint=text(answer, "hint"))


@contextmanager
def model_maker(
    bench: Workbench, python: str, cwd: Path, *, may_download: bool
) -> Generator[ModelMaker, None, None]:
    """Start the user's Python; it ends with the block.

    Args:
        bench: the workbench.
        python: the interpreter.
        cwd: the folder of the user's program.
        may_download: the user's libraries may fetch what they don't have.
    """
    environment = {**bench.environment, **({} if may_download else _OFFLINE)}
    with AskedPython(python, _SCRIPT, cwd=cwd, environment=environment) as asked:
        yield ModelMaker(asked)


def _disk_error(answer: Mapping[str, object], message: str) -> WhetError:
    if answer.get("errno") in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return DiskFull(
            f"no space left to make the model: {message}",
            hint="free some space where temporary files go (`TMPDIR`)",
        )
    return CannotWrite(
        f"the model can't be written: {message}", hint="name another place with `-o`"
    )
