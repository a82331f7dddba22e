"""Fewer layers of a real checkpoint: whet reads the bytes of what stays, and of nothing else."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from whet.core.errors import BadUsage, CheckpointUnreadable
from whet.core.text.json_record import Record
from whet.core.text.record import as_record, decoded
from whet.core.value_class import value_class
from whet.workbench.tiny.checkpoint_files import (
    Checkpoint,
    KeptRows,
    read_checkpoint,
    write_safetensors,
)
from whet.workbench.tiny.layer_stacks import Settings, Stack, renamed, stacks_of, with_layers

_AGAIN = "name the folder of a model"
_WEIGHTS = (
    "*.safetensors", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.onnx", "*.gguf",
    "*.index.json",
)  # fmt: skip


@value_class(kw_only=True)
class LayersWanted:
    """Which layers stay.

    Attributes:
        most: how many of each stack, if that is enough for one of each kind.
        numbers: those that you name; empty: the first of each kind.
    """

    most: int = 0
    numbers: tuple[int, ...] = ()


@value_class(kw_only=True)
class TokensKept:
    """The tokens of a smaller vocabulary, and the tensors with a row for each token.

    Attributes:
        numbers: of the tokens, in the order of their new ones.
        tables: for each tensor its name in the model, its shape, and the place of the rows in it.
    """

    numbers: tuple[int, ...]
    tables: tuple[tuple[str, tuple[int, ...], int], ...]

    def rows(self, name: str, shape: tuple[int, ...]) -> KeptRows | None:
        """Return what stays of a tensor of the checkpoint; None: all of it."""
        for known, known_shape, axis in self.tables:
            # A checkpoint may be that of the model without its head, or of one more around it.
            is_it = f".{known}".endswith(f".{name}") or f".{name}".endswith(f".{known}")
            if is_it and shape == known_shape:
                return KeptRows(axis=axis, numbers=self.numbers)
        return None


@value_class(kw_only=True)
class StackCut(Record):
    """What became of one stack of layers.

    Attributes:
        name: what the names of its tensors begin with.
        count: how many layers there were.
        kept: the numbers that they had.
        kinds: how many kinds of layers there are.
    """

    name: str
    count: int
    kept: tuple[int, ...]
    kinds: int


@value_class(kw_only=True)
class FewerLayers(Record):
    """What was copied.

    Attributes:
        stacks: each stack of layers.
        bytes_read: how many bytes whet read of the checkpoint.
        bytes_there: how many it has.
        tensors: how many tensors were copied.
        tensors_there: how many it has.
    """

    stacks: tuple[StackCut, ...]
    bytes_read: int
    bytes_there: int
    tensors: int
    tensors_there: int


class RealModel:
    """A model's folder with its weights, of which some layers are copied."""

    def __init__(self, folder: Path, whole: Settings) -> None:
        """Find its layers.

        Args:
            folder: the folder.
            whole: its configuration with the values that the library fills in; empty: unknown.

        Raises:
            CheckpointUnreadable: if the checkpoint can't be read as data, or no layers be counted.
        """
        self._folder = folder
        self._given = _settings(folder / "config.json")
        self._whole = whole or self._given
        self._checkpoint: Checkpoint = read_checkpoint(folder)
        forms = {name: (each.dtype, each.shape) for name, each in self._checkpoint.tensors.items()}
        self._stacks = stacks_of(forms, self._whole)

    def chosen(self, wanted: LayersWanted, *, is_from_first: bool = False) -> list[tuple[int, ...]]:
        """Return the layers of each stack that stay.

        Args:
            wanted: what you ask for.
            is_from_first: all layers up to the last that is needed, so that a rule of the
                configuration that counts layers holds for them as it did.

        Raises:
            BadUsage: if a layer that you name isn't there.
        """
        most = max(each.count for each in self._stacks)
        if absent := [each for each in wanted.numbers if each >= most]:
            raise BadUsage(
                f"there is no layer {absent[0]}: the model has layers 0 to {most - 1}",
                hint="`--layers 2` keeps the first of each kind",
            )
        chosen = [_chosen(each, wanted) for each in self._stacks]
        return [tuple(range(max(each) + 1)) if is_from_first else each for each in chosen]

    def write(
        self, target: Path, kept: Sequence[tuple[int, ...]], tokens: TokensKept | None = None
    ) -> FewerLayers:
        """Write a folder with these layers of each stack alone, and the rows of some tokens."""
        stacks = [*zip(self._stacks, kept, strict=True)]
        target.mkdir(parents=True, exist_ok=True)
        _copy_others(self._folder, target)
        settings = with_layers(self._given, self._whole, stacks)
        (target / "config.json").write_text(json.dumps(settings, indent=2) + "\n", "utf-8")
        tensors = [
            (name, place)
            for old, place in self._checkpoint.tensors.items()
            if (name := renamed(old, stacks)) is not None
        ]
        rows = {
            name: part
            for name, place in (tensors if tokens else ())
            if tokens and (part := tokens.rows(place.name, place.shape))
        }
        read = write_safetensors(target / "model.safetensors", tensors, rows)
        return FewerLayers(
            stacks=tuple(
                StackCut(name=stack.name, count=stack.count, kept=each, kinds=len({*stack.kinds}))
                for stack, each in stacks
            ),
            bytes_read=self._checkpoint.read + read,
            bytes_there=self._checkpoint.size,
            tensors=len(tensors),
            tensors_there=len(self._checkpoint.tensors),
        )


def _chosen(stack: Stack, wanted: LayersWanted) -> tuple[int, ...]:
    if not wanted.numbers:
        return stack.chosen(wanted.most)
    named = tuple(sorted({each for each in wanted.numbers if each < stack.count}))
    return named or stack.chosen(1)


def _settings(path: Path) -> dict[str, object]:
    try:
        return dict(as_record(decoded(path.read_bytes()), "the configuration"))
    except OSError as error:
        raise CheckpointUnreadable(
            f"`{path}` can't be read: {error.strerror}", hint=_AGAIN
        ) from error
    except ValueError as error:
        raise CheckpointUnreadable(f"`{path}` isn't JSON: {error}", hint=_AGAIN) from error


def _copy_others(source: Path, target: Path) -> None:
    """Copy what is small and no weights: tokenizers, templates, other settings."""
    for each in sorted(source.iterdir()):
        if each.is_file() and not any(each.match(pattern) for pattern in _WEIGHTS):
            shutil.copyfile(each, target / each.name)
    templates = source / "additional_chat_templates"
    if templates.is_dir():
        shutil.copytree(templates, target / templates.name, dirs_exist_ok=True)
