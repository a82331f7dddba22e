"""Programs that are run with their steps recorded, and what is told of them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import whet.agent
from whet.core.observations.clue import Clue, Placing
from whet.evidence.provenance.run.recording import Recording, read_recording
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.sentences.origin import Origin
from whet.evidence.variables.kept_failure import kept_failures
from whet.host.inspect.failures import read_failures
from whet.host.trial.instrumented_evidence import read_steps

SITE = Path(whet.agent.__file__).parent / "site"
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def recorded(folder: Path, *, said: str = "") -> tuple[Recording, Path]:
    """Run `main.py` of a folder as it is, and once more with its steps written down."""
    command = [sys.executable, "main.py"]
    plain = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    frames = [(path, line) for path, line in _FRAME.findall(plain.stderr) if str(folder) in path]
    error = plain.stderr.strip().splitlines()[-1].partition(":")[0] if frames else "SystemExit"
    error = error if plain.returncode else ""  # it ends well: its steps are written then
    path, line = frames[-1] if frames else ("", "0")
    told = folder / ".told"
    told.mkdir(exist_ok=True)
    variables = {
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(told),
        "WHET_LOCALS": "1",
        "WHET_PYCACHE": str(folder / ".cache"),
        "WHET_CLOSER": f"steps:{error}|{path}|{line}",
    }
    again = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, **variables},
    )  # fmt: skip
    assert (again.stdout, again.stderr) == (plain.stdout, plain.stderr)
    assert said in plain.stderr
    (steps,) = read_steps(told)
    return read_recording(steps.data), told


def clues(folder: Path, program: str, **files: str) -> list[Clue]:
    """Return what is told of a program that fails; `name_csv` is the file `name.csv`."""
    (folder / "main.py").write_text(program)
    for name, text in files.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(text)
    recording, told = recorded(folder)
    positions = {
        (frame.frame.path, frame.frame.line): frame.position
        for evidence in read_failures(told)
        for failure in kept_failures(evidence.data)
        for frame in failure.error.frames
    }
    at = Placing(str(folder))
    return Origin(recording, Sources(), at, lambda path, line: positions.get((path, line))).clues()


def line_of(program: str, part: str) -> int:
    """Return the number of the line that has a part."""
    (found,) = [number for number, line in enumerate(program.splitlines(), 1) if part in line]
    return found
