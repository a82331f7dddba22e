"""The sentences about a place where a failing run left the path of the passing ones."""

import ast

from whet.core.observations.clue import Clue, Placing
from whet.core.value_class import value_class
from whet.evidence.neighbour.divergence import Divergence
from whet.evidence.neighbour.kinds import RESULT, Odd
from whet.evidence.provenance.run.recording import SCALAR, Recording
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.sentences.wording import cut

_WHY = "what was different the last time it worked"
_MOST_VALUES = 3


@value_class(kw_only=True)
class Telling:
    """Says where two runs part.

    Attributes:
        recording: the failing run.
        sources: the program.
        at: says where a line is.
    """

    recording: Recording
    sources: Sources
    at: Placing

    def clue(self, found: Divergence, passing: str, *, switched: str = "") -> Clue:
        """Return a clue.

        Args:
            found: where the ways part.
            passing: what passed, such as ``the 3 earlier calls of `check```.
            switched: what came of it with the test the other way, in a sentence.
        """
        path = found.function[0]
        line = self.place(path, found.line)
        calls = ""
        if found.calls:
            calls = f", which calls {' and '.join(f'`{each}`' for each in found.calls[:2])}"
        what = (
            f"only what fails goes to {line}{calls}"
            if found.is_extra
            else f"only what passes goes to {line}"
        )
        says = f"{what}, {self._reason(found)}; {passing}"
        return Clue(says=says + switched, why=_WHY, path=path, line=found.line)

    def of_odd(self, found: Odd, passing: str) -> Clue:
        """Return a clue about a value of another kind."""
        path = found.function[0]
        subject = "what it returns" if found.name == RESULT else f"`{found.name}`"
        others = " or ".join(found.others[:_MOST_VALUES])
        says = (
            f"in the failing run alone {self.place(path, found.line)} makes {subject} {found.kind},"
            f" elsewhere {others}; {passing}"
        )
        return Clue(says=says, why=_WHY, path=path, line=found.line)

    def place(self, path: str, line: int) -> str:
        """Say where a line is, and what it says."""
        return f"{self.at(path, line)} (`{cut(self.sources[path].line(line))}`)"

    def _reason(self, found: Divergence) -> str:
        path, fork = found.function[0], found.fork
        there = self.at(path, found.at)
        match fork:
            case ast.If(test=test) | ast.While(test=test):
                condition = cut(self.sources[path].said(test))
                came = "true" if found.was else "false"
                return f"as `{condition}` at {there} was {came} in it{self._values(test, found)}"
            case ast.ExceptHandler():
                return f"as {there} caught an error"
            case _:
                came = "something" if found.was else "nothing"
                return f"as the loop at {there} had {came} to go over in it"

    def _values(self, test: ast.expr, found: Divergence) -> str:
        """Say what a test looked at."""
        names: dict[str, str] = {}
        call, moment = found.step.frame, found.step.begin
        for node in ast.walk(test):
            if isinstance(node, ast.Name) and node.id not in names:
                value = self.recording.held(call, node.id, moment)
                if value is not None and value.kind == SCALAR:
                    names[node.id] = value.words
        sentences = [
            f"`{name}` was {cut(words)}" for name, words in list(names.items())[:_MOST_VALUES]
        ]
        return f" ({', '.join(sentences)})" if sentences else ""
