"""`whet where`: the file that Python will really load, and whether it did."""

import difflib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.errors import BadUsage, UnknownTarget
from whet.core.observations.evidence import COUNTS
from whet.core.text.json_record import Record
from whet.core.text.record import (
    JsonObject,
    as_record,
    boolean,
    decoded,
    integer,
    number,
    optional_record,
    optional_text,
    records,
    rows,
    text,
    texts,
    whole,
)
from whet.core.value_class import value_class
from whet.host.code.editing import unsaved_beside
from whet.host.code.project import Project
from whet.host.process.console import Console
from whet.host.python.module_search import ask_where, files_named, start_of
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.workbench.inspect.definition import Definition, definition_of
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.run import RunResult, run_trial
from whet.workbench.trials.session import Session

_EARLY = "Python loaded it before the program started; whet can count its calls on Python 3.12"
_UNWOVEN = "a custom loader compiled it; whet can count its calls on Python 3.12"


@value_class(kw_only=True)
class Copy(Record):
    """Another file of the same name.

    Attributes:
        path: where it is.
        is_on_path: Python would find it if the first one didn't exist.
        is_same: it says the same.
        is_newer: it was saved later.
    """

    path: str
    is_on_path: bool
    is_same: bool
    is_newer: bool


@value_class(kw_only=True)
class Whereabouts:
    """Where a target is, as Python sees it.

    Attributes:
        module: the module of it.
        attributes: what in it is asked for.
        file: the file that is loaded; empty: there is none.
        told: all that the Python has answered.
        copies: other files of that name.
    """

    module: str
    attributes: tuple[str, ...]
    file: str
    told: JsonObject
    copies: tuple[Copy, ...]

    @property
    def name(self) -> str:
        """The target in full."""
        return ":".join([self.module, *([".".join(self.attributes)] if self.attributes else [])])


@value_class(kw_only=True)
class Load:
    """A process has loaded the module.

    Attributes:
        pid: the process.
        file: what it has loaded.
        by: file, line and function of each frame, innermost last.
    """

    pid: int
    file: str
    by: tuple[tuple[str, int, str], ...]


@value_class(kw_only=True)
class Calls(Record):
    """The calls of one function in one process.

    Attributes:
        pid: the process.
        function: its name.
        file: where it is.
        count: how often it was called.
        by: file, line and function of the frames that led to the first call, innermost last.
    """

    pid: int
    function: str
    file: str
    count: int
    by: tuple[tuple[str, int, str], ...]


@value_class(kw_only=True)
class Ran:
    """What a command did with the target.

    Attributes:
        result: the trial.
        definition: where the calls were counted.
        reason: why they may not be all there are; empty: they are.
        loads: which processes have loaded it, in the order in which they did.
        calls: of its functions; the first call first.
    """

    result: RunResult
    definition: Definition
    reason: str
    loads: tuple[Load, ...]
    calls: tuple[Calls, ...]

    @property
    def count(self) -> int:
        """How often it was called in all."""
        return sum(each.count for each in self.calls)


def whereabouts(
    project: Project,
    environment: dict[str, str],
    target: str,
    request: TrialRequest,
    *,
    imports: bool = True,
) -> Whereabouts:
    """Return where a target is, with the Python and the path of the command.

    Args:
        project: where copies are looked for.
        environment: what a trial inherits.
        target: a module, ``module:attribute``, or a file.
        request: the command; may be empty.
        imports: import the module, to say which class defines an attribute.

    Raises:
        UnknownTarget: if there is none.
    """
    cwd = Path(os.path.abspath(request.cwd or project.folder))
    whole = {**environment, **request.environment}
    start = start_of(request.command, whole, cwd)
    name, colon, attribute = target.partition(":")
    path = cwd / name
    if name.endswith(".py") or os.sep in name:
        if not path.is_file():
            raise UnknownTarget(f"there is no file `{name}`", hint="check the path and `--cwd`")
        module = module_of(path)
        if "." in path.stem:
            raise BadUsage(
                f"`{name}` has a dot in its name, so it can't be a module",
                hint="`whet probe FILE:FUNCTION -- CMD` probes a script of any name",
            )
    else:
        module = name
    # Python imports a file of any name, though no `import` statement can write it.
    if not path.is_file() and not all(part.isidentifier() for part in module.split(".")):
        raise BadUsage(
            f"`{target}` is neither a module nor a file",
            hint="write `package.module:Class.method`, or the path of a file",
        )
    if attribute and not all(part.isidentifier() for part in attribute.split(".")):
        raise BadUsage(
            f"`{attribute}` in `{target}` is not the name of a function or class",
            hint=f"write `{name}:function` or `{name}:Class.method`",
        )
    question = {
        "module": module,
        "attributes": attribute.split(".") if attribute else [],
        "split": not colon and "." in module and not path.is_file(),
        "imports": imports and bool(attribute or "." in module) and module != _script(start.script),
    }
    facts = ask_where(start, whole, cwd, question)
    target_file = next((each for each in _meant(path, module, cwd) if each), start.script)
    if "missing" in facts and target_file and module_of(Path(target_file)) == module:
        # Nothing imports it by that name, but it is a file that the command may run all the same.
        above = str(
            Path(os.path.realpath(target_file)).parents[
                module.count(".") + (Path(target_file).name == "__init__.py")
            ]
        )
        facts = ask_where(replace(start, first=above), whole, cwd, {**question, "imports": False})
    _refuse_unknown(facts, target)
    module = text(facts, "module")
    file = optional_text(facts, "file") or ""
    asked_for = str(path) if path.is_file() else ""
    copies = _copies(project, module, file, texts(facts, "copies"), asked_for)
    return Whereabouts(
        module=module,
        attributes=texts(facts, "attributes"),
        file=file,
        told=facts,
        copies=copies,
    )


