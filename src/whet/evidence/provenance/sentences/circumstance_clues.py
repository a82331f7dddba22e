"""Clues about what happened around a value: closed, locked, resized in a loop, moved, half imported, caught."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from whet.core.observations.clue import Clue, Sureness
from whet.evidence.provenance.events.circumstances import Circumstances
from whet.evidence.provenance.events.ended import closed_before, dropped_before, kept_waiting
from whet.evidence.provenance.events.iterated import resized_in_loop
from whet.evidence.provenance.events.swallowed import (
    half_done_before,
    swallowed_before,
    tests_for,
    used_error,
)
from whet.evidence.provenance.failure.suspects import Failing, suspects_of
from whet.evidence.provenance.run.recording import Raised
from whet.evidence.provenance.sentences.wording import Wording, shown, upper
from whet.evidence.provenance.trace.walk import Walk


@dataclass(slots=True)
class CircumstanceClues(Wording):
    """Tells what happened around a value.

    Attributes:
        walk: goes back through the run.
        around: what the program changed in its environment.
    """

    walk: Walk
    around: Circumstances

    def clues(self, failing: Failing) -> Iterator[Clue]:
        """Yield what was closed, locked, moved or still being imported."""
        resized = resized_in_loop(failing, self.recording, self.sources, self.walk)
        if resized is not None and (step := resized.after.step) is not None:
            path, before, after = step.frame.code.path, resized.before, resized.after.value
            yield self.clue(
                f"{self.place_of(path, step.line)} changed the {before.type} that"
                f" {self.place_of(failing.call.code.path, failing.error.line)} goes through:"
                f" {before.size} entries became {after.size}",
                path, step.line, Sureness.SEEN,
            )  # fmt: skip
        closed = closed_before(failing, self.recording, self.sources, self.walk)
        if closed is not None:
            path, line = closed.step.frame.code.path, closed.step.line
            kind = closed.value.type.rpartition(".")[2]
            said = f"`{closed.said}`" if closed.said else f"the {kind} behind it"
            yield self.clue(
                f"{self.there(failing)} uses {said}, which {self.place_of(path, line)} had closed",
                path, line, Sureness.SEEN,
            )  # fmt: skip
        waited = kept_waiting(failing, self.recording, self.walk)
        if waited is not None:
            path, line = waited.step.frame.code.path, waited.step.line
            yield self.clue(
                f"{self.place_of(path, line)} began a transaction on another connection, which was"
                f" still open when {self.there(failing)} asked for the database",
                path, line, Sureness.SEEN,
            )  # fmt: skip
        moved = self.around.file_moved(failing)
        if moved is not None:
            path, line = moved.event.path, moved.event.line
            does = {
                "os.chdir": f"changed the working folder: `{moved.asked}` is in `{moved.folder}`,"
                " where the program was before",
                "os.rename": f"moved `{moved.asked}` away",
            }.get(moved.event.name, f"removed `{moved.asked}`")
            yield self.clue(f"{self.place_of(path, line)} {does}", path, line, Sureness.SEEN)
        importing = self.around.still_imported(failing)
        if importing is not None:
            path = importing.call.code.path
            yield self.clue(
                f"{self.place_of(path, importing.line)} starts an import that leads back to its own"
                f" module before that is complete: {self.there(failing)} met it half loaded",
                path, importing.line, Sureness.SEEN,
            )  # fmt: skip

    def handed_on(
        self, failing: Failing, of_error: Callable[[Raised], list[Clue]]
    ) -> Iterator[Clue]:
        """Report where an error was raised that something has handed on, and that is used as a value."""
        suspects = suspects_of(failing, self.walk, self.recording, self.sources)
        used = used_error(failing, self.recording, suspects)
        if used is None:
            return
        suspect, error = used
        path = error.call.code.path
        is_meant = tests_for(error.type, self.sources[failing.call.code.path].tree)
        inside = "" if suspect.value.number == error.number else "in "
        more = "".join(f". {upper(each.says)}" for each in of_error(error)[:1])
        yield self.clue(
            f"{inside}`{self.said(suspect.expr, failing.call)}` at {self.there(failing)} is the"
            f" {error.type} that was raised at {self.place_of(path, error.line)}: it was handed on"
            f" as a value{more}",
            path, error.line, Sureness.POSSIBLE if is_meant else Sureness.SEEN,
        )  # fmt: skip

    def dropped(self, failing: Failing) -> Iterator[Clue]:
        """Report database writes that were never committed."""
        for each in dropped_before(failing, self.recording):
            path, line = each.began.frame.code.path, each.began.line
            closed = self.place_of(each.closed.frame.code.path, each.closed.line)
            yield self.clue(
                f"{self.place_of(path, line)} began a transaction, and {closed} closed the connection"
                " without a commit: what was written in it is lost",
                path, line, Sureness.POSSIBLE,
            )  # fmt: skip

    def swallowed(self, failing: Failing) -> Iterator[Clue]:
        """Report errors that a context manager swallowed: nothing in the program shows them."""
        for each in swallowed_before(failing, self.recording):
            error, call = each.error, each.result.frame
            path, line = call.code.path, each.result.line
            gave = shown(each.result.result) if each.result.result is not None else ""
            yield self.clue(
                f"`{call.code.name}` swallowed {self.error(error)}, raised at"
                f" {self.place_of(error.call.code.path, error.line)}: at {self.place_of(path, line)}"
                f" it returned {gave or 'a true value'}",
                path, line, Sureness.POSSIBLE,
            )  # fmt: skip

    def half_done(self, failing: Failing) -> Iterator[Clue]:
        """Report an error that was caught when half of the work was done."""
        for each in islice(half_done_before(failing, self.recording, self.sources), 1):
            path, line = each.caught[0].code.path, each.before[-1].lineno
            yield self.clue(
                f"{self.at(path, each.caught[1])} caught {self.error(each.error)}, which came up after"
                f" {self.place_of(path, line)} was done",
                path, each.caught[1], Sureness.POSSIBLE,
            )  # fmt: skip
