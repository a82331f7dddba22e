"""Writes the pages that come from the code: the command line, the errors, the schema.

`python docs/generate.py` rewrites them; with `--check` nothing is written, and the exit code
is 1 if anything would change.
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from whet.cli.help_pages import WHOLE
from whet.cli.main import cli
from whet.core.errors import WhetError, error_classes
from whet.notebook import schema

REFERENCE = Path(__file__).parent / "reference"
NOTICE = "<!-- Written by `make docs-generate` from {source}; do not edit here. -->\n\n"
_COLUMNS = 88


def main(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` name those that are out of date."""
    check_only = "--check" in arguments
    texts = dict(pages())
    stale = [
        path for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text
    ]
    left_over = sorted({*(REFERENCE / "errors").glob("*.md")} - texts.keys())
    for path in [*stale, *left_over]:
        print(f"{'out of date' if check_only else 'wrote'}: {path.relative_to(REFERENCE.parent)}")
    if check_only:
        return 1 if stale or left_over else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path], "utf-8")
    for path in left_over:
        path.unlink()
    return 0


def pages() -> Iterator[tuple[Path, str]]:
    """Yield each generated page: where it lies and what it says."""
    yield REFERENCE / "cli.md", _command_line_page()
    yield REFERENCE / "schema.md", schema.page()
    errors = list(error_classes())
    yield REFERENCE / "errors" / "index.md", _error_list_page(errors)
    for error in errors:
        yield REFERENCE / "errors" / f"{error.slug}.md", _error_page(error)


def _command_line_page() -> str:
    context = click.Context(
        cli, info_name="whet", terminal_width=_COLUMNS, help_option_names=["-h", "--help"]
    )
    parts = [
        "# Command line\n\n",
        NOTICE.format(source="`whet --help`"),
        _console(cli.get_help(context)),
    ]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None, name
        verb = click.Context(command, info_name=name, parent=context, terminal_width=_COLUMNS)
        verb.meta[WHOLE] = True
        parts += [f"\n(whet-{name})=\n", f"## whet {name}\n\n", _console(command.get_help(verb))]
    return "".join(parts)


def _console(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def _error_list_page(errors: list[type[WhetError]]) -> str:
    rows = [
        f"| [{error.slug}]({error.slug}.md) | {error.exit_code} | {_first_sentence(error)} |\n"
        for error in errors
    ]
    return "".join(
        [
            "# Errors\n\n",
            NOTICE.format(source="`whet.core.errors`"),
            "An error names the value that caused it, then the next step.\n",
            "`whet explain SLUG` shows its page in the terminal.\n\n",
            "| error | exit code | what it means |\n| --- | ---: | --- |\n",
            *rows,
            "\n```{toctree}\n:hidden:\n\n",
            *(f"{error.slug}\n" for error in errors),
            "```\n",
        ]
    )


def _error_page(error: type[WhetError]) -> str:
    text = inspect.cleandoc(error.__doc__ or "")
    notice = NOTICE.format(source=f"`whet.core.errors.{error.__name__}`")
    return f"# {error.slug}\n\n{notice}{text}\n\nExit code: {error.exit_code}.\n"


def _first_sentence(error: type[WhetError]) -> str:
    return " ".join(inspect.cleandoc(error.__doc__ or "").split("\n\n")[0].split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
