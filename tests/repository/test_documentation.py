"""Pages that come from the code are as the code is; what they show runs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from whet.cli.main import cli
from whet.core.errors import WhetError, error_classes

from .tree import ROOT, tracked

DOCS = ROOT / "docs"
VERBS = cli.list_commands(click.Context(cli))
BLOCKS = [
    pytest.param(block, id=f"{path.relative_to(ROOT)}:{number}")
    for path in tracked("*.md")
    for number, block in enumerate(
        re.findall(
            r"^```(?:python|\{code-block\} python)\n(.*?)^```$",
            path.read_text("utf-8"),
            re.MULTILINE | re.DOTALL,
        )
    )
]


@pytest.mark.slow
def test_generating_the_pages_again_would_change_nothing() -> None:
    done = subprocess.run(
        [sys.executable, DOCS / "generate.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, f"run `make docs-generate`\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("error", list(error_classes()), ids=lambda error: error.slug)
def test_every_error_has_a_page(error: type[WhetError]) -> None:
    page = DOCS / "reference" / "errors" / f"{error.slug}.md"

    assert page.read_text("utf-8").startswith(f"# {error.slug}\n")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_and_option_has_help_and_a_place_in_the_reference(verb: str) -> None:
    command = cli.get_command(click.Context(cli), verb)
    reference = (DOCS / "reference" / "cli.md").read_text("utf-8")

    assert command is not None
    assert command.help
    assert [
        option.opts
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ] == []
    assert f"\n## whet {verb}\n" in reference


def test_every_exit_code_is_documented() -> None:
    page = (DOCS / "concepts" / "exit-codes.md").read_text("utf-8")
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}

    assert {error.exit_code for error in error_classes()} <= documented
    assert {0, 1, 75, 124, 125, 130} <= documented


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += _children_of(page)

    assert {*tracked("docs/*.md")} - reached == set()


def _children_of(page: Path) -> list[Path]:
    trees = re.findall(
        r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    names = [line.strip() for tree in trees for line in tree.splitlines()]
    return [page.parent / f"{name}.md" for name in names if name and not name.startswith(":")]


@pytest.mark.parametrize("block", BLOCKS)
def test_python_in_the_pages_runs(block: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def _shown_commands() -> dict[str, str]:
    """Return each `whet …` that a hand-written page shows, with the page that shows it."""
    shown: dict[str, str] = {}
    for page in tracked("*.md", "docs/*.md", "docs/guides/*.md", "docs/concepts/*.md"):
        text = page.read_text("utf-8").replace("\\\n", " ")
        fenced = "".join(re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL))
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        commands = re.findall(r"^(?:\$ )?(whet [^|]+?)$", fenced, re.MULTILINE)
        for command in commands + re.findall(r"`(whet [^`]+)`", prose):
            shown.setdefault(command, str(page.relative_to(ROOT)))
    return shown


@pytest.mark.parametrize(("command", "page"), _shown_commands().items())
def test_a_command_that_a_page_shows_has_only_options_that_exist(command: str, page: str) -> None:
    verb, *words = shlex.split(command.partition(" -- ")[0], comments=True)[1:]
    if verb in {"VERB", "--help"}:
        return
    found = cli.get_command(click.Context(cli), verb)
    assert found is not None, page
    if isinstance(found, click.Group) and words and words[0] in found.commands:
        found = found.commands[words[0]]
    options = {name for option in found.params for name in option.opts} | {"--help", "-h"}

    used = {word.split("=")[0] for word in words if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word)}

    assert used - options == set(), page
