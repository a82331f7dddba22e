"""The answer of an investigation, said first and alike by each of its outputs."""

from collections.abc import Iterable

from whet.core.observations.clue import Clue, Placing, Sureness, TrailStep
from whet.core.text.json_record import Record
from whet.core.text.quantity import listed, shown_count
from whet.core.value_class import value_class
from whet.workbench.trials.investigation import Excerpt, Investigation

NOT_FOUND = "Cause not found"
_FIRM = (Sureness.SHOWN, Sureness.SEEN)
_MOST_NUMBERS = 6


@value_class(kw_only=True)
class Evidence(Record):
    """A sentence, and what it rests on.

    Attributes:
        says: the sentence.
        trials: the notebook's numbers of trials.
        trail: how it came about, a place in each line.
    """

    says: str
    trials: tuple[int, ...] = ()
    trail: tuple[TrailStep, ...] = ()


@value_class(kw_only=True)
class Answer:
    """What the investigation answers.

    Attributes:
        cause: the first clue that is shown, else the first that is seen; one with a heading of its
            own only where there is no other; None: not found.
        evidence: what speaks for the cause.
        ruled_out: without a cause, what the trials have shown not to be needed.
        possible: clues that nothing ties to the failure yet.
        source: the source around the line of the cause, else around the place of the failure.
        next_step: what to do next.
        folder: where the program was started.
        lead: without a cause, the record of an input file that the failure leads to; empty: none.
        left: for what there was too little time, in a sentence; empty: there was enough.
        resume_line: the command that continues with that.
    """

    cause: Clue | None
    evidence: tuple[Evidence, ...]
    ruled_out: tuple[Evidence, ...]
    possible: tuple[Evidence, ...]
    source: Excerpt | None
    next_step: str
    folder: str
    lead: str = ""
    left: str = ""
    resume_line: str = ""

    @property
    def title(self) -> str:
        """The cause, or that none was found, and the record that the value came from."""
        if self.cause is not None:
            return self.cause.says
        return f"{NOT_FOUND}. {self.lead}" if self.lead else NOT_FOUND

    @property
    def heading(self) -> str:
        """What the title is: the cause, or what else is known."""
        if self.cause is None:
            return NOT_FOUND
        return self.cause.heading or "cause"

    @property
    def sure(self) -> str:
        """How sure it is, in words."""
        if self.cause is not None:
            of_cause = "; it isn't shown to be the cause" if self.cause.heading else ""
            return f"{self.cause.sureness.value}{of_cause}"
        return "no evidence names the cause" if not self.possible else Sureness.POSSIBLE.value

    @property
    def source_lines(self) -> tuple[tuple[int, str, bool], ...]:
        """Each line of the source with its number, and whether it is the one."""
        if self.source is None:
            return ()
        numbered = enumerate(self.source.lines, self.source.first)
        return tuple((number, text, number == self.source.line) for number, text in numbered)

    @property
    def source_title(self) -> str:
        """What the source shows: the place of the cause, or that of the failure."""
        if self.source is None:
            return ""
        place = Placing(self.folder)(self.source.path, self.source.line)
        if self.cause is not None and (self.cause.path, self.cause.line) == (
            self.source.path,
            self.source.line,
        ):
            return place
        return f"it fails at {place}"

    @property
    def source_text(self) -> str:
        """The source as plain text, the line marked."""
        return "\n".join(
            f"{'>' if is_it else ' '} {number:>5} | {text}".rstrip()
            for number, text, is_it in self.source_lines
        )

    def to_json(self) -> dict[str, object]:
        """Return this answer as JSON data."""
        return {
            "cause": None if self.cause is None or self.cause.heading else self.cause.to_json(),
            "heading": self.heading,
            "says": self.title,
            "sure": self.sure,
            "evidence": [each.to_json() for each in self.evidence],
            "ruled_out": [each.to_json() for each in self.ruled_out],
            "possible": [each.to_json() for each in self.possible],
            "source": None if self.source is None else self.source.to_json(),
            "next_step": self.next_step,
            "left": self.left,
            "resume_line": self.resume_line,
        }


