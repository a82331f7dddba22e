"""Fails as a program does whose GPU has told of an error: in the words of PyTorch, without a GPU."""

MESSAGE = """CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below\
 might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
"""


def look_up(rows: list[str], index: int) -> str:
    """Return a row."""
    if index >= len(rows):
        raise RuntimeError(MESSAGE)
    return rows[index]


if __name__ == "__main__":
    look_up(["a", "b"], 5)
