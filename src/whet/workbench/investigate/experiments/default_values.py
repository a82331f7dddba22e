"""Which default took the place of a value that was given, as a failing run shows; and the changes without it."""

import ast
from collections.abc import Iterator

from whet.core.observations.clue import Placing
from whet.core.value_class import value_class
from whet.evidence.experiments.changes import Change
from whet.evidence.experiments.default_otherwise import (
    MISSING,
    Merge,
    Option,
    choices_in,
    literals_in,
    merges_in,
    options_in,
)
from whet.evidence.provenance.run.recording import Recording, Step, Value
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.walk import Walk

_MOST_CHANGES = 6
_MOST_STEPS = 50
_OWN = frozenset({"vars", "asdict", "_asdict"})


@value_class(eq=False)
class _Met:
    """A key that had two values where they met.

    Attributes:
        path, line: where.
        lost, won: the values, as they are written.
        source: what the lost one was in.
        side: which of the sides of a merge that is.
    """

    path: str
    line: int
    lost: str
    won: str
    source: str
    side: int = 0


@value_class(eq=False)
class Defaults:
    """What a failing run shows of defaults.

    Attributes:
        recording: its steps.
        at: how places are written.
    """

    recording: Recording
    at: Placing

    def changes(self) -> list[tuple[str, Change]]:
        """Return the changes without a default, or with a given value instead of one."""
        sources = Sources()
        trees = {each.code.path: sources[each.code.path].tree for each in self.recording.calls}
        walk = Walk(self.recording, sources)
        found = [*self._options(trees, walk), *self._merges(trees, walk)]
        return found[:_MOST_CHANGES]

    def _options(self, trees: dict[str, ast.Module], walk: Walk) -> Iterator[tuple[str, Change]]:
        options = [(path, each) for path, tree in trees.items() for each in options_in(tree)]
        for path, option in options:
            there = self.at(path, option.call.lineno)
            for met in self._met(option, trees, walk):
                if met.won != option.default:
                    continue
                for missing in MISSING:
                    yield path, Change(
                        node=option.call, place=(met.path, met.line),
                        what=f"the default of `{option.name}`, {met.won} ({there}), counts as given and takes the place"
                        f" of {met.lost} from `{met.source}`",
                        instead="no default for it", edit=option.without(missing),
                        advice=f"by having no default at {there}: put it in where nothing else says the value",
                    )  # fmt: skip
                break

    def _met(self, option: Option, trees: dict[str, ast.Module], walk: Walk) -> Iterator[_Met]:
        """Yield where an option's default has met another value of its name."""
        for path, tree in trees.items():
            for merge in merges_in(tree):
                for step in self._steps(path, merge.node.lineno):
                    both = _both(self.recording, walk, merge, step)
                    yield from (met for key, met in both if key == repr(option.name))
            yield from self._chosen(option, path, tree, walk)
            yield from self._stored(option, path, tree, walk)

    def _chosen(self, option: Option, path: str, tree: ast.Module, walk: Walk) -> Iterator[_Met]:
        """Yield the choices of an option's value that leave another one."""
        for node, one, other in choices_in(tree):
            if isinstance(one, ast.Attribute) and one.attr == option.name:
                for step in self._steps(path, node.lineno):
                    lost, won = (walk.now.value(each, step.frame, step) for each in (other, one))
                    if lost is not None and won is not None and won.words != lost.words:
                        yield _Met(path, node.lineno, lost.words, won.words, ast.unparse(other))

    def _stored(self, option: Option, path: str, tree: ast.Module, walk: Walk) -> Iterator[_Met]:
        """Yield the stores of an option's value under a key that has another one."""
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Subscript(value=holder, slice=key)], value=value):
                    pass
                case _:
                    continue
            for step in self._steps(path, node.lineno):
                asked = (walk.now.value(each, step.frame, step) for each in (holder, key, value))
                held, name, won = asked
                if name is None or won is None or name.words != repr(option.name):
                    continue
                lost = self.recording.part(held, name.words)
                if lost is not None and lost.words != won.words:
                    source = _made(tree, holder, node)
                    yield _Met(path, node.lineno, lost.words, won.words, source)

    def _merges(self, trees: dict[str, ast.Module], walk: Walk) -> Iterator[tuple[str, Change]]:
        """Yield the keys for which a dict of the program's text wins over one that came from elsewhere."""
        literals = {
            name: (path, line)
            for path, tree in trees.items()
            for name, (_, line) in literals_in(tree).items()
        }
        for path, tree in trees.items():
            for merge in merges_in(tree):
                names = [each.id if isinstance(each, ast.Name) else "" for each in merge.sides]
                if names[-1] not in literals or all(each in literals for each in names):
                    continue
                met = {
                    k: m
                    for step in self._steps(path, merge.node.lineno)
                    for k, m in _both(self.recording, walk, merge, step)
                }
                met = {k: m for k, m in met.items() if names[m.side] not in literals}
                for key, each in met.items():
                    yield path, Change(
                        node=merge.node,
                        what=f"`{ast.unparse(merge.node)}` puts the default {key}: {each.won} ({self.at(*literals[names[-1]])}) in the"
                        f" place of {each.lost} from `{each.source}`",
                        instead=f"{each.lost} kept", edit=merge.keeping(key, each.side),
                        beside=tuple(merge.keeping(k, m.side) for k, m in met.items() if k != key),
                        advice=f"by putting `{names[-1]}` first",
                    )  # fmt: skip

    def _steps(self, path: str, line: int) -> list[Step]:
        found = (
            each for each in self.recording.steps
            if each.line == line and each.frame.code.path == path and each.result is None
        )  # fmt: skip
        return [each for each, _ in zip(found, range(_MOST_STEPS), strict=False)]


def _both(recording: Recording, walk: Walk, merge: Merge, step: Step) -> Iterator[tuple[str, _Met]]:
    """Yield the keys for which the last side wins over another value."""
    held = [_held(recording, walk, each, step) for each in merge.sides]
    for key, won in held[-1].items():
        sides = [place for place, each in enumerate(held[:-1]) if key in each]
        if sides and held[sides[-1]][key].words != won.words:
            lost, source = held[sides[-1]][key].words, ast.unparse(merge.sides[sides[-1]])
            place = step.frame.code.path, merge.node.lineno
            yield key, _Met(*place, lost, won.words, source, sides[-1])


def _held(recording: Recording, walk: Walk, side: ast.expr, step: Step) -> dict[str, Value]:
    """Return what a side of a merge held, by the keys as they are written."""
    match side:
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in _OWN:
            is_object = True
        case ast.Attribute(value=inner, attr="__dict__"):
            is_object = True
        case inner:
            is_object = False
    value = walk.now.value(inner, step.frame, step)
    if value is None:
        return {}
    parts = recording.parts(value)
    return {repr(key) if is_object else key: part for key, part in parts}


def _made(tree: ast.Module, holder: ast.expr, before: ast.stmt) -> str:
    """Return what a name was given last, in the text above a statement; else the name."""
    source = ast.unparse(holder)
    given = [
        ast.unparse(each.value)
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign)
        and each.lineno < before.lineno
        and ast.unparse(each.targets[0]) == source
    ]
    return given[-1] if given else source
