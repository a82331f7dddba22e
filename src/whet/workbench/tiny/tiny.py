"""Making a model small, and putting it where the user wants it."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from whet.core.errors import BadUsage, ModelNotMade, PayloadTooLarge
from whet.core.text.json_record import Record
from whet.core.text.record import integer, optional_record, records, rows, text
from whet.core.value_class import value_class
from whet.host.code.folders import pack_folder, replace_folder
from whet.host.files.files import path_of_part, remove_tree, storage_error
from whet.host.python.python_interpreter import python_for
from whet.workbench.files.results import free_path, may_go
from whet.workbench.tiny.checkpoint_files import stored_types
from whet.workbench.tiny.fewer_layers import FewerLayers, LayersWanted
from whet.workbench.tiny.kept_weights import copy_layers
from whet.workbench.tiny.model_maker import ModelMaker, model_maker
from whet.workbench.trials.bench import Workbench


def _no_settings() -> dict[str, object]:
    return {}


@value_class(kw_only=True)
class TinyOptions:
    """What to make.

    Attributes:
        model: a folder, a `config.json`, or a class.
        output: the folder to write; empty: `NAME.tiny` in the current folder.
        python: the interpreter; empty: that of the command, or the first on `PATH`.
        params: how many parameters to aim at; None: few.
        tokens: how many tokens the tokenizer has; 0: few; None: whet makes none.
        layers: which layers of the real model stay, with their weights; None: none do.
        settings: values of the reference configuration that the user sets.
        trusts_code: code that comes with the model may run.
        may_download: the user's libraries may fetch what they don't have.
    """

    model: str
    output: str = ""
    python: str = ""
    params: int | None = None
    tokens: int | None = None
    layers: LayersWanted | None = None
    settings: Mapping[str, object] = field(default_factory=_no_settings)
    trusts_code: bool = False
    may_download: bool = False

    @property
    def request(self) -> dict[str, object]:
        """What the worker is asked."""
        return {
            "task": "make",
            "model": self.model,
            "params": self.params,
            "tokenizer": self.tokens,
            "settings": dict(self.settings),
            "trusts_code": self.trusts_code,
            "may_download": self.may_download,
            "stored": stored_types(Path(self.model)),
        }


@value_class(kw_only=True)
class Check:
    """One check of a small model.

    Attributes:
        name: what was checked.
        state: `ok`, `failed`, or `none` if there is nothing to check.
        why: why it failed, or why there is nothing.
    """

    name: str
    state: str
    why: str


@value_class(kw_only=True)
class TinyTokenizer(Record):
    """The tokenizer of a small model.

    Attributes:
        tokens: how many there are.
        reference_tokens: how many the real one has.
        floor: the fewest that there can be.
        texts: how many texts come back as they do from the real one.
        unknown: how many hold characters that it doesn't know.
        left_out: added tokens of the real one that nothing names.
        notes: what else there is to know.
    """

    tokens: int
    reference_tokens: int
    floor: int
    texts: int
    unknown: int
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@value_class(kw_only=True)
class TinyModel:
    """A small model.

    Attributes:
        folder: where it is.
        model_class: its class.
        params: how many parameters it has, or what the sizes of an estimator add up to.
        reference_params: how many the reference has.
        counts: what these count: `parameters` or `sizes`.
        changes: each field that differs, with its value in the reference and its new one.
        checks: what was checked.
        tokenizer: its tokenizer, if one was asked for.
        layers: what was copied of the real model.
        line: what makes an estimator in the user's program.
    """

    folder: str
    model_class: str
    params: int
    reference_params: int
    counts: str
    changes: tuple[tuple[str, object, object], ...]
    checks: tuple[Check, ...]
    tokenizer: TinyTokenizer | None = None
    layers: FewerLayers | None = None
    line: str = ""

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(each for each in self.checks if each.state == "failed")


def tiny(bench: Workbench, options: TinyOptions) -> TinyModel:
    """Make a model small, check it and write its folder.

    Raises:
        ModelUnknown, ModelUnsolved, ModelCodeNotTrusted, LibraryMissing, BadUsage: as they say.
        CheckpointUnreadable: if `--keep-weights` doesn't find weights that are data.
        ModelNotMade: if a check fails.
        DiskFull, CannotWrite, ResultInUse: if it can't be written.
    """
    cwd = Path.cwd()
    target = place_of(bench, options)
    python = options.python or python_for((), bench.environment, cwd)
    with model_maker(bench, python, cwd, may_download=options.may_download) as maker:
        if options.layers is None:
            return make_into(bench, maker, options.request, target)
        copied, said = copy_layers(bench, maker, options.request, options.layers, target)
        return replace(tiny_model(said, target), layers=copied)


def make_into(
    bench: Workbench, maker: ModelMaker, request: Mapping[str, object], target: Path
) -> TinyModel:
    """Have a model made in a folder of whet's own, and move it to its place when it is checked.

    Raises:
        ModelNotMade: if a check fails.
        DiskFull, CannotWrite: if it can't be written.
    """
    journal = bench.cleanup_journal
    place = journal.temporary_folder()
    try:
        answer = maker.ask({**request, "output": str(place / "model")})
        made = tiny_model(answer, target)
        if made.failed:
            first = made.failed[0]
            raise ModelNotMade(
                f"the small {made.model_class} fails its check `{first.name}`: {first.why}",
                hint="check that the reference itself does this, or fix a dimension: `--set NAME=VALUE`",
            )
        _put(bench, place / "model", target)
    finally:
        journal.discard(place)
    return made


def _put(bench: Workbench, folder: Path, target: Path) -> None:
    """Put a checked model in its place; one that is too large for the notebook is moved there."""
    journal = bench.cleanup_journal
    try:
        packed = pack_folder(folder)
    except PayloadTooLarge:
        beside = path_of_part(target)
        journal.adopt("folder", str(beside))
        try:
            shutil.move(folder, beside)
            if target.is_dir():
                remove_tree(target)  # it is empty, or a result of whet
            beside.rename(target)
        except OSError as error:
            raise storage_error(error, target) from error
        finally:
            journal.discard(beside)
        return
    bench.payload_store.keep(packed)  # a result that the notebook holds may be written over
    replace_folder(target, packed, journal)


def tiny_model(answer: Mapping[str, object], target: Path) -> TinyModel:
    """Return what the worker says of a model."""
    tokenizer = optional_record(answer, "tokenizer")
    return TinyModel(
        folder=str(target),
        model_class=text(answer, "class"),
        params=integer(answer, "params"),
        reference_params=integer(answer, "reference_params"),
        counts=str(answer.get("counts", "parameters")),
        line=str(answer.get("line", "")),
        changes=tuple((str(name), old, new) for name, old, new in rows(answer["changes"], 3)),
        checks=tuple(map(_check, records(answer, "checks"))),
        tokenizer=None if tokenizer is None else TinyTokenizer.from_json(tokenizer),
    )


def _check(record: Mapping[str, object]) -> Check:
    return Check(name=text(record, "name"), state=text(record, "state"), why=text(record, "why"))


def place_of(bench: Workbench, options: TinyOptions) -> Path:
    """Return the folder that the model goes to.

    Raises:
        BadUsage: if there is something that whet didn't make.
    """
    if not options.output:
        name = Path(options.model.rpartition(":")[2]).name.removesuffix(".json") or "model"
        return free_path(bench, Path.cwd() / f"{name}.tiny", Path(options.model), ())
    target = Path(os.path.abspath(options.output))
    if not may_go(bench, target) and not (target.is_dir() and not any(target.iterdir())):
        raise BadUsage(
            f"`-o {options.output}` exists already", hint="name a folder that isn't there yet"
        )
    if not target.parent.is_dir():
        raise BadUsage(
            f"`-o {options.output}`: its folder doesn't exist", hint=f"`mkdir -p {target.parent}`"
        )
    return target
