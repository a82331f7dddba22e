"""``whet stacks``: where every process of a tree is."""

import sys
from pathlib import Path

import click

from whet.cli.console import answer, answer_json, say, styled
from whet.cli.options.trial import json_option
from whet.core.errors import BadUsage
from whet.core.failure import Frame
from whet.core.observations.stack import ProcessStack
from whet.core.text.quantity import shown_count
from whet.evidence.stacks.deadlock import deadlock_sentence
from whet.evidence.stacks.stack_groups import (
    StackGroup,
    motion,
    sentence,
    task_groups,
    task_sentence,
)
from whet.workbench.inspect.stacks import Look, ObservedStacks, look_at_stacks
from whet.workbench.trials.bench import open_workbench

_MOST_FRAMES = 12
_MOST_SILENT = 8
_MOST_THREAD_GROUPS = 8
_WIDEST_COMMAND = 90
_MOST_WORDS = 3


@click.command()
@click.argument("target", required=False, default="", metavar="[PID|PATTERN|TRIAL]")
@click.option(
    "--trial", "is_trial", is_flag=True, help="Read the number as a trial's, not a process's."
)
@click.option(
    "--native",
    is_flag=True,
    help="Include frames of C and C++; use gdb for programs other than Python.",
)
@click.option(
    "--once",
    is_flag=True,
    help="Take a single sample: whet then can't tell running threads from stuck ones.",
)
@click.option("--all", "is_whole", is_flag=True, help="Show all frames of all threads.")
@click.option(
    "--core", default="", metavar="FILE", help="Read this core file; the target is its program."
)
@json_option
def command(
    target: str,
    *,
    is_trial: bool,
    native: bool,
    once: bool,
    is_whole: bool,
    core: str,
    as_json: bool,
) -> int:
    """Show where each process of a tree is; equal stacks are shown once.

    The target is a process and all its descendants, all processes whose command line matches a
    pattern, or a trial: a running one, or one that `--hang` ended. The default is the last trial.
    Two looks one second apart show what moves, what spins and what waits. For a trial that
    has ended, the exit code is the program's.
    """
    look = Look(target=target, is_trial=is_trial, native=native, looks_again=not once)
    if core:
        _show_core(core, target, as_json=as_json)
        return 0
    with open_workbench() as bench:
        sighting = look_at_stacks(bench, look)
    if as_json:
        answer_json(sighting_json(sighting))
        return sighting.exit_code
    for line in sighting_lines(sighting, is_whole=is_whole):
        answer(line)
    return sighting.exit_code


def _show_core(core: str, program: str, *, as_json: bool) -> None:
    from whet.host.inspect.cores import program_of_core, why_no_core
    from whet.host.inspect.spying import of_core

    if not Path(core).is_file():
        raise BadUsage(f"there is no core file `{core}`", hint=why_no_core())
    program = program or program_of_core(Path(core))
    if not program:
        raise BadUsage(
            f"`{core}` doesn't name its program; it may not be a core file",
            hint=f"name the program: `whet stacks --core {core} PROGRAM`",
        )
    processes = of_core(Path(core), program)
    if as_json:
        answer_json(
            {"target": core, "groups": [], "processes": [each.to_json() for each in processes]}
        )
        return
    for process in processes:
        for note in process.notes:
            say(f"whet: {note}")
        for thread in process.threads:
            title = f"thread {thread.number} {thread.name} ({process.engine})"
            answer(styled(title, "bold", sys.stdout))
            for frame in reversed(thread.frames):
                answer(f"    {_frame_words(frame)}")


def sighting_lines(sighting: ObservedStacks, *, is_whole: bool = False) -> list[str]:
    """Return the lines that tell where the processes are."""
    processes = sighting.processes
    with_stacks = sum(bool(process.threads) for process in processes)
    main = [group for group in sighting.groups if group.is_main]
    others = [group for group in sighting.groups if not group.is_main]
    noun = "process" if len(processes) == 1 else "processes"
    lines = [
        styled(
            f"{sighting.target}: {len(processes)} {noun}, the stacks of {with_stacks}",
            "dim",
            sys.stdout,
        )
    ]
    deadlock = deadlock_sentence(processes)
    if deadlock:
        lines.insert(0, styled(deadlock, "red", sys.stdout))
    for group in main:
        lines += _group(group, is_whole=is_whole)
    for group in others if is_whole else others[:_MOST_THREAD_GROUPS]:
        lines += _group(group, is_whole=is_whole)
    hidden = len(others) - _MOST_THREAD_GROUPS
    if hidden > 0 and not is_whole:
        lines.append(f"… {hidden} more groups of threads: --all")
    lines += _tasks(processes, is_whole=is_whole)
    return lines + _silent(processes, is_whole=is_whole)


