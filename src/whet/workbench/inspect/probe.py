"""`whet probe` and `whet trace`: look at places in a running program without editing it."""

import difflib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.errors import UnknownTarget
from whet.core.observations.evidence import PROBES
from whet.core.probe import Target, TargetKind, Wish, changes_something
from whet.core.text.code_lines import LAMBDA, functions_in, lambdas_in, statement_at
from whet.core.text.record import JsonObject, text
from whet.core.value_class import value_class
from whet.evidence.clues.probes import ProbeReport, probe_report
from whet.host.process.console import Console
from whet.host.python.module_search import files_named, start_of
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.inspect.definition import definition_of, pattern_in
from whet.workbench.inspect.where import whereabouts
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.run import RunResult, run_trial
from whet.workbench.trials.session import Session

_MOST_NAMES = 2000


@value_class(kw_only=True)
class Place:
    """Where a target is.

    Attributes:
        target: what was asked for.
        title: what it is called from here on.
        path: its file; empty: any.
        module: its module, in case another file is loaded for it.
        line: first line of the statement, or of a lambda; 0: it is a function or an error.
        last: last line of it.
        name: the function or the error, as a pattern.
        note: what the user did not ask for so; empty: it is as it was asked for.
    """

    target: Target
    title: str
    path: str = ""
    module: str = ""
    line: int = 0
    last: int = 0
    name: str = ""
    note: str = ""

    @property
    def kind(self) -> TargetKind:
        """What is looked out for; a line that defines a function means its calls."""
        is_call = self.target.kind is TargetKind.LINE and not self.line
        return TargetKind.CALL if is_call else self.target.kind


@value_class(kw_only=True)
class Looking:
    """What to look out for.

    Attributes:
        places: where something is to be done, and what.
        ranks: of a distributed job, those that are looked into; empty: all.
        verb: on whose behalf.
        most_calls: as many calls of each process are written down.
        words: how it was asked for on the command line.
    """

    places: Sequence[tuple[Place, Wish]]
    ranks: tuple[int, ...] = ()
    verb: str = "probe"
    most_calls: int = 0
    words: tuple[str, ...] = ()


@value_class(kw_only=True)
class Probed:
    """A command that was looked into.

    Attributes:
        result: the trial.
        report: what was seen.
    """

    result: RunResult
    report: ProbeReport


def probe(
    bench: Workbench, request: TrialRequest, looking: Looking, console: Console | None
) -> Probed:
    """Run a command, and do at each place what is asked for."""
    trial = bench.build_trial(request, live=console is not None)
    oracle = oracle_of(request.judging)
    tasks = AgentTasks(probes=wish_of(looking))
    session = Session(bench=bench, verb=looking.verb, request=request, tasks=tasks)
    result = run_trial(session, trial, oracle, console)
    evidence = next(each for each in result.evidence if each.kind == PROBES)
    return Probed(result=result, report=probe_report(evidence.data))


def wish_of(looking: Looking) -> str:
    """Return what is looked out for, as the agents read it."""
    records = [
        _as_record(number, place, wish) for number, (place, wish) in enumerate(looking.places)
    ]
    wish = {"probes": records, "ranks": list(looking.ranks), "most_calls": looking.most_calls}
    return json.dumps({**wish, "words": list(looking.words)})


def settle(
    bench: Workbench, request: TrialRequest, wishes: Sequence[Wish]
) -> list[tuple[Place, Wish]]:
    """Return where all targets are, each with what is to be done there.

    Raises:
        UnknownTarget: if one is nowhere, or can't be looked into.
    """
    settling = _Settling(bench, request)
    return [(settling.place(target), wish) for wish in wishes for target in wish.targets]


def notes_on(places: Sequence[tuple[Place, Wish]]) -> list[str]:
    """Return what is to be known before the command runs, in sentences."""
    notes = [place.note for place, _ in places if place.note]
    for _, wish in places:
        texts = [each for action in wish.actions if action.name == "print" for each in action.words]
        notes += [
            f"`{each}` runs each time, and its side effects stay"
            for each in (*texts, wish.condition)
            if each and changes_something(each)
        ]
    return list(dict.fromkeys(notes))


def _as_record(number: int, place: Place, wish: Wish) -> dict[str, object]:
    return {
        "number": number,
        "title": place.title + (":return" if place.kind is TargetKind.RETURN else ""),
        "kind": place.kind.value,
        "path": os.path.realpath(place.path) if place.path else "",
        "module": place.module,
        "line": place.line,
        "last": place.last,
        "name": place.name,
        "condition": wish.condition,
        "after": wish.after,
        "every": wish.every,
        "actions": [[each.name, *each.words] for each in wish.actions],
    }


