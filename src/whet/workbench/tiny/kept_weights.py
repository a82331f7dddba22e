"""`whet tiny --keep-weights`: some layers of the real model, put where the user wants them."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from whet.core.errors import BadUsage, ModelNotMade
from whet.core.text.record import boolean, record, records, text
from whet.host.files.files import path_of_part, remove_tree, storage_error
from whet.workbench.tiny.fewer_layers import FewerLayers, LayersWanted, RealModel
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
        copied, said = _copied(real, maker, request, wanted, beside)
        beside.rename(target)
    except OSError as error:
        raise storage_error(error, target) from error
    finally:
        with suppress(OSError):
            remove_tree(beside)
        bench.cleanup_journal.forget(str(beside))
    return copied, said


def _copied(
    real: RealModel,
    maker: ModelMaker,
    request: Mapping[str, object],
    wanted: LayersWanted,
    folder: Path,
) -> tuple[FewerLayers, dict[str, object]]:
    copied, said = _tried(real, maker, request, real.chosen(wanted), folder)
    if not boolean(said, "fits") and not wanted.numbers:
        up_to_them = real.chosen(wanted, is_from_first=True)
        copied, said = _tried(real, maker, request, up_to_them, folder)
    for check in records(said, "checks"):
        if text(check, "state") == "failed":
            raise ModelNotMade(
                f"these layers fail the check `{text(check, 'name')}`: {text(check, 'why')}",
                hint="name other layers, such as all of one period of a pattern: `--layers 0,1,2,3`",
            )
    return copied, said


def _tried(
    real: RealModel,
    maker: ModelMaker,
    request: Mapping[str, object],
    kept: list[tuple[int, ...]],
    folder: Path,
) -> tuple[FewerLayers, dict[str, object]]:
    copied = real.write(folder, kept)
    return copied, maker.ask({**request, "task": "checkpoint", "copied": str(folder)})
