"""Whether a failure comes from a Python without whet's agent, which whet can't examine."""

import os
from pathlib import Path

from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.host.inspect.presence import pythons_in


def why_unreached(trial: Trial, outcome: Outcome) -> str:
    """Return why the Python that failed can't be looked at closely; empty: it can, or is none."""
    frames = () if outcome.failure is None else outcome.failure.frames
    pythons = pythons_in(outcome.evidence)
    reported_files = {path for each in pythons for path in each.files}
    own = [os.path.realpath(Path(trial.cwd, each.path)) for each in frames if each.in_user_code]
    files = [path for path in own if Path(path).is_file()]
    if not frames or reported_files & set(own) or (pythons and not files):
        return ""
    where = f"that runs {Path(files[-1]).name} " if files else ""
    return (
        f"no Python {where}loaded whet's agent, so whet looked at none closely: it ignores or loses"
        " `PYTHONPATH` and the `WHET_` variables, as under `python -I`, `env -i`, `sudo`, `tox`"
        " (`pass_env` hands them on) or in a container that runs already"
    )
