"""``whet loop``: the same command again at each save."""

import sys
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from whet.cli.console import answer_json, report_error, say, styled, verdict_word
from whet.cli.display.snapshot_table import ladder_json, ladder_lines
from whet.cli.display.summary import entry_json, failure_words
from whet.cli.options.trial import (
    TrialCommand,
    json_option,
    locals_option,
    trial_options,
    trial_request,
)
from whet.core.errors import BadUsage, WhetError
from whet.core.text.quantity import shown_seconds
from whet.execution.snapshot_pool import MOST_SNAPSHOTS
from whet.host.process.console import Console
from whet.host.process.readers import interrupted_without_reader
from whet.host.trial.agent_tasks import AgentTasks
from whet.host.trial.process_snapshots import Debugging
from whet.workbench.loop.loop import (
    BACK,
    Cycle,
    LoopOptions,
    LoopReport,
    Overtaken,
    Recurring,
    Unheard,
    loop,
)
from whet.workbench.loop.verify import Disagreement, Verification, Verify
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.session import Session


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- COMMAND...")
@click.option(
    "--watch",
    multiple=True,
    metavar="GLOB",
    help="Rerun for these files even if the program saves them during a run.",
)
@click.option("--runs", type=click.IntRange(1), default=None, metavar="N", help="End after N runs.")
@click.option(
    "--verify",
    type=click.Choice([mode.value for mode in Verify]),
    default=Verify.SAMPLE.value,
    show_default=True,
    help="Check warm runs by a run from the start, in the background: never, after the first one and then for a tenth of the time, or after each one.",
)
@click.option(
    "--explain", is_flag=True, help="After each run, show which frozen copies exist, and why."
)
@click.option(
    "--snapshots",
    type=click.IntRange(0),
    default=MOST_SNAPSHOTS,
    show_default=True,
    metavar="N",
    help="Keep at most N frozen copies; 0: run from the start each time.",
)
@click.option(
    "--pdb",
    is_flag=True,
    help="Open pdb in the terminal where the program fails, after its traceback.",
)
@trial_options
@locals_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    watch: tuple[str, ...],
    runs: int | None,
    verify: str,
    explain: bool,
    snapshots: int,
    pdb: bool,
    keeps_locals: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Run a command, and again after each save, starting as late as the edit allows.

    whet freezes copies of a Python program as it runs: after slow statements and before it reads its
    data. After a save, the program continues from the last copy that saw nothing of the change, with
    the same result as a run from the start. If whet can't be sure of that, it runs from the start.
    Ctrl-C ends the run; between runs it ends the loop. In a terminal, type `b` and Enter after a
    failure to step through the program from before the call of the function that failed.
    """
    request = trial_request(ctx)
    console = None if as_json else Console()
    if pdb and (console is None or not console.is_interactive):
        raise BadUsage(
            "`--pdb` needs a terminal",
            hint="leave out `--json`, and don't redirect standard input or output",
        )
    options = LoopOptions(
        watch=watch, most_runs=runs, most_snapshots=snapshots, verify=Verify(verify),
        debugging=Debugging.AT_FAILURE if pdb else Debugging.NEVER,
    )  # fmt: skip
    show = _Show(
        as_json=as_json,
        explains=explain,
        tells_all=options.verify is Verify.ALWAYS,
        is_one_run=runs == 1,
    )

    def offer(cycle: Cycle | None, key: str) -> None:
        if console is None or not console.is_interactive:
            return
        if cycle is not None and cycle.back is not None:
            place = cycle.back or "the start, as no copy is from before the failing function"
            say(f"whet: type b to step from {place} · r to run again · q to quit")
        elif key == BACK:
            say("whet: no failure to step through · type r to run again · q to quit")
        elif key:
            say("whet: type r to run again · q to quit")

    reader = interrupted_without_reader() if as_json else nullcontext()
    with open_workbench() as bench, suppress(KeyboardInterrupt), reader:
        tasks = AgentTasks(keeps_locals=keeps_locals)
        session = Session(bench=bench, verb="loop", request=request, tasks=tasks)
        loop(session, options, console, show, offer)
    return 0


@dataclass(slots=True, kw_only=True)
class _Show:
    """Shows what a loop tells.

    Attributes:
        as_json: as one object on a line for each.
        explains: with the frozen copies.
        tells_all: also that a warm run was verified, or why not.
        is_one_run: nothing is waited for after the first run.
    """

    as_json: bool
    explains: bool
    tells_all: bool
    is_one_run: bool
    _halted: str = ""
    _has_said_how: bool = False

    def __call__(self, report: LoopReport) -> None:
        if self.as_json:
            self._answer(report)
        elif isinstance(report, WhetError):
            report_error(report)
        elif isinstance(report, Cycle):
            self._say_cycle(report)
        elif isinstance(report, Overtaken):
            say(f"whet: stopped the run: you saved {_names_of(report.saved)}")
        elif isinstance(report, Unheard):
            say(f"whet: note: {_unheard_words(report)}")
        elif isinstance(report, Recurring):
            say(f"whet: note: {_recurring_words(report)}")
        else:
            self._say_verification(report)

    def _answer(self, report: LoopReport) -> None:
        if isinstance(report, Overtaken):
            fields = {"event": "overtaken", "trial": report.number, "saved": report.saved}
            answer_json(fields, on_one_line=True)
        elif isinstance(report, Cycle):
            copies = ladder_json(report) if self.explains else {}
            answer_json({**_facts(report), **copies}, on_one_line=True)
        elif isinstance(report, Unheard):
            words = {"event": "note", "note": _unheard_words(report), "files": ()}
            answer_json(words, on_one_line=True)
        elif isinstance(report, Recurring):
            words = {"event": "note", "note": _recurring_words(report), "files": report.files}
            answer_json(words, on_one_line=True)
        elif isinstance(report, Verification):
            answer_json(_verification_facts(report), on_one_line=True)
        else:
            error = {
                "event": "error",
                "error": report.slug,
                "message": str(report),
                "hint": report.hint,
            }
            answer_json(error, on_one_line=True)

    def _say_cycle(self, cycle: Cycle) -> None:
        for note in dict.fromkeys(cycle.result.notes):
            say(f"whet: note: {note}")
        start = cycle.start
        # The same reason each time would be in the way; `--explain` shows it.
        halted = _halted(cycle) if start.halted != self._halted else ""
        self._halted = start.halted
        say(_line(cycle, halted))
        if self.explains:
            for line in ladder_lines(cycle):
                say(line)
        if not self._has_said_how and not self.is_one_run and sys.stderr.isatty():
            say("whet: waiting for a save; Ctrl-C ends the loop")
        self._has_said_how = True

    def _say_verification(self, verification: Verification) -> None:
        number, cold = verification.number, _listed(verification.cold)
        took = shown_seconds(verification.seconds)
        for what in verification.unsteady:
            say(
                f"whet: note: two cold runs differ in {_NAMES[what]},"
                f" so whet no longer compares that (trials {cold})"
            )
        if verification.disagreements:
            what = " and ".join(_NAMES[each.what] for each in verification.disagreements)
            wrong = styled("WRONG WARM ANSWER", "red", sys.stderr)
            say(f"whet: {wrong} · trial {number} differs in {what} from cold trials {cold}")
            for each in verification.disagreements:
                for line in _both(each):
                    say(line)
            say("whet: dropped all frozen copies; the next run is cold; please report this bug")
        elif self.explains or self.tells_all:
            why = verification.why_not
            verified = f"verified in {took}: a cold run ends the same way (trial {cold})"
            say(f"whet: trial {number} {f'not verified: {why}' if why else verified}")


def _listed(numbers: tuple[int, ...]) -> str:
    *others, last = map(str, numbers or ("",))
    return f"{', '.join(others)} and {last}" if others else last


def _names_of(paths: tuple[str, ...]) -> str:
    first = Path(paths[0]).name if paths else "a file"
    return f"{first} (of {len(paths)} files)" if len(paths) > 1 else first


def _unheard_words(unheard: Unheard) -> str:
    return (
        f"the system reports no saves here ({unheard.why}), so whet checks the files periodically;"
        f" {unheard.helps}, and start again"
    )


def _recurring_words(recurring: Recurring) -> str:
    name = _names_of(recurring.files)
    return (
        f"{name} changes after each run, so whet no longer reruns for it;"
        " `--watch` it to rerun after each save"
    )


_NO_PROGRAM = ("SyntaxError", "IndentationError", "TabError")
_NAMES = {"exit": "exit", "failure": "failure", "stdout": "output", "stderr": "error output"}


def _both(disagreement: Disagreement) -> tuple[str, str]:
    where = _NAMES[disagreement.what] + (f", line {disagreement.line}" if disagreement.line else "")
    return (
        f"  {where}: warm: {disagreement.warm}",
        f"  {' ' * len(where)}  cold: {disagreement.cold}",
    )


def _halted(cycle: Cycle) -> str:
    start = cycle.start
    if not start.halted:
        return ""
    return f"no copies{f' from {start.halted_at} on' if start.halted_at else ''}: {start.halted}"


def _line(cycle: Cycle, halted: str) -> str:
    entry = cycle.result.entry
    outcome = entry.outcome
    assert outcome is not None
    start = cycle.start
    took = shown_seconds(cycle.wall_seconds)
    if start.place:
        how = f"warm {took} from {start.place} (cold {shown_seconds(cycle.cold_seconds)})"
        if cycle.gains_little:
            why = "" if start.halted else ": the slow part comes after the edit"
            how += f", little faster{why}"
    else:
        how = f"cold {took}"
    verdict = verdict_word(entry.verdict, sys.stderr) if entry.verdict else ""
    what = failure_words(outcome.failure) if outcome.failure else f"exit {outcome.shell_exit_code}"
    parts = [how, f"{verdict} {what}".strip()]
    same = _same_failure(cycle)
    if same is not None:
        parts.append(f"same failure as #{same}")
    signature = None if start.place else outcome.signature
    if signature is not None and signature.exception in _NO_PROGRAM:
        parts.append("the copies stay" if start.snapshots else "")  # it has not begun: no reason
    else:
        parts += [start.why_not_deeper, halted]
    parts.append(f"trial {entry.number}")
    return f"{styled('whet', 'bold', sys.stderr)}: " + " · ".join(filter(None, parts))


def _same_failure(cycle: Cycle) -> int | None:
    previous = cycle.result.previous
    return previous.number if cycle.result.is_same_failure and previous is not None else None


def _facts(cycle: Cycle) -> dict[str, object]:
    return {
        "event": "run",
        **entry_json(cycle.result.entry),
        "same_failure_as": _same_failure(cycle),
        "is_warm": bool(cycle.start.place),
        "gains_little": cycle.gains_little,
        "from": cycle.start.place,
        "wall_seconds_from_save": cycle.wall_seconds,
        "cold_seconds": cycle.cold_seconds,
        "why_not_deeper": cycle.start.why_not_deeper,
        "snapshots": cycle.start.snapshots,
        "no_copies_after": cycle.start.halted_at,
        "why_no_copies": cycle.start.halted,
        "saved": list(cycle.saved),
        "notes": list(cycle.result.notes),
    }


def _verification_facts(verification: Verification) -> dict[str, object]:
    return {
        "event": "verification",
        "trial": verification.number,
        "cold_trials": list(verification.cold),
        "seconds": verification.seconds,
        "differs_in": [asdict(each) for each in verification.disagreements],
        "unsteady": list(verification.unsteady),
        "why_not": verification.why_not,
    }
