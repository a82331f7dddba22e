"""The smallest part of a change that causes a failure, and the smallest whose undoing ends it."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whet.bisection.terms import Terms
from whet.core.budget import Budget, OutOfTimeError, StopReason
from whet.core.errors import CheckHasNoPlace, EndMisjudged, HostFailure, NothingBetween
from whet.core.event import Notice
from whet.core.executor import Executor
from whet.core.observations.file_accesses import FileAccesses
from whet.core.oracle import Oracle
from whet.core.text.shell_words import quoted
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.host.code.checkout import users_filters
from whet.host.code.tree_changes import PartialCommits, shown_changes
from whet.host.files.files import write_atomically
from whet.host.process.git import GitFailedError, Repository, git_environment
from whet.host.process.object_store import VARIABLE
from whet.host.process.tool import call_tool
from whet.search.answering import answering
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.subsets.decisive import Decided, few_that_decide
from whet.search.subsets.hierarchy import Numbers
from whet.workbench.parts.hunks import ChangeParts
from whet.workbench.trials.changed_part import SmallestPart, Undoing
from whet.workbench.trials.driver import HOLDS_NO_MORE, Driver, Question, stop_reason_of
from whet.workbench.trials.reproduce import with_patience
from whet.workbench.trials.session import Place, Session


@dataclass(slots=True, kw_only=True)
class PartSearch:
    """The search for the smallest part of the change between two commits.

    Attributes:
        session: runs its trials.
        repository: where both commits are.
        on: the trial that runs on a commit.
        base: full name of the commit that passes.
        changed: full name of the commit that fails; known to be so.
        labels: what both are called.
        oracle: what judges.
        reference_seconds: how long a run that fails takes; a part that takes far longer hangs.
            0: it isn't known.
        place: makes a checkout for each trial.
        terms: what the sides are called; with those of a fix, the part that fixes it is searched.
        budget: when to stop.
        jobs: trials at once.
        repeats: how often a part is run before it counts as not failing.
        accesses: what the run with all of the change looked at; None: it isn't known. Without a gap, parts
            that it didn't look at can't matter to it.
        keeps_patch: keep the part as a patch, with the line that applies it.
    """

    session: Session
    repository: Repository
    on: Callable[[str], Trial]
    base: str
    changed: str
    labels: tuple[str, str]
    oracle: Oracle
    place: Place
    reference_seconds: float = 0.0
    terms: Terms = field(default_factory=Terms)
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    repeats: int = 1
    accesses: FileAccesses | None = None
    keeps_patch: bool = True

    _best: Numbers = ()
    _verdicts: dict[Numbers, Verdict] = field(default_factory=dict[Numbers, Verdict])
    _is_contradicted: bool = False
    _senseless: int = 0

    def run(self) -> SmallestPart:
        """Search, and see the answer bring the failure.

        Raises:
            EndMisjudged: if the commit without the change fails too.
            NothingBetween: if both commits have the same files.
            HostFailure: if git can't make a part of the change.
        """
        try:
            commits = PartialCommits(self.repository, self.session.bench.cleanup_journal, self.base)
            parts = ChangeParts(self.repository, commits, (self.base, self.changed), self._accesses)
            result = self._smallest(parts)
        except GitFailedError as error:
            raise HostFailure(
                f"a part of the change between `{self.labels[0]}` and `{self.labels[1]}`"
                f" can't be created: {error}",
                hint="`git fsck` checks the repository",
            ) from error
        return result

    def _smallest(self, parts: ChangeParts) -> SmallestPart:
        if not parts.parts and parts.leaves_out:
            raise NothingBetween(
                f"`{self.labels[0]}` and `{self.labels[1]}` differ only in compiled Python files (`__pycache__`)",
                hint="the cause isn't in the repository: compare two runs with `whet diff`",
            )
        if not parts.parts:
            raise NothingBetween(
                f"`{self.labels[0]}` and `{self.labels[1]}` have the same files",
                hint="the difference isn't in the repository: compare two runs with `whet diff`",
            )
        result = self._search(parts, cached=self.repeats == 1)
        if self._is_contradicted and result.stopped is not StopReason.INTERRUPTED:
            self.session.emit(Notice(text=HOLDS_NO_MORE))
            result = self._search(parts, cached=False)
        return result

    def _search(self, parts: ChangeParts, *, cached: bool) -> SmallestPart:
        everything = range(len(parts.parts))
        visible = self._visible(parts)
        self._best, self._senseless = visible, 0
        self._is_contradicted = False
        self._verdicts.clear()
        with self.session.executor(jobs=self.jobs, cached=cached, place=self.place) as executor:
            driver = self._driver(executor)
            self._check_base(driver)
            deciding = few_that_decide(
                _needs_among(parts.needs, visible),
                lambda places: self._makes_sense(parts, _chosen(visible, places)),
            )
            search = answering(
                self._noted(_among(deciding, visible)), lambda kept: self._known(parts, kept)
            )
            end = driver.run(search, lambda kept: self._question(parts, kept))
            remembered = end.cached
        reason = stop_reason_of(end, StopReason.MINIMAL)
        if self._best == visible and end.stopped is not None:
            self._best = tuple(everything)  # nothing less was run
        # All of it was run before; of less, what only the notebook knew is run once more.
        is_all = len(self._best) == len(everything)
        is_run = not parts.leaves_out if is_all else self._best != visible and not remembered
        is_verified = is_run or self._judged(parts, self._best, Verdict.BAD)
        self.session.stopped(reason, end.trials, end.wall_seconds)
        undoing = self._undoing(parts, end.result, remembered=bool(remembered))
        rest = tuple(each for each in visible if each not in self._best)
        commit = parts.commit_of(self._best)
        diff = shown_changes(self.repository, self.base, commit)
        return SmallestPart(
            base=self.labels[0],
            changed=self.labels[1],
            commit=commit,
            diff=diff.decode("utf-8", "replace"),
            apply=self._line(diff, commit) if self.keeps_patch else "",
            places=parts.places(self._best),
            before=parts.hunks,
            after=parts.hunks_of(self._best),
            edits_before=len(everything),
            edits_after=len(self._best),
            bad_means=self.oracle.description,
            stopped=reason,
            trials=end.trials - remembered,
            remembered=remembered,
            senseless=self._senseless,
            wall_seconds=end.wall_seconds,
            is_verified=is_verified,
            undoing=undoing,
            rest_fails=self._verdicts.get(rest) is Verdict.BAD,
        )

    def _visible(self, parts: ChangeParts) -> Numbers:
        """Return the parts that the run with all of them could see."""
        everything = tuple(range(len(parts.parts)))
        accesses = self._accesses
        return everything if accesses is None else parts.visible_to(accesses) or everything

    @property
    def _accesses(self) -> FileAccesses | None:
        """What the run with all of the change looked at, if nothing is missing in it."""
        return None if self.accesses is None or self.accesses.gap else self.accesses

    def _noted(self, search: Search[Numbers, Decided]) -> Search[Numbers, Decided]:
        """Keep what the search has seen: a budget may end it."""
        try:
            wanted = next(search)
            while True:
                verdicts = yield wanted
                for kept, verdict in zip(wanted, verdicts, strict=False):
                    self._verdicts[kept] = verdict
                    if verdict is Verdict.BAD and len(kept) < len(self._best):
                        self._best = kept
                wanted = search.send(verdicts)
        except StopIteration as end:
            result: Decided = end.value
            return result

    def _undoing(
        self, parts: ChangeParts, result: Decided | None, *, remembered: bool
    ) -> Undoing | None:
        """Return what to undo so that the rest passes, if that is no more than what fails."""
        passing = self._passing(parts, result)
        if self.terms.is_fix or not passing:
            return None
        undone = [each for each in self._visible(parts) if each not in passing]
        # What decides between the longest beginning that passes and the shortest that fails.
        needed = frozenset(self._best)
        deciding = [each for each in undone if each in needed] or undone
        if len(deciding) > len(self._best) - (result is None):
            return None
        if remembered and not self._judged(parts, passing, Verdict.GOOD):
            return None
        # What the run can't see stays as it is in the change.
        rest = [each for each in range(len(parts.parts)) if each not in undone]
        diff = shown_changes(self.repository, self.changed, parts.commit_of(rest))
        old, new = parts.texts(deciding)
        besides = [each for each in undone if each not in deciding]
        return Undoing(
            places=parts.places(deciding),
            besides=parts.places(besides),
            old=old,
            new=new,
            diff=diff.decode("utf-8", "replace"),
        )

    def _passing(self, parts: ChangeParts, result: Decided | None) -> Numbers:
        """Return the most parts that are known to pass; none: no other choice is."""
        if result is not None:
            # What the search came by on the way tells less than what it ended with.
            undone = frozenset(result.undone)
            rest = (each for each in self._visible(parts) if each not in undone)
            return tuple(rest) if undone else ()
        passing = (kept for kept, verdict in self._verdicts.items() if verdict is Verdict.GOOD)
        return max(passing, key=len, default=())

    def _line(self, diff: bytes, commit: str) -> str:
        """Keep a patch, and return the line that makes a tree with it alone; empty: it doesn't work here.

        It is run first, without the programs that the repository may name. The user's git knows no
        code of a trial, which whet keeps itself.
        """
        patch = self.session.bench.project.state / "parts" / f"{commit[:10]}.diff"
        patch.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(patch, diff, mode=0o600)
        without, _ = users_filters(self.repository)
        environment = {**git_environment(), **without}
        environment.pop(VARIABLE, None)
        journal = self.session.bench.cleanup_journal
        folder = journal.temporary_folder() / commit[:10]
        journal.adopt("worktree", str(folder), repository=self.repository.worktrees_of)
        try:
            done = call_tool(["sh", "-c", self._line_to(folder, patch)], environment=environment)
        finally:
            journal.discard(folder)
        place = Path(tempfile.gettempdir(), f"part-{commit[:10]}")
        return self._line_to(place, patch) if done.exit_code == 0 else ""

    def _line_to(self, place: Path, patch: Path) -> str:
        git, there = f"git -C {quoted(str(self.repository.top))}", quoted(str(place))
        add = f"{git} worktree add --detach {there} {self.base[:10]}"
        return f"{add} && git -C {there} apply {quoted(str(patch))}"

    def _question(self, parts: ChangeParts, kept: Numbers) -> Question:
        trial = self.on(parts.commit_of(kept))
        if self.reference_seconds:
            trial = with_patience(trial, self.reference_seconds)
        return Question(trial=trial, label=parts.label(kept))

    def _makes_sense(self, parts: ChangeParts, kept: Numbers) -> bool:
        """Whether a choice of parts can be run."""
        return parts.verdict_without_a_run(kept) is None

    def _known(self, parts: ChangeParts, kept: Numbers) -> Verdict | None:
        if not kept:
            return Verdict.GOOD  # it was checked
        if kept in self._verdicts:
            return self._verdicts[kept]
        verdict = parts.verdict_without_a_run(kept)
        if verdict is None:
            try:
                self.on(parts.commit_of(kept))
            except CheckHasNoPlace:
                verdict = Verdict.SKIP
        self._senseless += verdict is not None
        return verdict

    def _check_base(self, driver: Driver) -> None:
        """Refuse a base that fails like all of the change."""
        question = Question(
            trial=self.on(self.base),
            label=f"without the change, {self.labels[0]}",
        )
        verdict = self.terms.for_search(driver.ask(question))
        if verdict is not Verdict.GOOD:
            is_older = verdict is Verdict.BAD
            word = "fails the same way" if is_older else "fails in another way"
            older = f"the cause is older: `whet bisect {self.base[:10]} -- COMMAND` searches further back"
            raise EndMisjudged(
                f"`{self.labels[0]}`, without the change, {word}",
                hint=older if is_older else "`whet log --all` shows how it ended",
            )

    def _driver(self, executor: Executor) -> Driver:
        return Driver(
            executor=executor,
            oracle=self.oracle,
            tell=self.session.tell,
            budget=self.budget,
            jobs=self.jobs,
            repeats=self.repeats,
            told=self.terms.for_search,
        )

    def _judged(self, parts: ChangeParts, kept: Numbers, wanted: Verdict) -> bool:
        """Run a choice of parts once more, and return whether it comes to the same; if time is up, it isn't known."""
        try:
            with self.session.executor(place=self.place) as executor:
                verdict = self._driver(executor).ask(self._question(parts, kept))
        except OutOfTimeError:
            return False
        is_same = self.terms.for_search(verdict) is wanted
        self._is_contradicted = self._is_contradicted or not is_same
        return is_same


def _needs_among(needs: Sequence[frozenset[int]], chosen: Numbers) -> list[frozenset[int]]:
    """Return what the chosen elements need of each other, numbered by their places."""
    place = {each: at for at, each in enumerate(chosen)}
    return [frozenset(place[other] for other in needs[each] if other in place) for each in chosen]


def _among(search: Search[Numbers, Decided], chosen: Numbers) -> Search[Numbers, Decided]:
    """Ask a search over places for the elements there."""
    try:
        wanted = next(search)
        while True:
            wanted = search.send((yield LazyBatch(_chosen(chosen, places) for places in wanted)))
    except StopIteration as end:
        result: Decided = end.value
        return Decided(brings=_chosen(chosen, result.brings), undone=_chosen(chosen, result.undone))


def _chosen(numbers: Numbers, places: Numbers) -> Numbers:
    return tuple(numbers[place] for place in places)
