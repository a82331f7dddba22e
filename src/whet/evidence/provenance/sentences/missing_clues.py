"""Clues about why a key or an attribute is missing."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from whet.core.observations.clue import Clue, Sureness
from whet.evidence.provenance.events.defaults import defaults_taken
from whet.evidence.provenance.events.missing import (
    Dropped,
    Likewise,
    Missing,
    Misspelt,
    Reason,
    Removed,
    Skipped,
)
from whet.evidence.provenance.events.unset import (
    Attributes,
    NeverRun,
    PassedOver,
    Setting,
    UnderWay,
)
from whet.evidence.provenance.failure.suspects import Failing, tested_in
from whet.evidence.provenance.run.control import Control, Decision
from whet.evidence.provenance.run.recording import OBJECT, SCALAR, Value
from whet.evidence.provenance.run.source import lookups
from whet.evidence.provenance.sentences.wording import Because, Wording
from whet.evidence.provenance.trace.records import Records
from whet.evidence.provenance.trace.trail import End, Hop, Trail
from whet.evidence.provenance.trace.walk import Walk


@dataclass(slots=True)
class MissingClues(Wording):
    """Tells why a key or an attribute is missing.

    Attributes:
        walk: goes back through the run.
        records: the files that were read.
        control: which test led where.
        because: says how a test came out.
    """

    walk: Walk
    records: Records
    control: Control
    because: Callable[[Decision], Because]
    missing: Missing = field(init=False)
    attributes: Attributes = field(init=False)

    def __post_init__(self) -> None:
        """Make ready what looks for the reason."""
        self.missing = Missing(self.recording, self.sources, self.walk, self.records)
        self.attributes = Attributes(self.recording, self.sources, self.control)

    def clues(self, failing: Failing) -> Iterator[Clue]:
        """Yield clues about the missing key or attribute."""
        node, step = tested_in(failing, self.sources)
        if failing.error.type == "AttributeError":
            yield from self._of_attribute(failing)
            return
        if failing.error.type != "KeyError":
            return
        for holder_expr, key_expr in lookups(node):
            holder = self.walk.now.value(holder_expr, failing.call, step)
            key = self.walk.now.value(key_expr, failing.call, step)
            if holder is None or key is None or key.words in holder.parts:
                continue
            said = self.said(holder_expr, failing.call)
            asked = self.walk.back(key_expr, failing.call, step, key, None)
            reason = self.missing.reason(holder, key, asked, step)
            yield from self._reason(self.there(failing), reason, holder, said, key.words)

    def absent(self, trail: Trail) -> Iterator[Clue]:
        """Yield clues about the key for which `get` returned a default."""
        expr, call, step = trail.expression, trail.call, trail.step
        match expr:
            case ast.Call(func=ast.Attribute(value=inner), args=[asked, *_]):
                pass
            case _:
                return
        if trail.end is not End.ABSENT or call is None or step is None:
            return
        holder, key = self.walk.now.value(inner, call, step), self.walk.now.value(asked, call, step)
        if holder is not None and key is not None:
            way = self.walk.back(asked, call, step, key, None)
            alike = self.missing.likewise(holder, key, way, step)
            reason = alike or self.missing.misspelt(holder, key, way, step)
            there = self.at(call.code.path, expr.lineno)
            for each in self._reason(there, reason, holder, self.said(inner, call), key.words):
                yield replace(each, sureness=Sureness.POSSIBLE) if alike else each

    def defaults(self, failing: Failing) -> Iterator[Clue]:
        """Yield the defaults that were taken though a key that is hardly another one was there."""
        for each in defaults_taken(failing, self.recording, self.sources, self.walk):
            call = each.step.frame
            path, line = call.code.path, each.step.line
            own = [hop for hop in each.trail.hops if each.key.is_same(hop.value)]
            made = ""
            if own:
                path, line = own[-1].path, own[-1].line
                made = f": that key comes from {self.place(own[-1])}"
            clue = self.clue(
                f"{self.at(call.code.path, each.step.line)} asked `{self.said(each.holder, call)}` for"
                f" {each.key.words}, and {'took the default' if each.is_given else 'got `None`'}; it has"
                f" {each.other}, which was not asked for there"
                f"{' and looks the same, but is of other characters' if each.looks_equal else ''}{made}",
                path, line, Sureness.POSSIBLE,
            )  # fmt: skip
            yield replace(clue, alike=frozenset({each.key.words, each.other}))

    def _of_attribute(self, failing: Failing) -> Iterator[Clue]:
        for node in ast.walk(failing.node):
            if not isinstance(node, ast.Attribute):
                continue
            holder = self.walk.now.value(node.value, failing.call, failing.step)
            if holder is None or holder.kind != OBJECT or node.attr in holder.parts:
                continue
            if f"'{node.attr}'" not in self.error(failing.error):
                continue  # it has that one: from its class
            said = self.said(node.value, failing.call)
            reason = self.missing.removed(holder, node.attr, failing.step)
            if reason is not None:
                yield from self._reason(self.there(failing), reason, holder, said, f"`{node.attr}`")
                return
            yield from self._unset(failing, node, holder, said)

    def _unset(
        self, failing: Failing, node: ast.Attribute, holder: Value, said: str
    ) -> Iterator[Clue]:
        """Report the line that should have set an attribute, and where the object was made."""
        trail = self.walk.back(node.value, failing.call, failing.step, holder, None)
        made = trail.hops[-1] if trail.hops and trail.end is not End.UNKNOWN else None
        unset = self.attributes.unset(holder, node.attr, failing)
        if unset is None:
            read = Hop(failing.call, node.lineno, self.said(node, failing.call), None)
            asked = Trail([read], End.LITERAL)
            key = Value(SCALAR, "str", node.attr)
            alike = self.missing.misspelt(holder, key, asked, failing.step)
            if alike is not None:
                yield self._misspelt(self.there(failing), alike, holder, said, f"`{node.attr}`")
                return
        head = f"`{said}` has no `{node.attr}`"
        match unset:
            case UnderWay(setting=setting, step=step):
                path = step.frame.code.path
                yield self.clue(
                    f"{head} yet: `{setting.name}` is still at {self.place_of(path, step.line)}"
                    f" and sets it later, at {self.place_of(setting.path, setting.line)}",
                    path, step.line, Sureness.SEEN,
                )  # fmt: skip
            case PassedOver(setting=setting, decision=decision, error=error):
                path, line = setting.path, setting.line
                why = Because() if decision is None else self.because(decision)
                if decision is not None:
                    line = decision.test.lineno
                elif error is not None:
                    why = Because(f": it raised {self.error(error)} at line {error.line}")
                    line = error.line
                clue = self.clue(
                    f"{head}: `{setting.name}` ran for it and did not come to"
                    f" {self.place_of(path, setting.line)}, which sets it{why.words}",
                    path, line, Sureness.SEEN,
                )  # fmt: skip
                yield replace(clue, mentions=why.mentions)
            case NeverRun(setting=setting, instead=Setting() as other):
                yield self.clue(
                    f"{head}: `{other.name}` at {self.at(other.path, other.line)} ran for it and did"
                    f" not call `{setting.name}`, which sets it at"
                    f" {self.place_of(setting.path, setting.line)}",
                    other.path, other.line, Sureness.SEEN,
                )  # fmt: skip
            case NeverRun(setting=setting) if made is not None:
                is_init = setting.method.name == "__init__"
                yield self.clue(
                    f"{head}: `{setting.name}`, which sets it at"
                    f" {self.place_of(setting.path, setting.line)}, did not run for it."
                    f" {self.end(trail, holder)}",
                    made.path, made.line, Sureness.SEEN if is_init else Sureness.POSSIBLE,
                )  # fmt: skip
            case _ if made is not None:
                kind = holder.type.rpartition(".")[2]
                yield self.clue(
                    f"the `{kind}` at {self.there(failing)} was never given `{node.attr}`."
                    f" {self.end(trail, holder)}",
                    made.path, made.line, Sureness.POSSIBLE,
                )  # fmt: skip
            case _:
                return

    def _reason(
        self, there: str, reason: Reason | None, holder: Value, said: str, key: str
    ) -> Iterator[Clue]:
        match reason:
            case Removed(step=step):
                path = step.frame.code.path
                yield self.clue(
                    f"`{said}` had {key} until {self.at(path, step.line)} took it out"
                    f" (`{self.line(path, step.line)}`); {there} asked for it afterwards",
                    path, step.line, Sureness.SEEN,
                )  # fmt: skip
            case Dropped(error=error, caught=there_caught, record=record):
                path = error.call.code.path
                of = f" for {self.record(record)}" if record else ""
                by = ""
                if there_caught is not None:
                    place = self.at(there_caught[0].code.path, there_caught[1])
                    by = f", and {place} caught it"
                yield self.clue(
                    f"`{said}` has no {key}: {self.place_of(path, error.line)}"
                    f" raised {self.error(error)}{of}{by}",
                    path, error.line, Sureness.SEEN,
                )  # fmt: skip
            case Likewise(key=other, trail=trail, asked=asked):
                by = self._from_elsewhere(asked, there)
                last = trail.hops[-1] if trail.hops else None
                from_there = f", which comes from {self.place(last)}" if last else ""
                record = self.records.read_by(trail)
                from_there += f", {self.record(record)}" if record else ""
                # Of two that were made elsewhere, either may be in the wrong form; what the program states
                # is less likely to be.
                is_either = bool(by) and asked.end is not End.LITERAL
                if is_either and trail.end is End.LITERAL:
                    last = asked.hops[-1]
                clue = self.clue(
                    f"{there} asked `{said}` for {key}{by}, but it has {other}{from_there}",
                    last.path if last else "", last.line if last else 0,
                    Sureness.SEEN if last and not is_either else Sureness.POSSIBLE,
                )  # fmt: skip
                yield replace(clue, alike=frozenset({key, other}))
            case Skipped(step=step, record=record):
                path, line = step.frame.code.path, step.line
                decision = self.control.decided(step.frame, line, step.begin)
                why = Because() if decision is None else self.because(decision)
                tested = line if decision is None else decision.test.lineno
                clue = self.clue(
                    f"`{said}` has no {key}: {self.at(path, line)} skipped {self.record(record)}, which"
                    f" has it{why.words}",
                    path, tested, Sureness.POSSIBLE,
                )  # fmt: skip
                advice = f"Check {self.record_place(record)}, then {self.at(path, tested)}."
                yield replace(clue, next_step=advice, mentions=why.mentions)
            case Misspelt():
                yield self._misspelt(there, reason, holder, said, key)
            case None:
                return

    def _from_elsewhere(self, asked: Trail, there: str) -> str:
        """Say where a key comes from that was asked for; empty: it is written there, or that isn't known."""
        asks = asked.hops[-1] if asked.hops else None
        is_elsewhere = asks is not None and self.at(asks.path, asks.line) != there
        return f" (from {self.place(asks)})" if asks is not None and is_elsewhere else ""

    def _misspelt(self, there: str, reason: Misspelt, holder: Value, said: str, key: str) -> Clue:
        """Return the clue about two spellings of a key; it points at the one that is written less often."""
        asked, trail = reason.asked.hops, reason.trail.hops
        made = trail[0 if holder.kind == OBJECT else -1] if trail else None
        asks = asked[-1] if asked else None
        record = self.records.read_by(reason.trail)
        if record is None and not reason.is_asked:
            record = self.records.find(holder, reason.trail.made_by)
        of = f", for {self.record(record)}" if record else ""
        from_there = f", which comes from {self.place(made)}" if made else ""
        by = self._from_elsewhere(reason.asked, there)
        last = (asks if reason.is_asked else made) or asks
        other = reason.key if reason.key[:1] == "'" else f"`{reason.key}`"
        clue = self.clue(
            f"{there} asked `{said}` for {key}{by}, but it has {other}{from_there}{of}",
            last.path if last else "", last.line if last else 0,
            Sureness.SEEN if last and reason.is_sure else Sureness.POSSIBLE,
        )  # fmt: skip
        return replace(clue, alike=frozenset({key, reason.key}))
