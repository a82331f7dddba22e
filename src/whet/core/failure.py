"""A classified symptom, and the signature that says which bug it is."""

from dataclasses import dataclass
from enum import Enum

from whet.core.site import Site
from whet.core.text.record import (
    JsonObject,
    boolean,
    integer,
    optional_integer,
    optional_record,
    record,
    records,
    text,
    texts,
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureSignature:
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
    exception: str = ""
    message: str = ""
    user_function: str = ""
    library_function: str = ""
    causes: tuple[str, ...] = ()
    exit_code: int | None = None
    signal: str = ""

    def to_json(self) -> dict[str, object]:
        """Return this signature as JSON data, without what is empty."""
        data: dict[str, object] = {
            "kind": self.kind.value,
            "exception": self.exception,
            "message": self.message,
            "user_function": self.user_function,
            "library_function": self.library_function,
            "causes": list(self.causes),
            "exit_code": self.exit_code,
            "signal": self.signal,
        }
        return {name: value for name, value in data.items() if value not in ("", [], None)}

    @classmethod
    def from_json(cls, data: JsonObject) -> "FailureSignature":
        """Return the signature that ``to_json`` wrote."""
        return cls(
            kind=FailureKind(text(data, "kind")),
            exception=text(data, "exception", ""),
            message=text(data, "message", ""),
            user_function=text(data, "user_function", ""),
            library_function=text(data, "library_function", ""),
            causes=texts(data, "causes"),
            exit_code=optional_integer(data, "exit_code"),
            signal=text(data, "signal", ""),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of a stack, innermost frames last in every sequence of frames."""

    path: str
    line: int
    function: str
    in_user_code: bool

    def to_json(self) -> dict[str, object]:
        """Return this frame as JSON data."""
        return {
            "path": self.path,
            "line": self.line,
            "function": self.function,
            "in_user_code": self.in_user_code,
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "Frame":
        """Return the frame that ``to_json`` wrote."""
        return cls(
            path=text(data, "path"),
            line=integer(data, "line"),
            function=text(data, "function"),
            in_user_code=boolean(data, "in_user_code"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A classified symptom: its signature for machines, its words and place for people.

    Attributes:
        signature: which bug this is.
        summary: one line as the program said it, such as ``KeyError: 'price'``.
        frames: the stack where it failed, innermost frame last; empty if none was seen.
        site: the exact place, which is no part of the signature, as it changes with the code;
            None: none is known, or it is up to chance.
        limit: the limit that the trial met, as its option is called; empty: none that is known.
    """

    signature: FailureSignature
    summary: str
    frames: tuple[Frame, ...] = ()
    site: Site | None = None
    limit: str = ""

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

    def to_json(self) -> dict[str, object]:
        """Return this failure as JSON data."""
        return {
            "signature": self.signature.to_json(),
            "summary": self.summary,
            "frames": [frame.to_json() for frame in self.frames],
            "site": None if self.site is None else self.site.to_json(),
            "limit": self.limit,
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "Failure":
        """Return the failure that ``to_json`` wrote."""
        site = optional_record(data, "site") if "site" in data else None
        return cls(
            signature=FailureSignature.from_json(record(data, "signature")),
            summary=text(data, "summary"),
            frames=tuple(Frame.from_json(frame) for frame in records(data, "frames")),
            site=None if site is None else Site.from_json(site),
            limit=text(data, "limit", ""),
        )
