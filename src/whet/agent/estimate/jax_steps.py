"""Estimates a step of a JAX program from what XLA compiles it to, times it, and measures the machine."""

from __future__ import annotations

import importlib
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")

_MOST_SECONDS, _MOST_RUNS, _FEWEST_RUNS = 3.0, 30, 3
_MACHINE_SECONDS = 1.2
_SIZES = (256, 512, 1024, 1536)
_WORKING_SETS = (1 << 15, 1 << 17, 1 << 19, 1 << 21, 1 << 23, 1 << 25, 1 << 27)


def estimate(
    _request: dict[str, object], load: Callable[[], Callable[[], object]]
) -> dict[str, object]:
    """Return what one step computes, moves and holds; it is compiled, and never runs."""
    step = load()
    traced = jax.make_jaxpr(step)()
    consts = traced.consts
    shapes = [jax.ShapeDtypeStruct(jnp.shape(each), jnp.result_type(each)) for each in consts]

    def again(given: list[Any]) -> Any:
        # What the function takes from around it is an argument here: XLA would compute with it.
        return jax.core.eval_jaxpr(traced.jaxpr, given)

    compiled = jax.jit(again).lower(shapes).compile()
    found: Any = compiled.cost_analysis() or {}
    cost: Any = found if hasattr(found, "get") else found[0]
    flops, moved = (max(float(cost.get(name, 0.0)), 0.0) for name in ("flops", "bytes accessed"))
    memory = compiled.memory_analysis()
    sizes = {
        "inputs": int(getattr(memory, "argument_size_in_bytes", 0)),
        "outputs": int(getattr(memory, "output_size_in_bytes", 0)),
        "temporary": int(getattr(memory, "temp_size_in_bytes", 0)),
    }
    floats = [each.dtype.name for each in shapes if jnp.issubdtype(each.dtype, jnp.floating)]
    return {
        "operators": [
            {
                "name": "step",
                "dtype": "",
                "count": 1,
                "flops": flops,
                "bytes": moved,
                "calls": [[flops, moved]],
            }
        ],
        "memory": {**sizes, "peak": sum(sizes.values())},
        "dtype": max(set(floats), key=floats.count, default="float32"),
        "device": jax.default_backend(),
        "threads": len(os.sched_getaffinity(0)),
        "precision": str(jax.config.jax_default_matmul_precision or "default"),
        "uncounted": [],
        "was_built": True,
        "version": jax.__version__,
    }


def run(_request: dict[str, object], load: Callable[[], Callable[[], object]]) -> dict[str, object]:
    """Run the step itself; return the shortest time."""
    step = load()
    jax.block_until_ready(step())
    times: list[float] = []
    began = time.perf_counter()
    while len(times) < _FEWEST_RUNS or (
        len(times) < _MOST_RUNS and time.perf_counter() - began < _MOST_SECONDS
    ):
        since = time.perf_counter()
        jax.block_until_ready(step())
        times.append(time.perf_counter() - since)
    return {"seconds": min(times), "runs": len(times)}


def machine(request: dict[str, object], _load: object) -> dict[str, object]:
    """Return the most that this machine reaches with JAX: the best of many short tries."""
    dtype = str(request["dtype"])
    return {
        "flops": max(_flops_of(size, dtype) for size in _SIZES),
        "bytes": max(_bytes_of(size, dtype) for size in _WORKING_SETS),
    }


def _best(work: Callable[..., Any], given: list[Any], seconds: float) -> float:
    compiled = jax.jit(work)
    jax.block_until_ready(compiled(*given))
    best, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        since = time.perf_counter()
        jax.block_until_ready(compiled(*given))
        best = min(best, time.perf_counter() - since)
    return best


def _flops_of(size: int, dtype: str) -> float:
    given = [jnp.ones((size, size), dtype) for _ in range(2)]
    return 2.0 * size**3 / _best(jnp.matmul, given, _MACHINE_SECONDS / len(_SIZES))


def _bytes_of(size: int, dtype: str) -> float:
    one = jnp.ones(max(size // jnp.dtype(dtype).itemsize, 1), dtype)
    share = _MACHINE_SECONDS / len(_WORKING_SETS) / 2
    added: float = 3 * one.nbytes / _best(jnp.add, [one, one], share)
    summed: float = one.nbytes / _best(jnp.sum, [one], share)
    return max(added, summed)
