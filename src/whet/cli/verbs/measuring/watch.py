"""``whet watch``: panels that each show one signal, beside a program or on their own."""

import importlib.util
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.display.summary import entry_json, outcome_words
from whet.cli.display.watched import sight_json, sight_lines
from whet.cli.options.trial import (
    Duration,
    TrialCommand,
    json_option,
    trial_options,
    trial_request,
)
from whet.cli.options.trial_name import TrialName
from whet.cli.verbs.trials.run import show as show_run
from whet.core.errors import BadUsage
from whet.core.observations.panel import Sight
from whet.host.process.console import Console
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.workbench.trials.bench import Workbench, open_workbench
from whet.workbench.watch.actions import parse_threshold
from whet.workbench.watch.panels import parse_panels
from whet.workbench.watch.watch import Plan, WatchedTrial, open_trial, open_watch, replay_of_trial
from whet.workbench.watch.watching import Watch

if TYPE_CHECKING:
    from whet.workbench.trials.request import TrialRequest

_VIEW_SECONDS, _LINES_SECONDS = 1.0, 5.0
_MOST_BYTES = 16_000_000
_HELP = """Watch levels: memory, processors, files, a disk, a GPU, the output of a command.

\b
PANEL  processes:PATTERN  by the whole command line; `name:PATTERN` by the name; `processes:PID`
       memory  cpu  files of those processes; each takes `:PATTERN` or `:PID` too
       disk:PATH          the space of the one file system that holds it
       gpu  gpu:0         memory, load and processes
       network            bytes received and sent in a second
       torch  jax         what their allocators hold in the Python program behind `--`
       sections           of the Python program behind `--` (`whet.section`)
       'df -h /tmp'       any command, again and again; changes are marked

Behind `--` stands a program, which becomes a trial like any other; the panels are then about its
processes, and are recorded with it (`--replay`). Without a program they are about this project's
processes. In a terminal whet draws panels: `q` leaves them, and the program runs on; Ctrl-C goes
to the program. Elsewhere whet writes a line for each change.
"""


@click.command(cls=TrialCommand, help=_HELP, options_metavar="[OPTIONS] [PANEL]... [-- COMMAND...]")
@click.argument("words", nargs=-1, metavar="")
@click.option(
    "--when",
    nargs=2,
    multiple=True,
    metavar="CONDITION ACTION",
    help="When a level crosses a threshold, such as 'rss > 8G': bell, stacks, kill or a command.",
)
@click.option(
    "--probe",
    multiple=True,
    metavar="'TARGET ACTION'",
    help="Probe the program as `whet probe` does, such as 'load.py:12 sleep 20': it stops there.",
)
@click.option("--interval", "-n", type=Duration(), help="Look this often. [1 s; lines: 5 s]")
@click.option("--for", "seconds", type=Duration(), help="Without a program: end after this time.")
@click.option(
    "--column", default="", metavar="NAME|N", help="Draw this column of a command's output."
)
@click.option(
    "--replay",
    type=TrialName(),
    metavar="TRIAL",
    help="Show the recorded panels of a trial again, with its output.",
)
@click.option(
    "--speed", type=click.FloatRange(0.01, 1000), default=1.0, help="Replay so much faster. [1]"
)
@click.option("--at", type=Duration(), help="Begin the replay at this time of the trial. [0]")
@click.option("--lines", is_flag=True, help="Write lines in a terminal, too.")
@trial_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    words: tuple[str, ...],
    when: tuple[tuple[str, str], ...],
    probe: tuple[str, ...],
    interval: float | None,
    seconds: float | None,
    column: str,
    replay: int | str | None,
    speed: float,
    at: float | None,
    lines: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Watch levels."""
    has_view = not as_json and not lines and _can_draw()
    if replay is not None:
        return _replay(replay, speed, at or 0.0, has_view=has_view, as_json=as_json)
    request = trial_request(ctx)
    has_program = bool(request.command)
    plan = Plan(
        wishes=parse_panels(words, has_program=has_program),
        thresholds=[parse_threshold(condition, action) for condition, action in when],
        interval_seconds=interval or (_VIEW_SECONDS if has_view else _LINES_SECONDS),
        seconds=seconds,
        column=column,
    )
    if probe and not has_program:
        raise BadUsage(
            "`--probe` looks into a program, and there is none",
            hint=f"name it: whet watch --probe '{probe[0]}' -- python main.py",
        )
    if has_program and seconds is not None:
        raise BadUsage("`--for` ends a watch without a program", hint="limit it with `--timeout`")
    with open_workbench() as bench:
        if not has_program:
            # Ctrl-C is how a watch ends that has no end of its own.
            with suppress(KeyboardInterrupt), open_watch(bench, plan) as watch:
                if has_view:
                    _draw(watch)
                else:
                    _write_lines(watch, as_json=as_json)
            return 0
        tasks = _probing(bench, request, probe)
        if has_view:
            watched = _draw_trial(bench, request, plan, tasks)
        else:
            own = Console()
            console = own.silent() if as_json else own
            with open_trial(bench, request, plan, console, tasks) as watched:
                _write_lines(watched.watch, as_json=as_json, has_program=True)
                watched.conclude()
        return _show(watched, as_json=as_json)


def _probing(bench: Workbench, request: "TrialRequest", probes: Sequence[str]) -> AgentTasks:
    """Return what the agent is to do in the program."""
    if not probes:
        return NO_TASKS
    from whet.core.probe import parse_wishes
    from whet.workbench.inspect.probe import Looking, notes_on, settle, wish_of

    try:
        words = tuple(word for each in probes for word in shlex.split(each))
    except ValueError as error:
        raise BadUsage(f"`--probe {probes[0]}`: {error}", hint="close the quote") from error
    places = settle(bench, request, parse_wishes(words))
    for note in notes_on(places):
        say(f"whet: note: {note}")
    return AgentTasks(probes=wish_of(Looking(places=places, words=words)))


def _can_draw() -> bool:
    """Whether there is a terminal with room for panels, and the package that draws them."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        return False
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        return False  # it couldn't show the frames and the curves
    if importlib.util.find_spec("textual") is None:
        say("whet: note: `pip install 'whet[watch]'` draws panels; without it whet writes lines")
        return False
    return True


