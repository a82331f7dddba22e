"""Whether the shell around a command decides: its time zone, its locale, Python's variables, the umask."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.outcome import Outcome
from whet.core.text.quantity import listed
from whet.core.text.shell_words import quoted
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.clues.surroundings import (
    ENCODINGS,
    LOCALE,
    MODES,
    SET_ORDER,
    TIME_ZONE,
    WIDTH,
    Use,
    uses_in,
)
from whet.host.inspect.presence import pythons_in
from whet.host.inspect.stacks import is_user_code
from whet.host.trial.agent_tasks import TOGGLES_VARIABLE, AgentTasks
from whet.workbench.files.needed_settings import USUAL_LOCALES, telling_variables
from whet.workbench.inspect.post_mortem import dead_in, likeliest
from whet.workbench.investigate.progress.investigating import Work, place_of
from whet.workbench.investigate.traces.origins import recorded_failure
from whet.workbench.trials.reproduce import Baseline

_RUNS = 2
_USUAL_UMASK = 0o022
_FAR_ZONES = ("Pacific/Auckland", "America/Los_Angeles")
_UTC = {"", "UTC", "UTC0", "Etc/UTC", "GMT", "Etc/GMT", ":/etc/localtime"}
_SEEDS = ("0", "1", "2", "3")
_MOST_PLACES, _MOST_FILE_BYTES = 2, 500_000
_WHY = "a program can do otherwise in another time zone, locale or shell"
_ADVICE = {
    TIME_ZONE: "Name the time zone that is meant at {}, such as `tz=timezone.utc`.",
    LOCALE: "Don't let the language of the machine decide at {}.",
    ENCODINGS: 'Name the encoding at {}, such as `encoding="utf-8"`.',
    SET_ORDER: "Sort the set at {} where its order matters.",
}


@value_class(kw_only=True)
class _Setting:
    """Something around the command, and another value of it.

    Attributes:
        name: what it is: one of the kinds of uses.
        now: as the command has it, in words.
        other: what it is turned to, in words.
        variables: those that turn it.
        unset: those that are left out for that.
        umask: the other umask, in octal; empty: it stays.
        inside: what the agent turns in each Python, as something between sets it again; empty: nothing.
        is_asked: it is tried only if the program uses it.
    """

    name: str
    now: str
    other: str
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    unset: tuple[str, ...] = ()
    umask: str = ""
    inside: str = ""
    is_asked: bool = False

    @property
    def subject(self) -> str:
        """What decides, if it does."""
        return self.name if " " in self.name else f"`{self.name}`"

    def turn(self, trial: Trial) -> Trial:
        """Return a trial with the other value."""
        kept = {name: each for name, each in trial.environment.items() if name not in self.unset}
        command = trial.command
        if self.umask:
            command = ("sh", "-c", f'umask {self.umask}; exec "$@"', "sh", *command)
        if self.inside:
            before = filter(None, kept.get(TOGGLES_VARIABLE, "").split(","))
            kept[TOGGLES_VARIABLE] = ",".join([*before, self.inside])
        unset = tuple(dict.fromkeys((*trial.unset, *self.unset)))
        return replace(
            trial, command=command, environment={**kept, **self.variables}, unset=unset
        )  # fmt: skip


def look_at_surroundings(work: Work, baseline: Baseline) -> tuple[Clue, ...]:
    """See whether the command passes in another time zone or locale, or with other settings of its shell."""
    if not baseline.reproduction.is_deterministic or baseline.outcome.hung_seconds is not None:
        return ()
    uses = list(_uses(baseline))
    kinds = {each.kind for each in uses}
    environment = {**work.bench.environment, **work.trial.environment}
    environment = {name: v for name, v in environment.items() if name not in work.trial.unset}
    pythons = pythons_in(baseline.outcome.evidence)
    if not pythons:
        return ()
    zones = dict.fromkeys(each.zone for each in pythons)
    settings = [*_zones_inside(zones, environment.get("TZ", "")), *_settings(environment)]
    settings = [each for each in settings if each.name in kinds or not each.is_asked]
    if not settings:
        return ()
    with work.steps.step("Try other surroundings", _WHY):
        for each in settings:
            ran = work.session.repeat(
                each.turn(work.trial), baseline.oracle, each.other,
                times=_RUNS, until=lambda ran: ran.verdict is not Verdict.GOOD,
                place=place_of(work),
            )  # fmt: skip
            if all(run.verdict is Verdict.GOOD for run in ran):
                trials = tuple(run.own_number for run in ran)
                clue = _clue(work, baseline, each, uses, trials)
                work.steps.conclude(clue.says)
                return (clue,)
        tried = listed([each.other for each in settings])
        work.steps.conclude(f"the command doesn't pass there either: {tried}")
    return ()


def _zones_inside(zones: Iterable[str], around: str) -> Iterator[_Setting]:
    """Yield the time zones that something between the shell and Python has set, such as a script."""
    for zone in zones:
        if zone not in _UTC and zone != around:
            yield _Setting(
                name=TIME_ZONE, now=f"`TZ={quoted(zone)}`, which the command itself sets,",
                other="`TZ=UTC`", inside="time-zone=UTC",
            )  # fmt: skip


def _settings(environment: Mapping[str, str]) -> Iterator[_Setting]:
    told = telling_variables(environment)
    zone = environment.get("TZ", "")
    now = f"`TZ={quoted(zone)}`" if zone else "this machine's time zone"
    for other in ("UTC",) if zone not in _UTC else _FAR_ZONES:
        yield _Setting(
            name=TIME_ZONE, now=now, other=f"`TZ={other}`", variables={"TZ": other},
            is_asked=zone in _UTC,
        )  # fmt: skip
    yield from _locales(environment)
    seed = told.get("PYTHONHASHSEED", "")
    for other in _SEEDS if seed.isdigit() else ():
        if other != seed:
            yield _Setting(
                name=SET_ORDER, now=f"`PYTHONHASHSEED={seed}`", other=f"`PYTHONHASHSEED={other}`",
                variables={"PYTHONHASHSEED": other},
            )  # fmt: skip
    names = [name for name in told if name.startswith("PYTHON")]
    for name in (*names, *(each for each in ("COLUMNS", "LINES") if each in environment)):
        if name not in {"PYTHONHASHSEED", "PYTHONPATH", "PYTHONHOME"}:
            kind = ENCODINGS if name in {"PYTHONUTF8", "PYTHONIOENCODING"} else name
            yield _Setting(
                name=WIDTH if name in {"COLUMNS", "LINES"} else kind,
                now=f"`{name}={quoted(environment[name])}`", other=f"no `{name}`", unset=(name,),
            )  # fmt: skip
    umask = _umask()
    if umask is not None and umask != _USUAL_UMASK:
        yield _Setting(
            name=MODES, now=f"umask {umask:03o}", other=f"umask {_USUAL_UMASK:03o}",
            umask=f"{_USUAL_UMASK:03o}",
        )  # fmt: skip


def _locales(environment: Mapping[str, str]) -> Iterator[_Setting]:
    names = [name for name in environment if re.fullmatch(r"LANG|LANGUAGE|LC_\w+", name)]
    odd = [name for name in names if environment[name] not in {*USUAL_LOCALES, ""}]
    rules = [name for name in ("LC_ALL", "LC_CTYPE", "LANG") if environment.get(name)][:1]
    plain = environment[rules[0]] if rules else "C"
    told = [f"`{name}={quoted(environment[name])}`" for name in odd or rules]
    now = listed(told) or "no locale"
    variables = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    if odd or plain in {"C", "POSIX"}:
        for kind in (LOCALE, ENCODINGS):
            yield _Setting(
                name=kind, now=now, other="`LC_ALL=C.UTF-8`",
                variables=variables if kind == ENCODINGS else {"LC_ALL": "C.UTF-8"},
                unset=tuple(name for name in names if name != "LC_ALL"), is_asked=True,
            )  # fmt: skip


def _umask() -> int | None:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("Umask:")), 8)
    return None


def _uses(baseline: Baseline) -> Iterator[Use]:
    """Yield what the user's files that have run use of their surroundings."""
    files = {path for each in pythons_in(baseline.outcome.evidence) for path in each.files}
    for path in sorted(files):
        with suppress(OSError, SyntaxError, ValueError, RecursionError):
            if is_user_code(path) and Path(path).stat().st_size <= _MOST_FILE_BYTES:
                yield from uses_in(path, Path(path).read_bytes())


