"""The help of a verb that runs trials: examples and its own options first, shared ones in groups."""

import textwrap

import click

from whet.cli.option_groups import GROUPS, GroupedOption

WHOLE = "whet.whole_help"
"""In a context's meta: the help explains shared options too."""

_GROUP_WIDTH = 20

EXAMPLES = {
    "run": (
        "whet run -- python train.py",
        "whet run --hang 30 -- python server.py",
        "whet run --bad-if 'seconds > 2' -- ./query.sh",
    ),
    "loop": (
        "whet loop -- python analyse.py",
        "whet loop -- pytest -x tests/test_load.py",
        "whet loop --reset 'rm -rf out' -- python build.py",
    ),
    "repeat": (
        "whet repeat -n 50 -- pytest tests/test_cache.py",
        "whet repeat --jobs 4 -- python race.py",
        "whet repeat --bad-if 'seconds > 2' -- ./query.sh",
    ),
    "investigate": (
        "whet investigate -- python train.py data.csv",
        "whet investigate --good v1.2 -- pytest tests/test_load.py",
        "whet investigate --slower-than 2s -- python load.py",
    ),
    "shrink": (
        "whet shrink data.csv -- python load.py data.csv",
        "whet shrink conf/ -- ./start.sh conf/",
        "whet shrink big.c --interesting ./test.sh",
    ),
    "bisect": (
        "whet bisect v1.2 HEAD -- pytest tests/test_load.py",
        "whet bisect --package numpy -- python use.py",
        "whet bisect --setup 'make' -- ./program",
    ),
    "delta": (
        "whet delta good.json bad.json -- python run.py {}",
        "whet delta base last",
        "whet delta --environment good.env bad.env -- ./start.sh",
    ),
    "toggle": (
        "whet toggle -- python train.py",
        "whet toggle --hang 30 -- python train.py",
        "whet toggle one-process -- python load.py",
    ),
    "starve": (
        "whet starve --memory 500M -- python load.py",
        "whet starve --files 20 -- ./server",
        "whet starve --disk 10M -- python save.py",
    ),
    "sample": (
        "whet sample orders.csv -n 20 --random",
        "whet sample orders.csv --where 'amount < 0'",
        "whet sample big.parquet -- python load.py big.parquet",
    ),
    "tiny": (
        "whet tiny models/llama",
        "whet tiny models/llama --params 1M -o small",
        "whet tiny models/llama -- python train.py {}",
    ),
    "leak": (
        "whet leak -- python train.py",
        "whet leak --call server.py:handle -- python server.py",
        "whet leak -- pytest test_pool.py::test_reuse",
    ),
    "grow": (
        "whet grow -d n=1..4096 -- python sort.py '{n}'",
        "whet grow -d env:OMP_NUM_THREADS=1..16 -- python load.py",
        "whet grow -d conf.json:rows=1..1000 -- python load.py conf.json",
    ),
    "compare": (
        "whet compare 'python old.py' 'python new.py'",
        "whet compare --baseline main -- python train.py",
        "whet compare numpy==1.26.4 numpy==2.1.0 -- python use.py",
    ),
    "syscalls": (
        "whet syscalls -- ./program",
        "whet syscalls last",
        "whet syscalls --pid 4711 --for 5",
    ),
    "profile": (
        "whet profile -- python train.py",
        "whet profile --html profile.html -- python train.py",
        "whet profile --show last",
    ),
    "where": (
        "whet where numpy",
        "whet where json.loads -- python main.py",
        "whet where numpy --cwd src -- python main.py",
    ),
    "probe": (
        "whet probe load.py:12 -- python main.py",
        "whet probe load.py:12 print rows -- python main.py",
        "whet probe load.py:12 stop -- python main.py",
    ),
    "watch": (
        "whet watch memory 'df -h /tmp' -- python train.py",
        "whet watch --when 'rss > 8G' stacks -- python train.py",
        "whet watch processes:python gpu",
    ),
    "expect": (
        "whet expect",
        "whet expect --lines train.py -- python train.py",
        "whet expect --lines load.py:parse -- python main.py",
    ),
    "trace": (
        "whet trace load:parse -- python main.py",
        "whet trace load -- python main.py",
        "whet trace load:parse --timeout 30 -- python main.py",
    ),
}
"""Three examples for each verb."""


def write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the examples and the options of a verb."""
    with formatter.section("Examples"):
        for line in EXAMPLES.get(ctx.info_name or "", ()):
            formatter.write(f"{' ' * formatter.current_indent}{line}\n")
    own: list[tuple[str, str]] = []
    shared: dict[str, list[GroupedOption]] = {group: [] for group in GROUPS}
    for each in command.get_params(ctx):
        if isinstance(each, GroupedOption):
            shared[each.group].append(each)
        elif isinstance(each, click.Option):
            own += filter(None, [each.get_help_record(ctx)])
    with formatter.section("Options"):
        formatter.write_dl(own)
    if WHOLE in ctx.meta:
        for group, options in shared.items():
            with formatter.section(group):
                records = [each.get_help_record(ctx) for each in options]
                formatter.write_dl([each for each in records if each is not None])
        return
    with formatter.section("Options of all verbs that run trials (--help-all explains them)"):
        for group, options in shared.items():
            words = textwrap.wrap(
                " ".join(each.opts[0] for each in options),
                formatter.width - _GROUP_WIDTH - formatter.current_indent,
                break_on_hyphens=False,
            )
            for place, line in enumerate(words):
                head = "" if place else group
                indent = " " * formatter.current_indent
                formatter.write(f"{indent}{head:{_GROUP_WIDTH}}{line}\n")


def show_whole(ctx: click.Context, _option: click.Parameter, is_asked: object) -> None:
    """Show the help with all options explained, and end."""
    if is_asked and not ctx.resilient_parsing:
        ctx.meta[WHOLE] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
