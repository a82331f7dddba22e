"""Tensors that lie in one storage, as tied weights and views do: they still do when they are cut."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from odd_oracles import fails_if, shrunk

from whet.reduction.formats.arrays.arrays import Entry, Layout
from whet.reduction.formats.arrays.torch_file import TORCH
from whet.reduction.formats.arrays.torch_pickle import TensorRecord
from whet.reduction.formats.arrays.torch_stream import TORCH_STREAM
from whet.reduction.payload_kinds import readable

# torch.save of torch 2 wrote both. `head` is `embed`, and `rows` is a view of two rows of it.
TIED = (Path(__file__).parents[1] / "checkpoint-tied.pt").read_bytes()
TIED_STREAM = (Path(__file__).parents[1] / "checkpoint-tied-stream.pt").read_bytes()

BOTH = pytest.mark.parametrize(
    ("layout", "payload"), [(TORCH, TIED), (TORCH_STREAM, TIED_STREAM)], ids=["zip", "stream"]
)


def tensors(layout: Layout, payload: bytes) -> Iterator[tuple[Entry, TensorRecord]]:
    view = layout.parse(payload)
    for entry in () if view is None else view.entries:
        record = getattr(entry.note, "tensor", None)
        if isinstance(record, TensorRecord):
            yield entry, record


def overlapping(layout: Layout, payload: bytes) -> set[frozenset[object]]:
    """Return the names of each two tensors of which a number is one and the same in memory."""
    found: set[frozenset[object]] = set()
    for (one, here), (other, there) in itertools.combinations(tensors(layout, payload), 2):
        places = [range(each.offset, each.offset + math.prod(each.size)) for each in (here, there)]
        if here.storage.key == there.storage.key and set(places[0]) & set(places[1]):
            found.add(frozenset((one.path[-1], other.path[-1])))
    return found


@BOTH
def test_what_lay_in_one_storage_is_written_as_it_was_read(layout: Layout, payload: bytes) -> None:
    view = layout.parse(payload)
    assert view is not None
    again = view.written(view.entries)

    assert overlapping(layout, payload) == {
        frozenset(pair) for pair in (("embed", "head"), ("embed", "rows"), ("head", "rows"))
    }
    assert overlapping(layout, again) == overlapping(layout, payload)
    assert readable(again) == readable(payload)
    assert "in one storage: embed, head, rows" in str(readable(payload)).splitlines()


@BOTH
def test_tied_weights_that_matter_stay_tied_while_all_else_goes(
    layout: Layout, payload: bytes
) -> None:
    done = shrunk(payload, fails_if(lambda it: bool(overlapping(layout, it))))

    assert readable(done.reduction.payload) in {
        f"{one}: float32 () 0\n{other}: float32 () 0\nin one storage: {one}, {other}"
        for one, other in itertools.combinations(("embed", "head", "rows"), 2)
    }
    assert done.calls <= 60, "ask for the reason before raising this"


@BOTH
def test_a_view_of_some_rows_stays_a_view_of_them(layout: Layout, payload: bytes) -> None:
    def holds(it: bytes) -> bool:
        shapes = {str(entry.path[-1]): entry.shape for entry, _ in tensors(layout, it)}
        is_tied = frozenset(("embed", "rows")) in overlapping(layout, it)
        return is_tied and shapes["rows"] < shapes["embed"]

    done = shrunk(payload, fails_if(holds))

    assert str(readable(done.reduction.payload)).splitlines()[-1] == "in one storage: embed, rows"
    assert done.calls <= 80, "ask for the reason before raising this"


@BOTH
def test_a_storage_is_shared_no_more_where_that_does_not_matter(
    layout: Layout, payload: bytes
) -> None:
    def holds(it: bytes) -> bool:
        shapes = {str(entry.path[-1]): entry.shape for entry, _ in tensors(layout, it)}
        return shapes.get("embed") is not None and shapes.get("head") is not None

    done = shrunk(payload, fails_if(holds))

    assert readable(done.reduction.payload) == "embed: float32 (0,) []\nhead: float32 (0,) []"
    assert done.calls <= 40, "ask for the reason before raising this"


def test_a_storage_cut_into_a_thousand_tensors_is_written_in_the_blink_of_an_eye() -> None:
    view = TORCH.parse(TIED)
    assert view is not None
    embed = next(each for each in view.entries if each.path[-1:] == ("embed",))
    assert embed.array is not None
    many = [
        replace(embed, path=(f"w{number}",), array=embed.array + 12 * number)
        for number in range(1000)
    ]

    again = TORCH.parse(view.written([view.entries[0], *many]))

    assert again is not None
    assert len({record.storage.key for _, record in tensors(TORCH, again.payload)}) == 1
    assert [each.values().flat[0] for each in again.entries[1:]] == list(range(0, 12_000, 12))
