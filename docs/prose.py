"""Finds phrases that read like a translation, by the rules in `prose.toml`.

`python docs/prose.py` checks all documents, `python docs/prose.py FILE` one file. It prints each
finding with the words to use instead, and exits with 1 if there are more findings than `prose.toml`
allows. It skips fenced blocks and `inline code`. Help and error texts are checked in the generated
pages under `docs/reference`, where help is a fenced block.

vale could do this too, but it is a Go program and pip can't install it. proselint checks for its own
list of phrases, and ours aren't on it.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict, cast

ROOT = Path(__file__).parents[1]
TEXTS = ("*.md", "changes/*.md", "docs/*.md", "docs/*/*.md", "docs/reference/errors/*.md")
_FENCE = re.compile(r"^ {0,3}```")
_CODE = re.compile(r"`[^`]*`|\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A phrase that we don't write, and what we write in its place."""

    find: re.Pattern[str]
    instead: str
    before: str
    after: str

    def matches(self, line: str) -> list[str]:
        """Return what the rule finds in a line, code left out."""
        return [match.group().strip() for match in self.find.finditer(_CODE.sub("`…`", line))]


class _Row(TypedDict):
    find: str
    instead: str
    before: str
    after: str


class _Settings(TypedDict):
    allowed: dict[str, int]
    rule: list[_Row]


@cache
def _settings() -> _Settings:
    return cast("_Settings", tomllib.loads((ROOT / "docs" / "prose.toml").read_text("utf-8")))


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules."""
    return tuple(
        Rule(re.compile(row["find"], re.IGNORECASE), row["instead"], row["before"], row["after"])
        for row in _settings()["rule"]
    )


def allowed() -> dict[str, int]:
    """Return how many findings a text that isn't clean yet may hold, by path or folder."""
    return _settings()["allowed"]


def findings(path: Path) -> Iterator[str]:
    """Yield each finding in a Markdown file, as `path:line: phrase -> instead`."""
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    in_code = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code or name == "docs/reference/cli.md":
            for rule in rules():
                for phrase in rule.matches(line):
                    yield f"{name}:{number}: {phrase} -> {rule.instead}"


def by_budget() -> dict[str, list[str]]:
    """Return all findings, each under the entry of `allowed` that covers it, or under ""."""
    found: dict[str, list[str]] = {"": [], **{entry: [] for entry in allowed()}}
    for path in sorted({path for pattern in TEXTS for path in ROOT.glob(pattern)}):
        name = path.relative_to(ROOT).as_posix()
        entry = next((entry for entry in allowed() if name.startswith(entry)), "")
        found[entry] += findings(path)
    return found


def main(arguments: list[str]) -> int:
    """Print the findings that are too many."""
    if files := [Path(argument).resolve() for argument in arguments]:
        lines = [line for path in files for line in findings(path)]
        print(*lines, sep="\n")
        return 1 if lines else 0
    exit_code = 0
    for entry, lines in by_budget().items():
        most = allowed().get(entry, 0)
        if len(lines) > most:
            print(*lines, sep="\n")
            print(f"{entry or 'the documents'}: {len(lines)} findings, at most {most} allowed")
            exit_code = 1
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
