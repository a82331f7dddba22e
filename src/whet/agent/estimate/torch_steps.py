"""Estimates a step of a torch program without running it, times it, and measures what a machine reaches."""

from __future__ import annotations

import gc
import importlib
import json
import os
import tempfile
import time
from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

torch: Any = importlib.import_module("torch")
_fake: Any = importlib.import_module("torch._subclasses.fake_tensor")
_dispatch: Any = importlib.import_module("torch.utils._python_dispatch")
_counter: Any = importlib.import_module("torch.utils.flop_counter")
_storages: Any = importlib.import_module("torch.multiprocessing.reductions")

_STEPS = 2
"""The first makes gradients and the optimizer's state, the second is like all that follow."""

_GATHERS = {"embedding", "index_select", "gather", "index", "slice_scatter", "embedding_bag"}
_MAKES_ONLY = {
    "empty",
    "zeros",
    "empty_like",
    "zeros_like",
    "empty_strided",
    "new_empty",
    "new_zeros",
}
_RECURRENT = "aten::mkldnn_rnn_layer"
_FEW_STEPS = (1, 17)
_MOST_REAL_BYTES = 1 << 28
"""A layer with larger weights isn't called: an estimate takes no memory."""

_KEEPS_INSIDE = {"_cudnn_rnn", "_cudnn_rnn_backward"}
"""Operators that keep tensors of their own, of which their shapes show nothing."""

_SEQUENCE_DIMENSIONS = 3
"""A sequence has time steps, rows and numbers."""

_MOST_SECONDS, _MOST_RUNS, _FEWEST_RUNS = 3.0, 30, 3
_MACHINE_SECONDS = 1.2
_SIZES = (256, 512, 1024, 1536)
_WORKING_SETS = (1 << 15, 1 << 17, 1 << 19, 1 << 21, 1 << 23, 1 << 25, 1 << 27)


# ---- estimating ----


def estimate(
    request: dict[str, object], load: Callable[[], Callable[[], object]]
) -> dict[str, object]:
    """Return what one step computes, moves and holds, from the shapes of its tensors alone."""
    # One operator for a whole layer shows nothing of what it does inside.
    if hasattr(torch.backends, "mha"):
        torch.backends.mha.set_fastpath_enabled(False)
    is_fake = not request["is_built"]
    mode = _fake.FakeTensorMode(allow_non_fake_inputs=not is_fake)
    watch = _Watch()
    if is_fake:
        # A copy of a tensor is in the same mode as the tensor.
        _fake.FakeTensorMode.__deepcopy__ = _itself
        with mode, watch.mode():
            step = load()
    else:
        step = load()
    with mode, watch.mode():
        watch.begin()
        for _ in range(_STEPS):
            watch.operators.clear()
            step()
            watch.sweep()
    kinds = _kinds(watch, is_fake=is_fake)
    dtypes: dict[str, float] = {}
    for each in watch.operators.values():
        if each["flops"]:
            dtypes[each["dtype"]] = dtypes.get(each["dtype"], 0.0) + each["flops"]
    return {
        "operators": sorted(watch.operators.values(), key=lambda each: -each["flops"]),
        "memory": {**kinds, "peak": max(watch.peak, sum(kinds.values()))},
        "dtype": max(dtypes, key=lambda each: dtypes[each], default="float32"),
        "device": watch.device,
        "threads": torch.get_num_threads(),
        "precision": torch.get_float32_matmul_precision(),
        "uncounted": sorted(watch.uncounted),
        "was_built": not is_fake,
        "version": torch.__version__,
    }


def _itself(own: Any, _memo: object) -> Any:
    return own


