"""Every error of whet: what it means, its exit code, and its page.

The docstring of a class is its page: `whet explain SLUG` shows it and the documentation
is generated from it. A raise site gives the value that caused the error and the next step.
"""

from collections.abc import Iterator

from whet.core.errors.base import INCOMPLETE, SOFTWARE, USAGE, WhetError
from whet.core.errors.command import (
    BadCondition,
    BadDimension,
    BadExpectation,
    BadUsage,
    BudgetTooSmall,
    CommandNotExecutable,
    CommandNotFound,
    EmptyCommand,
    FolderNotFound,
    UnknownPage,
)
from whet.core.errors.faults import HostFailure, InternalFault
from whet.core.errors.inspection import (
    NoFailureKept,
    NoStacksKept,
    NoSuchProcess,
    StackForbidden,
    UnknownTarget,
)
from whet.core.errors.limits import (
    ClockNotPossible,
    GpuNotHeld,
    LimitMakesNoSense,
    LimitNotEnforced,
    RoomRefused,
)
from whet.core.errors.model import (
    LibraryMissing,
    ModelCodeNotTrusted,
    ModelNotMade,
    ModelUnknown,
    ModelUnsolved,
    TokenizerUnreadable,
)
from whet.core.errors.payload import (
    NotEnoughMemory,
    PayloadEmpty,
    PayloadIsFolder,
    PayloadMissing,
    PayloadNotInCommand,
    PayloadTooLarge,
    PayloadUnreadable,
    UnknownFormat,
)
from whet.core.errors.project import (
    BadSetting,
    CannotWrite,
    CodeNotKept,
    DiskFull,
    NotebookBusy,
    NotebookDamaged,
    NotebookTooNew,
    OutputNotKept,
    ReproductionFailed,
    ResultInUse,
    SecretNotKept,
    SettingsUnreadable,
    StateNotOwned,
    UnknownTrial,
)
from whet.core.errors.search import (
    BaselineDoesNotFail,
    CopyFailsOtherwise,
    InputChanged,
    NeverSucceeds,
    SetupFailed,
)
from whet.core.errors.versions import (
    EndMisjudged,
    EndsReversed,
    IndexUnreachable,
    NotAnAncestor,
    NotARepository,
    NothingBetween,
    NothingDiffers,
    ReleaseNotInstallable,
    SameEnds,
    UnknownPackage,
    UnknownRelease,
    UnknownRevision,
)

__all__ = [
    "INCOMPLETE",
    "SOFTWARE",
    "USAGE",
    "BadCondition",
    "BadDimension",
    "BadExpectation",
    "BadSetting",
    "BadUsage",
    "BaselineDoesNotFail",
    "BudgetTooSmall",
    "CannotWrite",
    "ClockNotPossible",
    "CodeNotKept",
    "CommandNotExecutable",
    "CommandNotFound",
    "CopyFailsOtherwise",
    "DiskFull",
    "EmptyCommand",
    "EndMisjudged",
    "EndsReversed",
    "FolderNotFound",
    "GpuNotHeld",
    "HostFailure",
    "IndexUnreachable",
    "InputChanged",
    "InternalFault",
    "LibraryMissing",
    "LimitMakesNoSense",
    "LimitNotEnforced",
    "ModelCodeNotTrusted",
    "ModelNotMade",
    "ModelUnknown",
    "ModelUnsolved",
    "NeverSucceeds",
    "NoFailureKept",
    "NoStacksKept",
    "NoSuchProcess",
    "NotARepository",
    "NotAnAncestor",
    "NotEnoughMemory",
    "NotebookBusy",
    "NotebookDamaged",
    "NotebookTooNew",
    "NothingBetween",
    "NothingDiffers",
    "OutputNotKept",
    "PayloadEmpty",
    "PayloadIsFolder",
    "PayloadMissing",
    "PayloadNotInCommand",
    "PayloadTooLarge",
    "PayloadUnreadable",
    "ReleaseNotInstallable",
    "ReproductionFailed",
    "ResultInUse",
    "RoomRefused",
    "SameEnds",
    "SecretNotKept",
    "SettingsUnreadable",
    "SetupFailed",
    "StackForbidden",
    "StateNotOwned",
    "TokenizerUnreadable",
    "UnknownFormat",
    "UnknownPackage",
    "UnknownPage",
    "UnknownRelease",
    "UnknownRevision",
    "UnknownTarget",
    "UnknownTrial",
    "WhetError",
    "error_classes",
]


def error_classes() -> Iterator[type[WhetError]]:
    """Yield every kind of error, in the order of the files."""
    yield from WhetError.__subclasses__()
