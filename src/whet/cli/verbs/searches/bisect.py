"""``whet bisect``: the first bad commit or release."""

import click

from whet.bisection.names import ends_of
from whet.bisection.odds import shown_chance
from whet.cli.console import answer, answer_json, answer_lines
from whet.cli.display.pasted import show_line
from whet.cli.display.progress import Progress
from whet.cli.display.smallest_part import show_part
from whet.cli.options.bisect import package_options, pinned
from whet.cli.options.checkout import carry_option, repo_option
from whet.cli.options.cost_bound import cost_options
from whet.cli.options.trial import (
    Share,
    TrialCommand,
    budget_option,
    jobs_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.core.budget import Budget, StopReason
from whet.core.errors import INCOMPLETE, BadUsage
from whet.core.text.quantity import shown_count, shown_seconds
from whet.host.files.files import write_atomically
from whet.report.facts import history_facts, part_facts
from whet.report.history_line import history_line
from whet.workbench.bisect.bisect import BisectOptions, bisect, bisect_working_tree
from whet.workbench.files.asked_files import asked_file
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.investigation import VersionSearch
from whet.workbench.trials.request import TrialRequest
from whet.workbench.versions.history_sentence import history_sentence
from whet.workbench.versions.noisy_versions import CONFIDENCE, FIRST_RUNS, Noise
from whet.workbench.versions.setups import Setup

_LEAST_CONFIDENCE = 0.5


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="[GOOD] [BAD] -- COMMAND...")
@click.argument("ends", nargs=-1, metavar="[GOOD] [BAD]")
@repo_option
@click.option("--path", "paths", multiple=True, help="Search only commits that touch this path.")
@click.option(
    "--first-parent",
    is_flag=True,
    help="Search the main line first, then inside the merge that it finds.",
)
@click.option(
    "--setup",
    default="",
    metavar="CMD",
    help="Run this shell command at the top of each checkout (install, build); if it fails, the commit is skipped.",
)
@click.option(
    "--setup-reads",
    multiple=True,
    metavar="GLOB",
    help="Run the setup again only when these files change.",
)
@click.option(
    "--as-of-commit",
    is_flag=True,
    help="Let the setup install only releases from before the commit's date (needs uv).",
)
@carry_option
@click.option("--package", default="", metavar="NAME", help="Search the releases of this package.")
@click.option("--pre", is_flag=True, help="Include pre-releases such as 2.0rc1.")
@click.option(
    "--as-of-release",
    is_flag=True,
    help="Install the dependencies as of each release's date (needs uv).",
)
@click.option(
    "--terms",
    default="",
    metavar="OLD,NEW",
    help="Name the two sides in your own words, such as broken,fixed.",
)
@click.option(
    "--confidence",
    type=Share(),
    metavar="95%",
    help="Required probability of the answer, if a bad version fails only sometimes. [95%]",
)
@click.option(
    "--rate", type=Share(), metavar="50%", help="Failure rate of a bad version, if you know it."
)
@click.option(
    "--good-rate",
    type=Share(),
    metavar="0%",
    help="Failure rate of a good version, if you know it.",
)
@click.option(
    "--end-runs",
    type=click.IntRange(1),
    default=FIRST_RUNS,
    metavar="N",
    help="Run the failing end N times first, to see whether it always fails. [1]",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Continue an interrupted search; fail if there is none.",
)
@click.option(
    "--log", default="", metavar="FILE", help="Write a log that `git bisect replay` reads."
)
@click.option("--picture", default="", metavar="FILE", help="Draw the search, as an SVG file.")
@click.option(
    "--hunks",
    is_flag=True,
    help="Then find the smallest part of the first bad commit that causes the failure.",
)
@click.option(
    "--working-tree",
    is_flag=True,
    help="Search your uncommitted edits, one by one.",
)
@click.option(
    "--attempts",
    is_flag=True,
    help="Search the states of the code on which the command ran since it last passed.",
)
@package_options
@cost_options
@trial_options
@budget_option
@jobs_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    ends: tuple[str, ...],
    *,
    log: str,
    picture: str,
    as_json: bool,
    **_: object,
) -> int:
    """Find the first bad commit, or with --package the first bad release.

    Write GOOD and BAD as git does (`v4.33`, `release~3`), as a date (`2026-01-05`, `'2 weeks ago'`),
    or both in one word (`v4.33..HEAD`). The default for BAD is HEAD; without GOOD, whet walks back
    until it finds a good one. If the older end fails and the newer one passes, it finds the fix.

    whet checks commits out in working trees of its own and runs `--jobs` of them at once (as many as
    you have cores, up to 8); your checkout stays as it is. It runs both ends too. It skips a version
    that doesn't build, or that fails in another way than the bad end. Type the same line again to
    continue an interrupted search (`--resume` insists on it).

    About three more runs check the answer, and whet reports the remaining doubt. When one of them
    contradicts it, whet measures how often both ends fail, shows its plan, and weighs each run until
    one version is likely enough; --confidence, --rate or --good-rate ask for that from the start.
    """
    request = trial_request(ctx)
    if ctx.params["packages"] and not ctx.params["pythons"]:
        from whet.cli.verbs.searches.packages import search_packages

        return search_packages(ctx, ends, request)
    if ctx.params["working_tree"]:
        return _search_working_tree(ctx, ends, request)
    options = _options(ctx, ends)
    files = {
        each: asked_file(f"--{each}", name)
        for each, name in (("log", log), ("picture", picture))
        if name
    }
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        search = bisect(bench, request, options)
    for each, path in files.items():
        text = search.log if each == "log" else history_line(search)
        write_atomically(path, f"{text}\n".encode("utf-8", "surrogateescape"))
    _answer(search, as_json=as_json)
    if request.judging.bound is not None and search.first_bad is not None and not as_json:
        both = f"{search.good} {search.first_bad}"
        answer(f"next: how much exactly? `whet compare {both} -- COMMAND` measures both")
    return 0 if search.stopped.is_answer else INCOMPLETE


