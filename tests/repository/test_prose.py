"""The documents read like English, not like a translation: `docs/prose.toml` has the rules."""

import subprocess
import sys
import tomllib
from pathlib import Path

from .tree import ROOT

LINTER = ROOT / "docs" / "prose.py"


def _lint(*files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, LINTER, *files], capture_output=True, text=True, check=False
    )


def _examples(which: str) -> list[str]:
    rules = tomllib.loads((ROOT / "docs" / "prose.toml").read_text("utf-8"))["rule"]
    return [rule[which] for rule in rules]


def test_no_document_holds_more_banned_phrases_than_allowed() -> None:
    done = _lint()

    assert done.returncode == 0, done.stdout


def test_every_rule_finds_its_own_example(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("\n".join(_examples("before")), "utf-8")

    found = {int(line.split(":")[1]) for line in _lint(page).stdout.splitlines() if line}

    assert found == {*range(1, len(_examples("before")) + 1)}


def test_no_rule_finds_anything_in_what_to_write_instead(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("\n".join(_examples("after")), "utf-8")

    assert _lint(page).stdout.strip() == ""


def test_code_is_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "It prints `told anew`.\n\n```text\ntold anew\n```\n\nBut not: told.\n", "utf-8"
    )

    assert _lint(page).stdout.strip().startswith("page.md:7: told -> ")