def _replay(name: int | str, speed: float, at: float, *, has_view: bool, as_json: bool) -> int:
    """Show a recorded trial again; as lines at once."""
    with open_workbench() as bench:
        entry, replay = replay_of_trial(bench, name)
        streams = (
            {}
            if entry.outcome is None
            else {
                "stdout": entry.outcome.stdout.head(_MOST_BYTES),
                "stderr": entry.outcome.stderr.head(_MOST_BYTES),
            }
        )
        if has_view:
            from whet.watch.sources import Recorded
            from whet.watch.view import show

            show(Recorded(replay=replay, streams=streams, speed=speed, at=min(at, replay.seconds)))
            return 0
    shown: Sight | None = None
    for sight in replay.sights:
        if sight.seconds < at:
            continue
        if as_json:
            answer_json(sight_json(sight), on_one_line=True)
        else:
            for line in sight_lines(sight, shown):
                answer(line)
        shown = sight
    return 0


def _draw(watch: Watch) -> None:
    from whet.watch.sources import Live
    from whet.watch.view import show

    show(Live(watch=watch))


def _draw_trial(
    bench: Workbench, request: "TrialRequest", plan: Plan, tasks: AgentTasks
) -> WatchedTrial:
    """Draw panels beside a program; once the user has left them, pass on what it writes."""
    from whet.host.process.panel_terminal import PanelTerminal
    from whet.watch.sources import Live, follow
    from whet.watch.view import show

    terminal = PanelTerminal()
    try:
        with open_trial(bench, request, plan, terminal.console, tasks) as watched:
            live = Live(
                watch=watched.watch,
                terminal=terminal,
                ended=lambda: "" if watched.outcome is None else outcome_words(watched.outcome),
            )
            show(live)
            if not watched.future.done():
                say("whet: the program runs on; Ctrl-C interrupts it")
            for line in follow(live):
                say(f"whet: ! {line}")
            watched.conclude()
        return watched
    finally:
        terminal.close()


def _write_lines(watch: Watch, *, as_json: bool, has_program: bool = False) -> None:
    """Write what changes until there is nothing more to see."""
    shown: Sight | None = None
    write = say if has_program else answer
    due = 0.0
    watch.settle()
    while True:
        is_over = watch.is_over()
        sight = watch.look()
        if sight.seconds >= due or sight.events or is_over:
            due = sight.seconds + watch.interval_seconds
            if as_json:
                answer_json(sight_json(sight), on_one_line=True)
            else:
                for line in sight_lines(sight, shown, is_over=is_over or watch.has_ended):
                    write(f"whet: {line}" if has_program else line)
            shown = sight
            if sight.events and sys.stderr.isatty():
                sys.stderr.write("\a")
                sys.stderr.flush()
        if is_over:
            return
        watch.wait(watch.pause_seconds)


def _show(watched: WatchedTrial, *, as_json: bool) -> int:
    """Show how a program ended, and return its exit code."""
    result = watched.conclude()
    outcome = result.entry.outcome
    assert outcome is not None
    if as_json:
        answer_json(
            {**entry_json(result.entry), "notes": list(result.notes), "told": watched.told},
            on_one_line=True,
        )
        return outcome.shell_exit_code
    for each in watched.told:
        say(f"whet: ! {each}")
    code = show_run(result, as_json=False)
    if watched.watch.recording.has_levels:
        say(f"whet: its panels again: `whet watch --replay {result.entry.number}`")
    return code
