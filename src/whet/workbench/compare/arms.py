"""The two arms of a comparison: commands, recorded trials, revisions, releases, with and without variables."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path

from whet.core.errors import BadUsage, UnknownTrial
from whet.core.text.quantity import bounded, shown_seconds
from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, Trial
from whet.core.value_class import value_class
from whet.host.process.git import Repository
from whet.host.python.python_interpreter import PythonFacts, python_for
from whet.host.trial.trial_secrets import masked_words
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.code_then import code_of, on_code
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Place
from whet.workbench.versions.command_in_repository import editable_of, outside_of
from whet.workbench.versions.releases import environments_for, releases
from whet.workbench.versions.revisions import RevisionOptions, revisions
from whet.workbench.versions.setups import Setup

_TWO = 2
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_MEANS_MORE = re.compile(r"[|&;<>()$`*?~\n]|\[.*\]")
_ASSIGNS = re.compile(r"\s*[A-Za-z_]\w*=")
_HOW = (
    "write `whet compare 'COMMAND A' 'COMMAND B'`, `whet compare A B -- COMMAND` for two revisions or "
    "releases, or `whet compare --baseline REVISION -- COMMAND`"
)


@value_class(kw_only=True)
class Arm:
    """One side of a comparison.

    Attributes:
        label: what it is, for the reader.
        trial: what is run.
        place: where it runs; None: where it stands.
        remarks: what is to be said beforehand.
        revision: the commit that it runs on, as git names it; empty: none.
    """

    label: str
    trial: Trial
    place: Place | None = None
    remarks: tuple[str, ...] = ()
    revision: str = ""


@value_class(kw_only=True)
class ArmWords:
    """What the user says about the arms.

    Attributes:
        words: A and B; with a command: revisions or releases of it.
        baseline: the revision or release that is A, while B is the command as it stands.
        setup: what is done in each checkout first.
        repository: a folder of the repository with the revisions; empty: the current one.
    """

    words: tuple[str, ...] = ()
    baseline: str = ""
    setup: Setup = field(default_factory=Setup)
    repository: str = ""


def arms_of(bench: Workbench, request: TrialRequest, said: ArmWords) -> tuple[Arm, Arm]:
    """Return the two arms that the user names.

    Raises:
        BadUsage: if there aren't two.
        UnknownTrial, UnknownRevision, UnknownRelease: as they say.
    """
    words = said.words
    if not request.command:
        if len(words) != _TWO or said.baseline:
            raise BadUsage(_missing(words), hint=_HOW)
        in_shell = any(map(_needs_shell, words))  # then both, as it takes time itself
        first, second = (_named(bench, request, word, in_shell=in_shell) for word in words)
        return first, second
    names = (said.baseline, *words) if said.baseline else words
    if len(names) > _TWO:
        raise BadUsage(f"`{' '.join(names)}` are more than two arms", hint=_HOW)
    if names:
        versions = [_version(bench, request, name, said) for name in names]
        if len(versions) == _TWO:
            return versions[0], versions[1]
        return versions[0], Arm(
            label="as it stands", trial=bench.build_trial(request), revision="HEAD"
        )
    if not request.environment:
        raise BadUsage("a command alone has nothing to be compared with", hint=_HOW)
    variables = " ".join(f"{name}={value}" for name, value in request.environment.items())
    without = bench.build_trial(replace(request, environment={}))
    return (
        Arm(label=f"without {' '.join(masked_words([variables]))}", trial=without),
        Arm(label=f"with {' '.join(masked_words([variables]))}", trial=bench.build_trial(request)),
    )


def _missing(words: Sequence[str]) -> str:
    if not words:
        return "two commands to compare are missing"
    if len(words) == 1:
        return f"`{words[0]}` is only one of two arms"
    return f"`{' '.join(words)}` doesn't name two arms; quote each command as one word"


# ---- a command or a recorded trial ----


def _named(bench: Workbench, request: TrialRequest, word: str, *, in_shell: bool) -> Arm:
    """Return a recorded trial, if ``word`` is its number or its name, else a command."""
    entry = _found(bench, word)
    if entry is not None:
        return _recorded(bench, entry)
    try:
        command = tuple(shlex.split(word))
    except ValueError as error:
        raise BadUsage(
            f"`{word}` can't be read as a command: {error}",
            hint="close each quote that you open",
        ) from error
    run = ("sh", "-c", word) if in_shell else command
    trial = bench.build_trial(replace(request, command=run))
    return Arm(label=" ".join(masked_words(command)), trial=trial)


def _needs_shell(word: str) -> bool:
    """Whether something in a command means more to a shell than a word: ``|``, ``&&``, ``$x``, ``*``."""
    unquoted = _QUOTED.sub(_expanded, word)
    return bool(_MEANS_MORE.search(unquoted) or _ASSIGNS.match(word))


def _expanded(quoted: re.Match[str]) -> str:
    """Return what a shell expands in a quotation: only double quotes let it."""
    return "".join(each for each in quoted[0] if each in "$`") if quoted[0][0] == '"' else ""


def _found(bench: Workbench, word: str) -> Entry | None:
    """Return the recorded trial that a word names; None: it names none."""
    if not word or any(each.isspace() for each in word):
        return None
    if word.isascii() and word.isdigit():
        return bench.notebook.find(bounded(word))
    try:
        return bench.notebook.find(word)
    except UnknownTrial:
        return None


def _recorded(bench: Workbench, entry: Entry) -> Arm:
    trial = entry.trial
    today = bench.build_trial(TrialRequest(command=trial.command, cwd=trial.cwd))
    base = replace(trial, surroundings=today.surroundings)
    if base.stdin == STDIN_INHERITED:
        base = replace(base, stdin=STDIN_EMPTY)  # many runs can't read one terminal
    place: Place | None = None
    remarks = [_record_in_words(entry)]
    if trial.packages:
        place = _environments(bench, trial)
    elif trial.code is not None and (today.code is None or trial.code.tree != today.code.tree):
        place = on_code(bench, code_of(entry))
        base = replace(base, revision=None, setup="")
        remarks.append(f"trial {entry.number} runs on the code that it ran on")
    return Arm(label=f"trial {entry.number}", trial=base, place=place, remarks=tuple(remarks))


def _record_in_words(entry: Entry) -> str:
    if entry.outcome is None:
        return f"trial {entry.number} was cut off"
    took = shown_seconds(entry.outcome.wall_seconds)
    return f"trial {entry.number} took {took} then: a single run proves nothing about time, so whet runs it again"


# ---- a revision or a release of a command ----


def _version(bench: Workbench, request: TrialRequest, name: str, said: ArmWords) -> Arm:
    trial = bench.build_trial(request)
    package, is_release, version = name.partition("==")
    if is_release:
        found = releases(bench, trial, package.strip(), "", version.strip())
        label = f"{found.subject} {found.new}"
        return Arm(
            label=label, trial=found.on(trial, found.new), place=found.place, remarks=found.remarks
        )
    repository = Repository.containing(Path(said.repository or trial.cwd))
    options = RevisionOptions(
        setup=said.setup, editable=editable_of(bench, trial, repository, said.setup)
    )
    commits = revisions(bench, repository, "", name, options=options)
    commit = commits.label(commits.new)
    return Arm(
        label=name if commit.startswith(name) else f"{name} ({commit})",
        trial=commits.on(trial, commits.new),
        place=commits.place,
        remarks=outside_of(bench, trial, repository, said.setup),
        revision=name,
    )


def _environments(bench: Workbench, trial: Trial) -> Place:
    inherited = {**bench.environment, **trial.environment}
    python = PythonFacts.ask(python_for(trial.command, inherited, Path(trial.cwd)))
    return environments_for(bench, inherited, python).place
