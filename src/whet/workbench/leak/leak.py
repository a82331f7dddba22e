"""`whet leak`: whether a piece of a program leaves something behind each time, and who holds it."""

import ast
import difflib
import os
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from whet.core.budget import StopReason
from whet.core.errors import BadUsage, UnknownTarget
from whet.core.event import Notice
from whet.core.oracle import AnyFailure
from whet.core.probe import TargetKind, Wish, target_of
from whet.core.text.quantity import shown_seconds
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.python.module_search import start_of
from whet.host.trial.agent_tasks import AgentTasks
from whet.measurement.leaks.verdict import Judgement, Kind, Series, judge
from whet.workbench.inspect.probe import Place, settle
from whet.workbench.leak.holder import Holder, holders_of, sources_of
from whet.workbench.leak.native import NativeBlocks, growing_blocks
from whet.workbench.leak.reports import Growth, LeakReports, Repeated, Rounds, leak_reports
from whet.workbench.leak.wish import Loop, call_wish, closer_wish, loops_wish
from whet.workbench.profile.profile import Wish as ProfileWish
from whet.workbench.profile.profile import profiles_in, tasks_for
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.trials.tested import Tested

_LEAST_ROUNDS = 8
"""Of a loop with fewer rounds nothing is left to compare after the warm-up."""

_MOST_COMPARED = 64
_LONGEST_SHARE = 0.8
_PATIENCE, _LEAST_SECONDS = 3.0, 60.0
"""A run is ended after so many times the budget, but not before this: it may begin with something else."""


@value_class(kw_only=True)
class LeakOptions:
    """What is repeated.

    Attributes:
        call: a function, as of `whet probe`; empty: a loop of the program, which runs anyway.
        nth: the call of it that is repeated.
        loop: file and line of a loop; None: the one that takes most of the time.
        section: name of a section whose runs are measured instead; empty: none.
        least: bytes a repetition from which on growth counts.
        seconds: how long is measured.
    """

    call: str = ""
    nth: int = 1
    loop: tuple[str, int] | None = None
    section: str = ""
    least: float = 64.0
    seconds: float = 60.0


@value_class(kw_only=True)
class Piece:
    """What was repeated.

    Attributes:
        is_loop: it is a loop; else a function.
        path: its file.
        line: its line.
        function: the function, or that in which the loop is; empty: none.
    """

    is_loop: bool
    path: str
    line: int
    function: str


@value_class(kw_only=True)
class Leak:
    """What was found out.

    Attributes:
        piece: what was repeated; None: nothing could be.
        judgement: what the numbers show; None: there are none.
        series: the numbers.
        control: those without a repetition; empty: a loop has none.
        growth: what was added; None: nothing grows, or it was not to be had.
        holders: who holds it.
        notes: what else is to be known, in sentences.
        trials: the numbers of the trials.
        others: other loops that grow, with the bytes of a round.
        native: the line that allocates what native code keeps; None: it isn't known.
        doubled: bytes in use that a number of calls adds to a copy that has seen none, by that number.
    """

    piece: Piece | None
    judgement: Judgement | None
    series: Series | None
    control: int
    growth: Growth | None
    holders: tuple[Holder, ...]
    notes: tuple[str, ...]
    trials: tuple[int, ...]
    others: tuple[tuple[Loop, float], ...] = ()
    native: NativeBlocks | None = None
    doubled: Mapping[int, int] = field(default_factory=dict[int, int])

    @property
    def fills_up(self) -> bool:
        """Whether all that grows is a cache that is to be full one day."""
        return bool(self.holders) and self.holders[0].fills_up

    @property
    def is_result(self) -> bool:
        """Whether all that grows is what the loop's own function is to return."""
        return (
            bool(self.holders)
            and self.holders[0].is_result
            and self.piece is not None
            and self.piece.is_loop
            and self.piece.function.rpartition(".")[2]
            == self.holders[0].grown.within.rpartition(".")[2]
        )

    @property
    def kind(self) -> Kind:
        """Whether there is a leak."""
        if self.judgement is None:
            return Kind.UNSURE
        if self.judgement.kind is Kind.LEAK and self.fills_up:
            return Kind.SMALL
        if self.judgement.kind in {Kind.LEAK, Kind.SLOWS} and self.is_result:
            return Kind.RESULT
        return self.judgement.kind


