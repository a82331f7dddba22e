"""The smallest model on which a command fails, for a terminal and as JSON."""

import re

from whet.cli.console import answer
from whet.core.text.quantity import shown_count, shown_seconds
from whet.workbench.tiny.dimension_search import SmallestModel

_WORDS = (
    (r"kv|key_value", "key-value head"),
    (r"heads?$", "head"),
    (r"layers?$|depth", "layer"),
    (r"experts?$", "expert"),
    (r"position", "position"),
    (r"vocab", "token"),
)


def show_smallest(found: SmallestModel) -> None:
    """Print what the failure needs, and where the model is."""
    reproduction = found.reproduction
    answer(f"as it is: {found.summary}, {shown_seconds(reproduction.wall_seconds)}")
    answer(f"needs {needed_words(found)}")
    answer(
        f"{found.folder}: {found.model_class} with {found.params:,} of"
        f" {found.reference_params:,} parameters, {shown_seconds(found.seconds)}"
    )
    warm = f", {found.warm} of them from a copy" if found.warm else ""
    answer(f"  {found.stopped.value}, {shown_count(found.trials, 'run')}{warm}")
    if found.line.complaint:
        answer(f"  {found.line.complaint}")
    answer(found.line.text)


def needed_words(found: SmallestModel) -> str:
    """Return in words what the failure needs: ``at least 3 heads (n_head); nothing else matters``."""
    if not found.needed:
        return "no dimension: it fails the same way with the smallest of each"
    needed = [f"{_counted(name, value)} ({name})" for name, value in found.needed]
    return f"at least {' and '.join(needed)}; nothing else matters"


def _counted(name: str, value: int) -> str:
    for pattern, noun in _WORDS:
        if re.search(pattern, name):
            return shown_count(value, noun)
    return str(value)


def smallest_json(found: SmallestModel) -> dict[str, object]:
    """Return the smallest model as JSON."""
    return {
        "folder": found.folder,
        "class": found.model_class,
        "params": found.params,
        "reference_params": found.reference_params,
        "failure": found.summary,
        "needed": dict(found.needed),
        "sizes": dict(found.sizes),
        "dimensions": [
            {"field": each.name, "reference": each.reference, "tiny": each.tiny}
            for each in found.dimensions
        ],
        "reference_seconds": round(found.reproduction.wall_seconds, 3),
        "seconds": round(found.seconds, 3),
        "runs": found.trials,
        "warm_runs": found.warm,
        "stopped": found.stopped.name.lower(),
        **found.line.facts(),
    }
