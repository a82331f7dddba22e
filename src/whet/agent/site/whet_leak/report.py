"""What one process writes down about its memory, in a file of its own.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from whet.agent.site.whet_probe.report import Report
else:
    from whet_probe.report import Report


class LeakReport(Report):
    """Reports that aren't those of probes."""

    def path(self, suffix: str) -> str:
        """Return the path of a file of this process's own."""
        return super().path(suffix.replace("probe-", "leak-").replace("probes", "leak"))
