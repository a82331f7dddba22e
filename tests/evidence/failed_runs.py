"""Running the programs in `specimens/failures`, and reading what they printed elsewhere."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from whet.core.failure import Failure, FailureSignature
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.trial import Trial
from whet.evidence.signature.classify import classify

SPECIMENS = Path(__file__).parents[2] / "specimens" / "failures"
TRANSCRIPTS = Path(__file__).parent / "transcripts"

# Where the programs stood when the transcripts were taken.
PROJECT = "/home/user/project"

_TRANSCRIPT = re.compile(r"^### (?P<name>\S+) (?P<how>exit|signal) (?P<code>\d+)\n", re.MULTILINE)


def outcome_of(
    stderr: str | bytes = "",
    *,
    exit_code: int | None = 1,
    signal: int | None = None,
    stdout: str | bytes = "",
) -> Outcome:
    """Return the outcome of a program that printed this and ended so."""
    return Outcome(
        exit_code=None if signal is not None else exit_code,
        signal=signal,
        stdout=BytesOutput(stdout.encode() if isinstance(stdout, str) else stdout),
        stderr=BytesOutput(stderr.encode() if isinstance(stderr, str) else stderr),
    )


def run(
    command: Sequence[str],
    cwd: Path = SPECIMENS,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run ``command`` to its end."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, check=False, env=environment)
    killed = done.returncode < 0
    return outcome_of(
        done.stderr,
        exit_code=done.returncode,
        signal=-done.returncode if killed else None,
        stdout=done.stdout,
    )


def trial_of(*command: str, cwd: str | Path = SPECIMENS) -> Trial:
    """Return the trial of ``command``."""
    return Trial(command=command, cwd=str(cwd))


@cache
def failure_of(specimen: str) -> Failure:
    """Run a specimen under this Python and return its failure."""
    command = (sys.executable, "-B", specimen)
    failure = classify(trial_of(*command), run(command))
    assert failure is not None, f"{specimen} does not fail"
    return failure


def failure_in(stderr: str | bytes, *, exit_code: int | None = 1, cwd: str = PROJECT) -> Failure:
    """Return the failure of a Python program of the project that printed ``stderr``."""
    failure = classify(trial_of("python", "x.py", cwd=cwd), outcome_of(stderr, exit_code=exit_code))
    assert failure is not None
    return failure


def signature_in(stderr: str | bytes, *, exit_code: int | None = 1) -> FailureSignature:
    """Return the signature of a Python program of the project that printed ``stderr``."""
    return failure_in(stderr, exit_code=exit_code).signature


def transcript(version: str) -> dict[str, Outcome]:
    """Return what each specimen did under a version of Python, by its name."""
    text = (TRANSCRIPTS / f"python{version}.txt").read_text()
    starts = list(_TRANSCRIPT.finditer(text))
    ends = [found.start() for found in starts[1:]] + [len(text)]
    return {
        found["name"]: outcome_of(
            text[found.end() : end],
            exit_code=int(found["code"]),
            signal=int(found["code"]) if found["how"] == "signal" else None,
        )
        for found, end in zip(starts, ends, strict=True)
    }
