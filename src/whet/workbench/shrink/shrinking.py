"""One payload during a shrink: the accepted candidates, and the file on disk."""

import stat
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from whet.core.errors import CannotWrite, DiskFull
from whet.core.event import Notice, PassStarted, PayloadReduced
from whet.core.oracle import Interesting, Oracle, SameFailure
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_bytes
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.code.folders import replace_folder
from whet.reduction.formats.archives.tar_archive import parse_tar
from whet.reduction.problem import Reduced
from whet.reduction.statistics import PassStatistics, Turns
from whet.workbench.files.results import result_error
from whet.workbench.shrink.also_found import OtherFailures
from whet.workbench.shrink.cost_limit import NoCostlier
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.driver import Question
from whet.workbench.trials.investigation import Size
from whet.workbench.trials.reproduce import patience
from whet.workbench.trials.tested import Tested

_ANYBODY = 0o666  # less the umask
_LAST_FEW = 5
"""The time limit follows this many of the last accepted payloads, as a smaller one takes less time."""

_FALLS_BY = 4
"""A new limit needs new keys and new frozen copies, so it must pay off."""


@value_class(kw_only=True)
class Guard:
    """A version on which a candidate must pass to count.

    Attributes:
        label: the last good version.
        on_good_side: makes of a trial the same one on the last good version.
    """

    label: str
    on_good_side: Callable[[Trial], Trial]


