"""``whet annotate``: sections and annotations for a project that must run without whet."""

from contextlib import suppress
from pathlib import Path

import click

from whet.cli.console import answer_json, answer_lines, say
from whet.cli.options.trial import json_option
from whet.core.errors import BadUsage, CannotWrite

_NAME = "whet_sections.py"
_HEAD_BYTES = 200


@click.command()
@click.option("--vendor", is_flag=True, help="Write the stand-alone file.")
@click.argument("file", required=False)
@json_option
def command(*, vendor: bool, file: str | None, as_json: bool) -> None:
    """Write `section`, `annotate` and `capture` as one file, for a project that must run without whet.

    The file needs only Python 3.8 or later. Its functions do what those of `import whet` do: if
    whet runs the program, they record; otherwise they do nothing. FILE is `whet_sections.py` by
    default; `-` prints it.
    """
    from whet.desk.vendored import vendored_text
    from whet.host.files.files import write_atomically
    from whet.workbench.files.asked_files import asked_file

    if not vendor:
        raise BadUsage(
            "`whet annotate` has nothing to do",
            hint=f"`whet annotate --vendor` writes `{_NAME}`; with whet installed: `import whet`",
        )
    text = vendored_text()
    if file == "-":
        answer_lines(text.rstrip("\n"))
        return
    path = Path(file or _NAME)
    place = asked_file("--vendor", str(path))
    _refuse_foreign(place, path)
    write_atomically(place, text.encode("utf-8"))
    if as_json:
        answer_json({"file": str(path), "bytes": len(text.encode("utf-8"))})
    elif path.stem.isidentifier() and path.suffix == ".py":
        say(
            f"whet: wrote `{path}`; use it with `from {path.stem} import section, annotate, capture`"
        )
    else:
        say(f"whet: wrote `{path}`; Python can't import a file of this name")


def _refuse_foreign(place: Path, path: Path) -> None:
    """Refuse to write over what `whet annotate` has not written."""
    from whet.desk.vendored import MARK

    if not place.exists():
        return
    head = b""
    with suppress(OSError), place.open("rb") as found:
        head = found.read(_HEAD_BYTES)
    if not head.startswith(MARK.encode()):
        raise CannotWrite(
            f"whet won't write over `{path}`: it isn't a file that `whet annotate` has written",
            hint="name another file, or remove that one",
        )
