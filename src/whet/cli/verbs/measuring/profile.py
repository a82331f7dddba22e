"""``whet profile``: where the time and the memory of a program went."""

from collections.abc import Mapping, Sequence

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.display.profile_lines import profile_json, profile_lines
from whet.cli.display.progress import Progress
from whet.cli.display.summary import entry_json, run_line
from whet.cli.options.trial import TrialCommand, json_option, trial_options, trial_request
from whet.cli.options.trial_name import TrialName
from whet.core.errors import BadUsage
from whet.core.text.shell_words import joined
from whet.core.value_class import value_class
from whet.host.files.files import write_atomically
from whet.host.process.console import Console
from whet.host.trial.trial_secrets import masked_words
from whet.workbench.files.asked_files import asked_file
from whet.workbench.profile.exported import check_format, export, timelines_of
from whet.workbench.profile.profile import (
    ProfileReport,
    Wish,
    profile_command,
    recorded_profiles,
    restricted,
)
from whet.workbench.trials.bench import Workbench, open_workbench

_MOST_RATE = 1000


@value_class(kw_only=True)
class Files:
    """The files that were asked for; empty: none.

    Attributes:
        html: the page.
        exported: for another viewer.
    """

    html: str
    exported: str

    @property
    def written(self) -> list[str]:
        """Their names."""
        return [each for each in (self.html, self.exported) if each]


_WITHOUT_SIZE = {"--memory": "--heap", "--gpu": "--kernels"}


class ProfileCommand(TrialCommand):
    """The verb, whose `--memory` and `--gpu` without a size ask for a profile.

    With a size they are limits, as for every verb that runs trials.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read one without a size as the option that has no other meaning."""
        border = args.index("--") if "--" in args else len(args)
        for place in range(border):
            following = args[place + 1] if place + 1 < border else ""
            if args[place] in _WITHOUT_SIZE and not following[:1].isdigit():
                args[place] = _WITHOUT_SIZE[args[place]]
        return super().parse_args(ctx, args)


