"""The rows of a search's trials in the notebook: all belong to one investigation."""

from collections.abc import Callable

from whet.core.trial import Trial
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.request import TrialRequest


def search_recorder(
    bench: Workbench, request: TrialRequest, *, verb: str, investigation: int
) -> Callable[[Trial], int]:
    """Return what writes a trial of a search down before it starts, and returns its number.

    Args:
        bench: the workbench.
        request: what the user asked for.
        verb: of the search.
        investigation: the search's number in the notebook.
    """

    def record(starting: Trial) -> int:
        return bench.notebook.begin(
            starting,
            verb=verb,
            name=request.name,
            note=request.note,
            expectation=request.expectation,
            investigation=investigation,
        )

    return record
