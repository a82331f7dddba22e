"""A small whet that runs one command live, as `whet run` does; started by tests in a terminal.

Arguments: folder, file for the facts, time limit or 0, then the command.
"""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from laboratory import Laboratory

from whet.core.trial import STDIN_INHERITED, ResetStep
from whet.host.process.console import Console
from whet.host.trial import relay

relay._GRACE_SECONDS = 0.5  # five in life


def main() -> None:
    """Run the command and write what came of it to the file."""
    folder, facts, limit, *command = sys.argv[1:]
    laboratory = Laboratory(Path(folder), console=Console())
    trial = laboratory.trial(*command, wall_seconds=float(limit) or None)
    step = os.environ.get("RESET")
    reset = () if step is None else (ResetStep(command=step),)
    with laboratory.make() as executor:
        outcome = executor.submit(replace(trial, stdin=STDIN_INHERITED, reset=reset)).result()
    seen = {**outcome.to_json(), "out": outcome.stdout.head(10**6).decode("latin-1")}
    seen["err"] = outcome.stderr.head(10**6).decode("latin-1")
    Path(f"{facts}.part").write_text(json.dumps(seen))
    Path(f"{facts}.part").rename(facts)


if __name__ == "__main__":
    main()
