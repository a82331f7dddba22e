"""JAX's trace is read: XLA's operations by the function of the user's whose call started them."""

import json
from collections.abc import Sequence

from whet.core.observations.profile import CPU_SECONDS, GPU_SECONDS, Profile, Recording
from whet.measurement.profiles.jax_trace import JAX, read_jax
from whet.measurement.profiles.kineto import COPYING, KERNELS
from whet.measurement.profiles.line_table import lines_of

Event = dict[str, object]
PLACES = [["train.py", 9, "loss", "/p/train.py"], ["train.py", 20, "fit", "/p/train.py"]]


def event(name: str, start: float, seconds: float, tid: int = 1, pid: int = 7, **details: object) -> Event:  # fmt: skip
    """Return an event; times in milliseconds."""
    return {
        "ph": "X", "pid": pid, "tid": tid, "name": name, "ts": start * 1e3, "dur": seconds * 1e3,
        "args": details,
    }  # fmt: skip


def dot(start: float, seconds: float) -> Event:
    return event("dot", start, seconds, tid=2, hlo_module="jit_step", hlo_op="dot.3")


def named(kind: str, name: str, pid: int, tid: int = 0) -> Event:
    return {"ph": "M", "pid": pid, "tid": tid, "name": f"{kind}_name", "args": {"name": name}}


CALLS = [
    event("$train.py:20 fit", 0, 100),
    event("PjitFunction(step)", 2, 3),
    event("$train.py:9 loss", 20, 40),
    event("$core.py:660 bind", 21, 9),
    event("PjitFunction(step)", 22, 3),
    event("backend_compile_and_load", 23, 1),
]


def read(events: Sequence[Event]) -> Profile:
    running = json.dumps([{"pid": 7, "places": PLACES, "traceEvents": events}]).encode()
    return read_jax(
        Recording(engine=JAX, rate=0.0, running=running), lambda path: path[:3] == "/p/"
    )


def rows(profile: Profile) -> dict[tuple[str, str], float]:
    return {
        (each.frame.function, each.calls): round(each.own, 6) for each in lines_of(profile).lines
    }


def test_an_operation_of_another_thread_belongs_to_the_last_call_before_it() -> None:
    profile = read([*CALLS, dot(6, 8), dot(26, 5)])

    assert profile.unit == CPU_SECONDS
    assert rows(profile)["fit", "jit_step: dot.3"] == 0.008
    assert rows(profile)["loss", "jit_step: dot.3"] == 0.005
    assert rows(profile)["loss", "compile"] == 0.001


def test_a_function_of_a_library_with_the_name_of_an_own_file_is_none_of_the_users() -> None:
    profile = read([event("$train.py:300 step", 0, 9), event("PjitFunction(f)", 1, 2)])
    assert not [each for each in lines_of(profile).lines if each.frame.in_user_code]


def test_work_on_a_gpu_counts_once_by_its_streams() -> None:
    gpu = [
        named("process", "/device:GPU:0", 8),
        named("thread", "Stream #13(Compute)", 8, 13),
        named("thread", "XLA Ops", 8, 14),
        event("gemm", 26, 5, tid=13, pid=8, hlo_module="jit_step", hlo_op="dot.3"),
        event("dot.3", 26, 5, tid=14, pid=8, hlo_module="jit_step", hlo_op="dot.3"),
        event("MemcpyD2H", 32, 1, tid=13, pid=8),
    ]
    profile = read([*CALLS, *gpu])

    assert profile.unit == GPU_SECONDS
    assert rows(profile)["loss", "jit_step: dot.3"] == 0.005
    assert profile.facts[KERNELS] == 1
    assert round(profile.facts[COPYING], 6) == 0.001


def test_kernels_that_the_compiler_tries_are_not_the_programs() -> None:
    gpu = [
        named("process", "/device:GPU:0", 8),
        named("thread", "Stream #13(Compute)", 8, 13),
        event("RedzoneAllocatorKernelImpl", 23.1, 0.2, tid=13, pid=8),
        event("input_fusion", 23.4, 0.2, tid=13, pid=8, hlo_module="input_fusion", hlo_op="None"),
        event("MemcpyOther", 23.7, 0.2, tid=13, pid=8),
        event("gemm", 23.9, 5, tid=13, pid=8, hlo_module="jit_step", hlo_op="dot.3"),
        event("MemcpyD2H", 32, 1, tid=13, pid=8),
    ]
    profile = read([*CALLS, *gpu])

    assert profile.facts[KERNELS] == 1
    assert round(profile.facts[COPYING], 6) == 0.001


def test_where_a_module_begins_is_no_line_of_its_work() -> None:
    places = [["run.py", 1, "<module>", "/p/run.py"]]
    events = [event("$run.py:1 <module>", 0, 100), event("PjitFunction(step)", 2, 3), dot(6, 8)]
    running = json.dumps([{"pid": 7, "places": places, "traceEvents": events}]).encode()
    profile = read_jax(Recording(engine=JAX, rate=0.0, running=running), lambda _: True)

    (own,) = {each.frame for each in lines_of(profile).lines if each.frame.path == "/p/run.py"}
    assert (own.line, own.function) == (0, "<module>")
