"""`--tokenizer`: the small model gets a tokenizer of few tokens, made from the real one."""

from __future__ import annotations

import os
from typing import Any, Optional

from . import fields
from .json_data import as_json, read_object
from .refusals import RefusedError
from .token_choice import TooFewTokens
from .token_numbers import with_rows
from .tokenizer_check import checked
from .tokenizer_cut import NoTokenizer, SmallTokenizer, is_of_another, small_tokenizer

_CONFIG = "config.json"
_GENERATION = "generation_config.json"


class ModelTokenizer:
    """The tokenizer of a small model.

    Attributes:
        tree: the reference configuration with the new numbers and rows.
        numbers: the numbers that the tokens had, in the order of their new ones.
        fixed: the dimensions that it decides.
        found: what was found when it was compared with the real one.
    """

    def __init__(self, folder: str, tree: Any, small: SmallTokenizer) -> None:
        self._folder = folder
        self._small = small
        self.numbers = sorted(small.ids, key=small.ids.__getitem__)
        changed = small.settings(_CONFIG, tree)
        self.tree = with_rows(changed, small.size, small.reference)
        self.fixed = {
            fields.shown(path): value
            for path, value in fields.numbers(self.tree)
            if fields.VOCABULARY.search(fields.name_of(path)) and value == small.size
        }
        self.found: dict[str, Any] = {}

    def write(self, folder: str) -> None:
        """Write its files into the folder of the small model; those of no fast tokenizer go."""
        for name in os.listdir(folder):
            if is_of_another(name):
                os.remove(os.path.join(folder, name))
        files = dict(self._small.files)
        place = os.path.join(self._folder, _GENERATION)
        if os.path.isfile(place):
            files[_GENERATION] = as_json(self._small.settings(_GENERATION, read_object(place)))
        for name, content in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)

    def rewrite(self, folder: str, reference: Any) -> None:
        """Write the new numbers and rows into the configuration in a folder of copied layers."""
        place = os.path.join(folder, _CONFIG)
        changed = read_object(place)
        for name, _, new in fields.differences(reference, self.tree):
            *above, last = name.split(".")
            section = changed
            for key in above:
                section = section.setdefault(key, {})
            section[last] = new
        with open(place, "wb") as file:
            file.write(as_json(changed))

    def compared(self, folder: str) -> str:
        """Compare it with the real one; return why that isn't possible."""
        self.found = checked(self._folder, folder, self._small.size, self._small.added)
        assert not self.found["wrong"], "; ".join(self.found["wrong"])
        return "" if self.found["library"] else "neither transformers nor tokenizers is installed"

    def rows(self, model: Any) -> str:
        """Compare its size with the rows of the embeddings; return why that isn't possible."""
        try:
            embeddings = model.get_input_embeddings()
        except (AttributeError, NotImplementedError):
            embeddings = None
        if embeddings is None:
            return "the model has no embeddings of tokens"
        rows = int(embeddings.weight.shape[0])
        assert rows == self._small.size, "%d rows for %d tokens" % (rows, self._small.size)
        return ""

    def facts(self) -> dict[str, Any]:
        """Return what a reader must know of it."""
        small = self._small
        return {
            "tokens": small.size,
            "reference_tokens": small.reference,
            "floor": small.floor,
            "texts": self.found.get("texts", 0),
            "unknown": self.found.get("unknown", 0),
            "left_out": small.gone,
            "notes": small.told,
        }


def tokenizer_for(reference: Any, request: dict[str, Any]) -> Optional[ModelTokenizer]:
    """Return the tokenizer that a request asks for; None if it asks for none.

    Raises:
        RefusedError: if there is none to make it from, or it is too small.
    """
    if request.get("tokenizer") is None:
        return None
    if not reference.folder:
        raise RefusedError(
            "usage",
            "`--tokenizer` needs a folder with the real tokenizer, and `%s` is none"
            % request["model"],
            "name the folder of the model",
        )
    try:
        small = small_tokenizer(reference.folder, request["tokenizer"] or None)
    except TooFewTokens as error:
        raise RefusedError("usage", str(error), "`--tokenizer %d`" % error.floor) from error
    except NoTokenizer as error:
        raise RefusedError("tokenizer", str(error), error.hint) from error
    return ModelTokenizer(reference.folder, reference.tree, small)