def _meant(path: Path, module: str, cwd: Path) -> Iterator[str]:
    """Yield the file that was named, or that the module would have if the command put it on its path.

    pytest does so with folders of tests and of `conftest.py`, and many programs with their own.
    """
    if path.is_file():
        yield str(path)
    stem = module.replace(".", "/")
    for folder in (cwd, cwd / "src"):
        for tail in (f"{stem}.py", f"{stem}/__init__.py"):
            if (folder / tail).is_file():
                yield str(folder / tail)


def module_of(path: Path) -> str:
    """Return the name by which a file is imported: from above its topmost package."""
    path = Path(os.path.abspath(path))
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def run_counted(
    bench: Workbench, where: Whereabouts, request: TrialRequest, console: Console | None
) -> Ran:
    """Run a command, and count how often the target is called, if that can be told."""
    definition = definition_of(where.told, ".".join(where.attributes) or "*")
    probe = {
        "number": 0, "title": where.name, "kind": "call",
        "path": os.path.realpath(definition.path) if definition.path else "",
        "module": definition.module, "line": definition.line, "last": definition.line,
        "name": definition.name, "condition": "", "after": 0, "every": 1, "actions": [["count"]],
    }  # fmt: skip
    tasks = NO_TASKS
    if not definition.reason:
        wish = {"probes": [probe], "ranks": [], "most_calls": 0}
        tasks = AgentTasks(counted=json.dumps(wish))
    trial = bench.build_trial(request, live=console is not None)
    oracle = oracle_of(request.judging)
    session = Session(bench=bench, verb="where", request=request, tasks=tasks)
    result = run_trial(session, trial, oracle, console)
    return counted_in(result, definition)


def counted_in(result: RunResult, definition: Definition) -> Ran:
    """Return what the agents of a trial have counted of the target.

    Raises:
        MalformedRecordError: if they wrote something else.
    """
    loads: list[tuple[float, Load]] = []
    calls: list[tuple[float, Calls]] = []
    reason = definition.reason
    for line in _count_records(result):
        at = number(line, "at")
        if "early" in line or "unwoven" in line:
            reason = reason or (_EARLY if "early" in line else _UNWOVEN)
            continue
        if "function" not in line:
            load = Load(pid=integer(line, "pid"), file=text(line, "file"), by=_by(line))
            loads.append((at, load))
            continue
        counted_calls = Calls(
            pid=integer(line, "pid"),
            function=text(line, "function"),
            file=text(line, "file"),
            count=integer(line, "count") if "count" in line else 1,
            by=_by(line),
        )
        calls.append((at, counted_calls))
    return Ran(
        result=result,
        definition=definition,
        reason=reason,
        loads=tuple(load for _, load in sorted(loads, key=lambda each: each[0])),
        calls=tuple(counted_calls for _, counted_calls in sorted(calls, key=lambda each: each[0])),
    )


def _count_records(result: RunResult) -> list[JsonObject]:
    all_records: list[JsonObject] = []
    for each in result.evidence:
        if each.kind == COUNTS:
            all_records += records(as_record(decoded(each.data), COUNTS), "told")
    return all_records