def _clue(
    work: Work, baseline: Baseline, setting: _Setting, uses: Sequence[Use], trials: tuple[int, ...]
) -> Clue:
    at = Placing(work.trial.cwd)
    own = [each for each in uses if each.kind == setting.name]
    if len(own) > 1:
        own = _that_ran(work, baseline, own)
    # Elsewhere it is another hour, and perhaps another day, too.
    is_far = setting.name == TIME_ZONE and setting.is_asked
    decides = "" if is_far else f": {setting.subject} decides"
    says = f"it fails with {setting.now} and passes with {setting.other}{decides}"
    places = [f"`{each.says}` at {at(each.path, each.line)}" for each in own[:_MOST_PLACES]]
    use = "use" if len(places) > 1 else "uses"
    says += f". {listed(places)} {use} it" if places else ""
    last = own[0] if own else None
    advice = _ADVICE.get(setting.name, "") if last is not None else ""
    return Clue(
        says=says, why=_WHY, trials=trials,
        sureness=Sureness.POSSIBLE if is_far else Sureness.SHOWN,
        path="" if last is None else last.path, line=0 if last is None else last.line,
        next_step=advice.format(at(last.path, last.line)) if last is not None else "",
    )  # fmt: skip


def _that_ran(work: Work, baseline: Baseline, uses: Sequence[Use]) -> list[Use]:
    """Return those that the failing run came to, the last first."""
    dead = dead_in(baseline.outcome.evidence)
    process = dead[likeliest(baseline.outcome, dead)] if dead else None
    recorded = recorded_failure(work.trial, baseline, process, _runner(work, baseline))
    if recorded is None:
        return list(uses)
    last: dict[tuple[str, int], int] = {}
    for step in recorded.recording.steps:
        last[step.frame.code.path, step.line] = step.begin
    moments = [(max(last.get((each.path, line), 0) for line in each.lines), each) for each in uses]
    ran = sorted((each for each in moments if each[0]), key=lambda each: -each[0])
    return [use for _, use in ran] or list(uses)


def _runner(work: Work, baseline: Baseline) -> Callable[[AgentTasks], tuple[int, Outcome]]:
    def run(tasks: AgentTasks) -> tuple[int, Outcome]:
        session = replace(work.session, tasks=tasks)
        (ran,) = session.repeat(
            work.trial, baseline.oracle, "looked at", times=1, place=place_of(work)
        )
        return ran.own_number, ran.outcome

    return run
