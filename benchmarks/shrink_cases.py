"""The cases of the shrink benchmark: real inputs from the standard library, real oracles."""

import argparse
import csv
import html.entities
import io
import json
import unicodedata
from dataclasses import dataclass
from pathlib import Path

ORACLES = Path(__file__).parent / "shrink_oracles"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One benchmark case.

    Attributes:
        name: of the input file, whose extension tools look at.
        payload: what is shrunk.
        oracle: script that exits with 0 if the file named by its argument is interesting.
    """

    name: str
    payload: bytes
    oracle: Path


def cases() -> list[Case]:
    """Return the three cases."""
    return [
        Case(name="entities.json", payload=_entities(), oracle=ORACLES / "entities.py"),
        Case(name="characters.csv", payload=_characters(), oracle=ORACLES / "characters.py"),
        Case(name="argparse.py", payload=_source(), oracle=ORACLES / "closures.py"),
    ]


def _entities() -> bytes:
    """Return the table of HTML's entities, in the form in which WHATWG publishes it."""
    table = {
        f"&{name}": {"codepoints": [ord(each) for each in text], "characters": text}
        for name, text in list(html.entities.html5.items())[:1000]
    }
    return json.dumps(table, indent=2).encode()


def _characters() -> bytes:
    """Return the first characters of the Unicode database as a table."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["code", "name", "category", "decomposition", "numeric"])
    for code in range(0x20, 0x500):
        character = chr(code)
        decomposition = unicodedata.decomposition(character)
        numeric = decomposition.partition("> ")[2] if code in range(0xBC, 0xBF) else ""
        if numeric:
            numeric = "/".join(part for part in _fraction(numeric) if part)
        elif unicodedata.numeric(character, None) is not None:
            numeric = str(unicodedata.numeric(character))
        name = unicodedata.name(character, "<control>")
        category = unicodedata.category(character)
        writer.writerow([f"U+{code:04X}", name, category, decomposition, numeric])
    return file.getvalue().encode()


def _fraction(decomposition: str) -> list[str]:
    """Return the parts of ``0031 2044 0034``, one quarter."""
    return "".join(chr(int(code, 16)) for code in decomposition.split()).split("\u2044")


def _source() -> bytes:
    return Path(argparse.__file__).read_bytes()
