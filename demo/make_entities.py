"""Write every named character of HTML5 as a Markdown table, as a user might.

The names are Python's own (`html.entities.html5`), and so are the descriptions
(`unicodedata`): nothing here is written to make rich fail.
"""

import html.entities
import sys
import unicodedata
from pathlib import Path

HEAD = """\
# HTML5 named character references

| Name | Code points | Character | Unicode name |
|------|-------------|-----------|--------------|
"""


def row(name: str, characters: str) -> str:
    """Return one line of the table."""
    shown = characters.replace("\n", " ").replace("\t", " ").replace("|", "\\|")
    points = " ".join(f"U+{ord(character):04X}" for character in characters)
    names = ", ".join(unicodedata.name(character, "control") for character in characters)
    return f"| `&{name}` | {points} | {shown} | {names.capitalize()} |\n"


if __name__ == "__main__":
    rows = (row(name, characters) for name, characters in html.entities.html5.items())
    Path(sys.argv[1]).write_text(HEAD + "".join(rows), encoding="utf-8")
