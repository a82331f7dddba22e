"""Which place that goes through a set, or asks for a hash, decides, where a failure depends on the seed of hashes."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.experiments.set_iterations import KEYS, is_hash, iterations, text_in_order
from whet.host.inspect.presence import own_files
from whet.workbench.toggle.set_order import SEED, HeldOrder
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session

_MOST_BYTES, _MOST_FILES, _MOST_PLACES = 200_000, 12, 40
_OTHER_SEEDS = (0, 11, 12, 13)
WHY = "the hash of a text changes from run to run, and with it the order of a set of texts"


@value_class(eq=False)
class _Module:
    """A file that goes through something that may be a set."""

    path: str
    text: str
    nodes: tuple[ast.expr, ...]


@value_class
class SetPlaces:
    """Finds the place.

    Attributes:
        session: runs its trials.
        trial: the command, in a room in which nothing that it writes stays.
        baseline: how it fails.
        order: with which orders it fails and passes each time.
    """

    session: Session
    trial: Trial
    baseline: Baseline
    order: HeldOrder

    def find(self) -> Clue | None:
        """Return the only place at which an order of the set, or a hash, decides, whatever the seed; None: it isn't known."""
        found: list[tuple[_Module, ast.expr, tuple[int, ...]]] = []
        with suppress(WhetError):  # this machine has no such room
            for module in list(self._modules())[:_MOST_FILES]:
                found += self._in(module)
        if len(found) != 1:
            return None
        ((module, node, trials),) = found
        at = Placing(self.trial.cwd)
        place = at(module.path, node.lineno)
        source, seeds = ast.unparse(node), f"each of {len(_OTHER_SEEDS) + 1} hash seeds"
        says = f"`{source}` at {place} is a set, and its order decides: in one order the command passes with {seeds}, in another it fails with each of them"
        step = f"Sort `{source}` at {place}, or make the result independent of its order."
        if is_hash(node):
            says = f"`{source}` at {place} is another number in each run, and decides: with some numbers the command passes with {seeds}, with others it fails with each of them"
            step = f"Make a number at {place} that is the same in each run, as `zlib.crc32` does, or make the result independent of it."
        return Clue(
            says=says, why=WHY, path=module.path, line=node.lineno, sureness=Sureness.SHOWN, trials=trials,
            next_step=step,
        )  # fmt: skip

    def _modules(self) -> Iterator[_Module]:
        for path in own_files(self.baseline.outcome.evidence):
            with suppress(OSError, UnicodeDecodeError):
                text = Path(path).read_text("utf-8")
                nodes = iterations(text) if len(text) < _MOST_BYTES else ()
                if nodes:
                    yield _Module(path, text, nodes[:_MOST_PLACES])

    def _in(self, module: _Module) -> Iterator[tuple[_Module, ast.expr, tuple[int, ...]]]:
        """Yield the places of a module at which one order passes and another fails, with any seed."""
        with_all = [self._edited(module, module.nodes, key) for key in KEYS]
        keys: dict[Verdict, str] = {}
        for key, (_, verdict) in zip(
            KEYS, self._run((self.order.failing, each) for each in with_all), strict=False
        ):
            keys.setdefault(verdict, key)
            if {Verdict.GOOD, Verdict.BAD} <= keys.keys():
                break
        if not {Verdict.GOOD, Verdict.BAD} <= keys.keys():
            return
        one_each = (self._edited(module, [node], keys[Verdict.GOOD]) for node in module.nodes)
        passed = self._run((self.order.failing, each) for each in one_each)
        for node, (number, verdict) in zip(module.nodes, passed, strict=False):
            if verdict is Verdict.GOOD:
                trials = self._sure(module, node, keys)
                if trials:
                    yield module, node, (number, *trials)

    def _sure(self, module: _Module, node: ast.expr, keys: dict[Verdict, str]) -> tuple[int, ...]:
        """Return the trials that show that this place alone decides; none: it doesn't."""
        trials: list[int] = []
        for wanted in (Verdict.BAD, Verdict.GOOD):
            edit = self._edited(module, [node], keys[wanted])
            seeds = (self.order.passing, *_OTHER_SEEDS)
            for number, verdict in self._run((seed, edit) for seed in seeds):
                trials.append(number)
                if verdict is not wanted:
                    return ()
        return tuple(trials)

    @staticmethod
    def _edited(module: _Module, nodes: Sequence[ast.expr], key: str) -> tuple[str, str]:
        return module.path, text_in_order(module.text, nodes, key)

    def _run(self, edits: Iterable[tuple[int, tuple[str, str]]]) -> Iterator[tuple[int, Verdict]]:
        """Run the command with a seed and a text of a module; yield its number and what it proves."""
        for seed, edit in edits:
            tasks = replace(self.session.tasks, edit=edit)
            environment = {**self.trial.environment, SEED: str(seed)}
            trial = replace(self.trial, environment=environment)
            session = replace(self.session, tasks=tasks)
            for ran in session.run_all([trial], self.baseline.oracle, "in order"):
                yield ran.own_number, ran.verdict if edit[1] else Verdict.SKIP