class _Watch:
    """Sees each operator, and which storages are alive."""

    def __init__(self) -> None:
        self.operators: dict[tuple[str, str], dict[str, Any]] = {}
        self.alive: dict[int, tuple[Any, int]] = {}
        self.peak = 0
        self.device = "cpu"
        self.uncounted: set[str] = set()
        self._workspaces: dict[int, tuple[int, ...]] = {}
        self._short_calls: dict[str, list[tuple[int, int]]] = {}

    def begin(self) -> None:
        """Count what is alive before the first step; what it took to build it doesn't matter."""
        self.sweep()
        self.peak = self.live_bytes

    def mode(self) -> Any:
        """Return the block in which it sees what happens."""

        def dispatch(
            _mode: object, function: Any, _types: object, args: Any = (), kwargs: Any = None
        ) -> object:
            return self.sees(function, args, kwargs or {})

        return type("Watch", (_dispatch.TorchDispatchMode,), {"__torch_dispatch__": dispatch})()

    def sees(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call an operator, and note it."""
        given = list(_tensors((args, kwargs)))
        made = function(*args, **kwargs)
        results = list(_tensors(made))
        self._count(function, given, results, made, args, kwargs)
        for each in results:
            self.note(each)
        if str(function.name()).startswith(_RECURRENT):
            self._note_recurrent(function, args, made)
        if self.live_bytes > self.peak:
            self.sweep()
            self.peak = max(self.peak, self.live_bytes)
        return made

    @property
    def live_bytes(self) -> int:
        return sum(size for _, size in self.alive.values())

    def note(self, tensor: Any, least: int = 0) -> None:
        """Count a tensor's storage as long as it is alive; it has `least` bytes or more."""
        storage = tensor.untyped_storage()
        weak = _storages.StorageWeakRef(storage)
        if weak.cdata not in self.alive or least:
            self.alive[weak.cdata] = (weak, max(storage.nbytes(), least))

    def _note_recurrent(self, function: Any, args: Any, made: Any) -> None:
        """Count what a recurrent layer of oneDNN keeps for its backward pass, and needs meanwhile.

        Its shapes don't show that. It grows in proportion to the steps in time, so two short real
        calls of the same layer show it.
        """
        is_backward = str(function.name()) != _RECURRENT
        workspaces = self._workspaces.get(_key(args[-1])) if is_backward else ()
        weights = sum(_size(each) for each in _tensors(args[1:5]))
        if workspaces is None or weights > _MOST_REAL_BYTES:
            self.uncounted.add(function.overloadpacket.__name__)
            return
        shapes = [
            (each.shape, each.dtype) if issubclass(type(each), torch.Tensor) else each
            for each in args
        ]
        key = f"{function.name()} {shapes}"
        if key not in self._short_calls:
            with _fake.unset_fake_temporarily():
                self._short_calls[key] = list(_short_calls(function, args, workspaces))
        kept, most = zip(*self._short_calls[key], strict=True)
        steps = args[0].shape[0]
        self.sweep()
        made_bytes = sum(_size(each) for each in _tensors(made))
        self.peak = max(self.peak, self.live_bytes - made_bytes + _extrapolated(most, steps))
        if not is_backward and any(kept):
            self.note(made[3], _extrapolated(kept, steps))
            self._workspaces[_key(made[3])] = kept

    def sweep(self) -> None:
        gone = [key for key, (weak, _) in self.alive.items() if weak.expired()]
        for key in gone:
            del self.alive[key]

    def _count(
        self, function: Any, given: Any, results: Any, made: Any, args: Any, kwargs: Any
    ) -> None:
        packet = function.overloadpacket
        space, _, name = str(function.name()).partition(".")[0].partition("::")
        if space in {"prim", "profiler"}:
            return
        moved = _bytes(function, name, given, results)
        flops = _flops(packet, name, args, kwargs, made)
        if not moved and not flops:
            return
        of = next(iter(results or given), None)
        if of is not None and of.device.type != "cpu":
            self.device = of.device.type
        dtype = str(given[0].dtype if given else "").replace("torch.", "")
        row = self.operators.setdefault(
            (name, dtype),
            {"name": name, "dtype": dtype, "count": 0, "flops": 0.0, "bytes": 0.0, "calls": []},
        )
        if name in _KEEPS_INSIDE:
            self.uncounted.add(name)
        row["count"] += 1
        row["flops"] += flops
        row["bytes"] += moved
        row["calls"].append([flops, moved])


def _tensors(value: Any) -> Iterator[Any]:
    if issubclass(type(value), torch.Tensor):
        yield value
        return
    inner: Any = ()
    if issubclass(type(value), dict):
        inner = list(value.values())
    elif issubclass(type(value), (list, tuple)):
        inner = value
    for each in inner:
        yield from _tensors(each)


def _size(tensor: Any) -> int:
    """Return the bytes that are read at least: of an expanded tensor, those that are there."""
    try:
        numbers: int = tensor.numel() * tensor.element_size()
        return min(numbers, int(tensor.untyped_storage().nbytes()))
    except (RuntimeError, NotImplementedError):  # sparse, say
        return 0


def _bytes(function: Any, name: str, given: Any, results: Any) -> int:
    """Return the bytes that an operator can't do without: each tensor once, read or written."""
    if function.is_view or name in _MAKES_ONLY or name in {"detach", "_unsafe_view", "lift_fresh"}:
        return 0
    inputs = {id(each): each for each in given}
    if name in _GATHERS:  # of the table only the rows that are asked for
        inputs = {id(each): each for each in given[1:]}
    storages: dict[int, int] = {}
    for each in (*inputs.values(), *results):
        key = _key(each)
        storages[key] = max(storages.get(key, 0), _size(each))
    return sum(storages.values())


def _flops(packet: Any, name: str, args: Any, kwargs: Any, made: Any) -> float:
    if packet in _counter.flop_registry:
        flops = float(_counter.flop_registry[packet](*args, **kwargs, out_val=made))
        # Winograd's convolutions multiply 2.25 times less; x86's oneDNN has none.
        is_reduced = "convolution" in name and (args[0].device.type != "cpu" or not _is_x86())
        return flops / 2.25 if is_reduced else flops
    if name in {"mkldnn_rnn_layer", "mkldnn_rnn_layer_backward"}:
        steps: int = args[0].shape[0] * args[0].shape[1]
        once: float = 2.0 * steps * (args[1].numel() + args[2].numel())
        return once if name == "mkldnn_rnn_layer" else 2 * once
    return 0.0


def _short_calls(
    function: Any, args: Any, workspaces: tuple[int, ...]
) -> Iterator[tuple[int, int]]:
    """Yield what a layer keeps for its backward pass, and the most bytes that it holds, for few steps.

    Args:
        function: the operator.
        args: what it is called with.
        workspaces: the bytes that the forward pass kept for as many steps; empty: this is the forward pass.
    """
    for at, count in enumerate(_FEW_STEPS):
        given = [_shortened(each, args[0].shape[0], count) for each in args]
        if workspaces:
            given[-1] = torch.zeros(workspaces[at], dtype=torch.uint8)
        results: list[Any] = []
        most = _most_held(partial(_append_result, results, function, given))
        kept = None if workspaces else results[0][3]
        yield (0 if kept is None else kept.numel()), most


def _append_result(results: list[Any], function: Any, given: list[Any]) -> None:
    results.append(function(*given))  # it stays alive


def _shortened(value: Any, steps: int, count: int) -> Any:
    """Return zeros in the shape of a fake tensor; a sequence of `steps` time steps gets `count`."""
    if not issubclass(type(value), torch.Tensor):
        return value
    is_sequence = value.dim() == _SEQUENCE_DIMENSIONS and value.shape[0] == steps
    shape = (count, *value.shape[1:]) if is_sequence else value.shape
    return torch.zeros(shape, dtype=value.dtype)


def _extrapolated(sizes: tuple[int, ...], steps: int) -> int:
    """Return the size for many steps from those for `_FEW_STEPS`."""
    (few, many), (first, second) = sizes, _FEW_STEPS
    return round(few + (many - few) / (second - first) * (steps - first))


def _is_x86() -> bool:
    return os.uname().machine in {"x86_64", "AMD64", "i686"}


def _kinds(watch: _Watch, *, is_fake: bool) -> dict[str, int]:
    """Return the bytes of what stays from step to step, by what it is."""
    found: dict[str, dict[int, int]] = {
        kind: {} for kind in ("parameters", "gradients", "optimizer")
    }
    for kind, tensor in _kept_tensors(gc.get_objects()):
        key = _key(tensor)
        if not any(key in each for each in found.values()):
            found[kind][key] = tensor.untyped_storage().nbytes()
    kinds = {kind: sum(each.values()) for kind, each in found.items()}
    held = {key for each in found.values() for key in each}
    kinds["others"] = sum(size for key, (_, size) in watch.alive.items() if key not in held)
    if not is_fake:
        watch.peak += kinds["parameters"]
    return kinds


def _kept_tensors(objects: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield parameters, their gradients, and what optimizers keep, each with its kind."""
    for each in objects:
        # By the class: `isinstance` would ask objects that import something when they are asked.
        if issubclass(type(each), torch.nn.Module):
            for parameter in (*each.parameters(), *each.buffers()):
                yield from _with_gradient(parameter)
        elif type(each) is torch.nn.Parameter:
            yield from _with_gradient(each)
    for each in objects:
        if issubclass(type(each), torch.optim.Optimizer):
            for tensor in _tensors([*each.state.values()]):
                yield "optimizer", tensor


def _with_gradient(parameter: Any) -> Iterator[tuple[str, Any]]:
    yield "parameters", parameter
    if parameter.grad is not None:
        yield "gradients", parameter.grad


def _key(tensor: Any) -> int:
    """Return what tells a tensor's storage from others."""
    key: int = _storages.StorageWeakRef(tensor.untyped_storage()).cdata
    return key


# ---- timing ----


def run(_request: dict[str, object], load: Callable[[], Callable[[], object]]) -> dict[str, object]:
    """Run the step itself; return the shortest time."""
    step = load()
    times: list[float] = []
    began = time.perf_counter()
    for _ in range(_STEPS):
        step()
    while len(times) < _FEWEST_RUNS or (
        len(times) < _MOST_RUNS and time.perf_counter() - began < _MOST_SECONDS
    ):
        since = time.perf_counter()
        step()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            torch.cuda.synchronize()
        times.append(time.perf_counter() - since)
    return {"seconds": min(times), "runs": len(times)}


def hold(
    _request: dict[str, object], load: Callable[[], Callable[[], object]]
) -> dict[str, object]:
    """Run two steps; return the most bytes that tensors held, as torch's allocator tells."""
    if torch.cuda.is_available():
        load_and_step(load)
        return {"memory": torch.cuda.max_memory_allocated()}
    return {"memory": _most_held(lambda: load_and_step(load))}


def _most_held(work: Callable[[], object]) -> int:
    """Return the most bytes that torch's allocator holds on the CPU for what `work` does."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        work()
    with tempfile.TemporaryDirectory(prefix="whet-") as folder:
        path = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            events = [each for each in json.load(file)["traceEvents"] if each["name"] == "[memory]"]
    held = most = 0
    for each in sorted(events, key=lambda each: float(each["ts"])):
        held += int(each["args"]["Bytes"])
        most = max(most, held)
    return most


def load_and_step(load: Callable[[], Callable[[], object]]) -> None:
    """Build what the step needs, and run it as often as the estimate does."""
    step = load()
    for _ in range(_STEPS):
        step()


# ---- the machine ----


def machine(request: dict[str, object], _load: object) -> dict[str, object]:
    """Return the most that this machine reaches with torch: the best of many short tries."""
    threads = int(str(request["threads"]))
    torch.set_float32_matmul_precision(str(request["precision"]))
    dtype, device = getattr(torch, str(request["dtype"])), str(request["device"])
    if not dtype.is_floating_point:
        dtype = torch.float32
    flops = moved = 0.0
    with torch.no_grad():
        # On a busy machine several threads seldom run together: one alone, as often, is the most.
        for count in (threads, 1) if device == "cpu" else (threads,):
            torch.set_num_threads(count)
            as_often = threads / count
            flops = max(flops, *(as_often * _flops_of(size, dtype, device) for size in _SIZES))
            moved = max(
                moved, *(as_often * _bytes_of(size, dtype, device) for size in _WORKING_SETS)
            )
    return {"flops": flops, "bytes": moved}


def _best(work: Callable[[], object], device: str, seconds: float) -> float:
    best, until = float("inf"), time.perf_counter() + seconds
    work()
    while time.perf_counter() < until:
        if device != "cpu":
            torch.cuda.synchronize()
        since = time.perf_counter()
        work()
        if device != "cpu":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - since)
    return best


def _flops_of(size: int, dtype: Any, device: str) -> float:
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    out = torch.empty(size, size, dtype=dtype, device=device)
    seconds = _best(lambda: torch.mm(a, b, out=out), device, _MACHINE_SECONDS / len(_SIZES))
    return 2.0 * size**3 / seconds


def _bytes_of(size: int, dtype: Any, device: str) -> float:
    """Return the bytes a second of the quickest of a copy, a sum of two, and a reduction."""
    count = max(size // torch.empty(0, dtype=dtype).element_size(), 1)
    a, b = (torch.ones(count, dtype=dtype, device=device) for _ in range(2))
    out = torch.empty_like(a)
    share = _MACHINE_SECONDS / len(_WORKING_SETS) / 4
    held = a.numel() * a.element_size()
    works: tuple[tuple[int, Callable[[], object]], ...] = (
        (2 * held, lambda: out.copy_(a)),
        (3 * held, lambda: torch.add(a, b, out=out)),
        (held, a.sum),
        (held, lambda: out.mul_(1.5)),
    )
    return max(moved / _best(work, device, share) for moved, work in works)
