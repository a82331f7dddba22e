"""The verbs of whet, loaded when they are called."""

import importlib
import itertools
import os
from collections.abc import Sequence
from functools import partial

import click

from whet import __version__
from whet.cli.console import report_error, report_fault, say
from whet.core.errors import SOFTWARE, USAGE, BadUsage, NotebookDamaged, WhetError
from whet.core.value_class import value_class
from whet.host.process.ending import EndSignalError, interruption_behind, orderly_end


@value_class
class Verb:
    """Where a verb lives, and the line that `whet --help` shows without loading it."""

    module: str
    summary: str


VERBS = {
    "run": Verb("whet.cli.verbs.trials.run", "Run a command once, and record everything about it."),
    "again": Verb(
        "whet.cli.verbs.trials.again", "Run a recorded trial again, on today's code or on its own."
    ),
    "loop": Verb(
        "whet.cli.verbs.trials.loop",
        "Rerun a command after each save, from as late a step as possible.",
    ),
    "log": Verb("whet.cli.verbs.records.log", "List the recorded trials."),
    "show": Verb("whet.cli.verbs.records.show", "Show one recorded trial."),
    "notebook": Verb(
        "whet.cli.verbs.records.notebook",
        "Show where whet keeps trials; adopt those of another folder.",
    ),
    "secrets": Verb(
        "whet.cli.verbs.records.secrets", "List the secrets that whet masked, where and why."
    ),
    "settings": Verb(
        "whet.cli.verbs.records.settings", "Show this project's settings; agree to its switches."
    ),
    "post-mortem": Verb(
        "whet.cli.verbs.inspection.post_mortem", "Open pdb on the saved frames of a failure."
    ),
    "watch": Verb(
        "whet.cli.verbs.measuring.watch",
        "Watch memory, processors, a disk, a GPU or a command while a program runs.",
    ),
    "stacks": Verb(
        "whet.cli.verbs.inspection.stacks", "Show the stacks of a process and its children."
    ),
    "syscalls": Verb(
        "whet.cli.verbs.inspection.syscalls", "Show which system calls fail, and on which files."
    ),
    "where": Verb(
        "whet.cli.verbs.inspection.where", "Show which file Python really loads for a name."
    ),
    "probe": Verb(
        "whet.cli.verbs.inspection.probe",
        "Print, stop or exit at a line of a program, without editing it.",
    ),
    "trace": Verb("whet.cli.verbs.inspection.trace", "Show the calls of functions as a tree."),
    "profile": Verb(
        "whet.cli.verbs.measuring.profile", "Show which lines the time or the memory goes to."
    ),
    "toggle": Verb(
        "whet.cli.verbs.searches.toggle",
        "Turn switches (one thread, synchronous CUDA) and compare.",
    ),
    "diff": Verb("whet.cli.verbs.records.diff", "Compare two trials: code, environment, outcome."),
    "shrink": Verb(
        "whet.cli.verbs.searches.shrink", "Find the smallest file that still fails the same way."
    ),
    "tiny": Verb(
        "whet.cli.verbs.payloads.tiny", "Make a model small: same architecture, few parameters."
    ),
    "make": Verb(
        "whet.cli.verbs.payloads.make", "Make a small payload from nothing: an array, a table."
    ),
    "sample": Verb(
        "whet.cli.verbs.payloads.sample", "Write a small sample of real data, in the same format."
    ),
    "bisect": Verb("whet.cli.verbs.searches.bisect", "Find the first bad commit or release."),
    "repeat": Verb(
        "whet.cli.verbs.trials.repeat", "Run a command many times, and measure how often it fails."
    ),
    "compare": Verb(
        "whet.cli.verbs.measuring.compare",
        "Find out whether B is really faster or smaller than A.",
    ),
    "delta": Verb(
        "whet.cli.verbs.searches.delta", "Find the differences that matter between good and bad."
    ),
    "starve": Verb(
        "whet.cli.verbs.searches.starve", "Run out of memory, files or processes on purpose."
    ),
    "grow": Verb(
        "whet.cli.verbs.payloads.grow",
        "Find the smallest number that fails, and the law of time and memory.",
    ),
    "leak": Verb(
        "whet.cli.verbs.measuring.leak",
        "Find what piles up with each repetition: memory, files, threads; who holds it.",
    ),
    "investigate": Verb(
        "whet.cli.verbs.searches.investigate", "Find out why a command fails, and write a report."
    ),
    "expect": Verb(
        "whet.cli.verbs.measuring.expect",
        "Show how good your guesses are, and what each line takes.",
    ),
    "annotate": Verb(
        "whet.cli.verbs.measuring.annotate",
        "Write `section` and `annotate` as one file, for a project without whet.",
    ),
    "one-liner": Verb(
        "whet.cli.verbs.trials.one_liner", "Print a trial as one line to paste into a shell."
    ),
    "completion": Verb(
        "whet.cli.verbs.words.completion",
        "Print the script that completes whet's words in bash, zsh or fish.",
    ),
    "explain": Verb("whet.cli.verbs.words.explain", "Explain one of whet's error messages."),
}


