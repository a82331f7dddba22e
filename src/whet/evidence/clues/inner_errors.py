"""Errors that the reported one stands for: members of its group, what it was raised from, its text."""

import re
from collections.abc import Iterator
from contextlib import suppress

from whet.core.observations.clue import Clue, Mention, Placing, Sureness
from whet.core.text.record import MalformedRecordError, as_record
from whet.core.value_class import value_class
from whet.evidence.variables.kept_failure import KeptError, KeptFailure, KeptFrame
from whet.host.inspect.stacks import is_user_code

_WHY = "the reported error stands for another one, and says so in its traceback"
_WHY_WARNED = "warnings are errors here, and this one was made into the reported one"
_FRAME = re.compile(r'^[ |]*File "([^"\n]+)", line (\d+), in (\S+)$', re.MULTILINE)
_ERROR = re.compile(r"^[ |]*((?:\w+\.)*[A-Z]\w*)(?:: (.{1,200}))?$", re.MULTILINE)
_MOST = 2
_LONGEST = 200


@value_class(kw_only=True)
class Inner:
    """Where an error came up that the reported one stands for.

    Attributes:
        type: its type.
        message: what it says.
        path, line, function: where.
        error: it, if its frames were kept.
    """

    type: str
    message: str
    path: str
    line: int
    function: str
    error: KeptError | None = None

    @property
    def is_warning(self) -> bool:
        """Whether it is a warning that was made an error: no line of the program raises it."""
        return self.type.endswith("Warning")

    @property
    def says(self) -> str:
        """Its type with its message."""
        return ": ".join(filter(None, (self.type, self.message)))[:_LONGEST]


def inner_errors(error: KeptError) -> list[Inner]:
    """Return the errors of the user's code that an error stands for; none: it is one itself."""
    if not error.members and _own(error) is not None and not _in_text(error):
        return []
    found = list(_inner(error))
    # An error that was being handled is kept as what came earlier, not as a member.
    return found or ([] if error.earlier is None else list(_inner(error.earlier)))


def inner_clues(failure: KeptFailure, error: KeptError, at: Placing) -> list[Clue]:
    """Return the places of the errors that the reported one stands for, the most frequent first."""
    by_place: dict[tuple[str, int], list[Inner]] = {}
    for each in inner_errors(error):
        by_place.setdefault((each.path, each.line), []).append(each)
    clues: list[Clue] = []
    for (path, line), inner in sorted(by_place.items(), key=lambda each: -len(each[1])):
        first = inner[0]
        lines = failure.sources.get(path, "").splitlines()
        source = "".join(lines[line - 1 : line]).strip()
        shown = f" (`{source}`)" if source else ""
        many = f"{len(inner)} errors of the group are alike: " if len(inner) > 1 else ""
        is_open = first.type == "ResourceWarning" and first.message.startswith("unclosed")
        clues.append(
            Clue(
                says=f"{many}{first.says} at {at(path, line)} in `{first.function}`{shown}",
                why=_WHY_WARNED if first.is_warning else _WHY,
                path=path,
                line=line,
                sureness=Sureness.SEEN if first.is_warning else Sureness.POSSIBLE,
                mentions=frozenset({Mention.NEARER}),
                next_step=f"close what {at(path, line)} lets go of" if is_open else "",
            )
        )
    return clues[:_MOST]


def _inner(error: KeptError) -> Iterator[Inner]:
    text = _in_text(error)
    if error.members:
        for each in error.members:
            yield from _inner(each)
    elif text is not None:
        yield text
    elif (place := _own(error)) is not None:
        frame = place.frame
        yield Inner(
            type=error.type.removeprefix("builtins."),
            message=": ".join(filter(None, map(_text_of, error.arguments))), path=frame.path, line=frame.line, function=frame.function,
            error=error,
        )  # fmt: skip
    elif error.earlier is not None:
        yield from _inner(error.earlier)


def _text_of(argument: object) -> str:
    """Return a text or a number that an error was raised with; empty: it is something else."""
    if isinstance(argument, str | int | float):
        return str(argument)
    with suppress(MalformedRecordError):
        return str(as_record(argument, "text").get("text", ""))
    return ""


def _own(error: KeptError) -> KeptFrame | None:
    place = error.place
    return place if place is not None and place.frame.in_user_code else None


def _in_text(error: KeptError) -> Inner | None:
    """Return the innermost place of the user's in a traceback that an error has as text."""
    for argument in error.arguments:
        text = _text_of(argument)
        frames = [each for each in _FRAME.finditer(text) if is_user_code(each[1])]
        if frames:
            said = _ERROR.findall(text[frames[-1].end() :])
            kind, message = said[-1] if said else ("an error", "")
            path, line, function = frames[-1].groups()
            return Inner(type=kind, message=message, path=path, line=int(line), function=function)
    return None
