"""`whet tiny MODEL -- COMMAND {}`: the smallest model on which a command fails the same way."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from whet.core.budget import Budget, StopReason
from whet.core.errors import (
    BudgetTooSmall,
    ModelUnsolved,
    PayloadNotInCommand,
    PayloadTooLarge,
)
from whet.core.text.quantity import shown_count
from whet.core.text.record import integer, record, rows, text, whole
from whet.core.trial import Trial, put_path
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.execution.warm_search import WarmSearch
from whet.host.code.folders import pack_folder, replace_folder
from whet.host.files.files import remove_tree
from whet.host.files.memory import memory_left
from whet.host.python.python_interpreter import python_for
from whet.search.proposal import Search
from whet.search.subsets.sizes import NeededSizes, Sizes, needed_sizes
from whet.workbench.files.pasted_line import stored_line
from whet.workbench.tiny.model_maker import ModelMaker, model_maker
from whet.workbench.tiny.tiny import TinyOptions, place_of
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.command_search import CommandOptions, CommandSearch
from whet.workbench.trials.investigation import PastedLine, Reproduction
from whet.workbench.trials.payload import PLACEHOLDER, bind_payloads
from whet.workbench.trials.reproduce import Baseline, reproduce, with_patience
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.trials.tested import Tested

MOST_TRIALS = 60
_WORDS = (
    (r"kv|key_value", "key-value head"),
    (r"heads?$", "head"),
    (r"layers?$|depth", "layer"),
    (r"experts?$", "expert"),
    (r"position", "position"),
    (r"vocab", "token"),
)
_BYTES_A_PARAMETER = 4
_COPIES = 3  # the model, what is written, and what the command reads


@value_class(kw_only=True)
class Dimension:
    """A number of the configuration that can be lowered.

    Attributes:
        name: its field.
        reference: its value in the reference.
        tiny: its small value.
        least: the least that is tried if the small value fails too.
    """

    name: str
    reference: int
    tiny: int
    least: int


@value_class(kw_only=True)
class SmallestModel:
    """The smallest model on which a command fails as it does on the reference.

    Attributes:
        folder: where it is.
        model_class: its class.
        params: how many parameters it has, or what the sizes of an estimator add up to.
        reference_params: how many the reference has.
        counts: what these count: `parameters` or `sizes`.
        summary: the failure in a line.
        needed: the dimensions that the failure needs, with the least value of each.
        unmade: lesser values of them of which no model can be made, so that they weren't tried.
        sizes: every dimension as it is now.
        dimensions: what could be lowered.
        reproduction: how the command failed on the reference.
        seconds: how long it takes on the smallest.
        line: what to paste.
        stopped: why the search ended.
        trials: how many runs there were after the first ones.
        warm: how many of them ran on from a frozen copy.
    """

    folder: str
    model_class: str
    params: int
    reference_params: int
    counts: str
    summary: str
    needed: tuple[tuple[str, int], ...]
    unmade: Mapping[str, tuple[int, ...]]
    sizes: Mapping[str, int]
    dimensions: tuple[Dimension, ...]
    reproduction: Reproduction
    seconds: float
    line: PastedLine
    stopped: StopReason
    trials: int
    warm: int

    @property
    def needs(self) -> str:
        """What the failure needs, in words: ``at least 3 heads (n_head); nothing else matters``."""
        if not self.needed:
            return "no dimension: it fails the same way with the smallest of each"
        words = _WORDS if self.counts == "parameters" else ()
        needed = [
            f"{_counted(name, value, words)} ({name}{_not_tried(self.unmade.get(name, ()))}"
            f"{'' if self.sizes[name] == value else f'; {self.sizes[name]:,} here, to fit the rest'})"
            for name, value in self.needed
        ]
        return f"at least {' and '.join(needed)}; nothing else matters"


def _counted(name: str, value: int, words: Iterable[tuple[str, str]]) -> str:
    for pattern, noun in words:
        if re.search(pattern, name):
            return shown_count(value, noun)
    return str(value)


def _not_tried(values: tuple[int, ...]) -> str:
    if not values:
        return ""
    shown = f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"
    return f"; {shown} can't be built"


def smallest_model(
    bench: Workbench,
    request: TrialRequest,
    options: TinyOptions,
    budget: Budget,
    known: Baseline | None = None,
) -> SmallestModel:
    """Search the smallest model on which the command fails the same way.

    Args:
        bench: the workbench.
        request: the command; `{}` stands for the model's folder.
        options: which model, and where the small one goes.
        budget: when to stop.
        known: how it fails on the reference, if that is known; None: it runs there first.

    Raises:
        PayloadNotInCommand: if no `{}` stands for the model's folder.
        BaselineDoesNotFail: if it doesn't fail on the reference.
        ModelUnsolved: if the reference is too large for this machine.
    """
    if not any(PLACEHOLDER in word for word in request.command):
        raise PayloadNotInCommand(
            f"`{{}}` isn't in the command `{' '.join(request.command)}`",
            hint="write `{}` where the model's folder belongs",
        )
    target = place_of(bench, options)
    trial = bench.for_search(bench.build_trial(request), [target])
    cwd = Path(trial.cwd)
    python = options.python or python_for(trial.command, bench.environment, cwd)
    with (
        model_maker(bench, python, Path.cwd(), may_download=options.may_download) as maker,
        open_session(bench, "tiny", request, trial) as session,
    ):
        search = _Search(session, trial, maker, options, known)
        try:
            found = search.run(target, budget)
        finally:
            bench.cleanup_journal.discard(search.place)
        session.conclude(found.stopped, {"needed": dict(found.needed), "folder": found.folder})
    return found


class _Search:
    """One search: what it knows of the models that it has built."""

    def __init__(
        self,
        session: Session,
        trial: Trial,
        maker: ModelMaker,
        options: TinyOptions,
        known: Baseline | None,
    ) -> None:
        self._session = session
        self._trial = trial
        self._maker = maker
        self._options = options
        self._known = known
        self._digests: dict[Sizes, str] = {}
        self._params: dict[Sizes, int] = {}
        self._built: dict[Sizes, Mapping[str, object]] = {}
        self._seconds: dict[Sizes, float] = {}
        self._dimensions: tuple[Dimension, ...] = ()
        self._result: NeededSizes | None = None
        self._counts = "parameters"
        self.place = session.bench.cleanup_journal.temporary_folder()

    def run(self, target: Path, budget: Budget) -> SmallestModel:
        """Reproduce the failure on the reference, then search."""
        opened = self._maker.ask({**self._options.request, "task": "open"})
        self._dimensions = tuple(map(_dimension, rows(opened["dimensions"], 4)))
        self._counts = str(opened.get("counts", self._counts))
        self._refuse_large(integer(opened, "reference_params"))
        baseline = self._known or reproduce(self._session, self._on(self._reference()))
        spent = 0.0
        if self._known is None:
            spent = baseline.reproduction.wall_seconds * baseline.reproduction.attempts
        usual = baseline.reproduction.wall_seconds
        search = CommandSearch(
            session=self._session,
            oracle=baseline.oracle,
            repeats=baseline.repeats,
            options=CommandOptions(
                budget=replace(budget.less(spent, 0), trials=MOST_TRIALS), jobs=1
            ),
            begin=lambda _: self._needed(),
            as_trial=partial(self._on_sizes, usual_seconds=usual),
            label=self._label,
            best=tuple(each.reference for each in self._dimensions),
            heard=self._heard,
            warm=WarmSearch(self._session.bench.cleanup_journal, judge=baseline.oracle.judge),
        )
        stopped = search.run()
        needed = self._result or self._best_so_far()
        packed = bench_content(self._session.bench, self._digests[needed.sizes])
        replace_folder(target, packed, self._session.bench.cleanup_journal)
        failure = baseline.outcome.failure
        built = self._built[needed.sizes]
        return SmallestModel(
            folder=str(target),
            model_class=text(opened, "class"),
            params=self._params[needed.sizes],
            reference_params=integer(opened, "reference_params"),
            counts=self._counts,
            summary=baseline.oracle.description if failure is None else failure.summary,
            needed=tuple(
                (self._dimensions[place].name, needed.sizes[place]) for place in needed.needed
            ),
            unmade=self._unmade(needed),
            sizes={each: whole(size) for each, size in built.items()},
            dimensions=self._dimensions,
            reproduction=baseline.reproduction,
            seconds=self._seconds[needed.sizes],
            line=stored_line(self._session, self._on(target), baseline, baseline.oracle),
            stopped=stopped,
            trials=search.trials,
            warm=search.came_warm,
        )

    def _needed(self) -> Search[Sizes, NeededSizes]:
        """Search from the reference down to the small values, and from there to the least."""
        tiny = tuple(each.tiny for each in self._dimensions)
        reference = tuple(each.reference for each in self._dimensions)
        least = tuple(each.least or each.tiny for each in self._dimensions)
        low, high = tiny, reference
        if self._is_possible(tiny):
            verdicts = yield [tiny]
            if verdicts[-1] is Verdict.BAD:
                low, high = least, tiny
        self._result = yield from needed_sizes(
            low, high, self._is_possible, is_low_known=low == tiny
        )
        return self._result

    def _unmade(self, needed: NeededSizes) -> Mapping[str, tuple[int, ...]]:
        """Return the values right below the least ones that no model could be made of."""
        unmade: dict[str, tuple[int, ...]] = {}
        for place, passed in zip(needed.needed, needed.below, strict=False):
            dimension = self._dimensions[place]
            least = (dimension.least or dimension.tiny) - 1 if passed is None else passed
            unmade[dimension.name] = tuple(range(least + 1, needed.sizes[place]))
        return unmade

    def _best_so_far(self) -> NeededSizes:
        if not self._seconds:
            raise BudgetTooSmall(
                "no small model failed the same way before the search was stopped",
                hint="give it more time: `--budget`",
            )
        sizes = min(self._seconds, key=lambda each: self._params[each])
        raised = [n for n, each in enumerate(self._dimensions) if sizes[n] > each.tiny]
        return NeededSizes(sizes=sizes, needed=tuple(raised))

    def _heard(self, ran: Tested[Sizes]) -> None:
        if ran.verdict is Verdict.BAD:
            self._seconds[ran.candidate] = ran.outcome.wall_seconds

    # ---- models ----

    def _refuse_large(self, params: int) -> None:
        needs = params * _BYTES_A_PARAMETER * _COPIES
        if not self._has_weights and needs > memory_left().available_bytes:
            raise ModelUnsolved(
                f"the reference has {params:,} parameters, too many to run the command with here",
                hint="make one that fits first: `whet tiny MODEL --params 125M -o DIR`",
            )

    @property
    def _has_weights(self) -> bool:
        return any(Path(self._options.model).glob("*.safetensors"))

    def _reference(self) -> Path:
        """Return a folder with the reference: the user's own, or one with random weights."""
        if self._has_weights:
            return Path(self._options.model).absolute()
        folder = self.place / "reference"
        sizes = {each.name: each.reference for each in self._dimensions}
        self._maker.ask({"task": "build", "sizes": sizes, "output": str(folder)})
        return folder

    def _is_possible(self, sizes: Sizes) -> bool:
        """Build a model, unless its sizes can't be."""
        if sizes not in self._digests:
            folder = self.place / f"model-{len(self._digests)}"
            request = {"task": "build", "sizes": self._named(sizes), "output": str(folder)}
            try:
                answer = self._maker.ask(request)
                packed = pack_folder(folder)
            except (ModelUnsolved, PayloadTooLarge):
                self._digests[sizes] = ""
            else:
                self._digests[sizes] = self._session.bench.payload_store.keep(packed)
                self._params[sizes] = integer(answer, "params")
                self._built[sizes] = record(answer, "sizes")
            remove_tree(folder)
        return bool(self._digests[sizes])

    def _named(self, sizes: Sizes) -> dict[str, int]:
        return {each.name: size for each, size in zip(self._dimensions, sizes, strict=True)}

    # ---- trials ----

    def _on(self, folder: Path) -> Trial:
        """Return the trial with the name of a folder in its command."""
        words = [put_path(word, PLACEHOLDER, str(folder)) for word in self._trial.command]
        return replace(self._trial, command=tuple(words))

    def _on_sizes(self, sizes: Sizes, *, usual_seconds: float) -> Trial:
        here = (str(self.place), self._digests[sizes])
        bindings = bind_payloads(self._trial.command, Path(self._trial.cwd), [here])
        bindings = tuple(replace(each, name="model") for each in bindings)
        return with_patience(replace(self._trial, payloads=bindings), usual_seconds)

    def _label(self, sizes: Sizes) -> str:
        raised = [
            f"{each.name} {size}"
            for each, size in zip(self._dimensions, sizes, strict=True)
            if size > each.tiny
        ]
        return ", ".join(raised) or f"{self._params[sizes]:,} {self._counts}"


def bench_content(bench: Workbench, digest: str) -> bytes:
    """Return what the notebook holds by a digest."""
    held = bench.payload_store.payload_of(digest)
    return held.read_bytes() if isinstance(held, Path) else held


def _dimension(facts: list[object]) -> Dimension:
    name, reference, tiny, least = facts
    return Dimension(
        name=str(name), reference=whole(reference), tiny=whole(tiny), least=whole(least)
    )
