"""The trace of torch's profiler is read: operators by own functions, kernels by who launched them."""

import json
from dataclasses import replace

import pytest

from whet.core.observations.profile import CPU_SECONDS, GPU_SECONDS, Profile, Recording
from whet.measurement.profiles.kineto import (
    BUSY,
    COPIED,
    KERNELS,
    SYNCHRONISATIONS,
    WINDOW,
    read_kineto,
)
from whet.measurement.profiles.line_table import lines_of
from whet.measurement.profiles.sentences import gpu_sentences
from whet.measurement.profiles.words import short_kernel

Event = dict[str, object]


def event(kind: str, name: str, start: float, seconds: float, **details: object) -> Event:
    """Return an event; times in milliseconds."""
    return {
        "ph": "X", "cat": kind, "name": name, "pid": 7, "tid": 7, "ts": start * 1e3,
        "dur": seconds * 1e3, "args": details,
    }  # fmt: skip


def read(events: list[Event]) -> Profile:
    running = json.dumps([{"pid": 7, "traceEvents": events}]).encode()
    recording = Recording(engine="torch.profiler", rate=0, running=running)
    return read_kineto(recording, lambda path: path == "train.py")


def training(*, kernels: int, kernel_ms: float, gap_ms: float, syncs: int = 0) -> Profile:
    """Return the profile of a loop that starts kernels, with a gap after each."""
    step = kernel_ms + gap_ms
    events = [event("python_function", "train.py(5): step", 0, kernels * step + 1)]
    for number in range(kernels):
        at = number * step
        events += [
            event("cpu_op", "aten::mm", at, step * 0.9),
            event("cuda_runtime", "cudaLaunchKernel", at, 0.001, correlation=number + 1),
            event("kernel", "gemm", at, kernel_ms, correlation=number + 1),
        ]
    for number in range(syncs):
        at = number * step + step * 0.5
        events.append(event("cuda_runtime", "cudaStreamSynchronize", at, step * 0.3, correlation=0))
    return read(events)


def test_an_operators_own_time_is_without_that_of_those_in_it() -> None:
    profile = read(
        [
            event("python_function", "train.py(5): step", 0, 10),
            event("python_function", "torch/nn/modules/linear.py(120): forward", 1, 8),
            event("cpu_op", "aten::linear", 2, 6),
            event("cpu_op", "aten::addmm", 3, 4),
        ]
    )
    assert profile.unit == CPU_SECONDS
    rows = [
        (each.frame.function, each.calls, round(each.own, 6)) for each in lines_of(profile).lines
    ]
    assert rows == [("step", "aten::addmm", 0.004), ("step", "aten::linear", 0.002)]
    assert "no work on a GPU" in profile.notes[0]


def test_a_kernels_time_belongs_to_the_function_that_launched_it() -> None:
    profile = training(kernels=3, kernel_ms=2, gap_ms=1)
    assert profile.unit == GPU_SECONDS
    (row,) = lines_of(profile).lines
    assert (row.frame.function, row.calls) == ("step", "gemm")
    assert row.own == pytest.approx(0.006)
    assert profile.facts[KERNELS] == 3
    assert profile.facts[BUSY] == pytest.approx(0.006)
    assert profile.facts[WINDOW] == pytest.approx(0.008)


def test_two_streams_at_once_keep_the_gpu_busy_once() -> None:
    events = [event("kernel", "a", 0, 4), event("kernel", "b", 2, 4)]
    assert read(events).facts[BUSY] == pytest.approx(0.006)


def test_a_gpu_that_waits_for_the_cpu_is_told_and_one_that_works_is_not() -> None:
    idle = gpu_sentences(training(kernels=50, kernel_ms=1, gap_ms=9))
    assert idle == [
        (
            "The GPU waits for the CPU: it works for 50 ms of 491 ms (10%)."
            " Meanwhile the CPU is longest (441 ms) in train.py:5 in step."
        )
    ]
    assert gpu_sentences(training(kernels=50, kernel_ms=9, gap_ms=1)) == []


def test_many_small_kernels_are_told_and_few_or_long_ones_are_not() -> None:
    small = training(kernels=1500, kernel_ms=0.005, gap_ms=0.02)
    assert any(
        each.startswith("Too many small kernels: 1,500 of 5 µs") for each in gpu_sentences(small)
    )
    few = training(kernels=500, kernel_ms=0.005, gap_ms=0.02)
    long = training(kernels=1500, kernel_ms=0.5, gap_ms=2)
    dense = training(kernels=1500, kernel_ms=0.015, gap_ms=0.001)
    for other in (few, long, dense):
        assert not any("small kernels" in each for each in gpu_sentences(other))


def test_synchronisations_are_told_with_their_function_if_they_take_long() -> None:
    often = training(kernels=50, kernel_ms=1, gap_ms=1, syncs=20)
    assert often.facts[SYNCHRONISATIONS] == 20
    (sentence,) = [each for each in gpu_sentences(often) if "waits for the GPU" in each]
    assert sentence.startswith(
        "The program waits for the GPU 20 times, 12 ms in all, most at train.py:5 in step."
    )
    seldom = training(kernels=50, kernel_ms=1, gap_ms=1, syncs=5)
    assert not any("waits for the GPU" in each for each in gpu_sentences(seldom))


