"""The results of an investigation, as values that the report renders."""

from collections.abc import Mapping
from dataclasses import field

from whet.bisection.odds import shown_chance
from whet.core.budget import StopReason
from whet.core.difference import Change
from whet.core.failure import Failure
from whet.core.observations.clue import Clue
from whet.core.observations.resources import ResourceUse
from whet.core.text.json_record import MILLISECONDS, Record, sparse
from whet.core.text.quantity import listed, shown_count
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.reduction.statistics import PassStatistics
from whet.search.flaky.rates import Interval, chance_of_no_difference
from whet.workbench.trials.changed_part import SmallestPart

_CHANCE = 0.05
"""How likely a difference between two rates may be by chance, where it is told."""


@value_class(kw_only=True)
class Step(Record):
    """One step of the investigation, in the words shown while it ran.

    Attributes:
        title: what was done, such as ``Reproduce``.
        reason: why it was done.
        result: what came of it, in a sentence.
        trials: how many trials it took.
        numbers: the notebook's numbers of them.
        wall_seconds: how long it took.
        is_cut: the time was up before it came to its end.
    """

    title: str
    reason: str
    result: str
    trials: int
    numbers: tuple[int, ...] = ()
    wall_seconds: float = field(metadata=MILLISECONDS)
    is_cut: bool = sparse(default=False)


@value_class(kw_only=True)
class TriedTrial:
    """A trial that the report names.

    Attributes:
        number: the notebook's number.
        step: the title of the step that it belongs to; empty: it was run before.
        verdict: what it was; None: it was not judged.
        did: what it did, such as ``KeyError: 'price' at load.py:12``.
    """

    number: int
    step: str
    verdict: Verdict | None
    did: str


@value_class(kw_only=True)
class PastedLine:
    """A line for a shell. Only `whet.workbench.files.pasted_line` makes one, and runs it first.

    Attributes:
        text: the line.
        trial: the trial that ran it; None: none did.
        complaint: why it proves nothing; empty: it did what it is printed for.
    """

    text: str
    trial: int | None = None
    complaint: str = ""

    def facts(self, name: str = "line") -> dict[str, object]:
        """Return it as JSON data."""
        return {name: self.text, f"{name}_trial": self.trial, f"{name}_complaint": self.complaint}


@value_class(kw_only=True)
class Reproduction:
    """How often the command failed the same way when it was run again unchanged.

    Attributes:
        attempts: how often it was run.
        same_failures: how often it failed in the way of the first failure.
        other_failures: one line for each other way in which it failed.
        wall_seconds: median of the runs.
        peak_rss_bytes: median of the runs.
        exit_code: exit code of the first failure, as a shell shows it.
        trials: the notebook's numbers of the runs.
    """

    attempts: int
    same_failures: int
    other_failures: tuple[str, ...]
    wall_seconds: float
    peak_rss_bytes: int
    exit_code: int
    trials: tuple[int, ...]

    @property
    def is_deterministic(self) -> bool:
        """Whether it failed the same way each time."""
        return self.attempts == self.same_failures

    @property
    def rate(self) -> float:
        """Share of the runs that failed the same way."""
        return self.same_failures / self.attempts

    def is_rarer_in(self, failures: int, runs: int) -> bool:
        """Whether so few failures in as many runs under other conditions are hardly chance."""
        if self.is_deterministic:
            return failures < runs
        before = (self.same_failures, self.attempts)
        return chance_of_no_difference(before, (failures, runs)) < _CHANCE


@value_class(kw_only=True)
class TestedVersion:
    """A revision or a release that was tested.

    Attributes:
        label: short commit or version.
        verdict: what it was.
        trial: the notebook's number; None if it could not be run or was known already.
        description: subject and date of the commit, date of the release; may be empty.
        remark: what it did, such as ``KeyError: 'price'``, or why it was skipped.
    """

    __test__ = False  # pytest: this is no test class

    label: str
    verdict: Verdict
    trial: int | None
    description: str = ""
    remark: str = ""


