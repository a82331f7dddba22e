"""From a traceback to the failure that it shows."""

import re
from collections.abc import Iterable, Sequence

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.site import Site
from whet.core.value_class import value_class
from whet.evidence.printed.python_traceback import Traceback
from whet.evidence.signature.message import normalise
from whet.evidence.signature.ownership import OwnedFrame, Owner, Ownership, own
from whet.evidence.signature.place import Place, place_of
from whet.evidence.signature.shortage import first_sentence, first_sentences, shortage_of
from whet.evidence.signature.site import has_site, site_of
from whet.evidence.signature.wording import canonical_type

SUMMARY_CHARACTERS = 200
_SHORTAGES = {FailureKind.OUT_OF_MEMORY, FailureKind.NO_SPACE_LEFT}
_CAUSES = 10
_FRAMES = 200
_OUTER_FRAMES = 20
_RAISED_WITH_TEXT = re.compile(r"\braise \w*KeyError\(\s*[rRfF]{0,2}[\"']")
_ONE_QUOTED = re.compile(r"""(?P<quote>['"])(?P<text>.*)(?P=quote)""", re.DOTALL)
_SUB_EXCEPTIONS = re.compile(r" \(\d+ sub-exceptions?\)")
_BROKEN_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError", "zipimport.ZipImportError"})


def kind_of(exception: str, message: str) -> FailureKind:
    """Return the kind of failure of an uncaught exception."""
    shortage = shortage_of(exception, message)
    if shortage is not None:
        return shortage
    if exception in _BROKEN_IMPORTS:
        return FailureKind.BROKEN_IMPORT
    if exception == "AssertionError":
        return FailureKind.ASSERTION
    return FailureKind.EXCEPTION


def failure_of_exception(traceback: Traceback, ownership: Ownership, called: str = "") -> Failure:
    """Return the failure that an uncaught exception is.

    Args:
        traceback: the exception, with all that it was raised from.
        ownership: whose files the frames are in.
        called: exception type of a Python program that this one called, if that was printed.
    """
    error = _raised(traceback)
    kind = kind_of(error.exception, error.message)
    frames = own(error.stack, ownership)
    is_recursion = error.exception.endswith("RecursionError")
    place = place_of(frames, is_recursion=is_recursion)
    if error.syntax_file is not None:
        frames, place = _with_syntax_file(error.syntax_file, frames, place, ownership)
    if error.leaves:
        place = _place_of_group(error.leaves, place, ownership)
    causes = _causes(error)
    return Failure(
        signature=FailureSignature(
            kind=kind,
            exception=canonical_type(error.exception),
            message=_message(error, kind, ownership),
            user_function=place.user_function,
            library_function=place.library_function,
            causes=(*causes, called) if called else causes,
        ),
        summary=said(error.exception, _shown_message(error.message, kind)),
        site=_site(error, kind, ownership),
        frames=shown([frame.frame for frame in frames]),
    )


