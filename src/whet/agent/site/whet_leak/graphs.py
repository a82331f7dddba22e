"""The graphs of PyTorch's tensors: what made a tensor stays as long as it, and Python sees none of that.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_MOST_TENSORS, _MOST_NODES = 400, 20_000


def graphs_in(objects: list[Any]) -> Iterator[tuple[Any, int]]:
    """Yield the tensors that an operation has made, each with the number of operations behind it."""
    torch: Any = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    if tensor is None:
        return
    left = _MOST_TENSORS
    for each in objects:
        if type(each) is tensor and each.grad_fn is not None:
            left -= 1
            if left < 0:
                return
            yield each, _size_of(each.grad_fn)


def _size_of(node: Any) -> int:
    seen = {node}
    waiting = [node]
    while waiting and len(seen) < _MOST_NODES:
        for before, _ in waiting.pop().next_functions:
            if before is not None and before not in seen:
                seen.add(before)
                waiting.append(before)
    return len(seen)
