"""``whet where``: am I editing the right file?"""

import os
import sys

import click

from whet.cli.console import answer, answer_json, say, styled
from whet.cli.display.summary import run_line
from whet.cli.options.trial import TrialCommand, json_option, trial_options, trial_request
from whet.core.text.record import JsonObject, optional_record, optional_text, text, texts
from whet.host.process.console import Console
from whet.workbench.inspect.where import (
    Ran,
    Whereabouts,
    classes_of,
    run_counted,
    warnings_of,
    whereabouts,
)
from whet.workbench.trials.bench import open_workbench

_MOST_FRAMES = 6
_MOST_COPIES = 12
_MOST_FUNCTIONS = 12


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] TARGET [-- COMMAND...]")
@click.argument("target", metavar="TARGET")
@click.option(
    "--no-import",
    is_flag=True,
    help="Don't import the module: whet then finds neither classes nor lines.",
)
@trial_options
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, *, target: str, no_import: bool, as_json: bool, **_: object
) -> int:
    """Show the file that Python really loads for a name, and other files with that name.

    TARGET is `package.module`, `package.module:Class.method`, or a file. whet uses the command's
    interpreter and path. With a command, it also runs the command: did that line run, how often,
    from which file, and who called it first?
    """
    request = trial_request(ctx)
    with open_workbench() as bench:
        where = whereabouts(
            bench.project, dict(bench.environment), target, request, imports=not no_import
        )
        if not as_json:
            for line in where_lines(where):
                answer(line)
            sys.stdout.flush()
        ran = None
        if request.command:
            ran = run_counted(bench, where, request, None if as_json else Console())
    if as_json:
        answer_json({**_json(where), "ran": None if ran is None else _ran_json(ran)})
    elif ran is not None:
        answer("")
        for line in ran_lines(where, ran):
            answer(line)
        for note in dict.fromkeys(ran.result.notes):
            say(f"whet: note: {note}")
        say(run_line(ran.result.entry, None, is_same_failure=False))
    return 0


def where_lines(where: Whereabouts) -> list[str]:
    """Return the lines that tell where a target is."""
    facts = where.told
    rows = [("target", where.name), ("loads", _loads(where))]
    if "defined_in" in facts:
        rows.append(("lines", _place(facts)))
    if "value" in facts:
        rows.append(("is", f"a value of type {text(facts, 'value')}"))
    if "wrapped_by" in facts:
        rows.append(("wrapped", f"by a decorator from {', '.join(texts(facts, 'wrapped_by'))}"))
    if "import_error" in facts:
        rows.append(("import", f"fails: {text(facts, 'import_error')}"))
    rows += [("python", f"{text(facts, 'python')} ({text(facts, 'version')})")]
    installed = optional_record(facts, "installed_by")
    if installed is not None:
        rows.append(("of", _distribution(installed)))
    rows += [("class", _class_line(each)) for each in classes_of(facts, "classes")]
    rows += [("overridden", _class_line(each)) for each in classes_of(facts, "overriders")]
    for copy in where.copies[:_MOST_COPIES]:
        words = ["on the path, but later" if copy.is_on_path else "not on the path"]
        words.append("the same text" if copy.is_same else "another text")
        if copy.is_newer:
            words.append("newer")
        rows.append(("copy", f"{copy.path}  ({', '.join(words)})"))
    if len(where.copies) > _MOST_COPIES:
        rows.append(("copy", f"… {len(where.copies) - _MOST_COPIES} more"))
    lines = [f"{styled(f'{name:>10}', 'dim', sys.stdout)}  {value}" for name, value in rows]
    warned = [f"{'warning':>10}  {each}" for each in warnings_of(where)]
    return lines + [styled(line, "yellow", sys.stdout) for line in warned]


