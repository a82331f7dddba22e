"""What torch's and JAX's allocators hold in a program, as its own processes tell (`whet_levels`)."""

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from whet.core.observations.panel import Number, Reading
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.host.files.agent_files import report_at

_SUFFIX = ".levels"
_TAIL_BYTES = 4096
_STALE_SECONDS = 5.0
_NOT_LOADED = "no process of the program has imported {} (yet)"
_ENDED = "no process that used {} runs any more"
_CPU_ONLY = "this torch is built without CUDA; its CPU allocator keeps no figures: see `memory`"
_IDLE = "{} has used no {} (yet)"
_MILLISECONDS = 1000


def allocators_reading(panel: str, agent_folder: Path | None) -> Reading:
    """Return what the allocators of ``torch`` or ``jax`` hold, in all processes of a trial together.

    Args:
        panel: ``torch`` or ``jax``.
        agent_folder: where its processes tell; None: the program isn't there.
    """
    told, age_seconds = _levels(agent_folder)
    own = {name: value for name, value in told.items() if name.startswith(f"{panel}.")}
    if not own:
        reason = _ENDED if _has_told(panel, agent_folder) else _NOT_LOADED
        return Reading(panel=panel, title=panel, reason=reason.format(panel))
    reading = _torch(own) if panel == "torch" else _jax(own)
    if age_seconds > _STALE_SECONDS and not reading.reason:
        words = f"{shown_seconds(age_seconds)} old: the interpreter is busy"
        return Reading.from_json({**reading.to_json(), "reason": words})
    return reading


def _torch(told: Mapping[str, int]) -> Reading:
    if "torch.allocated" not in told:
        reason = _CPU_ONLY if "torch.cpu" in told else _IDLE.format("torch", "GPU")
        return Reading(panel="torch", title="torch", reason=reason)
    allocated, reserved = told["torch.allocated"], told["torch.reserved"]
    return Reading(
        panel="torch",
        title="torch",
        headline=shown_bytes(allocated),
        detail=f"allocated, {shown_bytes(reserved)} reserved",
        numbers=(
            Number(name="torch.allocated", value=allocated, unit="bytes"),
            Number(name="torch.reserved", value=reserved, unit="bytes"),
        ),
    )


def _jax(told: Mapping[str, int]) -> Reading:
    if "jax.live" not in told:
        return Reading(panel="jax", title="jax", reason=_IDLE.format("JAX", "device"))
    count, compiled = told.get("jax.buffers", 0), told.get("jax.compilations", 0)
    seconds = shown_seconds(told.get("jax.compile_ms", 0) / _MILLISECONDS)
    hits = told.get("jax.cache_hits", 0)
    lines = [f"{shown_count(compiled, 'compilation')}, {seconds}"]
    lines += [f"{shown_count(hits, 'hit')} in the compilation cache"] if hits else []
    return Reading(
        panel="jax",
        title="jax",
        headline=shown_bytes(told["jax.live"]),
        detail=f"in {shown_count(count, 'live array')}",
        lines=tuple(lines),
        numbers=(
            Number(name="jax.live", value=told["jax.live"], unit="bytes"),
            Number(name="jax.buffers", value=count),
            Number(name="jax.compilations", value=compiled),
        ),
    )


def _has_told(panel: str, agent_folder: Path | None) -> bool:
    """Whether a process that has ended told of a library."""
    if agent_folder is None:
        return False
    wanted = f"{panel}.".encode()
    for path in agent_folder.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if wanted in _tail(path):
                return True
    return False


def _levels(agent_folder: Path | None) -> tuple[dict[str, int], float]:
    """Return the sums over all processes, and how old the newest of them is in seconds."""
    sums: dict[str, int] = {}
    newest = 0.0
    paths: list[Path] = []
    if agent_folder is not None:
        paths = list(agent_folder.glob(f"*{_SUFFIX}"))
    for path in paths:
        if not Path(f"/proc/{path.name.removesuffix(_SUFFIX)}").exists():
            continue  # it has ended, and holds nothing any more
        with suppress(OSError, ValueError):
            newest = max(newest, path.stat().st_mtime)
            line = _tail(path).rpartition(b"\n")[0].rpartition(b"\n")[2]
            for word in filter(None, line.decode("ascii").split("\t")):
                name, _, value = word.partition("=")
                sums[name] = sums.get(name, 0) + int(value)
    return sums, time.time() - newest


def _tail(path: Path) -> bytes:
    return report_at(path, start=max(0, path.stat().st_size - _TAIL_BYTES))
