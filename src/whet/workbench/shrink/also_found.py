"""The other failures that a shrink meets: those worth reading, most similar first."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.failure import Failure, FailureKind, Frame
from whet.workbench.trials.investigation import AlsoFound

MOST = 5
"""The most to list."""

_NO_BUGS = {FailureKind.USAGE_ERROR, FailureKind.NO_SPACE_LEFT, FailureKind.RESET}
"""Kinds of failures that don't count as another bug."""

_NAMED = re.compile(r"""(?<!\w)['"`]([^'"`\s]{2,80})['"`]""")

_ELSEWHERE, _IN_USERS, _IN_FILE, _IN_FUNCTION = 3, 2, 1, 0


@dataclass(slots=True, kw_only=True)
class OtherFailures:
    """Failures that aren't the one that is shrunk.

    Attributes:
        original: the failure that is shrunk; None: there is none, such as where a script judges.
        content: the payload before anything was left out.
        is_valid: whether a parser of its format takes a payload; None: no such rule holds.
    """

    original: Failure | None
    content: bytes = b""
    is_valid: Callable[[bytes], bool] | None = None
    _found: dict[object, tuple[tuple[int, int], AlsoFound]] = field(
        default_factory=dict[object, tuple[tuple[int, int], AlsoFound]]
    )

    def met(self, failure: Failure, payload: bytes, trial: int | None) -> bool:
        """Note a failure; return whether its payload is kept, as the smallest that shows it."""
        if failure.kind in _NO_BUGS or _bug_of(failure) == self._original_bug:
            return False
        # What any parser refuses shows a bug of nothing but the payload.
        if self.is_valid is not None and not self.is_valid(payload):
            return False
        # Without any content a reader fails, whatever the program does with what it reads.
        if not payload or self._misses(failure, payload):
            return False
        place = failure.place
        where = "" if place is None else f"{Path(place.path).name}:{place.line}"
        failure_found = AlsoFound(
            summary=failure.summary, place=where, payload=payload, trial=trial
        )
        return self._keep(_bug_of(failure), self._distance(place), failure_found)

    def exited(self, code: int, payload: bytes, trial: int | None) -> bool:
        """Note that a script called a payload interesting in another way; as `met` does."""
        summary = f"the script exits {code}"
        failure_found = AlsoFound(summary=summary, place="", payload=payload, trial=trial)
        return self._keep(code, (0, 0), failure_found)

    @property
    def worth_reading(self) -> tuple[AlsoFound, ...]:
        """The nearest to the failure that is shrunk, in the program, and of those the smallest."""
        nearest = sorted(self._found.values(), key=lambda each: (each[0], len(each[1].payload)))
        return tuple(found for _, found in nearest[:MOST])

    def _misses(self, failure: Failure, payload: bytes) -> bool:
        """Whether a failure names a word that the search itself has taken from the payload.

        So fails each program that looks up a name which its input always has.
        """
        words = (
            each.encode("utf-8", "surrogateescape") for each in _NAMED.findall(failure.summary)
        )
        return any(word in self.content and word not in payload for word in words)

    @property
    def _original_bug(self) -> object:
        return None if self.original is None else _bug_of(self.original)

    def _keep(self, bug: object, distance: tuple[int, int], candidate: AlsoFound) -> bool:
        previous = self._found.get(bug)
        if previous is not None and len(previous[1].payload) <= len(candidate.payload):
            return False
        self._found[bug] = (distance, candidate)
        return True

    def _distance(self, place: Frame | None) -> tuple[int, int]:
        """Return how far a place is from that of the failure that is shrunk: less is nearer."""
        own = None if self.original is None else self.original.place
        if place is None or own is None:
            return _ELSEWHERE, 0
        lines = abs(place.line - own.line)
        if place.path != own.path:
            return (_IN_USERS if place.in_user_code else _ELSEWHERE), 0
        return (_IN_FUNCTION if place.function == own.function else _IN_FILE), lines


def _bug_of(failure: Failure) -> object:
    """Return what tells a failure apart, whatever its message says of the values."""
    site, signature = failure.site, failure.signature
    return signature if site is None else (signature.exception, site.at, site.sign)
