"""A dimension of a command: a number that a search varies, and where it stands."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from whet.core.errors import BadDimension, SettingsUnreadable
from whet.core.trial import STDIN_EMPTY, Trial
from whet.core.value_class import value_class
from whet.reduction.settings.documents import DocumentKind, UnreadableError, document_in
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.payload import bind_payloads, read_payload
from whet.workbench.trials.request import TrialRequest

FORM = "`--dimension n=1..4096`, `env:NAME=1..16` or `config.json:model.layers=1..64`"
_ENVIRONMENT = "env"
_MOST_DIGITS = 18
_PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")
_WHOLE = re.compile(r"\d[\d_]*")


@value_class(kw_only=True)
class Dimension:
    """A number of a command, as the user named it.

    Attributes:
        file: the configuration that has it; empty: none has.
        name: what stands in braces in the command, the variable, or the key with dots.
        is_variable: it is an environment variable.
        least: the first value.
        most: the largest value.
    """

    file: str
    name: str
    is_variable: bool
    least: int
    most: int

    @property
    def place(self) -> str:
        """Where it stands, as the user writes it."""
        prefix = f"{_ENVIRONMENT}:" if self.is_variable else f"{self.file}:" if self.file else ""
        return prefix + self.name


def parse_dimension(word: str) -> Dimension:
    """Read what `--dimension` is given.

    Raises:
        BadDimension: if that isn't a place and two whole numbers.
    """
    place, equals, span = word.rpartition("=")
    first, dots, last = span.partition("..")
    if not equals or not dots or not place:
        raise BadDimension(f"`--dimension {word}` isn't a name and a range", hint=f"write {FORM}")
    least, most = _whole(word, first), _whole(word, last)
    if most < least:
        raise BadDimension(
            f"`--dimension {word}` ends before it begins: {most} is less than {least}",
            hint=f"write the smaller number first: `{place}={most}..{least}`",
        )
    file, colon, name = place.rpartition(":")
    is_variable = file == _ENVIRONMENT
    is_named = bool(name) and (bool(file) or not colon)
    if not is_named or (not file and not _PLACE.fullmatch(f"{{{name}}}")):
        raise BadDimension(f"`{place}` isn't the name of a dimension", hint=f"write {FORM}")
    return Dimension(
        file="" if is_variable else file, name=name, is_variable=is_variable, least=least, most=most
    )


def _whole(word: str, text: str) -> int:
    digits = text.strip().replace("_", "")
    if not _WHOLE.fullmatch(text.strip()) or len(digits) > _MOST_DIGITS:
        why = (
            f"has more than {_MOST_DIGITS} digits"
            if _WHOLE.fullmatch(text.strip())
            else "isn't a whole number from 0 on"
        )
        raise BadDimension(
            f"`{text}` in `--dimension {word}` {why}", hint="write the range as in `n=1..4096`"
        )
    return int(digits)


@value_class(kw_only=True)
class _Settings:
    """A configuration whose keys are dimensions."""

    file: str
    kind: DocumentKind
    data: object
    steps: Mapping[str, tuple[str, ...]]

    def written(self, numbers: Mapping[str, int]) -> bytes:
        """Return what the file holds with these numbers, by dimension."""
        data = self.data
        for place, steps in self.steps.items():
            data = _with(data, steps, numbers[place], is_text=self.kind.is_text)
        return self.kind.write(data).encode("utf-8", "surrogatepass")


class Dimensions:
    """The dimensions of a command, each with its place in it."""

    def __init__(
        self, bench: Workbench, request: TrialRequest, dimensions: Sequence[Dimension]
    ) -> None:
        """Find the place of each.

        Raises:
            BadDimension: if one has none, or two have the same.
            PayloadMissing, PayloadIsFolder, PayloadUnreadable, PayloadNotInCommand: for a file.
            SettingsUnreadable: if that isn't what its name says.
        """
        places = [each.place for each in dimensions]
        for place in places:
            if places.count(place) > 1:
                raise BadDimension(f"`{place}` is named twice", hint="give one range")
        trial = bench.build_trial(request)
        folder = Path(trial.cwd)
        for each in dimensions:
            if not each.file and not each.is_variable:
                _check_mark(trial, f"{{{each.name}}}")
        files = dict.fromkeys(each.file for each in dimensions if each.file)
        self._settings = [
            _settings_of(folder, file, [each for each in dimensions if each.file == file])
            for file in files
        ]
        self._bench = bench
        self._stdin = request.stdin
        self._dimensions = dimensions
        self._trial = bench.for_search(trial, [folder / file for file in files])
        self.first = self.trial({each.place: each.least for each in dimensions})

    def trial(self, numbers: Mapping[str, int]) -> Trial:
        """Return the trial with these numbers, by the places of the dimensions."""
        trial = self._trial
        for each in self._dimensions:
            number = str(numbers[each.place])
            if each.is_variable:
                trial = replace(trial, environment={**trial.environment, each.name: number})
            elif not each.file:
                trial = _marked(trial, f"{{{each.name}}}", number)
        if not self._settings:
            return trial
        keep = self._bench.payload_store.keep
        digests = [(each.file, keep(each.written(numbers))) for each in self._settings]
        bindings = bind_payloads(trial.command, Path(trial.cwd), digests, stdin=self._stdin)
        reads = any(binding.argument is None for binding in bindings)
        stdin = STDIN_EMPTY if reads else trial.stdin
        return replace(trial, payloads=bindings, stdin=stdin)


def _check_mark(trial: Trial, mark: str) -> None:
    words = [*trial.command, *(step.command for step in trial.reset)]
    if any(mark in word for word in words):
        return
    others = dict.fromkeys(_PLACE.findall(" ".join(words)))
    seen = f", which has {', '.join(f'`{{{each}}}`' for each in others)}" if others else ""
    raise BadDimension(
        f"`{mark}` isn't in the command `{' '.join(trial.command)[:200]}`{seen}",
        hint=f"write `{mark}` where the number belongs: `-- python train.py --rows '{mark}'`",
    )


def _marked(trial: Trial, mark: str, number: str) -> Trial:
    command = tuple(word.replace(mark, number) for word in trial.command)
    reset = tuple(replace(step, command=step.command.replace(mark, number)) for step in trial.reset)
    return replace(trial, command=command, reset=reset)


def _settings_of(folder: Path, file: str, dimensions: Sequence[Dimension]) -> _Settings:
    path = folder / file
    content = read_payload(path, file)
    try:
        kind, data = document_in(path.name, content)
    except UnreadableError as error:
        raise SettingsUnreadable(
            f"`{file}` doesn't match the format of its name: {error}",
            hint="repair it, or name a JSON, TOML, YAML or INI file",
        ) from error
    if kind is None:
        raise SettingsUnreadable(
            f"whet finds no settings in `{file}`", hint="name a JSON, TOML, YAML or INI file"
        )
    steps = {each.place: _steps(data, each) for each in dimensions}
    return _Settings(file=file, kind=kind, data=data, steps=steps)


def _steps(data: object, dimension: Dimension) -> tuple[str, ...]:
    """Return the steps to a key; a key of its own may have dots in its name.

    Raises:
        BadDimension: if it isn't there, or holds no number.
    """
    leaves = {".".join(steps): (steps, value) for steps, value in _leaves(data)}
    if dimension.name not in leaves:
        near = difflib.get_close_matches(dimension.name, leaves, n=3, cutoff=0.4)
        hint = f"did you mean {', '.join(f'`{each}`' for each in near)}?" if near else ""
        keys = ", ".join(f"`{each}`" for each in list(leaves)[:10])
        raise BadDimension(
            f"`{dimension.file}` has no key `{dimension.name}`", hint=hint or f"its keys are {keys}"
        )
    steps, value = leaves[dimension.name]
    if isinstance(value, bool) or not re.fullmatch(r"-?\d+", str(value)):
        raise BadDimension(
            f"`{dimension.name}` in `{dimension.file}` is `{str(value)[:40]}`, not a whole number",
            hint="name a key whose value is a number",
        )
    return steps


def _leaves(data: object, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(data, dict):
        for key, value in cast("Mapping[object, object]", data).items():
            yield from _leaves(value, (*before, str(key)))
    elif isinstance(data, list):
        for place, value in enumerate(cast("Sequence[object]", data)):
            yield from _leaves(value, (*before, str(place)))
    else:
        yield before, data


def _with(data: object, steps: tuple[str, ...], number: int, *, is_text: bool) -> object:
    """Return the data with a number at the end of the steps."""
    if not steps:
        return str(number) if is_text else number
    if isinstance(data, dict):
        mapping = cast("Mapping[object, object]", data)
        return {
            key: _with(value, steps[1:], number, is_text=is_text) if str(key) == steps[0] else value
            for key, value in mapping.items()
        }
    items = cast("Sequence[object]", data)
    return [
        _with(value, steps[1:], number, is_text=is_text) if str(place) == steps[0] else value
        for place, value in enumerate(items)
    ]
