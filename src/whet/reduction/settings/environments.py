"""Environments as programs print them: `env`, `env -0`, `export -p`, and `.env` files."""

import re
from collections.abc import Mapping

from whet.reduction.settings.assignments import NoAssignmentError, read_env_file
from whet.reduction.settings.documents import UnreadableError

_BEGINNING = re.compile(r"(?P<name>[A-Za-z_][\w%().-]*)=(?P<value>.*)", re.DOTALL)
_WHOLE = frozenset({"PATH", "HOME"})


def read_environment(content: bytes) -> dict[str, str]:
    """Return the variables that an environment holds.

    What holds a zero byte is taken for what `env -0` prints; what names `PATH` and `HOME`, and
    doesn't quote the first, for what `env` prints, where a line that names no variable continues with the value before
    it; all else for a file of assignments, as a shell reads them.

    Raises:
        UnreadableError: if a line names no variable.
    """
    text = content.decode("utf-8", "surrogateescape")
    if "\0" in text:
        pairs = (each.partition("=") for each in text.split("\0") if each)
        return {name: value for name, _, value in pairs}
    lines = text.splitlines()
    is_plain = not any(line.startswith(("export ", "declare -x ", "#")) for line in lines)
    printed = _printed(lines)
    if is_plain and is_whole(printed) and printed["PATH"][:1] not in {'"', "'"}:
        return printed
    try:
        return read_env_file(_declared(text))
    except NoAssignmentError as error:
        raise UnreadableError(str(error)) from error


def is_whole(variables: Mapping[str, str]) -> bool:
    """Whether these are all variables of a process, not a few that are set beside others."""
    return variables.keys() >= _WHOLE


def _printed(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    last = ""
    for line in lines:
        begins = _BEGINNING.fullmatch(line)
        if begins is not None:
            last = begins["name"]
            found[last] = begins["value"]
        elif last:
            found[last] += f"\n{line}"
    return found


def _declared(text: str) -> str:
    """Leave out the lines of `export -p` that name a variable without a value."""
    kept = (
        line
        for line in text.splitlines()
        if not re.fullmatch(r"(?:export|declare -x) [A-Za-z_]\w*", line)
    )
    return "\n".join(kept) + "\n"
