"""``whet tiny``: a model with the same architecture and almost no parameters."""

import json
import re

import click

from whet.cli.console import answer, answer_json
from whet.cli.display.progress import Progress
from whet.cli.display.smallest_model import show_smallest, size_words, smallest_json
from whet.cli.options.trial import (
    TrialCommand,
    budget_option,
    json_option,
    pairs,
    trial_options,
    trial_request,
)
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE, BadUsage
from whet.core.text.quantity import shown_bytes, shown_count
from whet.core.text.record import MalformedRecordError, decoded
from whet.workbench.tiny.dimension_search import smallest_model
from whet.workbench.tiny.fewer_layers import FewerLayers, LayersWanted
from whet.workbench.tiny.tiny import TinyModel, TinyOptions, TinyTokenizer, tiny
from whet.workbench.trials.bench import open_workbench

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
_WIDEST = 60
_SHOWN_TOKENS = 5


class Parameters(click.ParamType[int]):
    """A number of parameters: ``10000``, ``10k``, ``125M``."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the number."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmb]?)", str(value).lower())
        if match is None or float(match[1]) == 0:
            self.fail(f"`{value}` isn't a number of parameters: write 10k or 125M", param, ctx)
        return int(float(match[1]) * _UNITS[match[2]])


class Layers(click.ParamType[LayersWanted]):
    """How many layers, or which: ``2``, ``0,5,11``."""

    name = "layers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> LayersWanted:
        """Return the layers."""
        words = str(value).split(",")
        given = [word for word in words if word]
        if not all(word.strip().isdecimal() for word in given) or not given or words == ["0"]:
            self.fail(f"`{value}` names no layers: write 2, or 0,5,11 (the first is 0)", param, ctx)
        numbers = tuple(map(int, given))
        return LayersWanted(most=numbers[0]) if len(words) == 1 else LayersWanted(numbers=numbers)


class Tokens(click.ParamType[int]):
    """A number of tokens."""

    name = "tokens"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the number."""
        if not str(value).isdecimal():
            self.fail(
                f"`{value}` isn't a number of tokens: write `whet tiny MODEL --tokenizer 300`",
                param,
                ctx,
            )
        return int(str(value))


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="MODEL [-- COMMAND... {}]")
@click.argument("model", metavar="MODEL")
@trial_options
@click.option("-o", "--output", default="", metavar="DIR", help="Write the model here. [NAME.tiny]")
@click.option(
    "--params",
    type=Parameters(),
    metavar="N",
    help="Choose dimensions near this many parameters, such as 10k or 125M. [few]",
)
@click.option(
    "--tokenizer",
    "tokens",
    type=Tokens(),
    is_flag=False,
    flag_value="0",
    metavar="[N]",
    help="Make a tokenizer of N tokens from the model's own. [off; without N: few]",
)
@click.option(
    "--layers",
    type=Layers(),
    metavar="N",
    help="Keep N layers of each stack, or those named: 0,5,11; needs --keep-weights. [one of each kind]",
)
@click.option(
    "--keep-weights",
    is_flag=True,
    help="Copy layers of the real model with their weights; with --tokenizer, rows of its tokens alone.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a value of the reference configuration first.",
)
@click.option(
    "--python",
    default="",
    metavar="PATH",
    help="Use this Python, with its torch and transformers. [the first on PATH]",
)
@click.option(
    "--trust-remote-code",
    "trusts_code",
    is_flag=True,
    help="Run the Python code that comes with the model.",
)
@click.option(
    "--download", "may_download", is_flag=True, help="Let your libraries fetch a MODEL from a hub."
)
@budget_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    model: str,
    *,
    output: str,
    params: int | None,
    tokens: int | None,
    layers: LayersWanted | None,
    keep_weights: bool,
    settings: tuple[str, ...],
    python: str,
    trusts_code: bool,
    may_download: bool,
    budget: float | None,
    as_json: bool,
    **_: object,
) -> int:
    """Make a model with the same architecture and almost no parameters.

    MODEL is a folder with a `config.json` (weights aren't needed), such a file, a class of
    transformers such as `LlamaConfig`, or something of your own: a class, `pkg.mod:Net`, or a function
    that makes a model or a scikit-learn estimator, `train:pipeline`. whet starts from this
    configuration and changes dimensions only: each kind of layer and of step stays, in its order, and
    so do activations, windows, epsilons, losses and shared weights. It runs the Python of your program
    and downloads nothing.

    With a command, in which `{}` stands for the model's folder, whet searches for the smallest
    model on which the command fails the same way, and names the dimensions that the failure needs.
    """
    if keep_weights and (params is not None or settings):
        raise BadUsage(
            "`--keep-weights` changes no dimension but the number of tokens",
            hint="leave out `--params` and `--set`",
        )
    if layers is not None and not keep_weights:
        raise BadUsage("`--layers` chooses layers of the real model", hint="add `--keep-weights`")
    given = {
        name: setting_value(text) for name, text in pairs(settings, "--set", "NAME=VALUE").items()
    }
    options = TinyOptions(
        model=model, output=output, python=python, params=params, tokens=tokens,
        layers=(layers or LayersWanted(most=1)) if keep_weights else None,
        settings=given, trusts_code=trusts_code, may_download=may_download,
    )  # fmt: skip
    request = trial_request(ctx)
    if request.command and (tokens is not None or keep_weights):
        raise BadUsage(
            "`--tokenizer` and `--keep-weights` make one model, and a command is for a search over models",
            hint="make that model first, and search from its folder",
        )
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        if request.command:
            limit = Budget(wall_seconds=budget)
            found = smallest_model(bench, request, options, limit)
            answer_json(smallest_json(found)) if as_json else show_smallest(found)
            return 0 if found.stopped.is_complete else INCOMPLETE
        made = tiny(bench, options)
    if as_json:
        answer_json(tiny_json(made))
    else:
        _show(made, params)
    return 0


