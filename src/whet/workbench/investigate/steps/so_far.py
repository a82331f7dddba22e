"""What an investigation knows so far, and the answer that it makes."""

import time
from dataclasses import dataclass, field

from whet.core.observations.clue import Clue, Sureness
from whet.core.text.quantity import shown_bytes
from whet.core.text.shell_words import joined, quoted
from whet.host.inspect.presence import pythons_in
from whet.host.process.own_command import own_words
from whet.host.trial.known_secrets import veiled_data
from whet.host.trial.trial_secrets import masked_variables, masked_words
from whet.workbench.bisect.culprit_part import next_of_part
from whet.workbench.investigate.experiments.left_out import brought_by
from whet.workbench.investigate.progress.investigating import Work
from whet.workbench.investigate.progress.mentioned import excerpts_of, named_trials, tried_trials
from whet.workbench.trials.changed_part import SmallestPart
from whet.workbench.trials.investigation import (
    Investigation,
    Reproducer,
    ShrunkPayload,
    VersionSearch,
)
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.request import TrialRequest
from whet.workbench.versions.history_sentence import next_of_history

_SHOWN_LINES = 15

_MORE_TIME = ((60.0, "2m"), (180.0, "10m"), (600.0, "30m"))
_MOST_TIME = "3h"
"""How much time to continue with, by how much there was."""


@dataclass(slots=True, kw_only=True)
class Known:
    """What an investigation has found so far.

    Attributes:
        clues: what points at the cause.
        conclusions: what follows from a step.
        shrunk: what was made smaller.
        reproducer: what shows the failure elsewhere.
        seen: the state at the failure, with the user's own files.
    """

    clues: list[Clue] = field(default_factory=list[Clue])
    conclusions: list[str] = field(default_factory=list[str])
    shrunk: list[ShrunkPayload] = field(default_factory=list[ShrunkPayload])
    reproducer: Reproducer | None = None
    seen: str = ""


def so_far(work: Work, baseline: Baseline, facts: Known, started_at: str) -> Investigation:
    """Return what is known."""
    search = None if work.found is None else work.found.search
    # That a history shows nothing is said after what the failing run itself has shown.
    firm = [each for each in work.shown if each.sureness is not Sureness.POSSIBLE]
    rest = [each for each in work.shown if each.sureness is Sureness.POSSIBLE]
    clues = (*firm, *brought_by(work.part, facts.clues), *rest)
    own = _conclusions(baseline, search, work.part, facts.shrunk)
    return Investigation(
        number=work.session.number or 0,
        trial=work.trial,
        command_line=_command_line(work.request),
        started_at=started_at,
        wall_seconds=time.monotonic() - work.began,
        oracle=baseline.oracle.description,
        failure=baseline.outcome.failure,
        last_lines=_last_lines(baseline),
        reproduction=baseline.reproduction,
        history=search,
        history_remark=work.history.remark,
        payloads=tuple(facts.shrunk),
        reproducer=facts.reproducer,
        steps=tuple(work.steps.done),
        conclusions=(*facts.conclusions, *own),
        resources=baseline.outcome.resources,
        interpreter=_interpreter(work, baseline),
        platform=work.trial.surroundings.platform,
        packages=tuple(work.trial.packages.items()),
        folder=str(work.folder),
        seen=facts.seen,
        clues=clues,
        excerpts=excerpts_of(clues, baseline.outcome.failure, work.trial.cwd),
        part=work.part,
        ended=work.ended,
        resume_line=_resume_line(work),
        trials=tried_trials(
            work.bench.notebook, named_trials(clues, baseline.reproduction, search), work.steps.done
        ),
    )


def _interpreter(work: Work, baseline: Baseline) -> str:
    """Return the version of the Python that was run, by the command or else by its own word."""
    pythons = {each.version for each in pythons_in(baseline.outcome.evidence)}
    return work.trial.surroundings.interpreter or (pythons.pop() if len(pythons) == 1 else "")


def _resume_line(work: Work) -> str:
    """Return the same command with more time."""
    budget = next((each for most, each in _MORE_TIME if work.seconds <= most), _MOST_TIME)
    words = [*masked_words(work.options.words), "--budget", budget, "--"]
    return joined([*own_words(), "investigate", *words, *masked_words(work.request.command)])


def _command_line(request: TrialRequest) -> str:
    """Return the command as a shell would be given it, its variables and its input too."""
    masked = masked_variables(request.environment)
    variables = [f"{name}={quoted(value)}" for name, value in masked.items()]
    stdin = ["<", quoted(request.stdin)] if request.stdin else []
    return " ".join([*variables, joined(masked_words(request.command)), *stdin])


def _last_lines(baseline: Baseline) -> str:
    text = veiled_data(baseline.outcome.stderr.tail(8000)).decode("utf-8", "replace")
    return "\n".join(text.rstrip().splitlines()[-_SHOWN_LINES:])


def _conclusions(
    baseline: Baseline,
    search: VersionSearch | None,
    part: SmallestPart | None,
    shrunk: list[ShrunkPayload],
) -> list[str]:
    sentences: list[str] = []
    if search is not None and search.first_bad is not None:
        sentences.append(next_of_history(search))
    if part is not None:
        sentences.append(next_of_part(part))
    sentences += [
        f"It also fails with an empty {payload.original}."
        if not payload.content
        else f"{shown_bytes(payload.after_bytes)} of {shown_bytes(payload.before_bytes)} of"
        f" {payload.original} are enough to show it."
        for payload in shrunk
    ]
    if not baseline.reproduction.is_deterministic:
        sentences.append(
            f"It is flaky ({baseline.reproduction.rate:.0%} of the runs): look for randomness,"
            " time, order and threads; `whet repeat --amplify` looks for what makes it fail more often."
        )
    return sentences
