"""The origin of a failure's bad value, from one more run with all steps recorded."""

import json
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from whet.core.failure import Failure, FailureKind, Frame
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.observations.evidence import FAILURES, STEPS
from whet.core.outcome import Outcome
from whet.core.output import digest_of
from whet.core.text.record import MalformedRecordError
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.clues.inner_errors import inner_errors
from whet.evidence.hangs.desertion import Desertion
from whet.evidence.hangs.near_keys import NearKeys
from whet.evidence.hangs.unended import Unended
from whet.evidence.provenance.failure.way import Way
from whet.evidence.provenance.run.recording import Recording, read_recording
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.sentences.groupings import GroupingClues
from whet.evidence.provenance.sentences.origin import Origin
from whet.evidence.provenance.trace.walk import Walk
from whet.evidence.signature.room_met import is_about_gpus
from whet.evidence.variables.kept_failure import KeptError
from whet.host.trial.agent_tasks import STEPS_ASKED, AgentTasks
from whet.workbench.inspect.post_mortem import Dead, dead_in
from whet.workbench.trials.reproduce import Baseline

_PACKAGES_FROM = 3
_FOLDER = rb"""(?<![\w./-])(?:/[^/\s"']+)+/whet-[a-z2-9]{8}"""
_END = rb"(?![\w/-]|\.\w)"
"""A folder of a trial's own, and that a path ends there."""
_NAME = re.compile(r"[^\W\d]\w{3,}")
_INSTALLED = ("/site-packages/", "/dist-packages/")

Run = Callable[[AgentTasks], tuple[int, Outcome]]
_Position = tuple[int, int, int, int]


