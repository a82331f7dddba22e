"""Two recorded trials as cases: variables, arguments, files and code that differ."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, cast

from whet.core.difference import Change
from whet.core.errors import BadUsage, NothingDiffers
from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, Trial
from whet.core.value_class import value_class
from whet.host.process.git import GitFailedError
from whet.host.python.environments import PYTHON
from whet.host.python.python_interpreter import PythonFacts, python_for
from whet.host.trial.kept_environment import environment_to_keep
from whet.host.trial.trial_secrets import masked_words
from whet.notebook.entry import Entry
from whet.reduction.between import Between, Leaf, Step
from whet.reduction.commands.argument_changes import (
    argument_name,
    as_options,
    as_words,
    shown_argument,
)
from whet.search.subsets.hierarchy import Numbers
from whet.workbench.delta.cases import Cases
from whet.workbench.delta.delta_code import code_between
from whet.workbench.delta.delta_environment import changed_variables, in_environment
from whet.workbench.files.named_files import first_argument
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.compare import TrialDifference, compare_trials, inherited_by
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Place
from whet.workbench.versions.releases import environments_for

Put: TypeAlias = Callable[[Trial, Numbers], Trial]

_MARK = "<secret "
"""The prefix of a secret's placeholder."""

_ELSEWHERE = {
    "packages": "`whet bisect --packages` searches them",
    "package": "`whet bisect --packages` searches them",
    "interpreter": "`whet bisect --python` searches Pythons",
    "repository": "it's in another repository",
    "platform": "it is another machine",
}
"""Why whet can't switch a difference here, by its kind."""


@value_class(kw_only=True)
class _Part:
    """Differences of one kind.

    Attributes:
        changes: what differs.
        paths: where each of them stands.
        put: returns the trial with some of them, numbered from 0.
        place: where trials with them run.
    """

    changes: tuple[Change, ...]
    paths: tuple[tuple[Step, ...], ...]
    put: Put
    place: Place | None = None


def cases_of_trials(bench: Workbench, request: TrialRequest, good: int, bad: int) -> Cases:
    """Return two recorded trials and what differs between them and can be switched.

    Both run on the code that they were recorded on, in the surroundings of today.

    Args:
        bench: the workbench.
        request: how the trials are judged.
        good: number of the one that passed.
        bad: number of the one that failed.

    Raises:
        UnknownTrial: if one of them doesn't exist.
        NothingDiffers: if nothing differs that can be switched.
        BadUsage: if one ran on a revision of its own.
    """
    for number in (good, bad):
        trial = bench.notebook.trial(number).trial
        version = trial.revision or trial.packages.get(PYTHON)
        if version is not None:
            raise BadUsage(
                f"trial {number} is one of a bisection: it ran on `{version[:10]}`",
                hint="`whet bisect` compares two revisions, or two Pythons",
            )
    return _cases(bench, request, compare_trials(bench, good, bad))


def _cases(bench: Workbench, request: TrialRequest, difference: TrialDifference) -> Cases:
    before, after = difference.before, difference.after
    names = (f"trial {before.number}", f"trial {after.number}")
    today = bench.build_trial(replace(request, command=before.trial.command, cwd=before.trial.cwd))
    base = replace(before.trial, surroundings=today.surroundings)
    if base.stdin == STDIN_INHERITED:
        base = replace(base, stdin=STDIN_EMPTY)  # many trials can't read one terminal
    variables, unknown = _variables(bench, before, after)
    parts = [variables, _arguments(before.trial, after.trial), *_fields(before.trial, after.trial)]
    left_out = [*unknown, *_left_out(difference)]
    releases = _releases(bench, before.trial, after.trial)
    code, why = _code(bench, before.trial, after.trial, today)
    if releases.place is not None:
        is_other = code is not None and code.place is not None
        code = None
        why = "code: both run today's code, with the packages of that time" if is_other else why
    parts += [releases] if code is None else [releases, code]
    place = releases.place if code is None else code.place
    if code is None or place is None:
        base = replace(base, code=today.code)  # it runs where it stands
    left_out += [why] if why else []
    changes = tuple(change for part in parts for change in part.changes)
    if not changes:
        raise NothingDiffers(
            f"{names[0]} and {names[1]} don't differ in anything that whet can switch"
            + (f": {'; '.join(left_out)}" if left_out else ""),
            hint=f"`whet diff {before.number} {after.number}` compares the two",
        )
    base = bench.for_search(base)
    turned = compare_trials(bench, after.number, before.number)
    return Cases(
        what="differences", good=names[0], bad=names[1], changes=changes,
        paths=tuple((at, *path) for at, part in enumerate(parts) for path in part.paths),
        trial=lambda numbers: _with(base, parts, numbers),
        turned=lambda: _cases(bench, request, turned),
        place=place, left_out=tuple(left_out), are_past=True,
    )  # fmt: skip


