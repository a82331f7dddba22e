"""Whether the line that fails is one that the change adds: the value that fails there may be older."""

from pathlib import Path

from whet.bisection.grafted_lines import alignment
from whet.core.observations.clue import Placing
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.code.tree_changes import shown_changes
from whet.host.process.git import Repository
from whet.workbench.trials.reproduce import Baseline

HEADING = "where it began to fail"


@value_class(kw_only=True)
class AddedLine:
    """A line that fails, and that isn't there, or asks for less, before a change.

    Attributes:
        place: where it is, such as ``app.py:7``.
        is_check: it is a check; the change may have made it stricter.
    """

    place: str
    is_check: bool = False

    def remark(self, change: str) -> str:
        """Say what that means for the commit or the edits that add it."""
        does = "adds or changes the check" if self.is_check else "adds the line"
        return f"{change} {does} that fails ({self.place}), so the bad value may be older"

    def next_step(self, look: str) -> str:
        """Say what to do about it."""
        return f"Find where the value that fails at {self.place} comes from: it may be older than this change ({look})."


def added_line(
    repository: Repository, trial: Trial, baseline: Baseline, base: str, changed: str
) -> AddedLine | None:
    """Return the line that fails if a change adds it, in place of nothing; None: it doesn't.

    Args:
        repository: where the change is.
        trial: the command, which says where it was started.
        baseline: the failure.
        base: the commit without the change.
        changed: the commit with it.

    Raises:
        GitFailedError: if git doesn't have one of them.
    """
    failure = baseline.outcome.failure
    place = None if failure is None else failure.place
    if place is None or not place.in_user_code or not place.line:
        return None
    at = Placing(trial.cwd)
    path = Path(at.absolute(place.path))
    text = _line_of(path, place.line)
    if not text or not path.is_relative_to(repository.top):
        return None
    name = path.relative_to(repository.top).as_posix()
    text = _line_then(repository, changed, name, path, place.line) or text
    before = repository.ask("show", f"{base}:{name}")
    if before.exit_code == 0 and text in map(str.strip, _lines(before.stdout)):
        return None
    diff = _lines(shown_changes(repository, base, changed))
    return AddedLine(place=at(place.path, place.line)) if adds(diff, name, text) else None


def _line_then(repository: Repository, changed: str, name: str, path: Path, number: int) -> str:
    """Return the line of a commit that stands where another one fails today; empty: not known.

    A check that was reworded since it was added has other words there.
    """
    then = repository.ask("show", f"{changed}:{name}")
    if then.exit_code != 0:
        return ""
    today, lines = _lines(path.read_bytes()), _lines(then.stdout)
    matches = alignment(today, lines)
    if matches is None or number - 1 in matches:
        return ""
    before, after = matches.get(number - 2), matches.get(number)
    is_one = before is not None and after == before + 2
    return lines[before + 1].strip() if before is not None and is_one else ""


def adds(diff: list[str], name: str, text: str) -> bool:
    """Whether a diff adds a line to a file, and takes away none where it does.

    Args:
        diff: the lines of it.
        name: the file's path in the repository.
        text: the line, without the space around it.
    """
    is_file, is_header, removes, has_it = False, False, False, False
    for line in [*diff, " "]:
        if line.startswith("diff --git "):
            is_header = True
        elif is_header:
            is_file = line.split("\t")[0] == f"+++ b/{name}" if line.startswith("+++ ") else is_file
            is_header = not line.startswith("@@")
        elif line.startswith(("+", "-")):
            removes = removes or line.startswith("-")
            has_it = has_it or (line.startswith("+") and line[1:].strip() == text)
            continue
        if is_file and has_it and not removes:
            return True
        removes = has_it = False
    return False


def _line_of(path: Path, number: int) -> str:
    try:
        lines = _lines(path.read_bytes())
    except OSError:
        return ""
    return lines[number - 1].strip() if number <= len(lines) else ""


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").split("\n")
