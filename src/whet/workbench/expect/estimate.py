"""`whet expect --estimate`: the least that a step of a model can take here, before it runs."""

import ast
import json
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import whet.agent.estimate
from whet.core.errors import (
    CannotWrite,
    LibraryMissing,
    NotEstimated,
    UnknownTarget,
)
from whet.core.text.record import (
    MalformedRecordError,
    as_record,
    boolean,
    decoded,
    integer,
    number,
    record,
    records,
    rows,
    text,
    texts,
)
from whet.core.value_class import value_class
from whet.host.files.files import write_atomically
from whet.host.files.user_state import make_private, user_state
from whet.host.python.asked_python import AskedPython
from whet.host.python.python_interpreter import python_for
from whet.measurement.expectations.roofline import Machine, Operator, least_seconds
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.request import TrialRequest

_SCRIPT = Path(whet.agent.estimate.__file__).with_name("worker.py")
_LIBRARIES = ("torch", "jax")
_FILE = "machines.json"


@value_class(kw_only=True)
class StepTarget:
    """The function that is one step.

    Attributes:
        words: as the user named it.
        file: its file; empty: it is in a module.
        module: its module; empty: it is in a file.
        function: its name.
        library: ``torch`` or ``jax``.
    """

    words: str
    file: str
    module: str
    function: str
    library: str

    def asks(self, task: str) -> dict[str, object]:
        """Return the request for a task about it."""
        return {
            "task": task, "library": self.library, "file": self.file, "module": self.module,
            "function": self.function,
        }  # fmt: skip


@value_class(kw_only=True)
class StepEstimate:
    """What a step costs at least.

    Attributes:
        target: the step.
        operators: what it does, the most arithmetic first.
        memory: bytes by what they are for; ``peak`` is the most at one moment.
        dtype: of most of the arithmetic.
        device: where its tensors are.
        threads: that the library uses.
        uncounted: operators that keep more inside than is counted.
        was_built: its module was loaded as it is: nothing of it could stay without data.
        machine: what this machine reaches.
        least_seconds: the time that it takes at least.
        seconds: the shortest time of a real run; None: it wasn't run.
        runs: how often it was run.
        held_bytes: the most that the tensors of a real run held; None: it wasn't run, or can't be told.
    """

    target: StepTarget
    operators: tuple[Operator, ...]
    memory: Mapping[str, int]
    dtype: str
    device: str
    threads: int
    uncounted: tuple[str, ...]
    was_built: bool
    machine: Machine
    least_seconds: float
    seconds: float | None = None
    runs: int = 0
    held_bytes: int | None = None


def find_step(words: str, cwd: Path) -> StepTarget:
    """Return the step that ``FILE.py:FUNCTION`` or ``package.module:FUNCTION`` means.

    Raises:
        UnknownTarget: if it names no function, or its file isn't there.
    """
    place, colon, function = words.rpartition(":")
    if not colon or not place or not function:
        raise UnknownTarget(
            f"`--estimate {words}` names no function",
            hint="write `--estimate train.py:step`; `step` takes no arguments and does one step",
        )
    is_file = place.endswith(".py") or os.sep in place
    file = cwd / place if is_file else cwd / (place.replace(".", os.sep) + ".py")
    if is_file and not file.is_file():
        raise UnknownTarget(f"there is no file `{file}`", hint="check the path and `--cwd`")
    return StepTarget(
        words=words,
        file=str(file) if is_file else "",
        module="" if is_file else place,
        function=function,
        library=_library(file),
    )


def estimate_step(
    bench: Workbench,
    request: TrialRequest,
    target: StepTarget,
    *,
    python: str = "",
    is_timed: bool = False,
    measures_again: bool = False,
) -> StepEstimate:
    """Estimate a step, and compare it with a real run if that is asked for.

    Raises:
        NotEstimated: if its operators can't be seen without data, or it fails.
        LibraryMissing: if its Python doesn't have the library.
    """
    step = _Step(bench, request, target, python)
    told = step.estimate()
    operators = tuple(
        Operator(
            name=text(each, "name"),
            calls=tuple((float(str(a)), float(str(b))) for a, b in rows(each["calls"], 2)),
        )
        for each in records(told, "operators")
    )
    machine = step.machine(told, measures_again=measures_again)
    seconds, runs, held = None, 0, None
    if is_timed:
        timed = step.ask("run")
        seconds, runs = number(timed, "seconds"), integer(timed, "runs")
        if target.library == "torch":
            held = integer(step.ask("hold"), "memory")
        if seconds < least_seconds(operators, machine):
            # The machine was too busy when it was measured: what it reaches can only rise.
            machine = step.machine(told, measures_again=True)
    return StepEstimate(
        target=target,
        operators=operators,
        memory={name: integer(record(told, "memory"), name) for name in record(told, "memory")},
        dtype=text(told, "dtype"),
        device=text(told, "device"),
        threads=integer(told, "threads"),
        uncounted=texts(told, "uncounted"),
        was_built=boolean(told, "was_built"),
        machine=machine,
        least_seconds=least_seconds(operators, machine),
        seconds=seconds,
        runs=runs,
        held_bytes=held,
    )


