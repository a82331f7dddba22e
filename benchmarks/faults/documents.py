"""The readers of settings: documents in several languages, and a printed environment."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from benchmarks.faults.payloads import INI_TEXT, JSON_TEXT, TOML_TEXT, YAML_SETTINGS, YAML_TEXT
from benchmarks.faults.reader import Reader
from whet.reduction.settings.conversion import said_in
from whet.reduction.settings.documents import DocumentKind, UnreadableError, document_in
from whet.reduction.settings.environments import read_environment
from whet.reduction.settings.towards import changes_towards


def _settings(name: str, data: bytes) -> None:
    kind, settings = document_in(name, data)
    if kind is not None:
        _say_in_others(kind, settings)
    changes_towards(data, DOCUMENTS[name][0], name=name)


def _say_in_others(kind: DocumentKind, settings: object) -> None:
    """Say settings in each other language, as `whet delta` does for two files."""
    for name, (seed, *_) in DOCUMENTS.items():
        other, like = document_in(name, seed)
        assert other is not None
        with suppress(UnreadableError):  # it can't be written there
            said_in(other, settings, like, was_text=kind.is_text)


DOCUMENTS = {
    "a.json": [JSON_TEXT], "a.yaml": [YAML_SETTINGS, YAML_TEXT], "a.toml": [TOML_TEXT], "a.ini": [INI_TEXT],
    "a.env": [b"A=1\nexport B='two words'\nC=\"x\\n${A}\" # note\n"], "a.py": [b"lr = 0.1\nnames = ('a', None)\n"],
    "a": [b"{'lr': 0.1, 'n': (1, 2)}", JSON_TEXT, TOML_TEXT, INI_TEXT],
}  # fmt: skip


def document_readers() -> Iterator[Reader]:
    """Yield the readers of settings."""
    for name, seeds in DOCUMENTS.items():
        yield Reader(
            name=f"settings: `{name}`", seeds=partial(list[bytes], seeds),
            read=partial(_settings, name), refuses=(UnreadableError,),
        )  # fmt: skip
    yield Reader(
        name="printed environment", refuses=(UnreadableError,),
        seeds=lambda: [b"A=1\nPATH=/bin\nHOME=/\nB=x\ny\n", b"A=1\0B=2\0", b'declare -x A="1"\nexport B\n'],
        read=read_environment,
    )  # fmt: skip
