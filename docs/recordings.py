"""Draws what whet prints in real runs, as SVG pictures for the pages: `make recordings`.

Each picture is one run on the tutorial's project, where the loop's database takes 2 s to connect. It
shows all lines in order; `…` marks lines that it leaves out, and `~/shop` is the folder of the run.
"""

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.text import Text

DOCS = Path(__file__).parent
START = DOCS.parent / "specimens" / "tutorial" / "start.py"
PICTURES = DOCS / "recordings"
_COLUMNS = 100
_VIEW_SECONDS = 20.0
_TRAIN = """\
import os, random, time

os.makedirs("cache")
batches = []
for epoch in range(1, 100):
    batches.append(bytearray(random.randrange(20, 60) << 20))
    with open(f"cache/{epoch}.bin", "wb") as file:
        file.write(os.urandom(3_000_000))
    for number in range(random.randrange(4) * 300_000):
        number * number
    print(f"epoch {epoch}: loss {1 / epoch:.3f}", flush=True)
    time.sleep(0.5)
"""
_FONT = re.compile(r"@font-face \{.*?\}\n?", re.DOTALL)  # from a server: a page loads nothing
_COLOURS = {
    r"^\$ .*": "bold white",
    r"^whet: .*": "cyan",
    r"\bBAD\b.*": "red",
    r"\bGOOD\b.*": "green",
    r"^(▶ bad|● bad) .*": "red",
    r"^● good .*": "green",
    r"^    \d+ \| .*|^\+.*": "green",
    r"^-(?!-).*": "red",
    r"^\w*Error: .*": "bold red",
    r"^  cause: .*": "bold yellow",
    r"^(Reproduce|Classify|Look|Find|Shrink|Check)\b.*": "bold blue",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A command on the tutorial's project, and the edits to `report.py` while `whet loop` waits."""

    command: str
    before: tuple[str, str] = ("", "")  # an edit of database.py
    saves: tuple[tuple[str, str], ...] = ()
    without: str = "$^"
    title: str


RECORDINGS = {
    "loop": Recording(
        command="whet loop --runs 3 -- python report.py orders.csv",
        before=("time.sleep(0.3)", "time.sleep(2)"),
        saves=(
            ("sum(amounts) / len(amounts)", "sum(amounts) / max(len(amounts), 1)"),
            ('"average order"', '"average order of each customer"'),
        ),
        without=r"^(ann|ben|eva) |^  File|^    (report|print)|^ +~|^Traceback",
        title="whet loop: two saves, two warm runs",
    ),
    "shrink": Recording(
        command="whet shrink orders.csv -- python report.py orders.csv",
        without=r"^  run \d|^  also found|^  pass |^  delete|^  \d+ more|trials, [\d.]+/s$",
        title="whet shrink: 400 orders become two lines",
    ),
    "bisect": Recording(
        command="whet bisect HEAD -- python report.py orders.csv",
        without=r"^looked at again",
        title="whet bisect: the first bad commit, from one bad end",
    ),
    "investigate": Recording(
        command="whet investigate --budget 5m -- python report.py orders.csv",
        without=r"^  (run \d|note:)|suspects? left|trials, [\d.]+/s$|^    - |^      (?!customer)\w|^  possible"
        r"|^  nothing smaller|^      `|^ +\d+ \| *$|^  in the failing run alone",
        title="whet investigate: the cause, the commit, the smallest input",
    ),
}


def main(names: list[str]) -> None:
    """Draw the named recordings, or all."""
    PICTURES.mkdir(exist_ok=True)
    for name in names or [*RECORDINGS, "watch"]:
        if name == "watch":
            draw_view()
            continue
        with tempfile.TemporaryDirectory(prefix="whet-recording-") as folder:
            lines = record(RECORDINGS[name], Path(folder))
        draw(lines, RECORDINGS[name].title, PICTURES / f"{name}.svg")
        print(f"wrote {PICTURES / name}.svg ({len(lines)} lines)")


def record(recording: Recording, folder: Path) -> list[str]:
    """Run the command and return the lines that it prints."""
    project = folder / "shop"
    subprocess.run([sys.executable, START, project], check=True)
    _edit(project / "database.py", *recording.before)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(folder / "state"),
        "COLUMNS": str(_COLUMNS),
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(
        shlex.split(recording.command),
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        assert running.stdout is not None
        saves = list(recording.saves)
        lines = [f"$ {recording.command}"]
        for line in running.stdout:
            lines.append(line.rstrip().replace(str(project), "~/shop"))
            if saves and re.match(r"whet: (cold|warm) ", line):
                _edit(project / "report.py", *saves.pop(0))
    return _shortened(lines, re.compile(recording.without))


def _edit(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")


def _shortened(lines: list[str], without: re.Pattern[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        left_out = without.search(line) is not None
        if not left_out and (line or kept[-1:] != [""]):
            kept.append(line)
        elif left_out and kept[-1:] != ["…"]:
            kept.append("…")
    return kept


def draw_view() -> None:
    """Draw the panels of `whet watch`, as they are in a terminal beside a program that runs."""
    command = "whet watch memory cpu processes 'du -sh cache' -- python train.py"
    with tempfile.TemporaryDirectory(prefix="whet-recording-") as folder:
        (Path(folder) / "train.py").write_text(_TRAIN, "utf-8")
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "XDG_STATE_HOME": f"{folder}/state"}
        tmux = ["tmux", "-S", f"{folder}/tmux"]
        start = ["-f", os.devnull, "new-session", "-d", "-x", str(_COLUMNS), "-y", "28", command]
        subprocess.run([*tmux, *start], cwd=folder, env=environment, check=True)
        try:
            time.sleep(_VIEW_SECONDS)
            shown = subprocess.run(
                [*tmux, "capture-pane", "-p", "-e"], capture_output=True, check=True
            )
        finally:
            subprocess.run([*tmux, "kill-server"], check=False)
    lines = list(AnsiDecoder().decode(shown.stdout.decode()))
    _write(lines, command, PICTURES / "watch.svg")
    print(f"wrote {PICTURES / 'watch.svg'}")


def draw(lines: list[str], title: str, path: Path) -> None:
    """Write lines as a picture of a terminal."""
    texts = [Text(line) for line in lines]
    for text in texts:
        for pattern, style in _COLOURS.items():
            text.highlight_regex(pattern, style)
    _write(texts, title, path)


def _write(texts: list[Text], title: str, path: Path) -> None:
    console = Console(record=True, width=_COLUMNS + 8, file=io.StringIO())
    for text in texts:
        console.print(text, soft_wrap=False)
    svg = _FONT.sub("", console.export_svg(title=title, unique_id="whet"))
    path.write_text("\n".join(each.rstrip() for each in svg.splitlines()) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
