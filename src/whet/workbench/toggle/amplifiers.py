"""The switches that may make a flaky failure more frequent.

They are toggles like all others: `whet toggle one-core -- CMD` turns one by name. They make rare
interleavings likely: thread switches at the most sensitive places, one processor for all threads, no idle
processor, another order.
"""

import os
from pathlib import Path

from whet.core.room import Room
from whet.core.toggle import Toggle
from whet.host.limits.rr import CHAOS, rr_refusal

SLEEPS = "sleeps"
PLACES_VARIABLE = "WHET_SLEEPS"
"""Where the agent sleeps: `FILE:LINE` or `FILE:FUNCTION`, one on a line; empty: anywhere."""

RR = "rr-chaos"
RECORDINGS = "rr"
"""The folder of recordings, where the project's state is."""

_MANY = "16"

AMPLIFIERS = (
    Toggle(
        name="switch-often",
        does="Python switches threads as often as it can (switch interval 1 µs)",
        inside=("switch-often",), signs=("inside:switch-often",), amplifies=True,
    ),
    Toggle(
        name=SLEEPS,
        does="random sleeps in your code, before writes to shared data and before calls",
        read="when one of your lines runs",
        inside=(SLEEPS,), signs=("inside:sleeps",), amplifies=True,
    ),
    Toggle(
        name="one-core",
        does="all threads and processes share one processor",
        inside=("one-core",), signs=("inside:one-core",), amplifies=True,
    ),
    Toggle(
        name="cpu-load",
        does="other processes keep all processors busy twice over",
        read="at any time",
        room=Room(cpu_load=2 * (os.cpu_count() or 1)), amplifies=True,
    ),
    Toggle(
        name="many-threads",
        does="thread pools, OpenMP, MKL, OpenBLAS and Rayon have 16 threads",
        read="when each library is loaded",
        variables=dict.fromkeys(
            ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"),
            _MANY,
        ),
        inside=("many-threads",),
        signs=(
            "inside:many-threads", "library:libgomp", "library:libiomp", "library:libomp",
            "library:libmkl", "library:libopen", "module:polars", "module:tokenizers",
        ),
        amplifies=True,
    ),
    Toggle(
        name="reversed-tests",
        does="pytest and unittest run the tests in the opposite order",
        read="when the tests are collected",
        inside=("reversed-tests",), signs=("inside:reversed-tests",), amplifies=True,
    ),
    Toggle(
        name="shuffled-tests",
        does="pytest runs the tests in another order, the same in each run",
        read="when the tests are collected",
        inside=("shuffled-tests",), signs=("inside:shuffled-tests",), amplifies=True,
    ),
    Toggle(
        name="reversed-results",
        does="as_completed and imap_unordered hand over the result of the last task first",
        read="when the program collects results",
        inside=("reversed-results",), signs=("inside:reversed-results",), amplifies=True,
    ),
    Toggle(
        name="clean-room",
        does="files that earlier runs wrote to the project or /tmp are gone",
        read="at any time",
        room=Room(is_clean=True), amplifies=True,
    ),
    Toggle(
        name=RR,
        does="`rr` runs it on one processor and switches threads at random, in native code too",
        read="at any time",
        wrapper=CHAOS, amplifies=True,
    ),
)  # fmt: skip
"""Which test orders, seeds of the hash and suspect lines there are is learnt from the command."""


RANDOM_SEED = "random-seed"


def hash_seed(seed: int) -> Toggle:
    """Return the switch that gives all sets and dictionaries of texts one order."""
    return Toggle(
        name=f"hash-seed={seed}",
        does="sets of strings have the order that they had in a run that failed",
        read="when Python starts",
        variables={"PYTHONHASHSEED": str(seed)},
        amplifies=True,
    )


def random_seed(seed: int) -> Toggle:
    """Return the switch that starts the random numbers of Python, NumPy and torch from a seed."""
    return Toggle(
        name=f"random-seed={seed}",
        does="random, numpy.random and torch start from this seed, where the program gives none",
        read="when these modules are loaded",
        inside=(f"{RANDOM_SEED}={seed}",),
        signs=(f"inside:{RANDOM_SEED}",),
        amplifies=True,
    )


def sleeps_at(name: str, places: tuple[str, ...], does: str) -> Toggle:
    """Return the switch that sleeps at some places alone."""
    return Toggle(
        name=f"{SLEEPS}@{name}",
        does=does,
        read="when one of these lines runs",
        variables={PLACES_VARIABLE: "\n".join(places)},
        inside=(SLEEPS,),
        signs=("inside:sleeps",),
        amplifies=True,
    )


def go_together(one: Toggle, other: Toggle) -> bool:
    """Whether two switches don't undo each other: two seeds, two orders, two sets of places."""
    if one.wrapper and other.wrapper:
        return False
    return _family(one) != _family(other) and one.variables.keys().isdisjoint(other.variables)


def refusal(toggle: Toggle, state: Path) -> str:
    """Return why a switch can't be turned on this machine; empty: it can.

    Args:
        toggle: the switch.
        state: where the project's state is.
    """
    return rr_refusal(state / RECORDINGS) if toggle.wrapper == CHAOS else ""


def _family(each: Toggle) -> str:
    return (
        "tests" if each.name.endswith("-tests") else each.name.partition("@")[0].partition("=")[0]
    )
