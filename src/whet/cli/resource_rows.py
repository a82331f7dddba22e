"""What a trial used while it ran, as rows with a small picture."""

from whet.core.observations.resources import ResourceUse, sparkline
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds

_WIDTH = 40
_MOST_PROCESSES = 3


def resource_rows(use: ResourceUse) -> list[tuple[str, str]]:
    """Return a row for each resource: how it went over time, and the most."""
    rows = [
        ("memory", use.memory_bytes, shown_bytes(max(use.memory_bytes))),
        ("cpu", use.processors, f"{max(use.processors):.1f} processors"),
        ("files", use.files, f"{max(use.files)} open"),
    ]
    if max(use.processes) > 1:
        rows.append(("processes", use.processes, f"{max(use.processes)} at once"))
    for name, column in (("read", use.read_bytes), ("written", use.written_bytes)):
        if max(column):
            rows.append((name, column, shown_bytes(max(column))))
    shown = [(name, f"{sparkline(column, _WIDTH)}  at most {most}") for name, column, most in rows]
    if len(use.largest) > 1:
        largest = [
            f"{each.name} (pid {each.pid}) {shown_bytes(each.peak_bytes)}"
            for each in use.largest[:_MOST_PROCESSES]
        ]
        shown.append(("largest", ", ".join(largest)))
    samples = shown_count(len(use.seconds), "look")
    shown.append(("looked", f"{samples} in {shown_seconds(use.seconds[-1])}"))
    return shown
