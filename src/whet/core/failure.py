"""A classified symptom, and the signature that says which bug it is."""

import re
from dataclasses import replace
from enum import Enum

from whet.core.site import Site
from whet.core.text.json_record import Record, sparse
from whet.core.value_class import value_class

_WORD = re.compile(r"<?\w+>?")


class FailureKind(Enum):
    """What went wrong, in the words shown to the user."""

    EXCEPTION = "exception"
    ASSERTION = "assertion"
    TEST_FAILURE = "test failure"
    BROKEN_IMPORT = "broken import"
    OUT_OF_MEMORY = "out of memory"
    NO_SPACE_LEFT = "no space left"
    TIMEOUT = "timeout"
    SIGNAL = "signal"
    USAGE_ERROR = "usage error"
    EXIT = "exit"
    RESET = "reset step failed"


@value_class(kw_only=True)
class FailureSignature(Record):
    """Which bug this is; equal for two outcomes of one bug, different for two bugs.

    Everything in it is normalised: addresses, numbers, paths and quoted user data
    are replaced, and line numbers are left out, so that it survives a smaller
    payload and another revision of the code.

    Attributes:
        kind: what went wrong.
        exception: qualified type of the exception, as Python prints it.
        message: normalised message, or the normalised last lines of stderr.
        user_function: innermost frame of the user's own code, ``file.py:function``.
        library_function: innermost library frame, ``package/module.py:function``.
        causes: exception types of the chain or the group, outermost first.
        exit_code: exit code where that alone tells the failure (kind EXIT).
        signal: name of the signal that ended the process, such as ``SIGSEGV``.
    """

    kind: FailureKind
    exception: str = sparse("")
    message: str = sparse("")
    user_function: str = sparse("")
    library_function: str = sparse("")
    causes: tuple[str, ...] = sparse(())
    exit_code: int | None = sparse(None)
    signal: str = sparse("")

    @property
    def wordless(self) -> "FailureSignature":
        """The same without its message."""
        return replace(self, message="")

    @property
    def in_any_order(self) -> "FailureSignature":
        """The same, its words sorted: what lists a set says it in another order in each process."""
        return replace(self, message=" ".join(sorted(_WORD.findall(self.message))))


@value_class(kw_only=True)
class Frame(Record):
    """One line of a stack, innermost frames last in every sequence of frames."""

    path: str
    line: int
    function: str
    in_user_code: bool


@value_class(kw_only=True)
class Failure(Record):
    """A classified symptom: its signature for machines, its words and place for people.

    Attributes:
        signature: which bug this is.
        summary: one line as the program said it, such as ``KeyError: 'price'``, and the limit met.
        frames: the stack where it failed, innermost frame last; empty if none was seen.
        site: the exact place, which is no part of the signature, as it changes with the code;
            None: none is known, or it is up to chance.
        limit: the limit that the trial met, as its option is called; empty: none that is known.
        plain: the summary without the limit and its amounts; empty: it has none.
        names_its_lines: whether the summary says itself where it is; it can be long then.
    """

    signature: FailureSignature
    summary: str
    frames: tuple[Frame, ...] = ()
    site: Site | None = None
    limit: str = ""
    plain: str = sparse("")
    names_its_lines: bool = sparse(default=False)

    @property
    def kind(self) -> FailureKind:
        """What went wrong."""
        return self.signature.kind

    @property
    def place(self) -> Frame | None:
        """The innermost frame of the user's own code, else the innermost frame."""
        for frame in reversed(self.frames):
            if frame.in_user_code:
                return frame
        return self.frames[-1] if self.frames else None

    @property
    def at(self) -> str:
        """Where it is, as in `` at load.py:6``; empty: not known, or its summary says so itself."""
        place = None if self.names_its_lines else self.place
        return "" if place is None else f" at {place.path.rpartition('/')[2]}:{place.line}"
