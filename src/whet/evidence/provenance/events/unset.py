"""Why an object doesn't have an attribute that a method of its class sets."""

import ast
from collections.abc import Iterator
from functools import cached_property

from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.control import Control, Decision
from whet.evidence.provenance.run.recording import Call, Raised, Recording, Step, Value
from whet.evidence.provenance.run.source import Sources
from whet.host.inspect.stacks import is_user_code

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_MOST_BASES = 20


@value_class
class Setting:
    """A line that gives an object an attribute.

    Attributes:
        owner: the class whose method it is in.
        place: how far up the class is in the order of inheritance; 0: it is the object's own.
    """

    path: str
    owner: str
    place: int
    method: _FUNCTION
    line: int

    @property
    def name(self) -> str:
        """The method, as a reader calls it."""
        return f"{self.owner}.{self.method.name}"


@value_class
class UnderWay:
    """The method is still being run, and its line comes later."""

    setting: Setting
    step: Step


@value_class
class PassedOver:
    """The method was run and did not come to its line: for a test, or for an error."""

    setting: Setting
    decision: Decision | None
    error: Raised | None


@value_class
class NeverRun:
    """The method was not run for the object.

    Attributes:
        instead: the method of a class below that was; None: there is none.
    """

    setting: Setting
    instead: Setting | None


Unset = UnderWay | PassedOver | NeverRun


class Attributes:
    """Looks for what should have set an attribute, in one recording."""

    def __init__(self, recording: Recording, sources: Sources, control: Control) -> None:
        """Make it ready."""
        self._all = recording
        self._sources = sources
        self._control = control

    def unset(self, holder: Value, name: str, failing: Failing) -> Unset | None:
        """Return why an object has no such attribute; None: nothing tells, or it was set once."""
        found: list[Unset] = []
        for setting in self._settings(holder, name):
            calls = self._runs(setting, holder)
            if calls is None:
                return None
            if not calls:
                found.append(NeverRun(setting, self._instead(setting, holder)))
            for call in calls:
                if any(step.line == setting.line for step in call.steps):
                    return None
                found.append(self._left(setting, call, failing))
        kinds = (UnderWay, PassedOver, NeverRun)
        found.sort(
            key=lambda each: (kinds.index(type(each)), each.setting.method.name != "__init__")
        )
        return found[0] if found else None

    def _left(self, setting: Setting, call: Call, failing: Failing) -> Unset:
        if any(each is call for each in failing.call.around):
            step = call.step_at(failing.error.moment)
            if step is not None:
                return UnderWay(setting, step)
        error = next((each for each in reversed(self._all.errors) if each.call is call), None)
        return PassedOver(setting, self._control.kept_from(call, setting.line), error)

    def _runs(self, setting: Setting, holder: Value) -> list[Call] | None:
        """Return the calls of a method for an object; None: not all calls of it are known."""
        steps = self._all.steps
        if not is_user_code(setting.path) or not steps or steps[0].begin > 1:
            return None
        starts = {each.lineno for each in (setting.method, *setting.method.decorator_list)}
        arguments = [*setting.method.args.posonlyargs, *setting.method.args.args]
        found: list[Call] = []
        for call in self._all.calls:
            code = call.code
            if code.path != setting.path or code.first_line not in starts or not arguments:
                continue
            own = self._all.held(call, arguments[0].arg, call.began)
            if own is None:
                return None
            if own.number == holder.number:
                found.append(call)
        return found

    def _instead(self, setting: Setting, holder: Value) -> Setting | None:
        """Return the method of the same name that was run instead of another one."""
        for place, (path, owner) in enumerate(self._line(holder)[: setting.place]):
            for method in _methods(owner):
                one = Setting(path, owner.name, place, method, method.lineno)
                if method.name == setting.method.name and self._runs(one, holder):
                    return one
        return None

    def _settings(self, holder: Value, name: str) -> Iterator[Setting]:
        for place, (path, owner) in enumerate(self._line(holder)):
            for method in _methods(owner):
                line = _line_setting(method, name)
                if line:
                    yield Setting(path, owner.name, place, method, line)

    def _line(self, holder: Value) -> list[tuple[str, ast.ClassDef]]:
        """Return the class of an object and those that it inherits from, as far as they are written out."""
        found: list[tuple[str, ast.ClassDef]] = []
        waiting = [holder.type.rpartition(".")[2]]
        while waiting and len(found) < _MOST_BASES:
            for each in self._classes.get(waiting.pop(0), ()):
                if each not in found:
                    found.append(each)
                    waiting += [_last_name(base) for base in each[1].bases]
        return found

    @cached_property
    def _classes(self) -> dict[str, list[tuple[str, ast.ClassDef]]]:
        found: dict[str, list[tuple[str, ast.ClassDef]]] = {}
        for path in dict.fromkeys(call.code.path for call in self._all.calls):
            for node in ast.walk(self._sources[path].tree):
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append((path, node))
        # If several classes have this name, it may be any of them.
        return {name: several for name, several in found.items() if len(several) == 1}


def _methods(owner: ast.ClassDef) -> Iterator[_FUNCTION]:
    yield from (each for each in owner.body if isinstance(each, _FUNCTION))


def _line_setting(method: _FUNCTION, name: str) -> int:
    """Return the line in which a method sets an attribute of its object; 0: it doesn't."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    for node in ast.walk(method) if arguments else ():
        match node:
            case ast.Attribute(value=ast.Name(id=own), attr=attribute, ctx=ast.Store()):
                if (own, attribute) == (arguments[0].arg, name):
                    return node.lineno
            case _:
                pass
    return 0


def _last_name(base: ast.expr) -> str:
    match base:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value):
            return _last_name(value)
        case _:
            return ""