def _loads(where: Whereabouts) -> str:
    kind = text(where.told, "kind")
    if not where.file:
        folders = ", ".join(texts(where.told, "folders"))
        made_from = optional_text(where.told, "frozen_from")
        if made_from:
            return f"{kind}, made from {made_from}"
        return f"{kind}: {folders}" if folders else f"{kind}: no file"
    imported = optional_text(where.told, "imported_file") if "imported_file" in where.told else None
    other = f", but when imported it is {imported}" if imported not in {None, where.file} else ""
    return f"{where.file}  ({kind}){other}"


def _place(facts: JsonObject) -> str:
    line, last = facts.get("line"), facts.get("last_line")
    span = f"{line}" if line == last else f"{line}-{last}"
    elsewhere = text(facts, "defined_in")
    module = text(facts, "defining_module")
    return (
        f"{elsewhere}:{span}  ({text(facts, 'qualified_name')}{f' of {module}' if module else ''})"
    )


def _distribution(installed: JsonObject) -> str:
    url = text(installed, "url")
    how = f", editable from {url}" if installed.get("editable") else f", from {url}" if url else ""
    return f"{text(installed, 'name')} {text(installed, 'version')}{how}"


def _class_line(facts: JsonObject) -> str:
    name = text(facts, "class")
    if "defined_in" not in facts:
        return name
    return f"{name}  defines it at {text(facts, 'defined_in')}:{facts.get('line')}"


def ran_lines(where: Whereabouts, ran: Ran) -> list[str]:
    """Return the lines that tell what a command did with the target."""
    lines = [ran.definition.note] if ran.definition.note else []
    if ran.reason and not ran.calls:
        line = f"whet can't tell whether {where.name} ran: {ran.reason}"
        return [*lines, styled(line, "bold", sys.stdout)]
    expected_file = ran.definition.path
    if not ran.loads and not ran.calls:
        line = f"this command never loaded {ran.definition.module or expected_file}"
        return [*lines, styled(line, "bold", sys.stdout)]
    for file in dict.fromkeys(load.file for load in ran.loads):
        pids = {load.pid for load in ran.loads if load.file == file}
        which = (
            ""
            if os.path.realpath(file) == os.path.realpath(expected_file)
            else f", NOT {expected_file}"
        )
        lines.append(f"loaded from {file}{which}, by {_count(len(pids), 'process', 'processes')}")
    words = _count(ran.count, "call", "calls")
    if not ran.calls:
        what = "none of it ran"
        if not where.attributes:
            what = "the command called none of its functions"
        elif where.told.get("is_class"):
            what = "the command called none of its own methods"
        line = f"{where.name} was loaded, but {what}"
        return [*lines, styled(line, "bold", sys.stdout)]
    least = f" at least ({ran.reason})" if ran.reason else ""
    lines.append(styled(f"{where.name} ran: {words}{least}", "bold", sys.stdout))
    functions: dict[str, int] = {}
    for each in ran.calls:
        functions[each.function] = functions.get(each.function, 0) + each.count
    if len(functions) > 1:
        ordered = sorted(functions.items(), key=lambda each: -each[1])[:_MOST_FUNCTIONS]
        lines += [f"    {number:>8} {name}" for name, number in ordered]
    first = ran.calls[0]
    lines.append(f"first called in process {first.pid}, innermost first:")
    lines += [
        f"    {path}:{line} in {name}" for path, line, name in reversed(first.by[-_MOST_FRAMES:])
    ]
    return lines


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _json(where: Whereabouts) -> dict[str, object]:
    return {
        "module": where.module,
        "attributes": list(where.attributes),
        "file": where.file,
        "told": dict(where.told),
        "copies": [copy.to_json() for copy in where.copies],
        "warnings": warnings_of(where),
    }


def _ran_json(ran: Ran) -> dict[str, object]:
    return {
        "trial": ran.result.entry.number,
        "loads": [{"pid": load.pid, "file": load.file} for load in ran.loads],
        "count": ran.count,
        "note": ran.definition.note,
        "cannot_be_told": ran.reason,
        "calls": [each.to_json() for each in ran.calls],
    }
