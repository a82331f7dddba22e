"""The kinds of payload that hold arrays."""

from dataclasses import replace

from whet.reduction.formats.arrays.array_passes import DELETE_ARRAYS, SHAPE_PASSES
from whet.reduction.formats.arrays.array_text import arrays_text
from whet.reduction.formats.arrays.array_values import ARRAY_VALUE_PASSES, PUT_ZEROS
from whet.reduction.formats.arrays.arrays import Arrays, Layout, order_of
from whet.reduction.formats.arrays.hdf5 import HDF5
from whet.reduction.formats.arrays.npy import NPY, NPZ
from whet.reduction.formats.arrays.safetensors import SAFETENSORS
from whet.reduction.formats.arrays.torch_file import TORCH
from whet.reduction.formats.arrays.torch_stream import TORCH_STREAM
from whet.reduction.payload_kind import Kind, lifted
from whet.reduction.reduction_pass import Format, ReductionPass

PASSES = (DELETE_ARRAYS, PUT_ZEROS, *SHAPE_PASSES, *ARRAY_VALUE_PASSES)


def _named(reduction_pass: ReductionPass[bytes], kind: str) -> ReductionPass[bytes]:
    """Return a pass under a name that tells it from the same pass of another kind."""
    return replace(reduction_pass, name=f"{reduction_pass.name} ({kind})")


def _kind(layout: Layout) -> Kind:
    format_: Format[Arrays] = layout.format()

    def shown(payload: bytes) -> str:
        view = format_.parse(payload)
        return "" if view is None else arrays_text(view.entries)

    def again(payload: bytes) -> bytes:
        view = format_.parse(payload)
        return payload if view is None else view.written(view.entries)

    return Kind(
        name=layout.name,
        claims=lambda payload, _name: format_.parse(payload) is not None,
        passes=tuple(_named(each, layout.name) for each in lifted(format_, PASSES)),
        order=order_of(format_),
        is_text=False,
        shown=shown,
        again=again,
    )


ARRAY_KINDS = tuple(map(_kind, (NPY, NPZ, TORCH, TORCH_STREAM, SAFETENSORS, HDF5)))
