"""The last lines of a program's output, if nothing else explains its failure."""

import re
from collections.abc import Sequence

from whet.evidence.printed.python_traceback import is_noise

_WORDS = 3
_READ_LINES = 200
_TELLS_OF_ERROR = re.compile(
    r"\b(?:error|fatal|fail(?:s|ed|ure)?|panic(?:ked)?|abort(?:ed|ing)?|exception|cannot|can't|"
    r"could not|couldn't|invalid|unable|not found|no such|denied|refused|unknown|unexpected|"
    r"missing|illegal|undefined|bad|wrong)\b|Error\b|Exception\b",
    re.IGNORECASE,
)
# Source that a compiler or linter shows: `  3 | int x`, `    | ^~~~`.
_EXCERPT = re.compile(r"\s*(?:\d+\s*)?\|.*|\s*[\^~][\^~ -]*|\s*-+\^")
_PROGRESS = re.compile(r".*\d%\|.*\||.*\bit/s\]|.*\bs/it\]|[#.=\s-]*\d+(?:\.\d+)?%.*")
_RULE = re.compile(r"[\s=_*#+~-]*")

_USAGE = re.compile(r"(?:ERROR: )?usage:", re.IGNORECASE)
_PROGRAM = re.compile(r"(?:[^:\n]{1,200}: )?(?:error|Error): |[^\s:]+: ")
_NO_SUCH_TEST = re.compile(r"ERROR: (?:file or directory not found|not found): ")
_TRY_HELP = re.compile(r"Try [^\n]{1,200}(?:--help|-h|-\?)\b", re.IGNORECASE)
_PATH = re.compile(r"[./\\][A-Za-z]")
_SYNTAX = re.compile(r"[\[<{|]|\.\.\.|^--?\w|^[A-Z][A-Z_\d]+(?:=\S+)?$")
"""Signs of a notation: an optional word, a choice, an option, a name in capitals."""
_USAGE_EXIT_CODES = frozenset({1, 2, 4, 64, 129})  # pytest 4, EX_USAGE 64, git 129


def last_words(lines: Sequence[str]) -> list[str]:
    """Return up to three of the last lines; only those about an error, if there are any."""
    words = _said(lines)
    return [line for line in words if _TELLS_OF_ERROR.search(line)] or words


def telling_words(lines: Sequence[str]) -> list[str]:
    """Return those of the last three lines that report an error."""
    return [line for line in _said(lines) if _TELLS_OF_ERROR.search(line)]


def _said(lines: Sequence[str]) -> list[str]:
    words = [
        line.strip()
        for line in lines[-_READ_LINES:]
        if not _RULE.fullmatch(line) and not _EXCERPT.fullmatch(line) and not _PROGRESS.match(line)
    ]
    # What make or srun add says nothing, unless it is all there is.
    return ([line for line in words if not is_noise(line)] or words)[-_WORDS:]


def usage_error(lines: Sequence[str], exit_code: int | None) -> str | None:
    """Return what a program complains of on its command line, or None if it doesn't.

    The conventions are those of getopt, argparse, optparse and click: a ``usage:`` line or
    ``Try 'prog --help'``, and an exit code of 2 (or 1, 64, 129).
    """
    if exit_code not in _USAGE_EXIT_CODES:
        return None
    near = [line.strip() for line in lines[-60:] if line.strip() and not is_noise(line.strip())]
    if near and _NO_SUCH_TEST.match(near[-1]):
        return near[-1]
    help_at = [index for index, line in enumerate(near) if _TRY_HELP.search(line)]
    usage_at = [index for index, line in enumerate(near) if is_usage(line)]
    if not help_at and not usage_at:
        return None
    complaints = [line for line in near if _TELLS_OF_ERROR.search(line) and not _USAGE.match(line)]
    if help_at and near[help_at[-1] :] == near[-1:] and help_at[-1] > 0 and not usage_at:
        # GNU: `ls: unrecognized option '--x'`, then `Try 'ls --help' for more information.`
        return _without_program(near[help_at[-1] - 1])
    if complaints:
        return _without_program(complaints[-1])
    # Someone's own `sys.exit("usage: ...")`.
    is_all_it_says = exit_code != 1 or len(near) <= _WORDS
    return near[usage_at[-1]] if usage_at and is_all_it_says else None


def is_usage(line: str) -> bool:
    """Whether a line says how a command line is written; what follows `usage:` may be anything else."""
    match = _USAGE.match(line)
    if match is None:
        return False
    program, *words = line[match.end() :].split() or [""]
    if program[:1].isdigit():
        return False
    return not program or bool(_PATH.search(program)) or any(map(_SYNTAX.search, words))


def _without_program(line: str) -> str:
    """Drop the program's name, which is a path where it was called by one."""
    return _PROGRAM.sub("", line, count=1) if _PROGRAM.match(line) else line