class _Step:
    """One step, and the Python that knows it."""

    def __init__(
        self, bench: Workbench, request: TrialRequest, target: StepTarget, python: str
    ) -> None:
        self._environment = {**bench.environment, **request.environment}
        self._cwd = Path(os.path.abspath(request.cwd or bench.project.folder))
        self._target = target
        command = request.command or ("python",)
        self._python = python or python_for(command, self._environment, self._cwd)

    def ask(self, task: str, **more: object) -> dict[str, object]:
        """Have a Python of its own do a task: none is to see what another one has left."""
        with AskedPython(
            self._python, _SCRIPT, cwd=self._cwd, environment=self._environment,
            task=f"looked at `{self._target.words}`",
        ) as asked:  # fmt: skip
            answer = asked.ask({**self._target.asks(task), **more})
        if "refused" not in answer:
            return answer
        message = text(answer, "message")
        if "ModuleNotFoundError" in message and f"'{self._target.library}'" in message:
            raise LibraryMissing(
                f"`{self._python}` has no `{self._target.library}`",
                hint="name the Python of your program: `--python PATH`",
            )
        if text(answer, "refused") == "unknown":
            raise UnknownTarget(message, hint="check its name")
        raise NotEstimated(
            f"whet can't {_DOING[task]} `{self._target.words}`: {message}",
            hint=_hint(task, message),
        )

    def estimate(self) -> dict[str, object]:
        """Return what the step's shapes tell; if its module needs data, it is loaded as it is."""
        try:
            return self.ask("estimate", is_built=False)
        except NotEstimated:
            return self.ask("estimate", is_built=True)

    def machine(self, told: Mapping[str, object], *, measures_again: bool) -> Machine:
        """Return what this machine reaches; measured once for each kind of number."""
        settings = {name: told[name] for name in ("dtype", "device", "threads", "precision")}
        words = [platform.node(), _processor(), self._target.library, str(told["version"])]
        key = " | ".join([*words, *(f"{name} {value}" for name, value in settings.items())])
        known = known_machines(self._environment)
        old = known.get(key)
        if old is not None and not measures_again:
            return old
        found = self.ask("machine", **settings)
        machine = Machine(flops=number(found, "flops"), bytes_moved=number(found, "bytes"))
        if old is not None:
            machine = Machine(
                flops=max(old.flops, machine.flops),
                bytes_moved=max(old.bytes_moved, machine.bytes_moved),
            )
        _keep_machines(self._environment, {**known, key: machine})
        return machine


_DOING = {
    "estimate": "estimate",
    "run": "run",
    "hold": "run",
    "machine": "measure this machine for",
}


def _hint(task: str, message: str) -> str:
    if task == "estimate" and ("DataDependent" in message or "data" in message.lower()):
        return "the step asks for values, such as `.item()`; estimate a function without that line"
    return "it is called without arguments; does it run in your own program?"


def _library(file: Path) -> str:
    """Return which library a file uses, by its imports."""
    with suppress(OSError, SyntaxError, ValueError):
        names: set[str] = set()
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                names |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
        if "jax" in names and "torch" not in names:
            return "jax"
    return "torch"


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def known_machines(environment: Mapping[str, str]) -> dict[str, Machine]:
    """Return what was measured of machines before, by their names."""
    with suppress(OSError, MalformedRecordError, CannotWrite):
        told = as_record(decoded((user_state(environment) / _FILE).read_bytes()), "machines")
        return {key: Machine.from_json(record(told, key)) for key in told}
    return {}


def _keep_machines(environment: Mapping[str, str], machines: Mapping[str, Machine]) -> None:
    """Keep what was measured; where that can't be done, it is measured again the next time."""
    with suppress(OSError, CannotWrite):
        folder = user_state(environment)
        make_private(folder)
        data = json.dumps({key: each.to_json() for key, each in machines.items()})
        write_atomically(folder / _FILE, data.encode(), mode=0o600)
