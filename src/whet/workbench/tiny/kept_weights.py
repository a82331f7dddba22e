"""`whet tiny --keep-weights`: some layers of the real model, put where the user wants them."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

from whet.core.errors import BadUsage, ModelNotMade
from whet.core.text.record import boolean, record, records, rows, sequence, text, whole
from whet.core.value_class import value_class
from whet.host.files.files import path_of_part, remove_tree, storage_error
from whet.workbench.tiny.fewer_layers import FewerLayers, LayersWanted, RealModel, TokensKept
from whet.workbench.tiny.model_maker import ModelMaker
from whet.workbench.trials.bench import Workbench


def copy_layers(
    bench: Workbench,
    maker: ModelMaker,
    request: Mapping[str, object],
    wanted: LayersWanted,
    target: Path,
) -> tuple[FewerLayers, dict[str, object]]:
    """Copy some layers of a model's folder, have them loaded, and put them in their place.

    With a tokenizer, the rows of its tokens are copied alone.
    The layers that stay are the first of each kind. If the configuration counts layers by a rule
    that doesn't hold for these, all up to the last one of these stay.

    Args:
        bench: the workbench.
        maker: the user's Python.
        request: names the model.
        wanted: which layers.
        target: the folder to write, which isn't there.

    Returns:
        What was copied, and what the user's libraries say of it.

    Raises:
        CheckpointUnreadable, BadUsage: as they say.
        ModelNotMade: if the libraries don't load it, or it doesn't run.
        DiskFull, CannotWrite: if it can't be written.
    """
    folder = Path(str(request["model"]))
    if not folder.is_dir():
        raise BadUsage(
            f"`--keep-weights` needs a folder with weights, and `{folder}` is none",
            hint="name the folder of the model",
        )
    if target.is_dir() and any(target.iterdir()):
        raise BadUsage(
            f"`{target}` exists already", hint="name a folder that isn't there yet with `-o`"
        )
    answer = maker.ask({**request, "task": "checkpoint"})
    real = RealModel(folder, record(answer, "settings"))
    beside = path_of_part(target)
    bench.cleanup_journal.adopt("folder", str(beside))
    try:
        copying = _Copying(real, maker, request, _tokens_in(answer), beside)
        copied, said = copying.copied(wanted)
        beside.rename(target)
    except OSError as error:
        raise storage_error(error, target) from error
    finally:
        with suppress(OSError):
            remove_tree(beside)
        bench.cleanup_journal.forget(str(beside))
    return copied, said


def _tokens_in(answer: Mapping[str, object]) -> TokensKept | None:
    if not answer["numbers"]:
        return None
    return TokensKept(
        numbers=tuple(map(whole, sequence(answer, "numbers"))),
        tables=tuple(
            (str(name), tuple(map(whole, cast("list[object]", shape))), whole(axis))
            for name, shape, axis in rows(answer["tables"], 3)
        ),
    )


@value_class
class _Copying:
    real: RealModel
    maker: ModelMaker
    request: Mapping[str, object]
    tokens: TokensKept | None
    folder: Path

    def copied(self, wanted: LayersWanted) -> tuple[FewerLayers, dict[str, object]]:
        """Copy the layers that are wanted; all up to them if these alone don't load."""
        copied, said = self._tried(self.real.chosen(wanted))
        if not boolean(said, "fits") and not wanted.numbers:
            copied, said = self._tried(self.real.chosen(wanted, is_from_first=True))
        for check in records(said, "checks"):
            if text(check, "state") == "failed":
                raise ModelNotMade(
                    f"these layers fail the check `{text(check, 'name')}`: {text(check, 'why')}",
                    hint="name other layers, such as all of one period of a pattern: `--layers 0,1,2,3`",
                )
        return copied, said

    def _tried(self, kept: list[tuple[int, ...]]) -> tuple[FewerLayers, dict[str, object]]:
        copied = self.real.write(self.folder, kept, self.tokens)
        request = {**self.request, "task": "checkpoint", "copied": str(self.folder)}
        return copied, self.maker.ask(request)