@value_class(kw_only=True)
class Origins:
    """Where what failed came from.

    Attributes:
        clues: what is known of it.
        is_telling: they say what is wrong with a value, and not only where it came from.
        way: the lines that the bad value came by; None: it was not followed.
        files: the data files that the program has read.
        fallbacks: where errors came up whose handlers gave what the bad value was made of.
    """

    clues: tuple[Clue, ...] = ()
    is_telling: bool = False
    way: Way | None = None
    files: tuple[str, ...] = ()
    fallbacks: frozenset[tuple[str, int]] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The names, also those in texts, that the value came by."""
        steps = (step for each in self.clues for step in each.trail)
        words = (each.says for each in self.clues), (step.in_words for step in steps)
        return frozenset(_NAME.findall(" ".join(chain(*words))))

    @property
    def is_firm(self) -> bool:
        """Whether they tell what is wrong with a value, and where it was made."""
        return self.is_telling and any(
            each.sureness is not Sureness.POSSIBLE for each in self.clues
        )


@value_class
class Recorded:
    """The failing run, written down.

    Attributes:
        number: the trial's.
        recording: its steps.
        position_of: where on a line a frame of the failure stood, if it is known.
        packages: the folders of the packages that were followed too.
        seconds: how long it took.
        remark: how it ran otherwise than asked, for the end of a sentence; empty: it didn't.
    """

    number: int
    recording: Recording
    position_of: Callable[[str, int], _Position | None]
    packages: tuple[str, ...]
    seconds: float
    remark: str = ""


def at_inner_error(dead: Dead) -> Dead:
    """Return a failure at the error that it stands for, where a run can be followed up to that."""
    inner = [each for each in inner_errors(dead.error) if not each.is_warning]
    error = next((each.error for each in inner if each.error is not None), None)
    return dead if error is None else replace(dead, error=error)


def recorded_failure(
    trial: Trial, baseline: Baseline, dead: Dead | None, run: Run
) -> Recorded | None:
    """Run the command once more, and return its steps; None: none were written.

    Args:
        trial: what fails.
        baseline: how it fails.
        dead: the failure with its frames; None: they were not kept.
        run: runs the command with other tasks; returns the trial's number and what it did.
    """
    wish = _wish(baseline.outcome, dead)
    if not wish:
        return None
    number, outcome = run(AgentTasks(keeps_locals=True, closer=STEPS_ASKED + "|".join(wish)))
    recording = recording_in(outcome, trial)
    is_cut = recording is not None and recording.standing is not None
    if recording is None or not (is_cut or baseline.oracle.judge(outcome) is Verdict.BAD):
        return None
    positions: dict[tuple[str, int], _Position] = {}
    for each in (*(() if dead is None else (dead,)), *dead_in(outcome.evidence)):
        for frame in each.error.frames:
            if frame.position is not None:
                positions[frame.frame.path, frame.frame.line] = frame.position
    packages = tuple(wish[_PACKAGES_FROM:])
    return Recorded(
        number, recording, lambda path, line: positions.get((path, line)), packages,
        outcome.wall_seconds,
    )  # fmt: skip


def recording_in(outcome: Outcome, trial: Trial | None = None) -> Recording | None:
    """Return the steps that a run has left; None: it has left none.

    Args:
        outcome: of the run.
        trial: what was run: where its files are named, they are the user's; None: their copies are.
    """
    for evidence in outcome.evidence:
        if evidence.kind == STEPS:
            with suppress(MalformedRecordError, ValueError):
                data = evidence.data
                return read_recording(data if trial is None else _with_users_files(data, trial))
    return None


def with_users_files(outcome: Outcome, trial: Trial) -> Outcome:
    """Return an outcome whose variables name the user's files where they name whet's copies of them.

    The copies are gone by now, and nobody knows their names.
    """
    evidence = tuple(
        replace(each, data=_with_users_files(each.data, trial)) if each.kind == FAILURES else each
        for each in outcome.evidence
    )
    return replace(outcome, evidence=evidence)


def _with_users_files(data: bytes, trial: Trial) -> bytes:
    for number, binding in enumerate(trial.payloads):
        own = Path(os.path.normpath(Path(trial.cwd, binding.text)))
        with suppress(OSError):
            if binding.folder or digest_of(own.read_bytes()) != binding.digest:
                continue
            place = "home" if binding.is_home else str(number)
            for spelt in (_in_ascii, _in_unicode):
                copy, name = spelt(f"/{place}/{binding.name}"), spelt(str(own))
                name = name.replace(b"\\", rb"\\")
                data = re.sub(_FOLDER + re.escape(copy) + _END, name, data)
    return data


def _in_ascii(text: str) -> bytes:
    return json.dumps(text)[1:-1].encode()


def _in_unicode(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")


def origins_of(recorded: Recorded, at: Placing) -> Origins:
    """Return where what failed came from.

    Args:
        recorded: the failing run.
        at: says where a line is.
    """
    origin = Origin(recorded.recording, Sources(), at, recorded.position_of)
    clues = tuple(
        replace(clue, trials=(recorded.number,), why=clue.why + recorded.remark)
        for clue in origin.clues()
    )
    return Origins(
        clues=clues,
        way=origin.way(),
        is_telling=origin.is_telling,
        files=tuple(origin.records.files),
        fallbacks=frozenset(origin.fallbacks),
    )


def unended_in(recorded: Recorded, stood: Iterable[Frame], at: Placing) -> list[Clue]:
    """Return what is known of a run that was recorded until its time was up: who left it, and its loop.

    Args:
        recorded: the run.
        stood: where one hung that nobody looked into.
        at: says where a line is.
    """
    sources = Sources()
    deserted = Desertion(recorded.recording, sources, at).clues()
    lines = {(each.path, each.line) for each in stood}
    twins = NearKeys(recorded.recording, sources, at).clues()
    crowds = GroupingClues(recorded.recording, sources, at, Walk(recorded.recording, sources))
    crowded = [
        clue
        for each in recorded.recording.standing or ()
        for clue in crowds.behind(each.call, each.line, each.moment)
    ]
    unended = Unended(recorded.recording, sources, at).clues(lines)
    found = [*deserted, *twins, *unended, *crowded[:1]]
    return [replace(each, trials=(recorded.number,)) for each in found]


def _wish(outcome: Outcome, dead: Dead | None) -> list[str]:
    """Return the error up to which the run is to be written down; nothing if there is none."""
    if outcome.timed_out:
        return ["", "", "0"]
    place = None if dead is None else dead.error.place
    if dead is None and outcome.failure is not None and _is_full(outcome.failure):
        return ["MemoryError", "", "0"]  # too little was left to keep its frames
    if dead is None:  # a program that tells of its error in its own words ends itself
        return ["SystemExit", "", "0"] if outcome.exit_code else []
    if place is None or place.frame.line == 0:
        return []
    return [dead.error.type, place.frame.path, str(place.frame.line), *_packages(dead.error)]


def _is_full(failure: Failure) -> bool:
    return failure.kind is FailureKind.OUT_OF_MEMORY and not is_about_gpus(failure.summary)


def _packages(error: KeptError) -> list[str]:
    """Return the folders of the installed packages that the user's code has called on the way."""
    packages: dict[str, None] = {}
    is_below = False
    for each in error.frames:
        path = each.frame.path
        is_below = is_below or each.frame.in_user_code
        for folder in _INSTALLED if is_below else ():
            head, _, tail = path.partition(folder)
            if tail:
                packages[head + folder + tail.partition(os.sep)[0]] = None
    return list(packages)
