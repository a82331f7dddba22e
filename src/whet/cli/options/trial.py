"""The options that every verb that runs trials takes, defined once."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from whet.cli.option_groups import BAD, COMMAND, NOTES, STOPPING, options_of
from whet.cli.options.cost_bound import cost_bound
from whet.cli.options.limits import LIMIT_OPTIONS, limits_of
from whet.cli.options.rooms import ROOM_OPTIONS
from whet.cli.options.trial_name import TrialName
from whet.core.errors import BadUsage
from whet.core.trial import ResetStep
from whet.workbench.files.asked_files import asked_file
from whet.workbench.trials.payload import shrunk_path
from whet.workbench.trials.request import Judging, TrialRequest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from whet.core.condition import Condition

P = ParamSpec("P")
R = TypeVar("R")

_COMMAND, _ORDER = "whet.command", "whet.order"


def _show_whole_help(ctx: click.Context, option: click.Parameter, is_asked: object) -> None:
    from whet.cli.help_pages import show_whole

    show_whole(ctx, option, is_asked)


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_whole_help,
    help="Explain the options of all verbs that run trials too.",
)


class TrialCommand(click.Command):
    """A verb with a command behind ``--``; it alone sees what stands before.

    click drops the ``--`` and with it the border between a verb's own words and the command.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what stands behind the first ``--``, and the order of the options."""
        border = args.index("--") if "--" in args else len(args)
        ctx.meta[_COMMAND] = tuple(args[border + 1 :])
        own = args[:border]
        if not self.takes_files:
            # `whet run python x.py`: from the first word that is no option on, it is the command.
            own, command = self._split(ctx, own)
            ctx.meta[_COMMAND] = (*command, *args[border:]) if command else ctx.meta[_COMMAND]
        if not any(word in {"-h", "--help"} for word in own):
            ctx.meta[_ORDER] = self._order(ctx, own)
        return super().parse_args(ctx, own)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the verb's words and options, and that which explains them all."""
        *others, own_help = super().get_params(ctx)
        return [*others, own_help, _HELP_ALL]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write examples and the verb's own options first."""
        from whet.cli.help_pages import write_options

        write_options(self, ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Return what a word may be: an option of the verb, or a word of the command."""
        command: tuple[str, ...] = ctx.meta[_COMMAND]
        if incomplete.startswith("-") and not command:
            return super().shell_complete(ctx, incomplete)
        from whet.cli.completion import completed_command

        return completed_command(command, incomplete)

    @property
    def takes_files(self) -> bool:
        """Whether the verb has words of its own before the command."""
        return any(isinstance(parameter, click.Argument) for parameter in self.params)

    def _split(self, ctx: click.Context, args: list[str]) -> tuple[list[str], tuple[str, ...]]:
        parser = self.make_parser(ctx)
        parser.allow_interspersed_args = False
        _, rest, _ = parser.parse_args(args=list(args))
        return args[: len(args) - len(rest)], tuple(rest)

    def _order(self, ctx: click.Context, args: list[str]) -> tuple[str, ...]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        return tuple(parameter.name or "" for parameter in order)


class Duration(click.ParamType[float]):
    """Seconds, or a number with a unit: ``90``, ``200ms``, ``5min``, ``1h30m``."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the time in seconds."""
        if isinstance(value, int | float):
            return float(value)
        from whet.core.condition import duration_seconds

        seconds = duration_seconds(str(value))
        if seconds is None or seconds <= 0:
            self.fail(f"`{value}` is not a time: write 90, 200ms, 5min or 1h30m", param, ctx)
        return seconds


class Share(click.ParamType[float]):
    """A share of one, as ``95%`` or ``0.95``."""

    name = "share"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return it as a number."""
        if isinstance(value, int | float):
            return float(value)
        text = str(value).strip()
        try:
            share = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            self.fail(f"`{value}` is not a share: write 95% or 0.95", param, ctx)
        return share


_command_option = options_of(COMMAND)
_stopping_option = options_of(STOPPING)
_bad_option = options_of(BAD)
_note_option = options_of(NOTES)

_TRIAL_OPTIONS = [
    _command_option(
        "--like",
        type=TrialName(),
        metavar="TRIAL",
        help="Run like this trial: its command, variables, switches, limits.",
    ),
    _command_option(
        "--env",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set an environment variable for this trial only.",
    ),
    _command_option("--cwd", default="", metavar="DIR", help="Start the command in this folder."),
    _command_option(
        "--stdin", default="", metavar="FILE", help="Read standard input from this file."
    ),
    _stopping_option(
        "--timeout",
        type=Duration(),
        help="After TIME, kill the whole process tree and keep its Python stack.",
    ),
    *LIMIT_OPTIONS,
    *ROOM_OPTIONS,
    _stopping_option(
        "--hang",
        type=Duration(),
        help="After TIME without output, kill it and keep the stacks of all its processes.",
    ),
    _command_option(
        "--reset",
        multiple=True,
        metavar="CMD",
        help="Run this shell command before each trial; it must succeed (`&&`).",
    ),
    _command_option(
        "--reset-try",
        multiple=True,
        metavar="CMD",
        help="Run this shell command before each trial; it may fail (`;`).",
    ),
    _bad_option(
        "--measure",
        multiple=True,
        metavar="NAME=REGEX",
        help="Read a number from the output; the last match counts.",
    ),
    _bad_option(
        "--bad-if",
        default="",
        metavar="CONDITION",
        help="Call a run BAD if this holds, such as 'seconds > 2' or 'stdout ~ NaN'.",
    ),
    _bad_option(
        "--oracle",
        default="",
        metavar="SCRIPT",
        help="Let a script judge; it gets the command as arguments and exits 0 (good), 1 (bad) "
        "or 125 (skip).",
    ),
    _bad_option(
        "--interesting",
        default="",
        metavar="SCRIPT",
        help="Let a script judge, as C-Reduce does: exit 0 means BAD.",
    ),
    _note_option("--name", default="", help="Give the trial a name."),
    _note_option("--note", default="", help="Keep a note with the trial."),
    _note_option(
        "--expect",
        multiple=True,
        metavar="WHAT",
        help="State what you expect, such as KeyError, 'seconds ~ 3s' or 'peak < 2G'; whet scores "
        "it after the run.",
    ),
    _note_option(
        "--expect-file",
        multiple=True,
        metavar="FILE",
        help="State what you expect in a file, a line each, or at the sections of a .py file.",
    ),
]


def trial_options(function: Callable[P, R]) -> Callable[P, R]:
    """Add the options of a trial to a verb."""
    for option in reversed(_TRIAL_OPTIONS):
        function = option(function)
    return function


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
verdict_option = click.option(
    "--exit-verdict", is_flag=True, help="Exit with the verdict: 0 GOOD, 1 BAD, 125 SKIP."
)
locals_option = click.option(
    "--locals",
    "keeps_locals",
    is_flag=True,
    help="Keep the variables of a failure's frames, for `whet show` and `post-mortem`.",
)
jobs_option = click.option(
    "--jobs", "-j", type=click.IntRange(1), help="Run this many trials at once. [all cores]"
)
cold_option = click.option(
    "--cold", is_flag=True, help="Run each trial from the start, never from a frozen copy."
)
budget_option = click.option(
    "--budget", type=Duration(), help="Stop after this time, with the best result so far."
)


def trial_request(ctx: click.Context) -> TrialRequest:
    """Return what the options of a trial and the command behind ``--`` say."""
    values = ctx.params
    judging = Judging(
        condition=_condition(values["bad_if"]), oracle=values["oracle"], interesting=values["interesting"],
        also_interesting=values.get("also_interesting"), bound=cost_bound(values),
    )  # fmt: skip
    if judging.also_interesting is not None and not judging.interesting:
        raise BadUsage(
            "`--also-interesting` is an exit code of the script of `--interesting`",
            hint="name that script: `--interesting ./test.sh`",
        )
    ways = (judging.condition, judging.oracle, judging.interesting, judging.bound)
    if sum(map(bool, ways)) > 1:
        raise BadUsage(
            "`--bad-if`, `--oracle` and `--interesting` each define what counts as bad"
            + ("" if judging.bound is None else ", and so do bounds of time and memory"),
            hint="keep one of them",
        )
    request = TrialRequest(
        command=ctx.meta[_COMMAND],
        cwd=values["cwd"],
        environment=pairs(values["env"], "--env", "NAME=VALUE"),
        stdin=values["stdin"],
        reset=_reset_steps(ctx),
        timeout_seconds=values["timeout"],
        limits=limits_of(values),
        limit_set=values["limit_set"],
        hang_seconds=values["hang"],
        measures=pairs(values["measure"], "--measure", "NAME=REGEX"),
        judging=judging,
        name=values["name"],
        note=values["note"],
    )
    if values["like"] is not None:
        from whet.workbench.trials.like import like_trial

        request = like_trial(request, values["like"])
    _refuse_unmeasured(request)
    return _with_expectations(request, values["expect"], values["expect_file"])


def _condition(text: str) -> "Condition | None":
    if not text:
        return None
    from whet.core.condition import Condition

    return Condition.parse(text)


def _with_expectations(
    request: TrialRequest, words: Sequence[str], files: Sequence[str]
) -> TrialRequest:
    if not words and not files:
        return request
    from whet.workbench.expect.stated import measures_of, stated

    expectations = stated(words, files)
    measures = {**request.measures, **measures_of(expectations, request.measures)}
    return replace(request, expectations=expectations, measures=measures)


def _refuse_unmeasured(request: TrialRequest) -> None:
    """Refuse a condition over a number that nothing measures."""
    condition = request.judging.condition
    if condition is None:
        return
    for name in sorted(condition.names - set(request.measures)):
        raise BadUsage(
            f"no `--measure` defines `{name}`, which `--bad-if '{condition.text}'` uses",
            hint=f"show whet where to read it in the output: `--measure '{name}=REGEX'`;"
            " or measure a part of the program, which gives `NAME.seconds`: `with whet.section('NAME'):`",
        )


def pairs(words: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Return what an option is given as a mapping.

    Raises:
        BadUsage: if it has another form.
    """
    pairs: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise BadUsage(f"`{option} {word}` has no `=`", hint=f"write `{option} {form}`")
        pairs[name] = value
    return pairs


def _reset_steps(ctx: click.Context) -> tuple[ResetStep, ...]:
    # click hands over both kinds apart; a shell would run them in the order they are written in.
    following = {"reset": iter(ctx.params["reset"]), "reset_try": iter(ctx.params["reset_try"])}
    return tuple(
        ResetStep(command=next(following[name]), must_succeed=name == "reset")
        for name in ctx.meta[_ORDER]
        if name in following
    )


def check_picture(picture: str, files: Sequence[str] = (), output: str = "") -> None:
    """Refuse, before the search, a picture with no place, or in that of a payload or a result.

    Args:
        picture: where it goes; empty: there is none.
        files: the payloads, as they were written.
        output: where the user wants the results, a file or a folder; empty: beside the payloads.

    Raises:
        BadUsage, CannotWrite: if that is no place for it.
    """
    if not picture:
        return
    path = Path(os.path.abspath(picture))
    if not path.parent.is_dir():
        raise BadUsage(
            f"`--picture {picture}`: the folder doesn't exist",
            hint=f"create it first: `mkdir -p {Path(picture).parent}`",
        )
    if path.is_dir():
        raise BadUsage(
            f"`--picture {picture}` is a folder", hint=f"name a file in it: `{path.name}/size.svg`"
        )
    asked_file("--picture", picture)
    there = [Path(file) for file in files if Path(file).exists()]
    if path.exists() and any(map(path.samefile, there)):
        raise BadUsage(
            f"`--picture {picture}` is the file itself, which whet never changes",
            hint="name another file",
        )
    results = (
        [output]
        if output and not Path(output).is_dir()
        else [Path(output or Path(file).parent, shrunk_path(Path(file)).name) for file in files]
    )
    if path in [Path(os.path.abspath(result)) for result in results]:
        raise BadUsage(
            f"`--picture {picture}` would overwrite the result",
            hint="name another file, such as `size.svg`",
        )