@click.command(cls=ProfileCommand, options_metavar="[OPTIONS] -- COMMAND...")
@trial_options
@click.option("--cpu", is_flag=True, help="Show which lines the processor time goes to. [this one]")
@click.option(
    "--heap",
    is_flag=True,
    help="Show which lines the memory goes to; `--memory` without a size does the same.",
)
@click.option(
    "--gpu-heap",
    is_flag=True,
    help="Show which lines hold the memory of the GPU that torch has at the peak.",
)
@click.option(
    "--kernels",
    is_flag=True,
    help="Show which kernels and operators of torch take the time, by your lines; `--gpu` without a size does the same.",
)
@click.option(
    "--trace",
    default="",
    metavar="APIS",
    help="Profile the GPU with Nsight Systems, and trace these APIs: cuda,nvtx,osrt,cublas,cudnn.",
)
@click.option(
    "--captured",
    is_flag=True,
    help="With --trace: record only what the program surrounds with `whet.capture()`.",
)
@click.option(
    "--io",
    is_flag=True,
    help="Show which lines wait for files, sockets, pipes and other processes, and for how long.",
)
@click.option(
    "--show",
    type=TrialName(),
    metavar="TRIAL",
    help="Show the profile that is kept with a trial, without running anything.",
)
@click.option(
    "--rate",
    type=click.IntRange(1, _MOST_RATE),
    default=100,
    metavar="N",
    help="Look N times a second. [100]",
)
@click.option(
    "--native",
    is_flag=True,
    help="Show functions of C, C++ and Rust too, which slows the program down.",
)
@click.option(
    "--once", is_flag=True, help="Run a short program once, even if that gives too few samples."
)
@click.option(
    "--capture",
    default="",
    metavar="PLACE:FUNCTION",
    help="Show what one function does, with all that it calls, and nothing else: `train.py:step`, `package.module:Class.method`.",
)
@click.option(
    "--html",
    default="",
    metavar="FILE",
    help="Write a page with flame graph and timeline, which needs no network.",
)
@click.option(
    "--export",
    "exported",
    default="",
    metavar="FILE",
    help="Write the profile for another viewer, by the end of the name: .trace.json (Perfetto, Chrome), .speedscope.json, .collapsed, .pb.gz (pprof).",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    cpu: bool,
    heap: bool,
    gpu_heap: bool,
    kernels: bool,
    trace: str,
    captured: bool,
    io: bool,
    show: int | str | None,
    rate: int,
    native: bool,
    once: bool,
    capture: str,
    html: str,
    exported: str,
    as_json: bool,
    **_: object,
) -> int:
    """Profile a command, and show which lines its time went to.

    The trial is recorded and judged like any other, and the program's exit code passes through.
    The table names your own lines first, each with what it calls in libraries. The profile is
    kept with the trial. A program that is too short for a profile runs again until there are
    enough samples.
    """
    request = trial_request(ctx)
    if captured and not trace:
        raise BadUsage(
            "`--captured` needs `--trace`",
            hint="torch's profiler keeps to `whet.capture()` on its own",
        )
    if capture and not all(capture.partition(":")):
        raise BadUsage(
            f"`--capture {capture}` is not a function",
            hint="write it as `train.py:step` or `package.module:function`",
        )
    if html:
        asked_file("--html", html)
    if exported:
        check_format(exported)
        asked_file("--export", exported)
    files = Files(html=html, exported=exported)
    if show is not None:
        if request.command:
            raise BadUsage("`--show` and a command exclude each other", hint="leave one out")
        with open_workbench() as bench:
            reports = recorded_profiles(bench, show)
            reports = [restricted(each, capture) for each in reports] if capture else reports
            _write(bench, reports, files)
        _show(reports, files, as_json=as_json)
        return 0
    question = _question(
        {
            "--cpu": ("cpu", cpu),
            "--memory": ("memory", heap),
            "--gpu-heap": ("gpu_memory", gpu_heap),
            "--gpu": ("gpu", kernels or bool(trace)),
            "--io": ("io", io),
        }
    )
    wish = Wish(
        question=question,
        rate=rate,
        native=native,
        once=once,
        capture=capture,
        trace=trace,
        is_captured=captured,
    )
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        report = profile_command(bench, request, None if as_json else Console(), wish)
        _write(bench, [report], files)
    _show([report], files, as_json=as_json)
    outcome = report.entry.outcome
    return 0 if outcome is None else outcome.shell_exit_code


def _question(asked: Mapping[str, tuple[str, bool]]) -> str:
    chosen = [option for option, (_, is_asked) in asked.items() if is_asked]
    if len(chosen) > 1:
        options = " and ".join(f"`{option}`" for option in chosen)
        raise BadUsage(f"{options} exclude each other", hint="profile one after the other")
    return asked[chosen[0]][0] if chosen else "cpu"


def _write(bench: Workbench, reports: Sequence[ProfileReport], files: Files) -> None:
    """Write the files that were asked for."""
    entry = reports[0].entry
    if not (files.html or files.exported):
        return
    timelines = timelines_of(bench, entry.number)
    name = f"Profile of trial {entry.number}"
    command = joined(masked_words(entry.trial.command))
    if files.html:
        from whet.report.profile_page import profile_page

        page = profile_page(
            [each.profile for each in reports], reports[0].measured,
            title=name, command=command, folder=entry.trial.cwd, timelines=timelines,
        )  # fmt: skip
        write_atomically(asked_file("--html", files.html), page)
    if files.exported:
        export(files.exported, reports[0].profile, timelines, command)


def _show(reports: Sequence[ProfileReport], files: Files, *, as_json: bool) -> None:
    if as_json:
        answer_json(
            {
                "trial": entry_json(reports[0].entry),
                "trials": list(reports[0].trials),
                "profiles": [profile_json(each.profile, each.measured) for each in reports],
            }
        )
        return
    for report in reports:
        if report.result is not None:
            for note in dict.fromkeys(report.result.notes):
                say(f"whet: note: {note}")
            result = report.result
            say(run_line(result.entry, result.previous, is_same_failure=result.is_same_failure))
        for line in profile_lines(report.profile, report.measured):
            answer(line)
    for file in files.written:
        say(f"whet: written to {file}")
