"""The reducer: one search over payloads, made of many passes.

Stages are done in turn, each until none of its passes gains anything. After the last stage
all is done once more if anything was gained, so that in the end no pass finds a better
payload that fails: the result is 1-minimal in every format that it has.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf

from whet.core.verdict import Verdict
from whet.reduction.detour import GROWING, Detours
from whet.reduction.edit import BATCH_BYTES, LEAST_WIDTH
from whet.reduction.formats.text.pieces import MOST_PIECES
from whet.reduction.inside import reduce_inside
from whet.reduction.payload_kind import Exactness, Kind, Part
from whet.reduction.payload_kinds import PLAIN, is_unknown, kinds_of
from whet.reduction.preference import Preference
from whet.reduction.problem import Reduced, ReductionProblem
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage
from whet.reduction.statistics import PassStatistics, Reduction, Turns
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.subsets.delta import BATCH_WIDTH

_PROBING, _WRITING = "probe the format", "write it again"
_OPENING = (b"{", b"[", b"<")

FRUITLESS_TRIALS, LEAST_GAIN = 200, 0.01
"""whet gives up on an unknown format when this many trials in a row gain less than this share of it.

A program can read hardly any cut of a file with lengths, counts and sums in it.
"""

MUCH_LESS = 0.75
"""When less than this share of a payload is left, whet retries its structure before its bytes."""

_MAY_END_A_ROUND = (Stage.LINES, Stage.VALUES)

DEEPEST = 4
"""How many nested payloads whet reduces in place."""


class _FruitlessError(Exception):
    """The last trials gained next to nothing."""


def reduce_payload(
    payload: bytes, *, name: str = "", format_name: str | None = None, depth: int = 0
) -> Search[Reduced, Reduction]:
    """Look for the best payload that is still BAD (`whet.reduction.order` says what is better).

    The payload itself must be BAD; this isn't tested.

    Args:
        payload: what to start from.
        name: its file name. The content decides on the formats; the name only between two
            that fit.
        format_name: use the passes of this format alone, such as ``lines``.
        depth: in how many other payloads it lies.

    Raises:
        UnknownFormat: if there is no format of that name.
    """
    return reducer_of(payload, name=name, format_name=format_name, depth=depth).reduce()


def reducer_of(
    payload: bytes,
    *,
    name: str = "",
    format_name: str | None = None,
    depth: int = 0,
    preference: Preference | None = None,
    may_grow: bool = False,
) -> "Reducer":
    """Return what reduces a payload, as `reduce_payload` does, and can be asked on the way.

    Args:
        payload: what to start from; must be BAD.
        name: its file name.
        format_name: use the passes of this format alone.
        depth: in how many other payloads it lies.
        preference: what the user prefers.
        may_grow: propose larger payloads too, as steps (`Reduced.is_step`) to smaller ones.

    Raises:
        UnknownFormat: if there is no format of that name.
    """
    preference = preference or Preference()
    problem = ReductionProblem(payload, allows=preference.allows)
    reducer = Reducer(problem=problem, passes=(), may_grow=may_grow)
    tried = list[str]()

    def choose_kind() -> None:
        kinds = kinds_of(payload, name=name, format_name=format_name, but=tried)
        tried.append(kinds[0].name)
        problem.judge_by(preference.order_within(kinds[0].order))
        reducer.passes = [each for kind in kinds for each in _passes_of(kind, depth)]
        reducer.is_unknown = is_unknown(payload, kinds)
        reducer.exact = kinds[0].exact
        reducer.again = kinds[0].again if format_name is None else None
        grow = kinds[0].detours
        reducer.detours = None if grow is None or not may_grow else Detours(grow)

    choose_kind()
    reducer.choose_kind = choose_kind
    return reducer


def _passes_of(kind: Kind, depth: int) -> Iterator[ReductionPass[bytes]]:
    yield from kind.passes
    parts_of = kind.inside
    if parts_of is None or depth == DEEPEST:
        return

    def worthwhile(payload: bytes) -> list[Part]:
        return [each for each in parts_of(payload) if not kind.is_text or _has_parts(each)]

    def reduce_part(part: Part) -> Search[Reduced, Reduction]:
        return reduce_payload(part.content, name=part.name, depth=depth + 1)

    yield ReductionPass(
        name=f"reduce inside {kind.name}",
        stage=Stage.INSIDE,
        search=lambda payload: reduce_inside(payload, worthwhile, reduce_part),
    )


def _has_parts(part: Part) -> bool:
    """Whether what is in a text is of a kind of its own; `a, b` is no table."""
    is_likely = part.content.lstrip()[:1] in _OPENING or b"\n" in part.content
    return is_likely and kinds_of(part.content, name=part.name)[0] not in PLAIN


@dataclass(slots=True, kw_only=True)
class Reducer:
    """Gives passes their turns on one problem.

    Attributes:
        problem: what is reduced.
        passes: what may take turns.
        exact: what of a payload must stay as it is if the program knows its format.
        detours: larger payloads from which a better one may be reached.
        size_of: how many bytes of a payload count as saved when they go.
        again: the same payload as the passes write it.
        choose_kind: takes the passes of another kind, as those of this one can do nothing.
        may_grow: what is larger may be proposed too, as a step.
        is_unknown: it is neither of a known format nor text.
        gives_up: such a one is left when nothing is gained any more.
    """

    problem: ReductionProblem
    passes: Sequence[ReductionPass[bytes]]
    exact: Callable[[bytes], Exactness | None] | None = None
    detours: Detours | None = None
    size_of: Callable[[bytes], int] = len
    again: Callable[[bytes], bytes] | None = None
    choose_kind: Callable[[], None] = lambda: None
    may_grow: bool = False
    is_unknown: bool = False
    gives_up: bool = False
    _fruitless: int = 0
    _size_before: int = 0
    _turns: dict[str, Turns] = field(default_factory=dict[str, Turns])

    def reduce(self) -> Search[Reduced, Reduction]:
        """Propose until no pass gains anything."""
        while not (yield from self._fails_when_written_again()):
            self.choose_kind()
        for each in self.passes:
            self._turns[each.name] = Turns()
        self._size_before = len(self.problem.best)
        try:
            yield from self._settle_all()
            while (yield from self._has_gained_by_detour()):
                yield from self._settle_all()
        except _FruitlessError:
            return self.so_far()
        return self.so_far(is_minimal=True)

    def _fails_when_written_again(self) -> Search[Reduced, bool]:
        """Find out whether the failure needs what the passes of this kind don't know of.

        Such as how numbers are packed: then nothing that they write would fail.
        """
        best, again = (
            self.problem.best,
            b"" if self.again is None else self.again(self.problem.best),
        )
        if self.again is None or again == best:
            return True
        is_step = not self.problem.order.is_better(again, best)
        if not again or not self.problem.allows(again) or (is_step and not self.may_grow):
            return bool(again)
        turns = self._turns.setdefault(_WRITING, Turns())
        turns.candidates += 1
        verdicts = yield [Reduced(again, _WRITING, is_step=is_step)]
        if verdicts[-1] is not Verdict.BAD:
            self.problem.reject(hash(again))
            return False
        turns.successes += 1
        if not is_step:
            turns.saved_bytes = self.size_of(best) - self.size_of(again)
            self.problem.adopt(again)
        return True

    def _settle_all(self) -> Search[Reduced, None]:
        """Run the passes of all stages in turn, round by round, until none gains anything.

        A round ends early, before the single bytes, if much has gone since its structure was
        settled: there may be less of that to keep now, and bytes cost most. What shorter names
        save doesn't count.
        """
        stages = sorted({each.stage for each in self.passes})
        while any(map(self._waiting, stages)):
            settled_bytes = 0
            for stage in stages:
                if stage > Stage.INSIDE:
                    yield from self._probe()
                yield from self._settle(stage)
                left_bytes = len(self.problem.best)
                if stage in (Stage.INSIDE, Stage.NAMES) or not settled_bytes:
                    settled_bytes = left_bytes
                if stage in _MAY_END_A_ROUND and left_bytes < MUCH_LESS * settled_bytes:
                    break

    def _probe(self) -> Search[Reduced, None]:
        """Find out whether the program knows the format; then propose only what is of it."""
        exactness = None if self.exact is None else self.exact(self.problem.best)
        self.exact = None
        if exactness is None:
            return
        turns = self._turns.setdefault(_PROBING, Turns())
        verdicts = yield from self._verdicts([exactness.probe], _PROBING, turns)
        if verdicts[-1] is not Verdict.BAD:
            allows = self.problem.allows
            self.problem.allows = lambda payload: allows(payload) and exactness.holds(payload)

    def _has_gained_by_detour(self) -> Search[Reduced, bool]:
        if self.detours is None:
            return False
        turns = self._turns.setdefault(GROWING, Turns())
        best = self.problem.best
        yield from self.detours.take(self.problem, turns, self._reduce_another)
        turns.saved_bytes += self.size_of(best) - self.size_of(self.problem.best)
        return self.problem.best != best

    def _reduce_another(self, problem: ReductionProblem) -> Search[Reduced, Reduction]:
        return Reducer(problem=problem, passes=self.passes).reduce()

    def so_far(self, *, is_minimal: bool = False) -> Reduction:
        """Return what is known now, also of a search that was stopped."""
        best = self.problem.best
        return Reduction(
            payload=best,
            passes=tuple(self._statistics()),
            is_minimal=is_minimal,
            minimal_over=tuple(self._minimal_over()) if is_minimal else (),
            nearest_passing=self.problem.passing.nearest_to(best),
        )

    def _minimal_over(self) -> Iterator[str]:
        """Yield of what no single one can go, as a pass has tried each in vain."""
        for each in self.passes:
            turns = self._turns[each.name]
            is_settled = turns.settled_on == self.problem.best and turns.judged > 0
            if each.unit and is_settled and len(self.problem.best) < MOST_PIECES:
                yield each.unit

    def _settle(self, stage: int) -> Search[Reduced, None]:
        """Run the passes of one stage until none of them gains anything."""
        while True:
            waiting = self._waiting(stage)
            if not waiting:
                return
            # A stable sort: passes that gained nothing stay in the order of the catalogue.
            waiting.sort(key=lambda each: -self._turns[each.name].last_gain)
            for each in waiting:
                yield from self._take_turn(each)

    def _waiting(self, stage: int) -> list[ReductionPass[bytes]]:
        """Return the passes of a stage that have not been tried in vain on the best payload."""
        best = self.problem.best
        return [
            each
            for each in self.passes
            if each.stage == stage and self._turns[each.name].settled_on != best
        ]

    def _take_turn(self, reduction_pass: ReductionPass[bytes]) -> Search[Reduced, None]:
        turns = self._turns[reduction_pass.name]
        tested, best = turns.candidates, self.problem.best
        turns.judged = 0
        yield from self._driven(reduction_pass.search(best), reduction_pass.name, turns)
        saved = 0
        if self.problem.best != best:
            saved = self.size_of(best) - self.size_of(self.problem.best)
        turns.saved_bytes += saved
        turns.last_gain = saved / max(1, turns.candidates - tested)
        if self.problem.best == best:
            turns.settled_on = best

    def _driven(self, search: PassSearch, name: str, turns: Turns) -> Search[Reduced, None]:
        """Drive a pass: what it proposes in vain is answered here, the rest by the driver."""
        try:
            wanted = next(search)
            while True:
                wanted = search.send((yield from self._verdicts(wanted, name, turns)))
        except StopIteration:
            return

    def _verdicts(
        self, wanted: Sequence[bytes], name: str, turns: Turns
    ) -> Search[Reduced, Sequence[Verdict]]:
        """Return the verdicts on what a pass proposes, up to the first BAD one."""
        source = iter(enumerate(wanted))
        width = max(LEAST_WIDTH, min(BATCH_WIDTH, BATCH_BYTES // (len(self.problem.best) + 1)))
        last = -1
        proposed: dict[int, int] = {}  # digests, with their place in `wanted`

        def worthwhile() -> Iterator[Reduced]:
            nonlocal last
            for last, data in source:
                digest = self.problem.digest_if_worth_trying(data)
                turns.judged += digest is not None or self.problem.is_rejected(data)
                if digest is not None and digest not in proposed:
                    proposed[digest] = last
                    yield Reduced(data, name)
                    if len(proposed) == min(width, self._patience):
                        return

        while batch := LazyBatch(worthwhile()):
            verdicts = yield batch
            turns.candidates += len(verdicts)
            told = list(islice(proposed.items(), len(verdicts)))
            if verdicts[-1] is Verdict.BAD:
                turns.successes += 1
                _, place = told.pop()
                self.problem.adopt(batch[len(verdicts) - 1].data)
            else:
                place = -1
            for position, (digest, _) in enumerate(told):
                self.problem.reject(digest)
                if verdicts[position] is Verdict.GOOD:
                    self.problem.passing.note(batch[position].data)
            self._count_fruitless(len(verdicts))
            if place >= 0:
                return [*[Verdict.GOOD] * place, Verdict.BAD]
            proposed.clear()
        return [Verdict.GOOD] * (last + 1)

    @property
    def _patience(self) -> float:
        """How many more trials may gain next to nothing."""
        is_endless = not (self.is_unknown and self.gives_up)
        return inf if is_endless else FRUITLESS_TRIALS - self._fruitless

    def _count_fruitless(self, trials: int) -> None:
        """Give up on what is of no known format once its trials gain next to nothing."""
        size = len(self.problem.best)
        self._fruitless += trials
        if size <= self._size_before * (1 - LEAST_GAIN):
            self._fruitless, self._size_before = 0, size
        elif self._patience <= 0:
            raise _FruitlessError

    def _statistics(self) -> Iterator[PassStatistics]:
        for name, turns in self._turns.items():
            if turns.candidates:
                yield PassStatistics(
                    name=name,
                    candidates=turns.candidates,
                    successes=turns.successes,
                    saved_bytes=turns.saved_bytes,
                )
