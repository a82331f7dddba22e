"""What a program has written into a file that one of its lines reads again, in the same run."""

import ast
from collections.abc import Iterator
from pathlib import Path

from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import (
    CONTAINER,
    SCALAR,
    Event,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import Sources, head
from whet.evidence.provenance.trace.moments import Moments

_WRITING = frozenset("wax+")
_LEVELS = 3
_PUTS = frozenset({"write", "writelines"})


@value_class(eq=False)
class Written:
    """What a line wrote.

    Attributes:
        expr: what is written there.
        step: the line.
        value: what it was, or of a text what it was made of; None: not known.
    """

    expr: ast.expr
    step: Step
    value: Value | None


def written_for(
    expr: ast.expr, step: Step, recording: Recording, sources: Sources, now: Moments
) -> Written | None:
    """Return what was written as that which a line reads from a file; None: that isn't sure.

    Args:
        expr: the line's call.
        step: the line.
        recording: the run.
        sources: the program.
        now: tells what expressions were.
    """
    read = _opened_for(expr, step, recording, sources)
    if read is None:
        return None
    path = _path_of(read, recording)
    for event in reversed(recording.events):
        if event.moment >= read.moment:
            continue
        if event.name == "open" and "a" in _mode(event) and _path_of(event, recording) == path:
            return None  # it holds more than that
        if event.name == "os.rename" and _whole(event.words[1], event, recording) == path:
            path = _whole(event.words[0], event, recording)
        if event.name == "open" and _is_writing(event) and _path_of(event, recording) == path:
            return _given_to(event, recording, sources, now)
    return None


def is_what_was_written(written: Value | None, read: Value | None, recording: Recording) -> bool:
    """Whether a value may be one that was written, or is in it: others may have written the file since."""
    if written is None or read is None:
        return False
    return any(_is_alike(each, read, recording) for each in _inside(written, recording, _LEVELS))


def _inside(value: Value, recording: Recording, levels: int) -> Iterator[Value]:
    yield value
    for _, part in recording.parts(value) if levels else ():
        yield from _inside(part, recording, levels - 1)


def _is_alike(written: Value, read: Value, recording: Recording) -> bool:
    if written.kind != CONTAINER:
        return written.is_same(read)
    parts = dict(recording.parts(written))
    return (written.kind, written.size) == (read.kind, read.size) and all(
        key in parts and (part.kind != SCALAR or part.is_same(parts[key]))
        for key, part in recording.parts(read)
    )


def _opened_for(expr: ast.expr, step: Step, recording: Recording, sources: Sources) -> Event | None:
    """Return how the file was opened that a line reads: by itself, or under a name that it uses."""
    names = {each.id for each in ast.walk(expr) if isinstance(each, ast.Name)}
    for event in reversed(recording.events):
        at = _step_of(event, step) if event.name == "open" else None
        if at is None or event.moment > step.over or _is_writing(event):
            continue
        if at is step or _file_name(at, sources) in names:
            return event
    return None


def _step_of(event: Event, near: Step) -> Step | None:
    """Return the line of a call that an event belongs to; None: to none of that call."""
    if event.path != near.frame.code.path or event.moment < near.frame.began:
        return None
    at = near.frame.step_at(event.moment)
    return at if at is not None and at.line == event.line else None


def _file_name(step: Step, sources: Sources) -> str:
    """Return the name that a line gives to the file that it opens: `with open(path) as file`."""
    match sources[step.frame.code.path].statement(step.line):
        case ast.With(items=[ast.withitem(optional_vars=ast.Name(id=name))]):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return ""


def _given_to(event: Event, recording: Recording, sources: Sources, now: Moments) -> Written | None:
    """Return the one thing that went into a file after it was opened."""
    calls = [each for each in recording.calls if each.began <= event.moment]
    steps = (_step_of(event, each.steps[0]) for each in reversed(calls) if each.steps)
    opening = next((each for each in steps if each is not None), None)
    if opening is None:
        return None
    name = _file_name(opening, sources)
    if not name:
        return _one(_beside_path(opening, event, sources, now), now)
    puts = [
        (given, step)
        for step in opening.frame.steps
        if step.result is None and step.begin > opening.begin
        for given in _put_under(name, step, sources)
    ]
    return _one(iter(puts), now)


def _one(puts: Iterator[tuple[ast.expr, Step]], now: Moments) -> Written | None:
    """Return what was put into a file, if that was one thing."""
    found = list(puts)
    if len(found) != 1:
        return None
    ((expr, step),) = found
    value = now.value(expr, step.frame, step)
    if value is None and isinstance(expr, ast.Call) and expr.args:  # `dumps(found)`
        value = now.value(expr.args[0], step.frame, step)
    return Written(expr, step, value)


def _put_under(name: str, step: Step, sources: Sources) -> Iterator[ast.expr]:
    """Yield what a line puts into the file with a name: `json.dump(found, file)`, `file.write(text)`."""
    for node in head(sources[step.frame.code.path].statement(step.line)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=file), attr=attr), args=[given]) if (
                file == name and attr in _PUTS
            ):
                yield given
            case ast.Call(args=[given, ast.Name(id=file), *_]) if file == name:
                yield given
            case ast.Call(args=[ast.Name(id=file), given, *_]) if file == name:
                yield given
            case _:
                pass


def _beside_path(
    step: Step, event: Event, sources: Sources, now: Moments
) -> Iterator[tuple[ast.expr, Step]]:
    """Yield what a line gives to a call that opens the file itself: `save(path, found)`."""
    name = Path(event.words[0]).name
    for node in head(sources[step.frame.code.path].statement(step.line)):
        match node:
            case ast.Call(func=ast.Attribute(attr="write_text" | "write_bytes"), args=[given, *_]):
                yield given, step
                return
            case ast.Call(func=func, args=args):
                receiver = [func.value] if isinstance(func, ast.Attribute) else []
            case _:
                continue
        for each in (*args, *receiver):
            value = now.value(each, step.frame, step)
            is_data = value is not None and value.number and value.type != "module"
            if value is not None and is_data and name not in value.words:
                yield each, step
                return


def _path_of(event: Event, recording: Recording) -> str:
    return _whole(event.words[0], event, recording)


def _whole(name: str, event: Event, recording: Recording) -> str:
    return str(Path(recording.folder, event.folder, name))


def _is_writing(event: Event) -> bool:
    return bool(_WRITING.intersection(_mode(event)))


def _mode(event: Event) -> str:
    return event.words[1] if len(event.words) > 1 else "r"