def answer_of(investigation: Investigation) -> Answer:
    """Return the answer of an investigation."""
    cause = cause_of(investigation.clues)
    others = [clue for clue in investigation.clues if clue is not cause]
    firm = [clue for clue in others if clue.sureness in _FIRM]
    possible = [clue for clue in others if clue.sureness not in _FIRM]
    evidence: list[Evidence] = []
    if cause is not None:
        evidence = [Evidence(says=cause.why, trials=cause.trials, trail=cause.trail)]
        evidence += [_evidence(clue) for clue in firm]
    return Answer(
        cause=cause,
        evidence=tuple(evidence),
        ruled_out=() if cause is not None else tuple(_ruled_out(investigation)),
        possible=tuple(map(_evidence, possible)),
        source=_source(investigation, cause),
        next_step=_next_step(investigation, cause, possible),
        folder=investigation.trial.cwd,
        lead="" if cause is not None else _lead(possible)[0],
        left=f"too little time for {listed(investigation.cut)} (a step has only its share of all)"
        if investigation.cut
        else "",
        resume_line=investigation.resume_line if investigation.cut else "",
    )


def _lead(possible: Iterable[Clue]) -> tuple[str, Clue | None]:
    """Return what is said of the record that the failure leads to, and the clue; empty: code is likelier."""
    found: tuple[str, Clue | None] = ("", None)
    for clue in possible:
        if clue.record:
            spot = None if found[1] is None else (found[1].path, found[1].line)
            # A run without another record passed: that says more than where a value was read.
            is_other = spot is not None and spot not in clue.records
            return found if is_other else (f"The value that fails comes from {clue.record}", clue)
        if not clue.path or clue.path.endswith(".py"):
            break
        found = found if found[0] else (f"{clue.says[0].upper()}{clue.says[1:]}", clue)
    return found


def _evidence(clue: Clue) -> Evidence:
    return Evidence(says=clue.says, trials=clue.trials, trail=clue.trail)


def cause_of(clues: Iterable[Clue]) -> Clue | None:
    """Return the first clue that is shown, else the first that is seen; None if neither is.

    One with a heading of its own, which isn't the cause, comes after all others.
    """
    clues_left = [clue for clue in clues if clue.sureness in _FIRM]
    by_rank = sorted(clues_left, key=lambda clue: (bool(clue.heading), _FIRM.index(clue.sureness)))
    return by_rank[0] if by_rank else None


def shown_trials(trials: tuple[int, ...]) -> str:
    """Return the numbers of trials as they are shown, such as ``trials 3, 4``."""
    trials = tuple(sorted(set(trials)))
    if not trials:
        return ""
    if len(trials) == 1:
        return f"trial {trials[0]}"
    if len(trials) <= _MOST_NUMBERS:
        return f"trials {', '.join(map(str, trials))}"
    return f"{len(trials)} trials, {min(trials)} to {max(trials)}"


def _ruled_out(investigation: Investigation) -> list[Evidence]:
    evidence: list[Evidence] = []
    reproduction = investigation.reproduction
    if reproduction.is_deterministic and reproduction.attempts > 1:
        runs = shown_count(reproduction.attempts, "run")
        evidence.append(
            Evidence(
                says=f"that it fails only rarely: it failed the same way in each of {runs}",
                trials=reproduction.trials,
            )
        )
    return evidence


def _source(investigation: Investigation, cause: Clue | None) -> Excerpt | None:
    """Return the source of the cause; where it names no line that can be read, of the failure."""
    failure = investigation.failure
    places = [] if cause is None else [(cause.path, cause.line)]
    if failure is not None and failure.place is not None:
        places.append((failure.place.path, failure.place.line))
    by_place = {(each.path, each.line): each for each in investigation.excerpts}
    return next((by_place[place] for place in places if place in by_place), None)


def _next_step(investigation: Investigation, cause: Clue | None, possible: list[Clue]) -> str:
    if cause is not None and cause.next_step:
        return cause.next_step
    telling = (each for each in possible if each.path or each.next_step)
    pointed = cause or _lead(possible)[1] or next(telling, None)
    if pointed is not None and pointed.next_step:
        return pointed.next_step
    if pointed is not None and pointed.path:
        return f"Check {Placing(investigation.trial.cwd)(pointed.path, pointed.line)}."
    if investigation.reproducer is not None and investigation.reproducer.is_verified:
        shows = f"Run `{investigation.reproducer.script}`, which shows the failure"
        reproduction = investigation.reproduction
        if not reproduction.is_deterministic:
            runs = shown_count(reproduction.attempts, "run")
            shows = f"{shows} in about {reproduction.same_failures} of {runs}"
        return f"{shows}, and change it."
    return "Open pdb where it fails: `whet post-mortem`."