def _with(base: Trial, parts: list[_Part], numbers: Numbers) -> Trial:
    trial, first = base, 0
    for part in parts:
        behind = first + len(part.changes)
        trial = part.put(trial, tuple(each - first for each in numbers if first <= each < behind))
        first = behind
    return trial


def _variables(bench: Workbench, before: Entry, after: Entry) -> tuple[_Part, list[str]]:
    """Return the variables that differ, and those whose values aren't known."""
    marks = environment_to_keep(bench.environment, state=bench.project.state)
    environments = [dict(inherited_by(bench, entry).environment) for entry in (before, after)]
    is_whole = all(environments)
    own: list[dict[str, str]] = []
    for entry, inherited in zip((before, after), environments, strict=True):
        left = {k: v for k, v in inherited.items() if k not in entry.trial.unset}
        own.append({**(left if is_whole else {}), **entry.trial.environment})
    hidden = sorted(
        name
        for name in {*own[0], *own[1]}
        if any(_is_unknown(each.get(name), name, marks) for each in own)
    )
    values = [
        {name: _value(bench, name, text, marks) for name, text in sorted(each.items())
         if name not in hidden}
        for each in own
    ]  # fmt: skip
    # What neither trial tells is as it is now.
    now = {name: bench.environment[name] for name in hidden if name in bench.environment}
    between = Between(*values)

    def put(trial: Trial, numbers: Numbers) -> Trial:
        variables = {**now, **between.texts(numbers)}
        bare = replace(trial, environment={}, unset=())
        return in_environment(bare, variables, bench.environment, is_whole=is_whole)

    differ = [name for name in hidden if own[0].get(name) != own[1].get(name)]
    unknown = [f"variable {name}: a secret, whose value whet doesn't keep" for name in differ]
    visible = [environment_to_keep(each, state=bench.project.state) for each in values]
    changes = changed_variables(between, *visible)
    return _Part(
        changes=changes, paths=tuple(leaf.path for leaf in between.leaves), put=put
    ), unknown


def _is_unknown(text: str | None, name: str, marks: Mapping[str, str]) -> bool:
    return text is not None and _MARK in text and marks.get(name) != text


def _value(bench: Workbench, name: str, text: str, marks: Mapping[str, str]) -> str:
    return bench.environment[name] if _MARK in text and marks.get(name) == text else text


def _arguments(before: Trial, after: Trial) -> _Part:
    """Return the words that differ; with files bound to their places the commands are wholes."""
    if before.payloads or after.payloads:
        if before.command == after.command:
            return _Part(changes=(), paths=(), put=lambda trial, _: trial)
        return _one("command", " ".join(masked_words(before.command)), " ".join(masked_words(after.command)),
                    lambda trial: replace(trial, command=after.command, payloads=after.payloads))  # fmt: skip
    tables: list[dict[str, object]] = []
    for trial in (before, after):
        first = first_argument(trial.command, Path(trial.cwd))
        tables.append({"": trial.command[:first], **_named(trial.command[first:])})
    between = Between(*tables)

    def put(trial: Trial, numbers: Numbers) -> Trial:
        made = between.table(numbers)
        program = cast("tuple[str, ...]", made.pop(""))
        return replace(trial, command=(*program, *as_words(_unnamed(made))))

    return _Part(
        changes=tuple(map(_argument_change, between.leaves)),
        paths=tuple(leaf.path for leaf in between.leaves), put=put,
    )  # fmt: skip


_WORDS = "words "


def _named(words: tuple[str, ...]) -> dict[str, object]:
    return {_WORDS + name: values for name, values in as_options(words).items()}