def test_copies_are_told_if_they_take_much_of_the_gpus_time() -> None:
    copies = [event("gpu_memcpy", "Memcpy HtoD", n * 10, 5, bytes=1_000_000) for n in range(4)]
    kernels = [event("kernel", "gemm", n * 10 + 5, 5) for n in range(4)]
    profile = read(copies + kernels)
    assert profile.facts[COPIED] == 4_000_000
    assert gpu_sentences(profile) == ["Copies take 50% of the GPU's time: 4.0 MB in 20 ms."]
    assert not any("Copies" in each for each in gpu_sentences(read(copies[:1] + kernels)))


def test_a_trace_without_events_is_an_empty_profile_with_a_note() -> None:
    profile = read([])
    assert not profile.stacks
    assert profile.notes
    assert gpu_sentences(replace(profile, notes=())) == []


def test_the_function_in_which_the_cpu_is_while_the_gpu_waits_is_named() -> None:
    events = [
        event("python_function", "train.py(5): main", 0, 100),
        event("python_function", "train.py(9): augment", 12, 60),
        event("python_function", "lib/numpy.py(3): pad", 20, 40),
        event("python_function", "train.py(20): step", 75, 20),
        event("kernel", "gemm", 0, 10),
        event("kernel", "gemm", 80, 10),
    ]
    (said,) = [each for each in gpu_sentences(read(events)) if "waits for the CPU" in each]

    assert "it works for 20 ms of 90 ms (22%)." in said
    assert "Meanwhile the CPU is longest (60 ms) in train.py:9 in augment." in said


def at_lines(
    events: list[Event], *stays: tuple[float, int], base: int = 1_000_000_000_000
) -> Profile:
    """Return the profile of events in a program that comes to lines of `step` at moments in ms."""
    lines = sorted({line for _, line in stays})
    positions = {
        "frames": [["train.py", line, "step"] for line in lines],
        "places": [[0, number] for number in range(len(lines))],
        "threads": [
            {
                "tid": 7,
                "moments": [base + round(moment * 1e6) for moment, _ in stays],
                "places": [lines.index(line) + 1 for _, line in stays],
            }
        ],
    }
    told = {
        "pid": 7, "traceEvents": events, "baseTimeNanoseconds": base, "positions": positions,
    }  # fmt: skip
    recording = Recording(engine="torch.profiler", rate=0, running=json.dumps([told]).encode())
    return read_kineto(recording, lambda path: path == "train.py")


def test_a_kernel_belongs_to_the_line_that_started_it_though_it_runs_later() -> None:
    profile = at_lines(
        [
            event("cpu_op", "aten::mm", 1, 1),
            event("cuda_runtime", "cudaLaunchKernel", 1.5, 0.1, correlation=1),
            event("kernel", "gemm", 4, 3, correlation=1),
            event("cpu_op", "aten::add", 3, 1),
            event("cuda_runtime", "cudaLaunchKernel", 3.5, 0.1, correlation=2),
            event("kernel", "add", 8, 1, correlation=2),
        ],
        (0, 5),
        (2.5, 6),
    )
    rows = [(each.frame.line, each.calls, round(each.own, 6)) for each in lines_of(profile).lines]
    assert rows == [(5, "gemm", 0.003), (6, "add", 0.001)]


def test_a_gradient_belongs_to_the_line_that_waits_for_it() -> None:
    def in_thread(name: str, start: float, seconds: float) -> Event:
        return {**event("cpu_op", name, start, seconds), "tid": 8}

    profile = at_lines(
        [
            event("cpu_op", "aten::mm", 1, 1),
            in_thread("autograd::engine::evaluate_function: MmBackward0", 3, 3),
            in_thread("aten::mm", 4, 1),
            in_thread("aten::copy_", 8, 1),
        ],
        (0, 5),
        (2.5, 6),
        (7, 7),
    )
    rows = {
        (each.frame.line, each.calls, round(each.own, 6))
        for each in lines_of(profile).lines
        if each.frame.in_user_code
    }
    gradient = "autograd::engine::evaluate_function: MmBackward0"
    assert rows == {(5, "aten::mm", 0.001), (6, gradient, 0.002), (6, "aten::mm", 0.001)}


def test_the_line_is_named_in_which_the_cpu_is_while_the_gpu_has_nothing_to_do() -> None:
    events = [
        event("kernel", "gemm", start, 1, correlation=number)
        for number, start in enumerate((0, 20, 40))
    ]
    profile = at_lines(events, (0, 5), (3, 6), (19, 7), (21, 6), (35, 5))
    (sentence,) = [each for each in gpu_sentences(profile) if "waits for the CPU" in each]
    assert "(30 ms) in train.py:6 in step" in sentence


def test_a_kernels_name_is_shown_without_its_namespaces_and_fits_a_line() -> None:
    kernel = (
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>,"
        " std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>)"
    )
    shown = short_kernel(kernel)
    assert shown.startswith("vectorized_elementwise_kernel<4, CUDAFunctor_add<float>")
    assert len(shown) <= 72
    assert short_kernel("void at::native::(anonymous namespace)::fill(int)") == "fill(int)"
    assert short_kernel("aten::mm") == "aten::mm"
