"""Checkpoints that torch writes are shrunk to checkpoints that torch loads."""

import io
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "reduction"))
from odd_oracles import fails_if, shrunk

from whet.reduction.formats.arrays.torch_file import TORCH
from whet.reduction.payload_kinds import kinds_of, readable

pytestmark = pytest.mark.ml

torch = pytest.importorskip("torch", reason="`make test-ml` brings torch")


def saved(value: object) -> bytes:
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def loaded(payload: bytes) -> Any:
    return torch.load(io.BytesIO(payload), weights_only=True)


def left_of(payload: bytes, holds: Callable[[Any], object], most_calls: int) -> Any:
    def is_wrong(candidate: bytes) -> bool:
        try:
            return bool(holds(loaded(candidate)))
        except RuntimeError as error:  # torch's own: another failure
            raise ValueError(str(error)) from error

    judge = fails_if(is_wrong)
    done = shrunk(payload, judge)
    assert done.calls <= most_calls, "ask for the reason before raising this"
    assert is_wrong(done.reduction.payload)
    return readable(done.reduction.payload)


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 5)
    return torch.nn.Sequential(*layers)


def checkpoint() -> dict[str, Any]:
    state = network().state_dict()
    state["2.weight"][3, 4] = float("nan")
    return {
        "epoch": 37,
        "model": state,
        "rates": [0.1, (1, "text", None, True)],
        "half": torch.randn(4, 4).bfloat16(),
        "weight": torch.nn.Parameter(torch.randn(3, 2)),
        "turned": torch.arange(6).reshape(2, 3).t(),
        "complex": torch.ones(2, dtype=torch.complex64),
        "dtype": torch.float16,
        "big": 2**40,
    }


def test_what_was_read_is_written_as_torch_writes_it() -> None:
    view = TORCH.parse(saved(checkpoint()))
    assert view is not None

    again = loaded(view.written(view.entries))

    expected = loaded(saved(checkpoint()))
    assert list(again) == list(expected)
    for name in ("epoch", "rates", "dtype", "big"):
        assert again[name] == expected[name]
    for name in ("half", "weight", "turned", "complex"):
        torch.testing.assert_close(again[name], expected[name], rtol=0, atol=0)
        assert again[name].dtype == expected[name].dtype
    assert isinstance(again["weight"], torch.nn.Parameter)
    assert isinstance(again["model"], OrderedDict)
    torch.testing.assert_close(again["model"], expected["model"], rtol=0, atol=0, equal_nan=True)


def test_the_tensor_with_the_nan_is_one_number() -> None:
    shown = left_of(
        saved(checkpoint()),
        lambda it: any(torch.isnan(tensor).any() for tensor in it["model"].values()),
        40,
    )

    assert shown == "model: OrderedDict\nmodel/2.weight: float32 () nan"


def test_a_checkpoint_that_must_fit_its_network_becomes_plain() -> None:
    def holds(it: Any) -> object:
        model = network()
        model.load_state_dict(it["model"])
        return torch.isnan(model(torch.ones(1, 20))).any()

    shown = left_of(saved(checkpoint()), holds, 260)

    assert "model/0.weight: float32 (30, 20) all 0" in shown
    assert shown.count("nan") == 1


def test_numbers_of_other_types_become_simple() -> None:
    def holds(it: Any) -> object:
        is_half = it["half"].dtype == torch.bfloat16 and (it["half"] < -0.5).any()
        return is_half and it["epoch"] > 30

    assert left_of(saved(checkpoint()), holds, 70) == "epoch: 31\nhalf: BF16 () -1"


def test_a_whole_module_is_not_read() -> None:
    assert kinds_of(saved(network()))[0].name != "torch"