MEANINGS = {
    "investigate": "why diagnose cause debug analyze analyse",
    "shrink": "reduce minimize minimise minify small smaller creduce",
    "make": "generate fake synthetic create dummy tensor array",
    "bisect": "regress regression blame culprit",
    "repeat": "flaky race stress measure time bench benchmark times",
    "loop": "watch reload live",
    "again": "rerun replay undo restore redo",
    "log": "history list ls trials",
    "show": "cat info view",
    "compare": "ab versus vs faster slower hyperfine pyperf",
    "diff": "cmp",
    "delta": "config difference",
    "toggle": "switch switches isolate",
    "starve": "limit limits oom",
    "grow": "scale scaling complexity size threshold grows",
    "expect": "guess calibration forecast predict assume",
    "annotate": "section nvtx range vendor",
    "leak": "leaks leaking growth memory tracemalloc memray",
    "stacks": "hang hangs stuck deadlock threads dump",
    "syscalls": "strace ptrace",
    "profile": "profiler slow hot cprofile py-spy flamegraph memray nsys",
    "post-mortem": "pdb postmortem inspect locals",
    "probe": "print breakpoint break",
    "trace": "calls tree",
    "where": "which module import path",
    "notebook prune": "clean cleanup prune gc delete remove rm purge",
    "settings": "configure options",
    "completion": "complete completions autocomplete tab bash zsh fish",
    "one-liner": "export copy paste reproduce",
}
"""What people type for a verb, by the verb."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called.

    `whet --help` then costs what click costs, and each verb only what it needs itself.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, in the order in which one needs them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the verb, imported now."""
        if cmd_name not in VERBS:
            return None
        command = vars(importlib.import_module(VERBS[cmd_name].module))["command"]
        assert isinstance(command, click.Command)
        if "_WHET_COMPLETE" not in os.environ:
            return command
        from whet.cli.completion import teach

        return teach(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.summary) for name, verb in VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that ``args`` begin with, or name the nearest one."""
        if args[0] == "help":
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
            args = [args[1], "--help"]
        if args[0] not in VERBS and not args[0].startswith("-"):
            raise BadUsage(f"`{args[0]}` is not a verb of whet", hint=_hint_for(args[0]))
        return super().resolve_command(ctx, args)


def _hint_for(word: str) -> str:
    """Return what to type instead of a word that isn't a verb, by its meaning or by its letters."""
    import difflib

    for verb, words in MEANINGS.items():
        if word.lower() in words.split():
            return f"try `whet {verb}`"
    near = difflib.get_close_matches(word, VERBS, n=1, cutoff=0.7)
    hint = f"did you mean `whet {near[0]}`?" if near else "`whet --help` lists the verbs"
    return hint if near else f"{hint}; to run a program: `whet run -- {word}`"


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with:  whet investigate -- python yourscript.py yourfile",
)
@click.version_option(__version__, prog_name="whet")
def cli() -> None:
    """Turn a failing command into a small, fast, repeatable and explained one."""


def run_cli(arguments: Sequence[str]) -> int:
    """Run whet with these arguments and return the exit code."""
    own = itertools.takewhile(lambda word: word != "--", arguments)
    as_json = "--json" in own
    report = partial(report_error, as_json=as_json)
    try:
        with orderly_end():
            code: object = cli.main(list(arguments), prog_name="whet", standalone_mode=False)
            _tidy_up()
    except WhetError as error:
        return report(error)
    except click.exceptions.NoArgsIsHelpError as no_arguments:
        no_arguments.show()
        return USAGE
    except click.UsageError as error:
        from whet.host.process.own_command import own_words

        # An option that lacks its value is found out before there is a context.
        verb = [word for word in arguments[:1] if word in VERBS]
        command = error.ctx.command_path if error.ctx else " ".join([*own_words(), *verb])
        usage = BadUsage(error.format_message(), hint=f"`{command} --help` shows its arguments")
        return report(usage)
    except (KeyboardInterrupt, click.Abort, EndSignalError) as interruption:
        return _ended(interruption)
    except (BrokenPipeError, SystemExit):  # click makes the second one of the first
        return _reader_has_gone()
    except Exception as error:  # noqa: BLE001 - a bug of whet's own: its traceback goes to a file
        from whet.host.files.refused import refused
        from whet.host.process.git import failure_of_git

        if (cause := interruption_behind(error)) is not None:
            return _ended(cause)
        refusal = _unreadable(error) or failure_of_git(error) or refused(error)
        return report_fault(error, as_json=as_json) if refusal is None else report(refusal)
    return code if isinstance(code, int) else 0


def _tidy_up() -> None:
    """Remove what the oldest trials left, once a day, and say so; only a verb that used trials does."""
    import sys

    if "whet.workbench.trials.bench" not in sys.modules:
        return
    from whet.notebook.tidying import tidy_up

    if report := tidy_up(os.environ):
        say(f"whet: {report}")


def _ended(interruption: BaseException) -> int:
    if not isinstance(interruption, EndSignalError):
        say("whet: stopped by Ctrl-C before it had a result; `whet log` lists the runs")
        return 130
    say("whet: terminated by SIGTERM or SIGHUP; `whet log` lists the runs")
    return interruption.code if isinstance(interruption.code, int) else SOFTWARE


def _unreadable(error: Exception) -> WhetError | None:
    """Return the error to show for what is kept with a trial, by somebody else or an older whet."""
    from whet.core.text.record import MalformedRecordError

    if not isinstance(error, MalformedRecordError):
        return None
    return NotebookDamaged(
        f"whet can't read something that it keeps with a trial: {error}",
        hint="run the trial again (`whet again`); `whet notebook` names the folder",
    )


def _reader_has_gone() -> int:
    # `whet log | head`: Python would complain once more when it flushes at its end.
    import sys

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