def _by(line: JsonObject) -> tuple[tuple[str, int, str], ...]:
    return tuple(
        (str(path), whole(place), str(function))
        for path, place, function in rows(line.get("by"), 3)
    )


def _script(path: str) -> str:
    return Path(path).stem if path else ""


def _refuse_unknown(facts: JsonObject, target: str) -> None:
    """Raise if there is no such module or attribute, with the closest names."""
    missing = optional_text(facts, "missing") if "missing" in facts else None
    if missing is not None:
        python = f"`{text(facts, 'python')}`"
        if missing.endswith(".*"):
            raise UnknownTarget(
                f"`{missing[:-2]}` is a module, not a package: `{target}` cannot be in it",
                hint=f"for a name in it, write `{missing[:-2]}:name`",
            )
        raise UnknownTarget(
            f"there is no module `{missing}` for {python}",
            hint=_near(missing, texts(facts, "known"))
            or "its path: `whet where sys`; name the command that finds it: `whet where … -- CMD`",
        )
    if "missing_attribute" in facts:
        attribute = text(facts, "missing_attribute")
        raise UnknownTarget(
            f"`{text(facts, 'module')}` has no `{attribute}`",
            hint=_near(attribute, texts(facts, "known")) or f"it is {optional_text(facts, 'file')}",
        )


def _near(name: str, candidates: Sequence[str]) -> str:
    parent, _, last = name.rpartition(".")
    near = difflib.get_close_matches(last, candidates, n=3, cutoff=0.6)
    names = [f"`{parent}.{each}`" if parent else f"`{each}`" for each in near]
    return f"did you mean {' or '.join(names)}?" if names else ""


def _copies(
    project: Project, module: str, file: str, on_path: Sequence[str], asked_for: str
) -> tuple[Copy, ...]:
    """Return the other files of the name: on the path, and anywhere in the project."""
    if not file.endswith(".py"):
        return tuple(_copy(path, file, is_on_path=True) for path in on_path)
    tail = module.replace(".", "/") + ("/__init__.py" if file.endswith("__init__.py") else ".py")
    beside = files_named(tail, [project.folder]) if "." in module or asked_for else ()
    others = dict.fromkeys(on_path, True)
    real = {os.path.realpath(path) for path in (file, *on_path)}
    for path in (*([asked_for] if asked_for else []), *beside):
        if os.path.realpath(path) not in real:
            real.add(os.path.realpath(path))
            others[path] = False
    return tuple(_copy(path, file, is_on_path=others[path]) for path in others)


def _copy(path: str, file: str, *, is_on_path: bool) -> Copy:
    try:
        same = Path(path).read_bytes() == Path(file).read_bytes()
        newer = Path(path).stat().st_mtime > Path(file).stat().st_mtime
    except OSError:
        same = newer = False
    return Copy(path=path, is_on_path=is_on_path, is_same=same, is_newer=newer)


def classes_of(facts: JsonObject, name: str) -> tuple[JsonObject, ...]:
    """Return classes in the answer; none if it has none."""
    return records(facts, name) if name in facts else ()


def warnings_of(where: Whereabouts) -> list[str]:
    """Return what is likely to mislead whoever edits a file of this name, in sentences."""
    facts = where.told
    warnings: list[str] = []
    if boolean(facts, "is_standard") and not boolean(facts, "is_of_python"):
        warnings.append(f"`{where.file}` hides Python's own module `{where.module}`")
    hiding = [path for path in texts(facts, "shadowing") if path != where.file]
    warnings += [f"`{path}` hides Python's own module of that name" for path in hiding]
    byte_code = optional_record(facts, "byte_code")
    if byte_code is not None and byte_code.get("used") and byte_code.get("same") is False:
        warnings.append(
            f"Python runs the byte code `{text(byte_code, 'path')}`, which doesn't match the source: remove it"
        )
    if text(facts, "kind") == "byte code without a source":
        warnings.append(f"`{where.file}` is stale byte code: its source is gone")
    unsaved = unsaved_beside(where.file) if where.file else ""
    if unsaved:
        warnings.append(f"an editor has unsaved changes to `{where.file}`: `{unsaved}`")
    newer = [copy.path for copy in where.copies if copy.is_newer and not copy.is_same]
    if newer:
        warnings.append(f"`{newer[0]}` is newer and differs, but Python doesn't load it")
    return warnings
