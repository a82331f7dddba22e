"""The smallest model on which a command fails, for a terminal and as JSON."""

from whet.cli.console import answer
from whet.core.text.quantity import shown_count, shown_seconds
from whet.workbench.tiny.dimension_search import SmallestModel
from whet.workbench.tiny.tiny import TinyModel


def show_smallest(found: SmallestModel) -> None:
    """Print what the failure needs, and where the model is."""
    reproduction = found.reproduction
    answer(f"as it is: {found.summary}, {shown_seconds(reproduction.wall_seconds)}")
    answer(f"needs {found.needs}")
    answer(
        f"{found.folder}: {found.model_class} with {size_words(found)}, {shown_seconds(found.seconds)}"
    )
    warm = f", {found.warm} of them from a copy" if found.warm else ""
    answer(f"  {found.stopped.value}, {shown_count(found.trials, 'run')}{warm}")
    if found.line.complaint:
        answer(f"  {found.line.complaint}")
    answer(found.line.text)


def size_words(made: TinyModel | SmallestModel) -> str:
    """Return in words how large a small model or estimator is."""
    if made.counts == "sizes":
        return f"sizes of {made.params:,} in all, {made.reference_params:,} before"
    return f"{made.params:,} of {made.reference_params:,} parameters"


def smallest_json(found: SmallestModel) -> dict[str, object]:
    """Return the smallest model as JSON."""
    return {
        "folder": found.folder,
        "class": found.model_class,
        "params": found.params,
        "reference_params": found.reference_params,
        "counts": found.counts,
        "failure": found.summary,
        "needed": dict(found.needed),
        "unmade": {name: list(values) for name, values in found.unmade.items() if values},
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