def _unnamed(settings: Mapping[str, object]) -> dict[str, object]:
    return {name.removeprefix(_WORDS): values for name, values in settings.items()}


def _argument_change(leaf: Leaf) -> Change:
    first, *rest = leaf.path
    if first == "":
        return Change(what="program", before=_line(leaf.before), after=_line(leaf.after))
    name = argument_name(replace(leaf, path=(str(first).removeprefix(_WORDS), *rest)))
    return replace(leaf.as_change("argument", shown_argument), name=name)


def _line(words: object) -> str:
    return " ".join(cast("tuple[str, ...]", words))


def _fields(before: Trial, after: Trial) -> list[_Part]:
    """Return what differs in single values: the folder, standard input, reset steps, files."""
    parts: list[_Part] = []
    if before.cwd != after.cwd:
        parts.append(
            _one("folder", before.cwd, after.cwd, lambda trial: replace(trial, cwd=after.cwd))
        )
    if before.stdin != after.stdin and STDIN_INHERITED not in {before.stdin, after.stdin}:
        parts.append(
            _one(
                "stdin", before.stdin, after.stdin, lambda trial: replace(trial, stdin=after.stdin)
            )
        )
    if before.reset != after.reset:
        old, new = ("; ".join(step.command for step in each.reset) for each in (before, after))
        parts.append(_one("reset", old, new, lambda trial: replace(trial, reset=after.reset)))
    if before.limits != after.limits:
        old, new = (str(each.limits.wall_seconds) for each in (before, after))
        parts.append(
            _one("limit of seconds", old, new, lambda trial: replace(trial, limits=after.limits))
        )
    if before.command == after.command and len(before.payloads) == len(after.payloads):
        parts += [
            _one(f"file {own.name}", own.digest[:12], other.digest[:12], _payload(after, at))
            for at, (own, other) in enumerate(zip(before.payloads, after.payloads, strict=True))
            if own.digest != other.digest
        ]
    return parts


def _payload(after: Trial, at: int) -> Callable[[Trial], Trial]:
    digest = after.payloads[at].digest
    return lambda trial: trial.with_payload(digest, at)


def _one(what: str, before: str, after: str, change: Callable[[Trial], Trial]) -> _Part:
    def put(trial: Trial, numbers: Numbers) -> Trial:
        return change(trial) if numbers else trial

    return _Part(
        changes=(Change(what=what, before=before, after=after),), paths=((what,),), put=put
    )


def _releases(bench: Workbench, before: Trial, after: Trial) -> _Part:
    """Return the releases that the trials were pinned to and that differ."""
    between = Between(dict(before.packages), dict(after.packages))
    place: Place | None = None
    if before.packages or after.packages:
        inherited = {**bench.environment, **before.environment}
        python = PythonFacts.ask(python_for(before.command, inherited, Path(before.cwd)))
        place = environments_for(bench, inherited, python).place
    return _Part(
        changes=tuple(leaf.as_change("release", str) for leaf in between.leaves),
        paths=tuple(("release", *leaf.path) for leaf in between.leaves), place=place,
        put=lambda trial, numbers: replace(trial, packages=between.texts(numbers)),
    )  # fmt: skip


def _code(bench: Workbench, before: Trial, after: Trial, today: Trial) -> tuple[_Part | None, str]:
    """Return the hunks that differ, or why the code is that of today."""
    if before.code is None or after.code is None:
        return None, "code: none was kept with one of them; both run today's code"
    if before.code.repository != after.code.repository:
        return None, ""
    try:
        between = code_between(before.code, after.code)
    except GitFailedError as error:
        return None, f"code: the repository no longer has it ({error}); both run today's code"
    is_of_today = today.code is not None and today.code.tree == before.code.tree

    def put(trial: Trial, numbers: Numbers) -> Trial:
        return replace(trial, code=between.code(numbers)) if between.changes else trial

    place = None if is_of_today and not between.changes else between.place(bench)
    return _Part(changes=between.changes, paths=between.paths, put=put, place=place), ""


def _left_out(difference: TrialDifference) -> list[str]:
    return [
        f"{change}; {_ELSEWHERE[change.what]}"
        for change in difference.difference.changes
        if change.what in _ELSEWHERE
    ]