@value_class(kw_only=True)
class Suspect:
    """A version that may have brought the failure.

    Attributes:
        label: short commit or version.
        description: subject and date of the commit, date of the release; may be empty.
        probability: that it did.
    """

    label: str
    description: str
    probability: float


@value_class(kw_only=True)
class NoisySearch:
    """How sure a search is where a bad version doesn't fail each time.

    Attributes:
        plan: what was said before it began.
        confidence: how likely the answer had to be.
        probability: of the likeliest version to be the first bad one.
        runners_up: the next likely ones.
        fails_if_bad: how often a version after the change ends in the new way, as estimated.
        fails_if_good: how often one before it does.
        if_bad_between: what the runs say of the first rate, in 95 of 100 searches: few say little.
        if_good_between: what they say of the second one.
        is_edge_tested: the first bad version has failed, and those directly before it were run.
        runs: how many runs were weighed, those of the ends included.
    """

    plan: str
    confidence: float
    probability: float
    runners_up: tuple[Suspect, ...]
    fails_if_bad: float
    fails_if_good: float
    if_bad_between: Interval
    if_good_between: Interval
    is_edge_tested: bool
    runs: int


@value_class(kw_only=True)
class LookedAgain:
    """How an answer that took each run at its word was looked at again.

    Attributes:
        runs: how many versions were run once more; each did what it did before.
        doubts: failure rates, each with the chance that the answer is wrong, were it even odds
            that the failure comes at this rate and not each time.
    """

    runs: int
    doubts: tuple[tuple[float, float], ...]

    @property
    def in_words(self) -> str:
        """It as a sentence."""
        runs = shown_count(self.runs, "run")
        again = f"rechecked in {runs}, the same each time: " if self.runs else ""
        worst = max((doubt for _, doubt in self.doubts), default=0.0)
        return f"{again}the chance that the search names the wrong version is about {shown_chance(worst)}, assuming that a flaky failure is as likely as a steady one"


@value_class(kw_only=True)
class VersionPlace:
    """Where a version stands among all that were searched.

    Attributes:
        label: short commit or version.
        position: how many are before it.
        told: ``good``, ``bad`` or ``skip`` if it was tested, as the search was told; else empty.
        is_suspect: it may be the first bad one.
    """

    label: str
    position: int
    told: str
    is_suspect: bool


@value_class(kw_only=True)
class VersionSearch:
    """The first bad revision or release.

    Attributes:
        kind: ``commit`` or ``release``.
        subject: the repository's folder or the package's name.
        old_term: word for the versions before the change, ``good`` unless told otherwise.
        new_term: word for those from it on, ``bad`` unless told otherwise.
        good: the last good version known; empty if there is none.
        bad: the bad end that the search started from.
        first_bad: the version that brought the failure; None if it was not found.
        first_bad_description: its date, author, subject, files; lines of text.
        suspects: versions of which one is the first bad one, where skips leave more than one.
        between: how many versions lay between the ends.
        tested: what was tested, in the order of testing; both ends first.
        stopped: why the search ended.
        picture: what is left, as lines of plain text.
        trials: how many trials it took.
        wall_seconds: how long it took.
        hint: what would let the search go further; may be empty.
        noisy: how sure it is, where the failure comes only sometimes; None: it always comes.
        looked_again: how sure it is that it always comes; None: nobody looked.
        diff: what the first bad version changed, the likely parts of it; may be empty.
        again: a line for a shell that shows the failure on the first bad version; None: there is none.
        log: what `git bisect replay` reads; empty for other things than commits.
        places: the versions that were tested, and those that may be the first bad one.
        place_count: how many versions were searched, both ends included.
        concluded: how many versions were judged without a run: each is equal to a tested one in
            all that its run looked at.
        likeness: in which ways the failure of the first bad version is like that of the bad end,
            one after the other; none: they are the same.
        part: the smallest part of the first bad version that brings the failure, if asked for.
    """

    kind: str
    subject: str
    old_term: str = "good"
    new_term: str = "bad"
    good: str
    bad: str
    first_bad: str | None
    first_bad_description: str = ""
    suspects: tuple[str, ...] = ()
    between: int = 0
    tested: tuple[TestedVersion, ...] = ()
    stopped: StopReason = StopReason.FOUND
    picture: str = ""
    trials: int = 0
    wall_seconds: float = 0.0
    hint: str = ""
    noisy: NoisySearch | None = None
    looked_again: LookedAgain | None = None
    diff: str = ""
    again: PastedLine | None = None
    log: str = ""
    places: tuple[VersionPlace, ...] = ()
    place_count: int = 0
    part: SmallestPart | None = None
    concluded: int = 0
    likeness: tuple[str, ...] = ()

    @property
    def facts(self) -> Mapping[str, object]:
        """What the notebook keeps of it."""
        return {"first_bad": self.first_bad, "suspects": list(self.suspects)}


