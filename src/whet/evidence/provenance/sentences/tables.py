"""A column that a table has no more, or that was read as text, or a table without rows: what made it so."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from whet.core.observations.clue import Clue, Sureness
from whet.core.text.quantity import listed
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.recording import Step, Value
from whet.evidence.provenance.run.source import head
from whet.evidence.provenance.sentences.no_rows import NoRows, columns_of, is_table, users_line
from whet.evidence.provenance.sentences.sizes import Sizes
from whet.evidence.provenance.sentences.wording import Wording, cut
from whet.evidence.provenance.trace.contrast import no_numbers
from whet.evidence.provenance.trace.records import Records
from whet.evidence.provenance.trace.walk import Walk
from whet.host.inspect.stacks import is_user_code

_MOST_COLUMNS, _MOST_ODD = 8, 2
_TEXTS = ("str", "object", "string", "large_string")
_ABOUT_TYPES = ("dtype", "'str'", "to numeric", "convert string", "unsupported operand")


@dataclass(slots=True)
class TableClues(Wording):
    """Tells of the columns of tables that the failing line of the user's names, and of rows and sizes."""

    walk: Walk
    records: Records

    def clues(self, failing: Failing) -> Iterator[Clue]:
        """Yield what is known of a column that the failing line asked for."""
        own = next((each for each in failing.call.around if is_user_code(each.code.path)), None)
        step = None if own is None else own.step_at(failing.error.moment)
        if own is None or step is None:
            return
        yield from NoRows(self.recording, self.sources, self.at, self.walk).clues(own, step)
        yield from Sizes(self.recording, self.sources, self.at, self.walk).clues(failing, own, step)
        words = [part.words for _, part in self.recording.parts(failing.error.arguments)]
        for node in head(self.sources[own.code.path].statement(step.line)):
            match node:
                case ast.Subscript(value=holder, slice=ast.Constant(value=str() as name)):
                    table = self.walk.now.value(holder, own, step)
                case _:
                    continue
            if table is None or not is_table(table):
                continue
            columns = columns_of(table)
            if failing.error.type == "KeyError" and name not in columns and words == [repr(name)]:
                yield self._gone(holder, table, name, step)
            elif (
                name in columns
                and columns[name].kind in _TEXTS
                and any(each in " ".join(words) for each in _ABOUT_TYPES)
            ):
                yield from self._text(node, name, step)

    def _gone(self, holder: ast.expr, table: Value, name: str, step: Step) -> Clue:
        own, at = step.frame.code.path, self.at(step.frame.code.path, step.line)
        columns = list(columns_of(table))
        has = listed([f"`{each}`" for each in columns[:_MOST_COLUMNS]]) or "none"
        says = f"`{self.said(holder, step.frame)}` has no column `{name}` at {at}: it has {has}"
        for before, now in pairwise(self.recording.history(table.number)):
            had, has_now = (name in columns_of(each.value) for each in (before, now))
            lost = users_line(now.step) if had and not has_now else None
            if lost is not None:
                path, line = lost.frame.code.path, lost.line
                says = f"{says}. It had that column until {self.place_of(path, line)}"
                return self.clue(says, path, line, Sureness.SEEN)
        return self.clue(says, own, step.line, Sureness.POSSIBLE)

    def _text(self, node: ast.expr, name: str, step: Step) -> Iterator[Clue]:
        """Yield the records because of which a column of numbers was read as text."""
        said, at = self.said(node, step.frame), self.at(step.frame.code.path, step.line)
        for path, lines in self.records.files.items():
            odd = no_numbers(lines, name)
            if not 0 < len(odd) <= _MOST_ODD:
                continue
            line = odd[0]
            record = f"{self.at(path, line)} (`{cut(lines[line - 1].strip())}`)"
            clue = self.clue(
                f"`{said}` is text at {at}, as `{name}` is no number in the record at {record}",
                path, line, Sureness.SEEN,
            )  # fmt: skip
            yield replace(clue, record=f"the record at {record}", records=((path, line),))