def setting_value(text: str) -> object:
    """Return what a value of `--set` says in JSON; a text that isn't JSON is itself."""
    try:
        return decoded(text)
    except MalformedRecordError:
        return text


def _show(made: TinyModel, asked: int | None) -> None:
    answer(f"{made.folder}: {made.model_class} with {size_words(made)}")
    if asked is not None and made.params > asked:
        answer(f"  more than {asked:,}: no smaller one of this architecture was found")
    width = max((len(name) for name, _, _ in made.changes), default=0)
    for name, old, new in made.changes:
        answer(f"  {name:{width}}  {_brief(old)} → {_brief(new)}")
    checks = ", ".join(each.name for each in made.checks if each.state == "ok")
    answer(f"checked: {checks}")
    for each in made.checks:
        if each.state == "none":
            answer(f"  {each.name}: {each.why}")
    if made.tokenizer is not None:
        _show_tokenizer(made.tokenizer)
    if made.layers is not None:
        _show_layers(made.layers)
    if made.line:
        answer(f"  {made.line}")


def _show_layers(made: FewerLayers) -> None:
    for stack in made.stacks:
        numbers = ", ".join(map(str, stack.kept))
        kinds = shown_count(stack.kinds, "kind")
        answer(f"layers: {stack.name}: {numbers} of {stack.count} layers ({kinds})")
    read, there = shown_bytes(made.bytes_read), shown_bytes(made.bytes_there)
    answer(
        f"read: {read} of {there}, {made.tensors} of {shown_count(made.tensors_there, 'tensor')}"
    )


def _show_tokenizer(made: TinyTokenizer) -> None:
    of = shown_count(made.reference_tokens, "token")
    back = f"{shown_count(made.texts, 'text')} came back as from the real one"
    answer(f"tokenizer: {made.tokens:,} of {of}; {back}")
    if made.unknown:
        holds = "holds" if made.unknown == 1 else "hold"
        answer(f"  {shown_count(made.unknown, 'text')} {holds} characters that it doesn't know")
    if made.left_out:
        names = ", ".join(made.left_out[:_SHOWN_TOKENS])
        more = "…" if len(made.left_out) > _SHOWN_TOKENS else ""
        answer(f"  left out, as nothing names them: {names}{more}")
    for note in made.notes:
        answer(f"  {note}")


def _brief(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def tiny_json(made: TinyModel) -> dict[str, object]:
    """Return a small model as JSON."""
    return {
        "folder": made.folder,
        "class": made.model_class,
        "params": made.params,
        "reference_params": made.reference_params,
        "counts": made.counts,
        "line": made.line,
        "changes": [
            {"field": name, "reference": old, "tiny": new} for name, old, new in made.changes
        ],
        "checks": [
            {"name": each.name, "state": each.state, "why": each.why} for each in made.checks
        ],
        "layers": None if made.layers is None else made.layers.to_json(),
        "tokenizer": None if made.tokenizer is None else made.tokenizer.to_json(),
    }
