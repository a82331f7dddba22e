"""``whet shrink --arguments``, ``--environment`` and ``--tests``: the command itself made smaller."""

from collections.abc import Mapping
from dataclasses import replace

from whet.cli.console import answer, answer_json
from whet.cli.display.pasted import show_line
from whet.cli.display.progress import Progress
from whet.core.errors import INCOMPLETE, BadUsage
from whet.core.text.quantity import shown_count, shown_seconds
from whet.host.trial.trial_secrets import masked_words
from whet.workbench.shrink.shrink_command import shrink_arguments, shrink_environment
from whet.workbench.shrink.shrink_tests import shrink_tests
from whet.workbench.trials.bench import Workbench, open_workbench
from whet.workbench.trials.command_search import CommandOptions, ShrunkCommand
from whet.workbench.trials.request import TrialRequest

_MOST_SHOWN = 40

_FOR_FILES = {
    "output": "-o", "towards": "--towards", "rate_at_least": "--rate-at-least",
    "objective": "--objective", "keep": "--keep", "no_pretty": "--no-pretty",
    "picture": "--picture",
}  # fmt: skip


def shrink_command(
    what: str,
    names: tuple[str, ...],
    request: TrialRequest,
    options: CommandOptions,
    *,
    is_resumed: bool,
    as_json: bool,
) -> int:
    """Make a command smaller and show it; return the exit code.

    Args:
        what: ``arguments``, ``environment`` or ``tests``.
        names: what stands before the command: of tests, the one that fails.
        request: the command.
        options: how to search.
        is_resumed: an earlier search is to be continued with: say so if none is known. What it has
            tried isn't run again in any case.
        as_json: print one JSON object.
    """
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        result = _shrunk(bench, what, names, request, options)
    if is_resumed and not result.cached:
        nothing = "nothing to resume: whet knows no earlier search with the current files"
        result = replace(result, remark="; ".join(filter(None, (nothing, result.remark))))
    if as_json:
        answer_json(_json(result))
    else:
        _show(result)
    return 0 if result.stopped.is_complete else INCOMPLETE


def one_kind(kinds: tuple[str, ...]) -> str | None:
    """Return what of the command is to be made smaller; None: a file is.

    Raises:
        BadUsage: if that is more than one thing.
    """
    options = [f"`--{kind}`" for kind in dict.fromkeys(kinds)]
    if len(options) > 1:
        raise BadUsage(
            f"{' and '.join(options)} exclude each other",
            hint="shrink one, then the other, in two commands",
        )
    return kinds[0] if kinds else None


def check_words(what: str, names: tuple[str, ...], parameters: Mapping[str, object]) -> None:
    """Refuse words and options that say nothing here.

    Args:
        what: ``arguments``, ``environment`` or ``tests``.
        names: what stands before the command.
        parameters: what the options of the command line say, by their names in it.

    Raises:
        BadUsage: if there are any.
    """
    for name, option in _FOR_FILES.items():
        if parameters[name] not in {None, "", (), False}:
            raise BadUsage(
                f"`{option}` is for a file, not for `--{what}`", hint=f"leave out `{option}`"
            )
    if len(names) > (what == "tests"):
        raise BadUsage(
            f"`{names[-1]}` is before the `--`, but `--{what}` takes no file",
            hint="shrink one, then the other, in two commands",
        )


def _shrunk(
    bench: Workbench,
    what: str,
    names: tuple[str, ...],
    request: TrialRequest,
    options: CommandOptions,
) -> ShrunkCommand:
    if what == "arguments":
        return shrink_arguments(bench, request, options)
    if what == "environment":
        return shrink_environment(bench, request, options)
    return shrink_tests(bench, request, names[0] if names else "", options)


def _json(result: ShrunkCommand) -> dict[str, object]:
    return {
        "what": result.what,
        "before": result.before,
        "after": len(result.kept),
        "kept": list(result.kept),
        "command": masked_words(result.trial.command),
        **result.line.facts(),
        "stopped": result.stopped.name.lower(),
        "reason": result.stopped.value,
        "remark": result.remark,
        "trials": result.trials,
        "cached": result.cached,
        "warm": result.warm,
        "cold_because": result.cold_because,
        "wall_seconds": round(result.wall_seconds, 3),
    }


def _show(result: ShrunkCommand) -> None:
    trials = shown_count(result.trials, "trial")
    trials += f" ({result.warm} warm)" if result.warm else ""
    trials += f" and {result.cached} known from earlier searches" if result.cached else ""
    sizes = f"{result.before} → {len(result.kept)}"
    answer(f"{result.what}: {sizes} in {trials}, {shown_seconds(result.wall_seconds)}")
    answer(f"  {result.stopped.value}")
    if result.remark:
        answer(f"  {result.remark}")
    if result.cold_because:
        which = "some trials" if result.warm else "each trial"
        answer(f"  {which} ran from the start: {result.cold_because}")
    for each in result.kept[:_MOST_SHOWN]:
        answer(f"    {each}")
    if len(result.kept) > _MOST_SHOWN:
        answer(f"    and {len(result.kept) - _MOST_SHOWN} more")
    answer("")
    show_line(result.line)