@value_class(kw_only=True)
class AlsoFound:
    """Another failure that a smaller payload showed; kept beside the result.

    Attributes:
        summary: one line as the program said it.
        place: where, such as ``parse.py:12``; may be empty.
        payload: the smallest payload that showed it.
        trial: the notebook's number of the run; None if it was answered by an earlier one.
    """

    summary: str
    place: str
    payload: bytes
    trial: int | None = None


@value_class(kw_only=True)
class Size:
    """How large the best payload was at a moment.

    Attributes:
        seconds: since the search began.
        bytes: its size.
    """

    seconds: float
    bytes: int


@value_class(kw_only=True)
class ShrunkPayload:
    """A payload made smaller.

    Attributes:
        original: path of the file as the user named it; never touched.
        result: path of the smaller file.
        before_bytes: size of the original.
        content: the smaller payload.
        stopped: why the search ended.
        trials: how many candidates were run.
        cached: how many candidates were answered from earlier trials.
        wall_seconds: how long it took.
        guarded_by: version on which each accepted candidate passes; empty if there was none.
        also_found: other failures met on the way.
        warm: how many of the trials ran on from a frozen copy of the program.
        cold_because: why others did not; empty if there is nothing to say.
        files: of a folder, what each file in it holds; None: it is a file.
        changes: of a configuration: in what it still differs from its defaults.
        nearest_passing: the payload that passes and differs least; None if none is known.
        passes: what each pass gained.
        sizes: how large the best payload was, and when.
        rate_at_least: share of its runs in which the result fails at least; 0: it fails always.
        is_refused: a parser of its format took the payload, and refuses the result.
        lost_header: the header of the table is gone, or other words stand in it.
        good_file: a file that passes, of which the result is no part; empty if there was none.
        not_excluded: what the result may show instead of the bug that was searched; empty: the
            user says what counts, or each step passes on a good side.
        keeps: what each smaller file keeps of the cause that was known; empty: none was.
        minimal_over: such as ``rows``: each single one was left out in a trial, and none can go.
        is_laid_out: it was laid out to be read after that.
        needs_order: it was seen to fail with the hash seed of the search, and not without one.
    """

    original: str
    result: str
    before_bytes: int
    content: bytes
    stopped: StopReason
    trials: int
    cached: int
    wall_seconds: float
    guarded_by: str = ""
    also_found: tuple[AlsoFound, ...] = ()
    warm: int = 0
    cold_because: str = ""
    files: Mapping[str, bytes] | None = None
    changes: tuple[Change, ...] | None = None
    nearest_passing: bytes | None = None
    passes: tuple[PassStatistics, ...] = ()
    sizes: tuple[Size, ...] = ()
    rate_at_least: float = 0.0
    is_refused: bool = False
    lost_header: bool = False
    good_file: str = ""
    not_excluded: str = ""
    keeps: str = ""
    minimal_over: tuple[str, ...] = ()
    is_laid_out: bool = False
    needs_order: bool = False

    @property
    def ended(self) -> str:
        """Why the search ended, with what it has proved of the result."""
        if self.stopped is not StopReason.MINIMAL or not self.minimal_over:
            return str(self.stopped.value)
        laid_out = ", then formatted" if self.is_laid_out else ""
        return f"1-minimal over {listed(self.minimal_over)}{laid_out}"

    @property
    def after_bytes(self) -> int:
        """Size of the smaller payload."""
        if self.files is None:
            return len(self.content)
        return sum(map(len, self.files.values()))


