"""An observation that is kept with a trial: more than its outcome tells, read when somebody asks."""

from dataclasses import field

from whet.core.text.record import JsonObject
from whet.core.value_class import value_class

FAILURES = "failures"
"""The frames of failures, with their values; `whet.evidence.variables.kept_failure` reads it."""

STACKS = "stacks"
"""Where every process of a trial was; `whet.core.observations.stack.ProcessStack`, one for each."""

COUNTS = "counts"
"""How often a function was called, from which file, and who called it first."""
CLOSER = "closer"
"""The results of an instrumented rerun; `whet.evidence.clues.closer_look` reads it."""

PYTHONS = "pythons"
"""Which Pythons took up whet's agent; `whet.host.inspect.presence` reads it."""

STEPS = "steps"
"""The last lines that ran before a failure; `whet.evidence.provenance.run.recording` reads it."""

PROBES = "probes"
"""The output of probes; `whet.evidence.clues.probes` reads it."""

TOGGLES = "toggles"
"""A program's report of the modules that it loaded; `whet.core.toggle` reads it."""

SYSTEM_CALLS = "system calls"
"""The failing system calls, and other telling ones; `whet.core.observations.system_call`."""


MADE = "made"
"""What a program made with `whet.make`; `whet.workbench.make.explained` reads it."""

TIMELINE = "timeline"
"""Sections, marks and levels; `whet.core.observations.timeline.Timeline` reads its data, JSON."""

PROFILE = "profile"
"""Where time or memory went; `whet.core.observations.profile.Profile` reads its data, JSON."""

LEAK = "leak"
"""What a process held while a piece of it was repeated; `whet.workbench.leak.reports` reads it."""

LINES = "lines"
"""What each statement of a file took; `whet.measurement.expectations.counted_lines` reads it."""

GUESSES = "guesses"
"""What the comments of a file expected of its lines, and what came; `whet.workbench.expect.record` reads it."""

SECRETS = "secrets"
"""Which known secrets the program printed, and on which stream."""


@value_class(kw_only=True)
class Evidence:
    """One observation.

    Attributes:
        kind: what was observed, such as ``failure``; says how the rest is to be read.
        detail: small enough for a row.
        data: what is too large for that; empty: nothing is.
    """

    kind: str
    detail: JsonObject = field(default_factory=dict[str, object])
    data: bytes = b""