def _options(ctx: click.Context, ends: tuple[str, ...]) -> BisectOptions:
    """Return what the options say.

    Raises:
        BadUsage: if they contradict each other.
    """
    values = ctx.params
    package, pythons = values["package"], values["pythons"]
    if values["attempts"]:
        _refuse_ends(ctx, ends, "--attempts", "the commits that it ran on before")
        ends = ("now",)
    of_commits = ("hunks", "log", "setup", "as_of_commit", "carry", "first_parent")
    if package and any(values[name] for name in of_commits):
        raise BadUsage(
            "`--hunks`, `--log`, `--setup`, `--as-of-commit`, `--carry` and `--first-parent` are for commits, but `--package` searches releases",
            hint="leave them out, or search the package's own repository: `--repo DIR`",
        )
    good, bad = ("", "") if pythons and not ends else _ends(ends, package or pythons)
    return BisectOptions(
        good=good,
        bad=bad,
        repository=values["repo"],
        paths=values["paths"],
        package=package,
        pins=pinned(values["pins"], package),
        pythons=pythons,
        terms=values["terms"],
        with_prereleases=values["pre"],
        as_of_release=values["as_of_release"],
        budget=Budget(wall_seconds=values["budget"]),
        jobs=values["jobs"],
        noise=_noise(values["confidence"], values["rate"], values["good_rate"], values["end_runs"]),
        is_line=values["first_parent"],
        setup=Setup(
            command=values["setup"], reads=values["setup_reads"],
            as_of_commit=values["as_of_commit"], carried=values["carry"],
        ),
        hunks=values["hunks"],
        attempts=values["attempts"],
        is_resumed=values["resume"],
    )  # fmt: skip


def _ends(ends: tuple[str, ...], subject: str) -> tuple[str, str]:
    if subject and not ends:
        raise BadUsage(
            f"`{subject}` has no release to start from",
            hint=f"write `whet bisect --package {subject} GOOD BAD -- COMMAND`",
        )
    if subject and len(ends) == 1 and ".." not in ends[0]:
        return "", ends[0]  # packages and Pythons have no HEAD to go up to
    return ends_of(ends)


def _noise(
    confidence: float | None, rate: float | None, good_rate: float | None, end_runs: int
) -> Noise:
    """Return what the options say of a failure that comes only sometimes.

    Raises:
        BadUsage: if they can't be met.
    """
    if confidence is not None and not _LEAST_CONFIDENCE <= confidence < 1:
        raise BadUsage(
            f"`--confidence {confidence:g}`: no search can reach that",
            hint="write a share from 50% to below 100%, such as 95% or 0.99",
        )
    if rate is not None and rate <= (good_rate or 0.0):
        raise BadUsage(
            f"`--rate {rate:g}`: a bad version must fail more often than a good one",
            hint="`--rate` is for bad versions, `--good-rate` for good ones",
        )
    return Noise(
        confidence=CONFIDENCE if confidence is None else confidence,
        first_runs=end_runs,
        fails_if_bad=rate,
        fails_if_good=good_rate,
        is_certain=any(each is not None for each in (confidence, rate, good_rate)),
    )


def _search_working_tree(ctx: click.Context, ends: tuple[str, ...], request: TrialRequest) -> int:
    values = ctx.params
    _refuse_ends(ctx, ends, "--working-tree", "your uncommitted edits")
    options = BisectOptions(
        good="", bad="", budget=Budget(wall_seconds=values["budget"]), jobs=values["jobs"]
    )
    quiet = values["as_json"]
    with Progress(quiet=quiet) as progress, open_workbench(observer=progress) as bench:
        part = bisect_working_tree(bench, request, options)
    if quiet:
        answer_json({"part": part_facts(part)})
    else:
        show_part(part)
    return 0 if part.stopped.is_complete else INCOMPLETE


def _refuse_ends(ctx: click.Context, ends: tuple[str, ...], option: str, what: str) -> None:
    others = ("repo", "paths", "package", "terms")
    if ends or any(ctx.params[name] for name in others):
        raise BadUsage(
            f"`{option}` searches {what}, and takes no ends",
            hint=f"write `whet bisect {option} -- COMMAND`",
        )


def _answer(search: VersionSearch, *, as_json: bool) -> None:
    if not as_json:
        _show(search)
        return
    part = {} if search.part is None else {"part": part_facts(search.part)}
    answer_json({**history_facts(search), **part})


def _show(search: VersionSearch) -> None:
    if search.picture:
        answer_lines(search.picture)
        answer("")
    answer(history_sentence(search))
    if search.looked_again is not None:
        answer(search.looked_again.in_words)
    if search.noisy is not None and search.noisy.runners_up:
        answer("the next likely:")
        for each in search.noisy.runners_up:
            answer(
                f"  {shown_chance(each.probability):>7}  {each.label} {each.description}".rstrip()
            )
    if search.first_bad_description:
        answer("")
        answer_lines(search.first_bad_description)
    if search.diff:
        answer("")
        answer_lines(search.diff)
    if search.again is not None:
        answer("")
        show_line(search.again)
    trials = shown_count(search.trials, "trial")
    why = "" if search.stopped is StopReason.FOUND else f"; {search.stopped.value}"
    if search.concluded:
        trials += (
            f" and {search.concluded} judged without a run, because nothing they read differs,"
        )
    answer("")
    answer(f"{trials} in {shown_seconds(search.wall_seconds)}{why}")
    if search.part is not None:
        answer("")
        show_part(search.part)