@value_class(kw_only=True)
class Reproducer(Record):
    """What shows the failure to somebody else.

    Attributes:
        line: one line to paste into a shell.
        script: path of the self-contained script.
        is_verified: the line and the script were run again, elsewhere, and failed the same.
        remark: where it was run, or what came instead.
        wall_seconds: how long the line took there.
    """

    line: str
    script: str
    is_verified: bool
    remark: str
    wall_seconds: float = field(metadata=MILLISECONDS)


@value_class(kw_only=True)
class Excerpt(Record):
    """Lines of a source around one that matters, as the file held them at the end.

    Attributes:
        path: the file, as a clue or a frame names it.
        line: the line that matters.
        first: number of the first line kept.
        lines: the lines.
    """

    path: str
    line: int
    first: int
    lines: tuple[str, ...]


@value_class(kw_only=True)
class Investigation:
    """The answer to "why does this command fail?", with all that was tried.

    Attributes:
        number: its number in the notebook.
        trial: the command as the user gave it.
        command_line: the same, to be read.
        started_at: UTC, ISO 8601.
        wall_seconds: how long all of it took.
        oracle: what BAD meant, to complete "bad means ...".
        failure: what fails; None where a condition of the user's is BAD without a failure.
        last_lines: last lines that the failing command wrote to standard error.
        reproduction: how often it fails.
        history: the first bad version, or None.
        history_remark: why there is no history, or empty.
        payloads: what was made smaller.
        reproducer: what shows it to somebody else; None if it could not be made.
        steps: what was done, in order.
        conclusions: what follows, in sentences.
        interpreter: the Python that the command ran; may be empty.
        platform: where all this was run.
        packages: versions of the packages that matter, by name.
        folder: where the report lies.
        resources: what the failing command used while it ran; None: it was too short to be seen.
        seen: what the variables held where it failed, and where the processes of a hang were.
        clues: what points at the cause, the likeliest first.
        part: the smallest part of the first bad commit, or of what isn't committed, that
            brings the failure; None if none was found.
        excerpts: sources around the lines that the clues and the failure name.
        ended: why it was ended before all was done; None: it was not.
        trials: the trials that the report names.
        resume_line: the same command with more time; what is recorded isn't run again.
    """

    number: int
    trial: Trial
    command_line: str
    started_at: str
    wall_seconds: float
    oracle: str
    failure: Failure | None
    last_lines: str
    reproduction: Reproduction
    history: VersionSearch | None
    history_remark: str
    payloads: tuple[ShrunkPayload, ...]
    reproducer: Reproducer | None
    steps: tuple[Step, ...]
    conclusions: tuple[str, ...]
    interpreter: str
    platform: str
    packages: tuple[tuple[str, str], ...]
    folder: str
    resources: ResourceUse | None = None
    seen: str = ""
    clues: tuple[Clue, ...] = ()
    part: SmallestPart | None = None
    excerpts: tuple[Excerpt, ...] = ()
    ended: StopReason | None = None
    trials: tuple[TriedTrial, ...] = ()
    resume_line: str = ""

    @property
    def cut(self) -> tuple[str, ...]:
        """The titles of the steps for which there was too little time."""
        return tuple(dict.fromkeys(each.title for each in self.steps if each.is_cut))

    @property
    def stopped(self) -> StopReason:
        """Why it ended: of the step that did not come to its own end, if there is one."""
        if self.ended is not None:
            return self.ended
        if self.cut:
            return StopReason.OUT_OF_TIME
        searches = (self.history, *self.payloads)
        reasons = [search.stopped for search in searches if search is not None]
        cut_short = (reason for reason in reasons if not reason.is_complete)
        return next(cut_short, reasons[-1] if reasons else StopReason.DONE)