class _Settling:
    """Finds the places of one command."""

    def __init__(self, bench: Workbench, request: TrialRequest) -> None:
        self._bench = bench
        self._request = request
        self._cwd = Path(os.path.abspath(request.cwd or bench.project.folder))

    def place(self, target: Target) -> Place:
        """Return where a target is."""
        if target.kind is TargetKind.RAISE:
            return Place(target=target, title=target.text, name=target.name)
        if target.module:
            return self._in_module(target)
        path, note = self._file(target)
        source = _source(path)
        if target.line:
            return self._line(target, path, source, note)
        line = _lambda_line(source, target)
        return Place(
            target=target, title=_title(path, target.name), path=str(path), line=line,
            name=LAMBDA if line else _pattern(target, source, str(path)), note=note,
        )  # fmt: skip

    def _file(self, target: Target) -> tuple[Path, str]:
        """Return the file of a target, and what is to be said of it."""
        if not target.file:
            environment = {**self._bench.environment, **self._request.environment}
            script = start_of(self._request.command, environment, self._cwd).script
            if not script:
                raise UnknownTarget(
                    f"`{target.text}` doesn't name a file, and the command has no script",
                    hint=f"write `package.module:{target.text}`",
                )
            return Path(script), ""
        path = self._cwd / target.file
        if path.is_file():
            return path, ""
        matches = list(files_named(target.file, [self._cwd]))
        if len(matches) == 1:
            return Path(
                matches[0]
            ), f"`{target.file}` is `{os.path.relpath(matches[0], self._cwd)}`"
        if matches:
            names = ", ".join(f"`{os.path.relpath(each, self._cwd)}`" for each in matches[:5])
            raise UnknownTarget(
                f"`{target.file}` matches {names}", hint="write the full path of one"
            )
        raise UnknownTarget(
            f"there is no file `{path}`",
            hint=_near(target.file, self._sources()) or "check the path and `--cwd`",
        )

    def _sources(self) -> list[str]:
        paths: list[str] = []
        for folder, below, files in os.walk(self._cwd):
            below[:] = sorted(each for each in below if each[:1] != "." and each != "__pycache__")
            inside = os.path.relpath(folder, self._cwd)
            paths += [os.path.normpath(f"{inside}/{each}") for each in files if each[-3:] == ".py"]
            if len(paths) > _MOST_NAMES:
                break
        return paths

    def _line(self, target: Target, path: Path, source: bytes, note: str) -> Place:
        try:
            statement = statement_at(source, target.line)
        except (SyntaxError, ValueError) as error:
            raise UnknownTarget(
                f"`{path}` isn't valid Python: {error}", hint="fix that first"
            ) from error
        if statement is None:
            raise UnknownTarget(f"`{path}` has no code", hint="check the path")
        if statement.function:
            remark = f"line {target.line} defines `{statement.function}`: whet follows its calls"
            return Place(
                target=target, title=_title(path, statement.function), path=str(path),
                name=statement.function, note=note or remark,
            )  # fmt: skip
        if not statement.first <= target.line <= statement.last:
            note = f"line {target.line} has no code: whet uses line {statement.first}"
        elif statement.first != target.line:
            note = f"the statement on line {target.line} starts on line {statement.first}"
        return Place(
            target=target, title=_title(path, str(statement.first)), path=str(path),
            line=statement.first, last=statement.last, note=note,
        )  # fmt: skip

    def _in_module(self, target: Target) -> Place:
        title = f"{target.module}:{target.name}"
        facts = self._where(f"{target.module}:", imports=False)
        definition = definition_of(facts, target.name)
        if definition.needs_import:
            if not all(part.isidentifier() for part in target.name.split(".")):
                _pattern(target, _source(Path(text(facts, "file"))), title)
            definition = definition_of(self._where(title, imports=True), target.name)
        if definition.line and target.kind is TargetKind.TRACE:
            definition = replace(definition, reason="whet can't follow the calls of a lambda")
        if definition.reason:
            raise UnknownTarget(
                f"`{title}` cannot be looked into: {definition.reason}",
                hint="probe the line in your code that calls it",
            )
        return Place(
            target=target, title=title, path=definition.path, module=definition.module, line=definition.line,
            name=definition.name, note=definition.note,
        )  # fmt: skip

    def _where(self, target: str, *, imports: bool) -> JsonObject:
        environment = dict(self._bench.environment)
        return whereabouts(
            self._bench.project, environment, target, self._request, imports=imports
        ).told


def _lambda_line(source: bytes, target: Target) -> int:
    """Return the line of a lambda that has the target's name; 0: there is none."""
    if target.kind is TargetKind.TRACE:
        return 0
    with suppress(SyntaxError, ValueError):
        if not pattern_in(source, target.name):
            return lambdas_in(source).get(target.name, 0)
    return 0


def _pattern(target: Target, source: bytes, within: str) -> str:
    """Return the pattern of a target's functions; a class stands for its methods.

    Raises:
        UnknownTarget: if there is no such function.
    """
    try:
        pattern = pattern_in(source, target.name)
        functions = functions_in(source)
    except (SyntaxError, ValueError) as error:
        raise UnknownTarget(
            f"`{within}` isn't valid Python: {error}", hint="fix that first"
        ) from error
    if pattern:
        return pattern
    raise UnknownTarget(
        f"`{within}` has no function `{target.name}`",
        hint=_near(target.name, functions) or "`file.py:*` means all functions of a file",
    )


def _near(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    near += [each for each in names if each.rpartition(".")[2] == name and each not in near][:3]
    return f"did you mean {' or '.join(f'`{each}`' for each in near)}?" if near else ""


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnknownTarget(
            f"whet can't read `{path}`: {error.strerror}", hint="check the path"
        ) from error


def _title(path: Path, rest: str) -> str:
    return f"{path.name}:{rest}"