def leak(bench: Workbench, request: TrialRequest, options: LeakOptions) -> Leak:
    """Find out whether a piece of a program leaves something behind each time.

    Raises:
        UnknownTarget: if there is no such function, or it isn't called.
        BadUsage: if the command runs no Python.
    """
    call = options.call or _test_of(request.command)
    place = _place_of(bench, request, call) if call else None
    trial = bench.build_trial(request)
    with open_session(bench, "leak", request, trial) as session:
        search = _Search(session, trial, options)
        found = search.of_call(place) if place is not None else search.of_loops()
        session.conclude(StopReason.DONE, {"kind": found.kind.value})
    return found


def leak_within(session: Session, trial: Trial, options: LeakOptions) -> Leak:
    """Find out, as a step of another verb, whether a loop of the program leaves something behind.

    Raises:
        WhetError: if the command can't be run.
    """
    return _Search(session, trial, options).of_loops()


class _Search:
    """The trials of one use."""

    def __init__(self, session: Session, trial: Trial, options: LeakOptions) -> None:
        self._session = session
        self._trial = trial
        self._options = options
        self._trials: list[int] = []
        self._notes: list[str] = []

    # ---- loops ----

    def of_loops(self) -> Leak:
        """Measure at the rounds of the loops that run anyway."""
        wished = self._options.loop
        only = None if wished is None else self._loop(*wished)
        if self._options.section:
            only = Loop(path="", line=0, function=self._options.section)
        what = "each run of the section" if self._options.section else "each round of its loops"
        longest = shown_seconds(self._options.seconds)
        self._say(
            f"whet runs the program and measures {what}: until it ends, or for {longest} (`--budget`)"
        )
        ran, told = self._run(loops_wish(self._options.seconds, only), "memory of each round")
        rounds = [each for each in told.rounds() if each.count >= _LEAST_ROUNDS]
        main = _main_loop(rounds)
        if main is None:
            return self._without_loop(ran, told, only)
        if main.was_stopped or ran.outcome.timed_out:
            self._notes.append(f"whet ended the program after {longest} (`--budget`)")
        elif ran.outcome.failure is not None:
            self._notes.append(f"the command failed: {ran.outcome.failure.summary}")
        judgement = judge(main.series, least=self._options.least)
        growth = self._closer(main) if judgement.growing else None
        others = [
            (each.loop, verdict.slopes["memory"].best)
            for each in rounds
            if each.loop != main.loop
            for verdict in [judge(each.series, least=self._options.least)]
            if verdict.kind is Kind.LEAK and "memory" in verdict.growing
        ]
        loop = main.loop
        piece = Piece(is_loop=True, path=loop.path, line=loop.line, function=loop.function)
        found = self._leak(piece, judgement, main.series, growth, others=tuple(others))
        is_native = "memory" in judgement.growing and not judgement.is_python and not found.holders
        if found.kind is not Kind.LEAK or not is_native:
            return found
        return replace(found, native=self._native(main, judgement), trials=tuple(self._trials))

    def _native(self, main: Rounds, judgement: Judgement) -> NativeBlocks | None:
        """Run once more with memray, if the program's Python has it: it sees each block."""
        self._say("native code holds it: whet runs the program again with memray beside it")
        tasks = tasks_for(ProfileWish(question="memory"))
        ran = replace(self._session, tasks=tasks).run(self._timed(), AnyFailure(), "native memory")
        profiles = profiles_in(ran.outcome.evidence, ran.outcome)
        if ran.number is not None:
            self._trials.append(ran.number)
        if not profiles or not profiles[0].stacks:
            for note in profiles[0].notes if profiles else ():
                self._say(note)
            return None
        growth = judgement.slopes["memory"].best * main.count
        blocks = growing_blocks(profiles[0], growth, main.count)
        if blocks is None:
            self._say("memray saw no line whose blocks stay and make up the growth")
        return blocks

    def _timed(self) -> Trial:
        """Return the trial with a limit: a loop that hangs, or whose rounds are long, is ended too."""
        limits, longest = self._trial.limits, self._options.seconds * _PATIENCE
        if limits.wall_seconds is None:
            limits = replace(limits, wall_seconds=max(longest, _LEAST_SECONDS))
        return replace(self._trial, limits=limits)

    def _loop(self, file: str, line: int) -> Loop:
        path = os.path.realpath(Path(self._trial.cwd) / file)
        lines = _loop_lines(path)
        if line in lines:
            return Loop(path=path, line=line)
        near = min(lines, key=lambda each: abs(each - line), default=0)
        raise UnknownTarget(
            f"line {line} of `{file}` begins no loop"
            if Path(path).is_file()
            else f"there is no file `{path}`",
            hint=f"the nearest one begins on line {near}" if near else "check the path and `--cwd`",
        )

    def _without_loop(self, ran: Tested[None], told: LeakReports, only: Loop | None) -> Leak:
        """Repeat what the script calls last; or say that there is nothing to repeat."""
        if not told.has_python:
            raise BadUsage(
                f"`{' '.join(self._trial.command)[:100]}` runs no Python that whet can look into",
                hint="`whet leak` repeats Python code; for other programs use valgrind or heaptrack",
            )
        if ran.outcome.timed_out:
            self._notes.append(
                f"whet ended the program after {shown_seconds(ran.outcome.wall_seconds)}"
            )
        elif ran.outcome.failure is not None:
            self._notes.append(f"the command failed: {ran.outcome.failure.summary}")
        elif only is None:
            place = self._called_last()
            if place is not None:
                name = f"{Path(place.path).name}:{place.name}"
                self._notes.append(
                    f"no loop of yours runs {_LEAST_ROUNDS} times, so whet repeats `{name}`"
                )
                return self.of_call(place)
        count = max((each.count for each in told.rounds()), default=0)
        name = self._options.section
        if name and not count:
            near = difflib.get_close_matches(name, told.sections, n=3) or told.sections[:5]
            raise UnknownTarget(
                f"no section `{name}` runs",
                hint=f"its sections are {', '.join(f'`{each}`' for each in near)}"
                if near
                else f"mark the part with `with whet.section({name!r}):`",
            )
        self._notes.append(
            f"the section `{name}` runs {count + 1} times, and {_LEAST_ROUNDS} are needed"
            if name
            else f"the loop runs {count + 1} times, and {_LEAST_ROUNDS} are needed"
            if only and count
            else
            f"no loop of yours runs {_LEAST_ROUNDS} times"
        )  # fmt: skip
        return self._leak(None, None, None, None)

    def _called_last(self) -> Place | None:
        """Return the function of the main script that it calls last on its own."""
        bench, cwd = self._session.bench, Path(self._trial.cwd)
        environment = {**bench.environment, **self._session.request.environment}
        script = start_of(self._trial.command, environment, cwd).script
        name = _last_call_in(script) if script else ""
        if not name:
            return None
        return _place_of(bench, self._session.request, f"{script}:{name}")

    def _closer(self, main: Rounds) -> Growth | None:
        """Run once more, and look at what is added between two rounds."""
        last = main.count
        first = max(2, last // 4)
        middle = min(first + max(1, (last - first) // 4), first + 8)
        end = min(last, middle + _MOST_COMPARED)
        came = main.seconds * end / max(1, last)
        self._say(
            f"something grows: whet runs the program again, up to round {end:,}, to see who holds it"
            f" (it came there after {shown_seconds(came)}; this takes longer, up to"
            f" {shown_seconds(max(self._options.seconds * _PATIENCE, _LEAST_SECONDS))})"
        )
        ran, told = self._run(
            closer_wish(main.loop, (first, middle, end)), "who holds what is added"
        )
        if ran.outcome.timed_out:
            self._notes.append(
                f"whet ended the second run after {shown_seconds(ran.outcome.wall_seconds)}, before"
                " it saw who holds what is added: a longer `--budget` gives it more time"
            )
        return told.growth()

    # ---- calls ----

    def of_call(self, place: Place) -> Leak:
        """Repeat a call."""
        options = self._options
        wish = call_wish(place, options.nth, options.seconds)
        self._say(
            f"whet runs the program until it calls `{place.title}`, repeats the call for up to"
            f" {shown_seconds(options.seconds)} (`--budget`), and ends it there"
        )
        ran, told = self._run(wish, f"{place.title}, repeated")
        repeated = told.repeated()
        if repeated is None:
            self._refuse(place, ran, told)
        assert repeated is not None
        judgement = judge(repeated.series, repeated.control, least=options.least)
        calls = repeated.series.numbers[-1] if repeated.series.numbers else 0
        if calls:
            self._say(
                f"`{place.title}` ran {calls:,} times: what it writes or sends, it wrote or sent each time"
            )
        self._notes += _remarks(repeated)
        if repeated.consumed and judgement.kind in {Kind.NONE, Kind.SMALL}:
            judgement = replace(judgement, kind=Kind.UNSURE)
        piece = Piece(
            is_loop=False, path=repeated.path, line=repeated.line, function=repeated.function
        )
        growth = told.growth() if judgement.growing else None
        control = len(repeated.control)
        found = self._leak(piece, judgement, repeated.series, growth, control=control)
        return replace(found, doubled=repeated.doubled)

    def _refuse(self, place: Place, ran: Tested[None], told: LeakReports) -> None:
        why = told.unrepeatable()
        if why:
            raise UnknownTarget(
                f"whet can't repeat `{place.title}`: {why}", hint="name the function that calls it"
            )
        if not told.has_python:
            raise BadUsage(
                f"`{' '.join(self._trial.command)[:100]}` runs no Python that whet can look into",
                hint="`whet leak` repeats Python code; for other programs use valgrind or heaptrack",
            )
        failure = ran.outcome.failure
        failed = "" if failure is None else f"; the command failed: {failure.summary}"
        if told.is_met:
            raise UnknownTarget(
                f"`{place.title}` is called fewer than {self._options.nth} times{failed}",
                hint="give a smaller number to `--nth`",
            )
        raise UnknownTarget(
            f"the command never calls `{place.title}`{failed}",
            hint="see what it calls: `whet trace FILE.py:* -- COMMAND`; or leave `--call` out",
        )

    # ---- both ----

    def _run(self, wish: str, label: str) -> tuple[Tested[None], LeakReports]:
        tasks = AgentTasks(leak=wish)
        ran = replace(self._session, tasks=tasks).run(self._timed(), AnyFailure(), label)
        if ran.skipped is not None:
            raise ran.skipped
        if ran.number is not None:
            self._trials.append(ran.number)
        return ran, leak_reports(ran.outcome.evidence)

    def _say(self, text: str) -> None:
        self._session.emit(Notice(text=text))

    def _leak(
        self, piece: Piece | None, judgement: Judgement | None, series: Series | None,
        growth: Growth | None, *, control: int = 0, others: tuple[tuple[Loop, float], ...] = (),
    ) -> Leak:  # fmt: skip
        holders: tuple[Holder, ...] = ()
        if growth is not None and piece is not None:
            paths = [piece.path, *(each.path for each in growth.lines if each.is_own)]
            holders = holders_of(growth, sources_of(paths))
        for note in self._notes:
            self._say(note)
        return Leak(
            piece=piece, judgement=judgement, series=series, control=control, growth=growth,
            holders=holders, notes=tuple(self._notes), trials=tuple(self._trials), others=others,
        )  # fmt: skip


def _main_loop(rounds: list[Rounds]) -> Rounds | None:
    """Return the loop that takes most of the time; of nested ones the outermost."""
    longest = max((each.seconds for each in rounds), default=0.0)
    long = [each for each in rounds if each.seconds >= longest * _LONGEST_SHARE]
    return min(long, key=lambda each: each.count, default=None)


def _remarks(repeated: Repeated) -> list[str]:
    notes = list(repeated.problems)
    if repeated.uncopied:
        notes.append(
            f"whet repeats it in the program itself, not in a copy, as {repeated.uncopied}"
        )
    if repeated.consumed:
        names = ", ".join(f"`{each}`" for each in repeated.consumed)
        notes.append(
            f"the first call uses up {names}; later calls get nothing from it, so they may do less"
        )
    return notes


def _place_of(bench: Workbench, request: TrialRequest, text: str) -> Place:
    target = target_of(text)
    if target is None or target.kind not in {TargetKind.CALL, TargetKind.LINE}:
        raise UnknownTarget(
            f"`{text}` isn't a function",
            hint="write `package.module:function` or `file.py:function`",
        )
    ((place, _),) = settle(bench, request, [Wish(targets=(target,), actions=())])
    if place.kind is not TargetKind.CALL:
        raise UnknownTarget(
            f"`{text}` isn't a function", hint="name one, or give `--loop FILE:LINE` for a loop"
        )
    return place


def _test_of(command: tuple[str, ...]) -> str:
    """Return the one test that a command runs, as a target; empty: it runs none, or more."""
    if not any(Path(word).name.startswith(("pytest", "py.test")) for word in command):
        return ""
    tests = [word for word in command if "::" in word]
    if len(tests) != 1:
        return ""
    file, *names = tests[0].split("::")
    return f"{file}:{'.'.join(names).partition('[')[0]}"


def _last_call_in(script: str) -> str:
    """Return the function of a script that it calls last on its own; empty: it calls none."""
    try:
        tree = ast.parse(Path(script).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ""
    own = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    found = ""
    for each in tree.body:
        if not isinstance(each, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            for node in ast.walk(each):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    found = node.func.id if node.func.id in own else found
    return found


def _loop_lines(path: str) -> list[int]:
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    return [n.lineno for n in ast.walk(tree) if isinstance(n, ast.For | ast.While | ast.AsyncFor)]