@value_class(kw_only=True)
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
        """Return what is in each file of a folder when it holds ``content``."""
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
        sizes: how large the best was, and when.
        adapts: the limit of time follows what the accepted payloads take.
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
        self.others = OtherFailures(original=None)
        self.sizes = [Size(seconds=0.0, bytes=payload.size_of(payload.data))]
        self._bench = bench
        self._trial = trial
        self._position = position
        self._oracle = oracle
        self.adapts = False
        self._came_warm: set[str] = set()
        self._last_bad: Outcome | None = None
        self._took: list[float] = []
        self._started = time.monotonic()
        self._pass = ""
        self._by_pass: dict[str, Turns] = {}
        self._heard: Reduced | None = None

    @property
    def seconds(self) -> float:
        """How long the search has taken until now, with all that is run to prove its result."""
        return time.monotonic() - self._started

    @property
    def passes(self) -> tuple[PassStatistics, ...]:
        """What came of each pass until now, whether or not the search has come to its end."""
        return tuple(
            PassStatistics(
                name=name, candidates=turns.candidates, successes=turns.successes,
                saved_bytes=turns.saved_bytes,
            )
            for name, turns in self._by_pass.items()
        )  # fmt: skip

    def heard(self, ran: Tested[Reduced]) -> None:
        """Count a candidate that was judged; more runs of it count once."""
        if ran.candidate is not self._heard:
            self._heard = ran.candidate
            self._by_pass.setdefault(ran.candidate.by_pass, Turns()).candidates += 1

    def resume_from(self, best: bytes | None) -> None:
        """Go on from what an earlier search found; None: it found nothing."""
        if best is None:
            self._bench.emit(
                Notice(
                    text=f"nothing to resume: no earlier shrink of `{self.payload.shown}` with"
                    " this command, code and files made progress; it starts from the file"
                )
            )
            return
        before, now = map(self.payload.size_of, (self.payload.data, best))
        sizes = f"{shown_bytes(before)} → {shown_bytes(now)}"
        self._bench.emit(Notice(text=f"resumes from the best result of an earlier shrink: {sizes}"))
        self.found_bad(Reduced(best, "an earlier shrink"))
        self._came_warm.add(self.accepted[-1])  # it is run from the start before it is told

    def ask(self, candidate: Reduced) -> Question:
        """Return what must be run to judge a candidate."""
        if candidate.by_pass != self._pass:
            self._pass = candidate.by_pass
            self._bench.emit(
                PassStarted(name=self._pass, best_bytes=self.payload.size_of(self.best))
            )
        return self.question(self._bench.payload_store.hold(candidate.data), len(candidate.data))

    def question(self, digest: str, size_bytes: int, remark: str = "") -> Question:
        """Return what must be run to judge the payload of a digest."""
        trial = self._trial.with_payload(digest, self._position)
        return Question(
            trial=trial,
            guard=None if self.guard is None else self.guard.on_good_side(trial),
            label=f"{size_bytes} bytes{remark}",
        )

    def question_of(self, data: bytes, remark: str = "") -> Question:
        """Return what must be run to judge a payload."""
        return self.question(self._bench.payload_store.hold(data), len(data), remark)

    def note(self, ran: Tested[object]) -> None:
        """Keep what slipped to another failure and what came warm."""
        if ran.skipped is not None:
            return
        if ran.outcome.resumed_from:
            self._came_warm.add(ran.trial.payloads[self._position].digest)
        if ran.verdict is Verdict.BAD:
            self._last_bad = ran.outcome
        if ran.verdict is Verdict.SKIP:
            self._keep_other(ran)

    @property
    def is_proven(self) -> bool:
        """Whether the best payload was seen to fail in runs from the start."""
        return not self.accepted or self.accepted[-1] not in self._came_warm

    def content_of(self, digest: str) -> bytes:
        """Return an accepted payload."""
        data = self._bench.payload_store.payload_of(digest)
        return data if isinstance(data, bytes) else data.read_bytes()

    def go_back_to(self, steps: int) -> None:
        """Take back all that was accepted but the first ``steps``; what is left is proven."""
        del self.accepted[steps:]
        self.best = self.content_of(self.accepted[-1]) if steps else self.payload.data
        self._came_warm.clear()
        self.write_best()
        self._note_size()

    def write_best(self) -> None:
        """Put the best payload so far on disk, whole; its folder is made again where it has gone.

        Raises:
            DiskFull, CannotWrite: if that can't be; what stood there is as it was.
        """
        result, cleanup_journal = self.payload.result, self._bench.cleanup_journal
        try:
            result.parent.mkdir(parents=True, exist_ok=True)
            if self.payload.is_folder:
                replace_folder(result, self.best, cleanup_journal)
            else:
                cleanup_journal.write_file(result, self.best, mode=_mode_of(self.payload.path))
        except (OSError, DiskFull, CannotWrite) as error:
            raise result_error(error, result) from error

    def _keep_other(self, ran: Tested[object]) -> None:
        """Note what else an outcome shows, and keep its payload so that it can be run again."""
        outcome, failure = ran.outcome, ran.outcome.failure
        oracle = self._oracle.inner if isinstance(self._oracle, NoCostlier) else self._oracle
        data = self.content_of(ran.trial.payloads[self._position].digest)
        if isinstance(oracle, Interesting) and oracle.is_also(outcome):
            assert outcome.exit_code is not None
            is_kept = self.others.exited(outcome.exit_code, data, ran.number)
        elif failure is None or not isinstance(oracle, SameFailure):
            return
        elif oracle.judge(outcome) is Verdict.BAD:
            return  # it fails on the good side too, or costs more
        else:
            is_kept = self.others.met(failure, data, ran.number)
        if is_kept:
            self._bench.payload_store.keep(data)

    def found_bad(self, candidate: Reduced) -> None:
        """Put a smaller payload on disk; what is only on the way to one is no result."""
        turns = self._by_pass.get(candidate.by_pass, Turns())
        turns.successes += 1
        if candidate.is_step:
            return
        before = self.payload.size_of(self.best)
        turns.saved_bytes += before - self.payload.size_of(candidate.data)
        self.best = candidate.data
        self.accepted.append(self._bench.payload_store.keep(candidate.data))
        self.write_best()
        self._note_size()
        self._learn()
        self._bench.emit(
            PayloadReduced(
                before_bytes=before,
                after_bytes=self.payload.size_of(candidate.data),
                by_pass=candidate.by_pass,
                content=candidate.data,
            )
        )

    def put_prettily(self, data: bytes) -> None:
        """Put the same on disk as it reads best, which may be longer."""
        self.best = data
        self.accepted.append(self._bench.payload_store.keep(data))
        self.write_best()

    def _note_size(self) -> None:
        self.sizes.append(Size(seconds=self.seconds, bytes=self.payload.size_of(self.best)))

    def _learn(self) -> None:
        """Lower the limits to what the best payload needs: of time, and of what must not rise."""
        outcome, self._last_bad = self._last_bad, None
        if outcome is None:
            return
        if isinstance(self._oracle, NoCostlier):
            self._oracle.lower_to(outcome)
        limit = self._trial.limits.wall_seconds
        if not self.adapts or limit is None or outcome.resumed_from:
            return
        self._took = [*self._took, outcome.wall_seconds][-_LAST_FEW:]
        seconds = patience(median(self._took))
        if seconds * _FALLS_BY <= limit:
            limits = replace(self._trial.limits, wall_seconds=seconds)
            self._trial = replace(self._trial, limits=limits)


def _mode_of(path: Path) -> int:
    """Return who may do what with a payload: the result is run as it is, and is as private."""
    try:
        mode = path.stat().st_mode
    except OSError:  # the program has removed it
        return _ANYBODY
    return mode & 0o777 if stat.S_ISREG(mode) else _ANYBODY
