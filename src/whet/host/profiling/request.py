"""What is asked of the profilers beside a trial."""

from collections.abc import Callable, Mapping
from dataclasses import field

from whet.core.observations.profile import Profile, Recording
from whet.core.value_class import value_class

Read = Callable[[Recording], Profile]


@value_class(kw_only=True)
class Profiling:
    """What is to be profiled of a trial.

    Attributes:
        question: ``cpu``, or what a profiler inside the program records: ``memory``, ``gpu``.
        read: makes a profile of what a profiler of Python programs wrote.
        read_native: the same of perf's.
        rate: samples a second.
        native: frames of C, C++ and Rust too.
        variables: what the agent in the program is told beside.
        trace: the APIs that Nsight Systems traces, by commas; empty: it isn't used.
        is_captured: it records only what the program surrounds with `whet.capture`.
    """

    question: str
    read: Read
    read_native: Read
    rate: int = 100
    native: bool = False
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    trace: str = ""
    is_captured: bool = False
