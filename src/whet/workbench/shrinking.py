"""One payload on its way to a smaller one: what was accepted, and what is on disk."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from whet.core.event import Event, PayloadReduced, TrialFinished
from whet.core.failure import FailureSignature
from whet.core.oracle import Oracle, SameFailure
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.host.files import write_atomically
from whet.host.folders import replace_folder
from whet.reduction.formats.tar_archive import parse_tar
from whet.reduction.problem import Reduced
from whet.workbench.bench import Workbench
from whet.workbench.driver import Question
from whet.workbench.investigation import AlsoFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A version on which a candidate must pass to count.

    Attributes:
        label: the last good version.
        on_good_side: makes of a trial the same one on the last good version.
    """

    label: str
    on_good_side: Callable[[Trial], Trial]


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A file to be made smaller.

    Attributes:
        shown: its name as the user wrote it.
        path: where it lies.
        result: where the smaller one goes.
        data: what it holds; of a folder, packed.
        is_folder: it is a folder.
    """

    shown: str
    path: Path
    result: Path
    data: bytes
    is_folder: bool = False

    def size_of(self, content: bytes) -> int:
        """Return how many bytes stand in its file or files when it holds ``content``."""
        return sum(map(len, self.files_of(content).values())) if self.is_folder else len(content)

    def files_of(self, content: bytes) -> dict[str, bytes]:
        """Return what stands in each file of a folder when it holds ``content``."""
        archive = parse_tar(content)
        assert archive is not None, "a folder travels as an archive"
        return {
            member.path.decode("utf-8", "backslashreplace"): member.packed
            for member in archive.members
        }


class Shrinking:
    """The state of one shrink: the best payload so far, how it was come by, and what slipped.

    Attributes:
        payload: what is made smaller.
        guard: the version on which a candidate must pass; None: there is none.
        best: the smallest payload that counts.
        accepted: digests of the payloads that were accepted, in order.
        others: other failures that were met.
    """

    def __init__(
        self,
        bench: Workbench,
        trial: Trial,
        position: int,
        payload: Payload,
        oracle: Oracle,
        *,
        guard: Guard | None,
    ) -> None:
        self.payload = payload
        self.guard = guard
        self.best = payload.data
        self.accepted: list[str] = []
        self.others: dict[FailureSignature, AlsoFound] = {}
        self._bench = bench
        self._trial = trial
        self._position = position
        self._oracle = oracle
        self._came_warm: set[str] = set()

    @property
    def best_trial(self) -> Trial:
        """The trial on the smallest payload so far."""
        return self._trial.with_payload(self._bench.shelf.hold(self.best), self._position)

    def ask(self, candidate: Reduced) -> Question:
        """Return what must be run to judge a candidate."""
        return self.question(self._bench.shelf.hold(candidate.data), len(candidate.data))

    def question(self, digest: str, size_bytes: int, remark: str = "") -> Question:
        """Return what must be run to judge the payload of a digest."""
        trial = self._trial.with_payload(digest, self._position)
        return Question(
            trial=trial,
            guard=None if self.guard is None else self.guard.on_good_side(trial),
            label=f"{size_bytes} bytes{remark}",
        )

    def observe(self, event: Event) -> None:
        """Keep what slipped to another failure and what came warm, and pass the event on."""
        if isinstance(event, TrialFinished):
            if event.outcome.resumed_from:
                self._came_warm.add(event.trial.payloads[self._position].digest)
            if event.verdict is Verdict.SKIP:
                self._keep_other(event)
        self._bench.emit(event)

    @property
    def is_proven(self) -> bool:
        """Whether the best payload was seen to fail in runs from the start."""
        return not self.accepted or self.accepted[-1] not in self._came_warm

    def content_of(self, digest: str) -> bytes:
        """Return an accepted payload."""
        data = self._bench.shelf.payload_of(digest)
        return data if isinstance(data, bytes) else data.read_bytes()

    def go_back_to(self, steps: int) -> None:
        """Take back all that was accepted but the first ``steps``; what is left is proven."""
        del self.accepted[steps:]
        self.best = self.content_of(self.accepted[-1]) if steps else self.payload.data
        self._came_warm.clear()
        self.write_best()

    def write_best(self) -> None:
        """Put the best payload so far on disk, whole."""
        if self.payload.is_folder:
            replace_folder(self.payload.result, self.best, self._bench.belongings)
        else:
            write_atomically(self.payload.result, self.best)

    def _keep_other(self, event: TrialFinished) -> None:
        failure = event.outcome.failure
        if failure is None or not isinstance(self._oracle, SameFailure):
            return
        if self._oracle.judge(event.outcome) is Verdict.BAD:
            return  # it fails on the good side too
        digest = event.trial.payloads[self._position].digest
        data = self._bench.shelf.payload_of(digest)
        assert isinstance(data, bytes)
        known = self.others.get(failure.signature)
        if known is None or len(data) < len(known.payload):
            place = failure.place
            self.others[failure.signature] = AlsoFound(
                summary=failure.summary,
                place="" if place is None else f"{Path(place.path).name}:{place.line}",
                payload=data,
            )

    def found_bad(self, candidate: Reduced) -> None:
        """Put a smaller payload on disk."""
        before = self.payload.size_of(self.best)
        self.best = candidate.data
        self.accepted.append(self._bench.shelf.keep(candidate.data))
        self.write_best()
        self._bench.emit(
            PayloadReduced(
                before_bytes=before,
                after_bytes=self.payload.size_of(candidate.data),
                by_pass=candidate.by_pass,
            )
        )
