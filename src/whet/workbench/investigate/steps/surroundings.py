"""Whether the shell around a command decides: its time zone, its locale, Python's variables, the umask."""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from whet.agent.site.whet_state.secret_rule import why_secret
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.outcome import Outcome
from whet.core.text.quantity import listed, shown_count
from whet.core.text.shell_words import quoted
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.clues.surroundings import (
    ENCODINGS,
    HASHES,
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
from whet.workbench.investigate.steps.launchers import variables_that_it_sets, where_set
from whet.workbench.investigate.traces.origins import recorded_failure
from whet.workbench.trials.reproduce import Baseline

_RUNS = 2
_USUAL_UMASK = 0o022
_FAR_ZONES = ("Pacific/Auckland", "America/Los_Angeles")
_UTC = {"", "UTC", "UTC0", "Etc/UTC", "GMT", "Etc/GMT", ":/etc/localtime"}
_SEEDS = ("0", "1", "2", "3")
_MOST_PLACES, _MOST_FILE_BYTES = 2, 500_000
_LOCALE = re.compile(r"LANG|LANGUAGE|LC_\w+")
_KIND_OF = {
    "TZ": TIME_ZONE, "PYTHONUTF8": ENCODINGS, "PYTHONIOENCODING": ENCODINGS,
    "COLUMNS": WIDTH, "LINES": WIDTH,
}  # fmt: skip
_COMMON = frozenset({"PATH", "HOME", "PWD", "USER", "SHELL", "TMPDIR", "TERM", *_KIND_OF})
_MOST_NAMED = 6
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
        place: the file and the line that set it; empty: that isn't known.
    """

    name: str
    now: str
    other: str
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    unset: tuple[str, ...] = ()
    umask: str = ""
    inside: str = ""
    is_asked: bool = False
    place: tuple[str, int] = ("", 0)

    @property
    def is_variable(self) -> bool:
        """Whether it is a variable that only this program, or a library, knows."""
        return " " not in self.name

    @property
    def subject(self) -> str:
        """What decides, if it does."""
        return f"`{self.name}`" if self.is_variable else self.name

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
    environment = {**work.bench.environment, **work.trial.environment}
    environment = {name: v for name, v in environment.items() if name not in work.trial.unset}
    if not pythons_in(baseline.outcome.evidence):
        return ()
    changed = variables_that_it_sets(work, baseline, environment)
    uses = list(_uses(baseline, {*environment, *changed} - _COMMON))
    kinds = {each.kind for each in uses}
    settings = [*_settings(environment), *_named(environment, kinds)]
    settings = [each for each in settings if each.name in kinds or not each.is_asked]
    inner = list(_inside(work, changed, environment, kinds))
    if not settings and not inner:
        return ()
    with work.steps.step("Try other surroundings", _WHY):
        every = replace(inner[0], inside=",".join(each.inside for each in inner)) if inner else None
        if every is not None and len(inner) > 1 and not _passing(work, baseline, every, times=1):
            inner = []
        for each in (*inner, *settings):
            trials = _passing(work, baseline, each)
            if trials:
                clue = _clue(work, baseline, each, uses, trials)
                work.steps.conclude(clue.says)
                return (clue,)
        tried = [each.other for each in settings]
        tried += (
            ["an environment without what the command itself sets"] if every is not None else []
        )
        work.steps.conclude(f"the command doesn't pass there either: {listed(tried)}")
    return ()


def _passing(
    work: Work, baseline: Baseline, setting: _Setting, *, times: int = _RUNS
) -> tuple[int, ...]:
    """Return the trials that passed with another value; empty: one didn't."""
    ran = work.session.repeat(
        setting.turn(work.trial), baseline.oracle, setting.other,
        times=times, until=lambda ran: ran.verdict is not Verdict.GOOD, place=place_of(work),
    )  # fmt: skip
    is_good = all(run.verdict is Verdict.GOOD for run in ran)
    return tuple(run.own_number for run in ran) if is_good else ()


def _inside(
    work: Work, changed: Mapping[str, str], around: Mapping[str, str], kinds: Collection[str]
) -> Iterator[_Setting]:
    """Yield the variables that something between the shell and Python has set, such as a script."""
    for name, value in changed.items():
        other = around.get(name, "UTC" if name == "TZ" else None)
        place = where_set(work.trial.command, Path(work.trial.cwd), name)
        locale = ENCODINGS if ENCODINGS in kinds else LOCALE
        shown = f"{name}={quoted(value)}" if value else name
        yield _Setting(
            name=_KIND_OF.get(name, locale if _LOCALE.fullmatch(name) else name),
            now=f"`{shown}`, which {place[2] or 'the command itself'} sets,",
            other=f"no `{name}`" if other is None else f"`{name}={quoted(other)}`",
            inside=f"variable={name}" + ("" if other is None else f"={os.fsencode(other).hex()}"),
            place=place[:2],
        )  # fmt: skip


def _named(environment: Mapping[str, str], kinds: Collection[str]) -> Iterator[_Setting]:
    """Yield the variables of the shell that the program names."""
    for name in [each for each in environment if each in kinds][:_MOST_NAMED]:
        shown = f"{name}={quoted(environment[name])}"
        if why_secret(name, environment[name], is_variable=True):
            shown = name
        yield _Setting(name=name, now=f"`{shown}`", other=f"no `{name}`", unset=(name,))


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
            yield _Setting(
                name=_KIND_OF.get(name, name),
                now=f"`{name}={quoted(environment[name])}`", other=f"no `{name}`", unset=(name,),
            )  # fmt: skip
    umask = _umask()
    if umask is not None and umask != _USUAL_UMASK:
        yield _Setting(
            name=MODES, now=f"umask {umask:03o}", other=f"umask {_USUAL_UMASK:03o}",
            umask=f"{_USUAL_UMASK:03o}",
        )  # fmt: skip


def _locales(environment: Mapping[str, str]) -> Iterator[_Setting]:
    names = [name for name in environment if _LOCALE.fullmatch(name)]
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


def _uses(baseline: Baseline, variables: Collection[str]) -> Iterator[Use]:
    """Yield what the user's files that have run use of their surroundings."""
    files = {path for each in pythons_in(baseline.outcome.evidence) for path in each.files}
    for path in sorted(files):
        with suppress(OSError, SyntaxError, ValueError, RecursionError):
            if is_user_code(path) and Path(path).stat().st_size <= _MOST_FILE_BYTES:
                yield from uses_in(path, Path(path).read_bytes(), variables)


def _clue(
    work: Work, baseline: Baseline, setting: _Setting, uses: Sequence[Use], trials: tuple[int, ...]
) -> Clue:
    at = Placing(work.trial.cwd)
    kinds = {setting.name, HASHES} if setting.name == SET_ORDER else {setting.name}
    own = [each for each in uses if each.kind in kinds]
    if len(own) > 1:
        own = _that_ran(work, baseline, own)
    # Elsewhere it is another hour, and perhaps another day, too.
    is_far = setting.name == TIME_ZONE and setting.is_asked
    decides = "" if is_far else f": {setting.subject} decides"
    hashes = [each for each in own if each.kind == HASHES]
    if hashes:
        own.sort(key=lambda each: each.kind != HASHES)
        decides = ": the hash of a text decides, or the order of a set, which depends on it"
    says = f"it fails with {setting.now} and passes with {setting.other}{decides}"
    says += _used_at(setting, own[:_MOST_PLACES], at)
    last = own[0] if own else None
    path, line = setting.place if last is None else (last.path, last.line)
    advice = _ADVICE.get(setting.name, "") if last is not None else ""
    if hashes:
        advice = "See whether the number at {} may be another one in each run."
    return Clue(
        says=says, trials=trials,
        why=f"{shown_count(len(trials), 'run')} with {setting.other} passed; each run without it failed",
        sureness=Sureness.POSSIBLE if is_far else Sureness.SHOWN,
        path=path, line=line,
        next_step=advice.format(at(path, line)) if advice else _check_words(setting, at),
    )  # fmt: skip


def _used_at(setting: _Setting, uses: Sequence[Use], at: Placing) -> str:
    """Say which lines use what decides."""
    places = [at(each.path, each.line) for each in uses]
    if setting.is_variable:
        use = "read" if len(places) > 1 else "reads"
    else:
        use = "use" if len(places) > 1 else "uses"
        places = [f"`{use.says}` at {place}" for use, place in zip(uses, places, strict=True)]
    return f". {listed(places)} {use} it" if places else ""


def _check_words(setting: _Setting, at: Placing) -> str:
    """Say where a variable is to be changed, where that is known."""
    path, line = setting.place
    return f"Check {setting.subject} at {at(path, line)}." if path else ""


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