def _tasks(processes: tuple[ProcessStack, ...], *, is_whole: bool) -> list[str]:
    """Return lines on the tasks of asyncio, equal ones together."""
    groups = task_groups(processes)
    lines: list[str] = []
    for group in groups if is_whole else groups[:_MOST_THREAD_GROUPS]:
        lines += ["", styled(task_sentence(group), "bold", sys.stdout)]
        frames = list(reversed(group.frames))
        visible_frames = frames if is_whole else _shortened(frames)
        lines += [f"    {_frame_words(frame)}" for frame in visible_frames]
    if len(groups) > _MOST_THREAD_GROUPS and not is_whole:
        lines.append(f"… {len(groups) - _MOST_THREAD_GROUPS} more groups of tasks: --all")
    return lines


def _group(group: StackGroup, *, is_whole: bool) -> list[str]:
    lines = ["", styled(sentence(group), "bold", sys.stdout)]
    motions = {motion(member.process): None for member in group.members if group.is_main}
    holders = [member.process.pid for member in group.members if member.thread.holds_gil]
    words = [word for word in motions if word]
    if holders and (len(group.members) == 1 or len(holders) < len(group.members)):
        words.append("holds the GIL" if len(group.members) == 1 else f"{holders} hold the GIL")
    if len(words) > _MOST_WORDS:  # each has a percentage of its own
        words = [*words[:_MOST_WORDS], "…"]
    if words:
        lines.append(f"    {'; '.join(words)}")
    if group.is_main:
        first = group.members[0].process
        lines.append(styled(f"    {first.command[:_WIDEST_COMMAND]}", "dim", sys.stdout))
    frames = list(reversed(group.frames))
    visible_frames = frames if is_whole else _shortened(frames)
    lines += [f"    {_frame_words(frame)}" for frame in visible_frames]
    if len(visible_frames) < len(frames):
        left = shown_count(len(frames) - len(visible_frames), "more frame")
        lines.append(f"    … {left}: --all")
    return lines


def _shortened(frames: list[Frame]) -> list[Frame]:
    """Return the innermost frames, and all of the user's own that there is room for."""
    own = [number for number, frame in enumerate(frames) if frame.in_user_code]
    numbers = {*range(min(3, len(frames))), *own[:_MOST_FRAMES]}
    return [frame for number, frame in enumerate(frames) if number in numbers]


def _frame_words(frame: Frame) -> str:
    name = Path(frame.path).name
    where = f"{name}:{frame.line}" if frame.line else name
    return f"{where} in {frame.function}" if where else frame.function


def _silent(processes: tuple[ProcessStack, ...], *, is_whole: bool) -> list[str]:
    """Return lines on processes with something to note, those of one kind together."""
    lines: list[str] = []
    silent = [each for each in processes if not each.threads or each.notes]
    if silent:
        lines.append("")
    for process in silent if is_whole else silent[:_MOST_SILENT]:
        notes = "; ".join(process.notes) or f"no Python process (state {process.state})"
        lines.append(f"process {process.pid} {process.command[:60]}: {notes}")
    if len(silent) > _MOST_SILENT and not is_whole:
        lines.append(f"… {len(silent) - _MOST_SILENT} more processes without a stack: --all")
    return lines


def sighting_json(sighting: ObservedStacks) -> dict[str, object]:
    """Return where the processes are as JSON data."""
    return {
        "target": sighting.target,
        "deadlock": deadlock_sentence(sighting.processes),
        "groups": [
            {
                "sentence": sentence(group),
                "is_main": group.is_main,
                "pids": [member.process.pid for member in group.members],
                "ranks": [member.process.rank for member in group.members],
                "frames": [frame.to_json() for frame in group.frames],
            }
            for group in sighting.groups
        ],
        "processes": [process.to_json() for process in sighting.processes],
    }
