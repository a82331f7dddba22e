"""What warm cycles bring, beside what else there is, and what they cost.

    python -m benchmarks.cycles.warm [--python PATH] [--edits N] [--only PART...] [--megabytes N]

`--python` is the interpreter that has torch and transformers, and jurigged and IPython if
they are to be compared; `make bench-warm` makes such an environment. What it lacks is left out,
and said. `--edits 2 --megabytes 100` tries it all in a few minutes.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.cycles.costs import has, print_memory, print_overhead
from benchmarks.cycles.curves import write_curves
from benchmarks.cycles.programs import KINDS, llama
from benchmarks.cycles.tools import AutoReload, Cold, ForkServer, Jurigged, Tool, Whet, save
from benchmarks.table import print_table

PATIENCE_SECONDS = 120.0
NEEDED = {Cold: "", Whet: "", ForkServer: "", Jurigged: "jurigged", AutoReload: "IPython"}
PARTS = ("edits", "overhead", "memory")
LIMIT_MS = 100.0
SILENT_TIMES = 2
"""A tool that has not noticed so many edits of a kind will not notice the others."""


@dataclass(slots=True)
class Answers:
    """What a tool answered to the edits of one kind.

    Attributes:
        seconds: from the save to the result, of right answers alone.
        wrong: how many answers were not what Python says.
        missing: how many edits had no answer.
    """

    seconds: list[float] = field(default_factory=list[float])
    wrong: int = 0
    missing: int = 0

    def shown(self) -> str:
        """Return the median, or what is the matter."""
        if self.seconds:
            return f"{statistics.median(self.seconds) * 1e3:.0f}"
        return "stale" if self.wrong else "no answer"


@dataclass(slots=True)
class Played:
    """All that one tool did.

    Attributes:
        tool: its name.
        first_seconds: from its start to the first result.
        by_kind: its answers.
        warm: how many answers did not start from nothing, where it says so.
        results: what it said, in the order of the edits; None: nothing.
        timeline: seconds of each answer in the order of the edits, the first run before them.
    """

    tool: str
    first_seconds: float = 0.0
    by_kind: dict[str, Answers] = field(default_factory=dict[str, Answers])
    warm: int = 0
    results: list[str | None] = field(default_factory=list["str | None"])
    timeline: list[float] = field(default_factory=list[float])


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the interpreter")
    parser.add_argument("--edits", type=int, default=20, help="how many of each kind")
    parser.add_argument("--megabytes", type=int, default=1024, help="size of the big process")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="what to measure")
    parser.add_argument("--picture", type=Path, help="where to write the curves, as SVG")
    options = parser.parse_args()
    options.python = options.python.absolute()  # the programs run elsewhere
    parts: Mapping[str, Callable[[], None]] = {
        "edits": lambda: _print_edits(options.python, options.edits, options.picture),
        "overhead": lambda: print_overhead(options.python, max(options.edits // 4, 2)),
        "memory": lambda: print_memory(options.python, options.megabytes << 20),
    }
    for name in options.only:
        parts[name]()


def _print_edits(python: Path, edits: int, picture: Path | None) -> None:
    if not has(python, "transformers"):
        print(f"\nskipped: edits of a torch program: {python} has no transformers")
        return
    played: list[Played] = []
    for tool, module in NEEDED.items():
        if module and not has(python, module):
            print(f"\nskipped: {tool.name}: {python} has no {module}")
            continue
        expected = played[0].results if played else None
        played.append(_play(tool, python, edits, expected))
    _print_medians(played, edits)
    _print_answers(played, edits)
    if picture is not None:
        write_curves(
            picture,
            {each.tool: each.timeline for each in played if each.tool in {"python", "whet loop"}},
            [kind for kind in KINDS for _ in range(edits)],
        )


def _play(
    kind_of: type[Tool], python: Path, edits: int, expected: Sequence[str | None] | None
) -> Played:
    """Make every edit with one tool.

    Args:
        kind_of: the tool.
        python: the interpreter of the program.
        edits: how many of each kind.
        expected: the right results; None: those of this tool are.
    """
    values: dict[str, int] = {}
    values.update(dict.fromkeys(KINDS, 1))
    played = Played(kind_of.name)
    right = iter(expected or ())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(folder, llama(values))
        tool = kind_of(python, folder)
        first = tool.start(PATIENCE_SECONDS)
        assert first is not None, f"{tool.name} says nothing"
        played.first_seconds = first[0]
        played.timeline.append(first[0])
        patience = 3 * first[0] + 5
        try:
            for kind in KINDS:
                played.by_kind[kind] = Answers()
                for number in range(edits):
                    values[kind] = 11 + number
                    answer = _answer(tool, kind, values, patience, played.by_kind[kind])
                    played.results.append(None if answer is None else answer[1])
                    _note(played, kind, answer, next(right, None))
        finally:
            tool.end()
        played.warm = tool.warm
    return played


def _answer(
    tool: Tool, kind: str, values: Mapping[str, int], patience: float, answers: Answers
) -> tuple[float, str] | None:
    if answers.missing >= SILENT_TIMES:
        save(tool.folder, llama(values), by_rename=tool.by_rename)
        return None
    return tool.answer(llama(values), kind, patience)


def _note(played: Played, kind: str, answer: tuple[float, str] | None, right: str | None) -> None:
    answers = played.by_kind[kind]
    if answer is None:
        answers.missing += 1
        return
    played.timeline.append(answer[0])
    if right is not None and answer[1] != right:
        answers.wrong += 1
    else:
        answers.seconds.append(answer[0])


def _print_medians(played: Sequence[Played], edits: int) -> None:
    cold = played[0]
    rows = [["first run", *(f"{each.first_seconds * 1e3:.0f}" for each in played), "", ""]]
    for kind in KINDS:
        warm = next(each for each in played if each.tool == Whet.name).by_kind[kind].seconds
        median = statistics.median(warm) if warm else 0.0
        times = statistics.median(cold.by_kind[kind].seconds) / median if median else 0.0
        shown = [each.by_kind[kind].shown() for each in played]
        rows.append([kind, *shown, f"{times:.0f}", f"{median * 1e3 / LIMIT_MS:.2f}"])
    header = ["edit", *(each.tool for each in played), "python / whet", f"whet / {LIMIT_MS:.0f} ms"]
    print_table(f"Edit saved to result on screen, ms, medians of {edits} edits", header, rows)


def _print_answers(played: Sequence[Played], edits: int) -> None:
    total = edits * len(KINDS)
    rows = [
        [
            each.tool,
            *(_matter(each.by_kind[kind], edits) for kind in KINDS),
            f"{each.warm / total:.0%}" if each.tool == Whet.name else "",
        ]
        for each in played
    ]
    print_table("Who gave a stale answer, or none", ["tool", *KINDS, "answered warm"], rows)


def _matter(answers: Answers, edits: int) -> str:
    told = [f"{answers.wrong} of {edits} stale"] if answers.wrong else []
    told += [f"{answers.missing} of {edits} none"] if answers.missing else []
    return ", ".join(told) or "right"


if __name__ == "__main__":
    main()
