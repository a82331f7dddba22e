"""What a walk back through a recording knows, and the lines that it has passed."""

import ast

from whet.evidence.provenance.run.recording import SCALAR, Call, Recording, Step, Value
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.arguments import Arguments
from whet.evidence.provenance.trace.moments import Moments
from whet.evidence.provenance.trace.names import Names
from whet.evidence.provenance.trace.trail import TEXTS, End, Flaw, Hop, OfType, Trail


class WalkState:
    """The recording, and what is wrong with the value that is followed.

    Attributes:
        now: what the parts of its lines were.
        passed: the lines that it has gone back through, in that order.
    """

    def __init__(self, recording: Recording, sources: Sources) -> None:
        """Make it ready."""
        self._all = recording
        self._sources = sources
        self.now = Moments(recording, sources)
        self._arguments = Arguments(recording, sources, self.now)
        self._names = Names(recording, sources, self.now, self._arguments)
        self.passed: dict[tuple[str, int], None] = {}
        self._met: set[tuple[int, int, str]] = set()
        self._flaw: Flaw | None = None

    def _begin(self, flaw: Flaw | None) -> Trail:
        self._met.clear()
        self._flaw = flaw
        return Trail()

    def _finish(
        self, trail: Trail, end: End, expr: ast.expr, call: Call, step: Step, target: Value | None
    ) -> None:
        self._hop(trail, expr, step, target)
        trail.end, trail.expression, trail.call, trail.step = end, expr, call, step

    def _hop(
        self,
        trail: Trail,
        expr: ast.expr,
        step: Step,
        target: Value | None,
        inside: Value | None = None,
    ) -> None:
        call = step.frame
        self.passed[call.code.path, expr.lineno] = None
        said = self._sources[call.code.path].said(expr)
        if trail.hops and (trail.hops[-1].call, trail.hops[-1].line) == (call, expr.lineno):
            inside = inside or trail.hops[-1].inside
            trail.hops.pop()
        trail.hops.append(Hop(call, expr.lineno, said, target, inside, expr, step))

    def is_changed(self, trail: Trail, flaw: Flaw | None, value: Value | None = None) -> bool:
        """Whether a value had no flaw yet where it was made: something has changed it in place.

        Args:
            trail: where it came from.
            flaw: what is wrong with it.
            value: the value, which isn't to be a part of what was made; None: it may be.
        """
        expr, step = trail.expression, trail.step
        if expr is None or step is None or flaw is None or trail.end is not End.MADE:
            return False
        made = self.now.outcome(expr, step)
        if made is None or (value is not None and made.number != value.number):
            return False
        return made.kind != SCALAR and not flaw(made)

    def _is_flawed(self, value: Value | None) -> bool:
        return value is not None and self._flaw is not None and self._flaw(value)

    @property
    def _is_a_text(self) -> bool:
        """Whether what is wrong is that it is a text: those that it was made of may be, and were, right."""
        return isinstance(self._flaw, OfType) and self._flaw.type in TEXTS
