"""A failure for lack of memory without a limit of whet: which process grew, and how to fail sooner.

A search can't use a program that runs for hours until the machine's memory is full. Under the smallest limit
of address space at which it still fails the same way, it fails as soon as it reaches that place.
whet limits the address space and not the memory, so the program gets the same error as before
(`MemoryError`, `std::bad_alloc`), while a control group would kill it.
"""

from whet.core.budget import Budget
from whet.core.failure import Failure, FailureKind
from whet.core.limits import Limits, shown_size
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.signature.room_met import is_about_gpus
from whet.host.files.memory import memory_left
from whet.workbench.starve.starve import RATIONED, FindOptions, Rationing
from whet.workbench.trials.session import Session

_SHARES = (1 / 8, 1 / 4, 1 / 2)  # of what the program grew by
_ENOUGH_SECONDS = 1.0
_MOST_SHARE = 0.8
_FAR_SHARE = 0.5
_SOONER_SHARE = 0.7  # of the time without a limit: less is no matter of chance
_LESS_SHARE = 0.95  # of the memory without a limit: the program may lower whet's limit to its own


@value_class
class _StillFails:
    """GOOD means that it fails as before: what a search for the least amount looks for.

    Attributes:
        oracle: what BAD means to the investigation.
    """

    oracle: Oracle

    @property
    def description(self) -> str:
        """What BAD means here."""
        return f"not the failure in question ({self.oracle.description})"

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        return Verdict.GOOD if self.oracle.judge(outcome) is Verdict.BAD else Verdict.BAD


def is_out_of_memory(failure: Failure, outcome: Outcome) -> bool:
    """Whether a command failed for lack of the machine's own memory, not of a GPU's or a limit's."""
    if failure.limit:
        return False
    if failure.kind is FailureKind.OUT_OF_MEMORY:
        return not is_about_gpus(failure.summary)
    # The kernel kills without a word; whoever holds nearly all that there is was its choice.
    was_killed = failure.signature.signal == "SIGKILL"
    return was_killed and outcome.peak_rss_bytes > _MOST_SHARE * memory_left().total_bytes


def grown_words(outcome: Outcome) -> str:
    """Return which process grew, and to what, in a sentence."""
    total = memory_left().total_bytes
    there = f"this machine has {shown_size(total)}"
    if outcome.peak_rss_bytes < _FAR_SHARE * total:
        there = f"{there}, so that isn't what was short: look for a limit of its own, or one big request"
    use = outcome.resources
    if use is None or not use.largest:
        return f"it used at most {shown_size(outcome.peak_rss_bytes)}; {there}"
    largest, others = use.largest[0], len(use.largest) - 1
    beside = f", with {others} smaller one{'s' * (others > 1)}" if others else ""
    # What is asked for at once and refused was never held.
    size = max(largest.peak_bytes, outcome.peak_rss_bytes if not others else 0)
    return f"{largest.name} (pid {largest.pid}) grew to {shown_size(size)}{beside}; {there}"


def is_quick(outcome: Outcome) -> bool:
    """Whether it fails too soon for a limit to save time."""
    return outcome.wall_seconds < _ENOUGH_SECONDS


def limits_to_fail_at_once(
    session: Session,
    trial: Trial,
    outcome: Outcome,
    oracle: Oracle,
    *,
    budget: Budget,
) -> tuple[Limits, Outcome] | None:
    """Return limits under which a command fails as before, sooner, and how; None: there are none.

    Args:
        session: runs its trials.
        trial: without a limit of memory.
        outcome: what it did.
        oracle: what BAD means.
        budget: when to stop.
    """
    rationed = RATIONED["address-space"]
    most = max(outcome.peak_rss_bytes, 64 * int(rationed.step))
    rationing = Rationing(
        session=session,
        trial=trial,
        rationed=rationed,
        oracle=_StillFails(oracle),
        options=FindOptions(name="address-space", budget=budget),
    )
    top = round(most / rationed.step)
    least = rationing.least_up_to(2 * top)
    if least is None:
        return None
    # At the very least it may fail before it has read a thing: some of what it needs is left to it.
    for share in _SHARES:
        steps = least + max(1, round((top - least) * share))
        result = rationing.enough(steps)
        if (
            result is not None
            and result.wall_seconds < _SOONER_SHARE * outcome.wall_seconds
            and result.peak_rss_bytes < _LESS_SHARE * outcome.peak_rss_bytes
        ):
            return rationed.limits(trial.limits, steps), result
    return None