def shown(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return the frames that are worth keeping: both ends of a stack that is very deep."""
    if len(frames) <= _FRAMES:
        return tuple(frames)
    return (*frames[:_OUTER_FRAMES], *frames[_OUTER_FRAMES - _FRAMES :])


def said(exception: str, message: str) -> str:
    """Return one line of at most 200 characters, as Python says it."""
    lines = [line.strip() for line in message.split("\n") if line.strip()]
    line = f"{exception}: {lines[0]}" if lines and exception else "".join(lines[:1]) or exception
    return line if len(line) <= SUMMARY_CHARACTERS else line[: SUMMARY_CHARACTERS - 1] + "…"


@value_class
class _Raised:
    """An exception as if it had been raised where it was caught, in one process.

    Attributes:
        exception: its type as printed.
        message: its message.
        stack: frames of all processes that it went through, outermost first.
        sources: the lines of source shown with each frame.
        marks: which columns of them are marked.
        syntax_file: for a SyntaxError, the place that could not be parsed.
        earlier: what it was raised from, the latest first.
        leaves: the exceptions in it, for a group.
    """

    exception: str
    message: str
    stack: tuple[tuple[Frame, int], ...]
    sources: tuple[str, ...]
    marks: tuple[str, ...]
    syntax_file: Frame | None
    earlier: tuple[Traceback, ...]
    leaves: tuple[Traceback, ...]


def _raised(traceback: Traceback) -> _Raised:
    stack, sources, marks = traceback.stack, traceback.sources, traceback.marks
    while traceback.previous is not None and traceback.previous.is_remote:
        # What a pool or a DataLoader raises again says less than what its worker raised.
        traceback = traceback.previous
        stack += traceback.stack
        sources += traceback.sources
        marks += traceback.marks
    return _Raised(
        exception=traceback.exception,
        message=traceback.message,
        stack=stack,
        sources=sources,
        marks=marks,
        syntax_file=traceback.syntax_file,
        earlier=tuple(item for item in traceback.chain if not item.is_remote),
        leaves=traceback.leaves,
    )


def _message(raised: _Raised, kind: FailureKind, ownership: Ownership) -> str:
    if kind in _SHORTAGES:
        return normalise(first_sentence(raised.message))
    if not raised.leaves:
        return normalise(_as_raised(raised), _source(raised, ownership))
    own_message = normalise(_SUB_EXCEPTIONS.sub("", raised.message))
    return normalise("\n".join([own_message, *sorted(_leaf_messages(raised.leaves))]))


def _shown_message(message: str, kind: FailureKind) -> str:
    return first_sentences(message) if kind in _SHORTAGES else message


def _as_raised(raised: _Raised) -> str:
    """Return the message; that of a KeyError without the quotes that Python puts around it.

    A key in a message is data; a sentence isn't, and the source shows that it was written.
    """
    message = raised.message.strip()
    if raised.sources and _RAISED_WITH_TEXT.search(raised.sources[-1]):
        match = _ONE_QUOTED.fullmatch(message)
        if match is not None:
            return match["text"].replace("\\n", "\n").replace("\\'", "'").replace('\\"', '"')
    return message


def _source(raised: _Raised, ownership: Ownership) -> str:
    """Return the source shown with the innermost frame, and with that of the user's own code.

    What is quoted there and in the message is the programmer's own: the `'price'` of
    `row["price"]` tells which access failed, whatever the payload. The source of text that was
    given to `exec` isn't shown before 3.13, so it never counts.
    """
    if len(raised.sources) != len(raised.stack):
        return ""  # a report of pytest shows its source in another way
    lines = [
        (source, ownership.locate(frame.path).owner)
        for (frame, _), source in zip(raised.stack, raised.sources, strict=True)
        if not frame.path.startswith("<")
    ]
    users = [source for source, owner in lines if owner is Owner.USER]
    return "\n".join([*(source for source, _ in lines[-1:]), *users[-1:]])


def _site(raised: _Raised, kind: FailureKind, ownership: Ownership) -> Site | None:
    """Return the exact place, unless that is up to chance or there are several."""
    if raised.leaves or raised.syntax_file is not None or not has_site(kind, raised.exception):
        return None
    exception = (raised.exception, raised.message)
    return site_of(raised.stack, raised.marks, raised.sources, ownership, exception)


def _leaf_messages(leaves: Iterable[Traceback]) -> set[str]:
    return {normalise(said(leaf.exception, leaf.message)) for leaf in leaves}


def _causes(raised: _Raised) -> tuple[str, ...]:
    """Return the types of the chain, or of the exceptions in a group.

    A loop of retries chains as many exceptions as there were tries: equal neighbours are one.
    """
    if raised.leaves:
        return tuple(sorted({canonical_type(leaf.exception) for leaf in raised.leaves}))
    causes: list[str] = []
    for earlier in raised.earlier:
        cause = canonical_type(earlier.exception)
        if not causes or causes[-1] != cause:
            causes.append(cause)
    return tuple(causes[:_CAUSES])


def _with_syntax_file(
    syntax_file: Frame, frames: list[OwnedFrame], place: Place, ownership: Ownership
) -> tuple[list[OwnedFrame], Place]:
    """Count the file that can't be parsed as the innermost frame, if it is a file."""
    located = ownership.locate(syntax_file.path)
    if located.owner is Owner.GENERATED:
        # The text was given to eval, compile or ast.parse: it is data of its caller.
        return frames, place
    module = Frame(
        path=syntax_file.path, line=syntax_file.line, function="<module>", in_user_code=False
    )
    frames = [*frames, *own([(module, 1)], ownership)]
    return frames, place_of(frames)


def _place_of_group(leaves: Sequence[Traceback], place: Place, ownership: Ownership) -> Place:
    """Return where the exceptions in a group were raised, if all were in one place."""
    places = {place_of(own(_raised(leaf).stack, ownership)) for leaf in leaves if leaf.stack}
    if len(places) != 1:
        return place
    inner = places.pop()
    return Place(inner.user_function or place.user_function, inner.library_function)
