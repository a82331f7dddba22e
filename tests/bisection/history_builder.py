"""Git histories of any shape, made in one call of `git fast-import`."""

import random
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

FIRST_DATE = 1_000_000_000


def run_git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git in ``folder`` and return what it printed."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], input=stdin, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def build_history(
    folder: Path,
    parents: Sequence[Sequence[int]],
    *,
    files: Mapping[int, Mapping[str, str]] | None = None,
    step_seconds: int = 60,
    whole: bool = False,
) -> list[str]:
    """Make a repository whose commit k has the commits ``parents[k]`` before it.

    Each commit writes its number into ``number``, or the ``files`` given for it; ``whole``: it
    has no others.

    Returns:
        The full ids, in the order of ``parents``. The branch `main` is the last one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    run_git(folder, "init", "-q", "-b", "main")
    stream: list[str] = []
    for number, above in enumerate(parents):
        when = FIRST_DATE + number * step_seconds
        subject = f"Change {number}"
        stream += ["commit refs/heads/building", f"mark :{number + 1}"]
        stream += [f"committer A Developer <developer@example.org> {when} +0000"]
        stream += [f"data {len(subject)}", subject]
        if above:
            stream += [f"from :{above[0] + 1}", *(f"merge :{each + 1}" for each in above[1:])]
        if whole:
            stream += ["deleteall"]
        written = {"number": f"{number}\n"} if files is None else (files.get(number) or {})
        for name, content in written.items():
            stream += [f"M 100644 inline {name}", f"data {len(content.encode())}", content]
        if not above:
            # Else fast-import goes on from where the branch stands.
            stream.insert(len(stream) - _length_of_last(stream), "reset refs/heads/building")
        stream.append("")
    marks = folder / ".git" / "marks"
    data = ("\n".join(stream) + "\n").encode()
    run_git(folder, "fast-import", "--quiet", "--force", f"--export-marks={marks}", stdin=data)
    ids = dict(line.split() for line in marks.read_text().splitlines())
    commits = [ids[f":{number + 1}"] for number in range(len(parents))]
    run_git(folder, "update-ref", "refs/heads/main", commits[-1])
    run_git(folder, "update-ref", "-d", "refs/heads/building")
    run_git(folder, "read-tree", "main")
    return commits


def _length_of_last(stream: Sequence[str]) -> int:
    """Return how many entries the last commit takes."""
    return next(
        back for back in range(1, len(stream) + 1) if stream[-back] == "commit refs/heads/building"
    )


def random_parents(count: int, *, seed: int, merge_rate: float = 0.3) -> list[tuple[int, ...]]:
    """Return a random graph with branches and merges that ends in one commit."""
    choose = random.Random(seed)
    parents: list[tuple[int, ...]] = [()]
    tips = [0]
    while len(parents) < count - 1:
        new = len(parents)
        if len(tips) > 1 and choose.random() < merge_rate:
            kept, merged = choose.sample(range(len(tips)), 2)
            parents.append((tips[kept], tips[merged]))
            tips[kept] = new
            if choose.random() < 0.7:
                tips.pop(merged)
        elif len(tips) < 8 and choose.random() < 0.3:
            parents.append((choose.choice(range(new)),))
            tips.append(new)
        else:
            grown = choose.randrange(len(tips))
            parents.append((tips[grown],))
            tips[grown] = new
    parents.append(tuple(dict.fromkeys(tips)))
    return parents


def descendants(parents: Sequence[Sequence[int]], of: int) -> set[int]:
    """Return ``of`` and all that has it before it."""
    found = {of}
    for number, above in enumerate(parents):
        if found.intersection(above):
            found.add(number)
    return found
