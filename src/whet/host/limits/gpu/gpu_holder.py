"""A process that holds GPU memory until its standard input closes. Linux, NVIDIA.

It calls the driver itself (libcuda, with ctypes), so it doesn't need torch. NVML, the driver's own
bookkeeping, then says whether the requested amount is left. The driver frees the memory when the
process ends, however that happens. It answers with one line of JSON.
"""

import ctypes
import json
import os
import sys

_CHUNK_BYTES = 64 << 20
_LEAST_BYTES = 1 << 20
_SLACK_BYTES = 64 << 20  # what the driver rounds to, and moves on its own
_UUID_BYTES = 16
_FIGURES = 3
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class CannotHoldError(Exception):
    """The memory of a GPU can't be held so that as much is left as was asked for."""


def main() -> None:
    """Hold what the arguments say: `GPU=BYTES` is left free on each; no number: on all others.

    Without arguments it holds nothing, and says how much each GPU has.
    """
    if not sys.argv[1:]:
        _answer_totals()
        return
    sizes = {gpu: int(size) for gpu, size in (word.split("=") for word in sys.argv[1:])}
    try:
        answer: dict[str, object] = {"held": hold(sizes)}
    except (CannotHoldError, OSError) as error:
        answer = {"error": str(error)}
    os.write(1, f"{json.dumps(answer)}\n".encode())
    if "error" not in answer:
        while os.read(0, 4096):
            pass


def _answer_totals() -> None:
    try:
        answer: dict[str, object] = {"totals": totals()}
    except (CannotHoldError, OSError) as error:
        answer = {"error": str(error)}
    os.write(1, f"{json.dumps(answer)}\n".encode())


def totals() -> "list[int]":
    """Return how much memory each visible GPU has, in bytes.

    Raises:
        CannotHoldError: if there is none.
        OSError: if there is no driver.
    """
    cuda = ctypes.CDLL("libcuda.so.1")
    _check(cuda.cuInit(0), "cuInit")
    sizes: list[int] = []
    for number in range(_count(cuda)):
        device, total = ctypes.c_int(), ctypes.c_size_t()
        _check(cuda.cuDeviceGet(ctypes.byref(device), number), "cuDeviceGet")
        _check(cuda.cuDeviceTotalMem_v2(ctypes.byref(total), device), "cuDeviceTotalMem")
        sizes.append(total.value)
    if not sizes:
        raise CannotHoldError("no GPU is visible")
    return sizes


def _count(cuda: ctypes.CDLL) -> int:
    count = ctypes.c_int()
    _check(cuda.cuDeviceGetCount(ctypes.byref(count)), "cuDeviceGetCount")
    return count.value


def hold(wanted: "Mapping[str, int]") -> "list[dict[str, int]]":
    """Hold memory; return for each GPU its number, what it has, what is left and what is held.

    Args:
        wanted: bytes to be left, by number as text; empty text: on every one that isn't named.

    Raises:
        CannotHoldError: if it can't be done.
        OSError: if there is no driver.
    """
    cuda, nvml = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libnvidia-ml.so.1")
    _check(cuda.cuInit(0), "cuInit")
    _check(nvml.nvmlInit_v2(), "nvmlInit")
    count = _count(cuda)
    gpus = {gpu for gpu in wanted if gpu}
    missing = gpus - {str(number) for number in range(count)}
    if missing or not count:
        raise CannotHoldError(
            f"there is no GPU {', '.join(sorted(missing))}: {count} are visible"
            if missing
            else "no GPU is visible"
        )
    sizes = {number: wanted.get(str(number), wanted.get("", -1)) for number in range(count)}
    return [_hold_one(cuda, nvml, number, rest) for number, rest in sizes.items() if rest >= 0]


def _hold_one(cuda: ctypes.CDLL, nvml: ctypes.CDLL, number: int, left: int) -> "dict[str, int]":
    device, context = ctypes.c_int(), ctypes.c_void_p()
    _check(cuda.cuDeviceGet(ctypes.byref(device), number), "cuDeviceGet")
    # Made before looking: it takes some hundreds of megabytes itself.
    _check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device), "cuCtxCreate")
    uuid = (ctypes.c_ubyte * _UUID_BYTES)()
    _check(cuda.cuDeviceGetUuid(ctypes.byref(uuid), device), "cuDeviceGetUuid")
    handle = ctypes.c_void_p()
    name = _uuid_words(bytes(uuid))
    _check(nvml.nvmlDeviceGetHandleByUUID(name, ctypes.byref(handle)), "nvmlDeviceGetHandle")
    _, before, _ = _memory(nvml, handle)
    if before + _SLACK_BYTES < left:
        raise CannotHoldError(
            f"GPU {number} has only {before} bytes free, less than the {left} that you want left: another program holds the rest (`nvidia-smi`)"
        )
    size = _take(cuda, nvml, handle, left)
    total, free, _ = _memory(nvml, handle)
    if abs(free - left) > _SLACK_BYTES and before > left:
        raise CannotHoldError(f"GPU {number} has {free} bytes free instead of {left}")
    return {"gpu": number, "total": total, "free": free, "held": size}


def _uuid_words(uuid: bytes) -> bytes:
    """Return a GPU's own number as NVML writes it."""
    digits = uuid.hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return f"GPU-{'-'.join(parts)}".encode()


def _take(cuda: ctypes.CDLL, nvml: ctypes.CDLL, handle: ctypes.c_void_p, left: int) -> int:
    """Allocate until the driver reports only this much as free; return how much that took."""
    total, chunk = 0, _CHUNK_BYTES
    while chunk >= _LEAST_BYTES:
        size = min(chunk, _memory(nvml, handle)[1] - left)
        address = ctypes.c_ulonglong()
        if size < _LEAST_BYTES:
            break
        if cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)):
            chunk //= 2  # no hole as large as that
        else:
            total += size
    return total


def _memory(nvml: ctypes.CDLL, handle: ctypes.c_void_p) -> "Sequence[int]":
    """Return how much memory a GPU has, what of it is free, and what is used: nvmlMemory_t."""
    memory = (ctypes.c_ulonglong * _FIGURES)()
    _check(nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)), "nvmlDeviceGetMemoryInfo")
    return list(memory)


def _check(code: int, what: str) -> None:
    if code:
        why = "no NVIDIA GPU is visible" if code == _NO_DEVICE else f"error {code}"
        raise CannotHoldError(f"{what}: {why}")


if __name__ == "__main__":
    main()
