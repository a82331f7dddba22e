"""Checkpoints as torch wrote them before it had zip files: a stream of pickles, none of them run."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from odd_oracles import fails_if, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.arrays.torch_pickle import dump_pickle, load_pickle
from whet.reduction.formats.arrays.torch_stream import TORCH_STREAM
from whet.reduction.payload_kinds import kinds_of, readable
from whet.testing.reduction import check_format, check_pass

# torch.save(..., _use_new_zipfile_serialization=False) of torch 2 wrote it.
CHECKPOINT = (Path(__file__).parents[1] / "checkpoint-stream.pt").read_bytes()
HEAD = b"".join(
    map(
        dump_pickle,
        (
            0x1950A86A20F9469CFC6C,
            1001,
            {
                "protocol_version": 1001,
                "little_endian": True,
                "type_sizes": {"short": 2, "int": 4, "long": 4},
            },
        ),
    )
)


class Evil:
    """Writes a file when it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.place,)


def test_a_stream_is_read_as_the_tree_it_is_and_written_as_it_was_read() -> None:
    view = TORCH_STREAM.parse(CHECKPOINT)
    assert view is not None
    again = view.written(view.entries)

    shown = str(readable(CHECKPOINT))
    assert kinds_of(CHECKPOINT)[0].name == kinds_of(again)[0].name == "torch-stream"
    assert readable(again) == shown
    lines = shown.splitlines()
    assert "turned: float32 (3, 2) [[0, 3], [1, 4], [2, 5]]" in lines
    assert "half: BF16 (2, 3) [[0, 1, 2], [3, 4, 5]]" in lines
    assert {"epoch: 37", "parameter: float32 (2,) [1, 1]", "none: None"} <= set(lines)


def test_the_nan_of_a_stream_is_all_that_is_left() -> None:
    def holds(it: bytes) -> bool:
        view = TORCH_STREAM.parse(it)
        found = {} if view is None else {each.path: each for each in view.entries}
        return bool(np.isnan(found["model", "2.weight"].values()).any())

    judge = fails_if(holds)
    assert judge(CHECKPOINT) is Verdict.BAD
    done = shrunk(CHECKPOINT, judge)

    assert readable(done.reduction.payload) == "model: OrderedDict\nmodel/2.weight: float32 () nan"
    assert done.calls <= 40


def few_tensors() -> bytes:
    view = TORCH_STREAM.parse(CHECKPOINT)
    assert view is not None
    few = {(), ("half",), ("epoch",)}
    return view.written(each for each in view.entries if each.path[:1] in few)


def test_a_format_and_its_passes_keep_their_promises() -> None:
    format_, small = TORCH_STREAM.format(), few_tensors()
    check_format(format_, [CHECKPOINT, small])
    kind = kinds_of(small)[0]
    for each in kind.passes:
        check_pass(
            each,
            [small],
            is_valid=lambda it: not it or format_.parse(it) is not None,
            order=kind.order,
        )


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_stream_that_runs_something_is_not_run(tmp_path: Path, protocol: int) -> None:
    place = tmp_path / "it ran"
    evil = pickle.dumps({"w": Evil(place)}, protocol=protocol)

    for payload in (HEAD + evil, evil + CHECKPOINT, HEAD + dump_pickle({}) + evil):
        assert TORCH_STREAM.parse(payload) is None
        assert kinds_of(payload)[0].name != "torch-stream"
    assert not place.exists()


@pytest.mark.parametrize("size", [0, 5, 30, 300, 900, 1300, 1789])
def test_a_stream_that_breaks_off_is_no_checkpoint(size: int) -> None:
    assert TORCH_STREAM.parse(CHECKPOINT[:size]) is None


def test_a_bytearray_that_a_frame_cuts_is_refused_whatever_python_makes_of_it() -> None:
    head = b"\x80\4\x95" + (11).to_bytes(8, "little")
    array = b"\x8c\1R\x94\x96" + (1).to_bytes(8, "little") + b"u"
    with pytest.raises(ValueError, match="more than data"):
        load_pickle(head + array + b"\x94(\x8c\1v\x94\x91\x94e.a\x94h\0h\0\x87\x94.")


def test_a_storage_that_says_to_be_endless_is_no_checkpoint() -> None:
    at = CHECKPOINT.rindex((6).to_bytes(8, "little"))
    changed = CHECKPOINT[:at] + b"\xff" * 7 + b"\x7f" + CHECKPOINT[at + 8 :]

    view = TORCH_STREAM.parse(changed)

    assert view is None or len(view.written(view.entries)) < 2 * len(CHECKPOINT)
