"""`whet tiny` on modules of flax.nnx and Equinox, as a user types it."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("flax") is None or find_spec("equinox") is None:
    pytest.skip("`make test-ml` brings flax and equinox", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

PROGRAMS = Path(__file__).parents[2] / "specimens" / "small_worlds"
CHECKED = ("forward", "backward", "save and load", "same kinds of layers")


def whet(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(folder / "state"),
        "PYTHONPATH": os.pathsep.join([str(PROGRAMS), os.environ.get("PYTHONPATH", "")]),
    }
    return subprocess.run(
        [sys.executable, "-m", "whet", *words],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def made(folder: Path, model: str, *words: str) -> dict[str, Any]:
    done = whet(folder, "tiny", model, "--python", sys.executable, "--json", "-o", "small", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def arguments(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "small" / "config.json").read_text())["arguments"]
    return found


@pytest.mark.parametrize("library", ["nnx", "equinox"])
@pytest.mark.parametrize("model", ["Perceptron", "Transformer", "Images"])
def test_a_class_is_made_tiny_by_the_numbers_of_its_constructor(
    tmp_path: Path, library: str, model: str
) -> None:
    answer = made(tmp_path, f"{library}_models:{model}")

    states = {each["name"]: each["state"] for each in answer["checks"]}
    assert answer["params"] <= 100_000 < answer["reference_params"]
    assert [states[each] for each in CHECKED] == ["ok"] * len(CHECKED)
    assert "failed" not in states.values()
    assert {each["field"] for each in answer["changes"]} <= set(arguments(tmp_path))
    weights = {"nnx": "state", "equinox": "model.eqx"}[library]
    assert (tmp_path / "small" / weights).exists()
    if model == "Transformer":
        small = arguments(tmp_path)
        assert small["layers"] == 1
        assert small["width"] % small["heads"] == 0
        assert small["dropout"] == 0.1


def test_a_function_that_draws_is_given_what_it_draws_with(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "import equinox as eqx\nfrom flax import nnx\n\n"
        "def perceptron(width=512, layers=4, *, key):\n"
        "    return eqx.nn.MLP(width, width, width, layers, key=key)\n\n"
        "def row(width=512, layers=4, rngs=None):\n"
        "    rngs = rngs or nnx.Rngs(0)\n"
        "    return nnx.Sequential(*[nnx.Linear(width, width, rngs=rngs) for _ in range(layers)])\n"
    )

    for model in ("odd:perceptron", "odd:row"):
        answer = made(tmp_path, model)

        assert answer["params"] <= 100_000
        assert arguments(tmp_path)["layers"] == 1


def test_statistics_beside_a_model_are_saved_with_it(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "import equinox as eqx\nimport jax\n\n"
        "class Net(eqx.Module):\n"
        "    into: eqx.nn.Conv2d\n    norm: eqx.nn.BatchNorm\n\n"
        "    def __init__(self, channels=512, *, key):\n"
        "        self.into = eqx.nn.Conv2d(3, channels, 3, key=key)\n"
        '        self.norm = eqx.nn.BatchNorm(channels, "batch", mode="batch")\n\n'
        "    def __call__(self, image, state):\n"
        "        return self.norm(self.into(image), state)\n"
    )

    answer = made(tmp_path, "odd:Net")

    assert arguments(tmp_path)["channels"] < 512
    assert {each["state"] for each in answer["checks"]} == {"ok", "none"}


@pytest.mark.parametrize("library", ["nnx", "equinox"])
def test_the_dimension_that_a_failure_needs_is_named(tmp_path: Path, library: str) -> None:
    program = str(PROGRAMS / f"{library}_third_head.py")
    words = ["tiny", f"{library}_models:Transformer", "--set", "vocabulary=500", "-o", "small"]

    done = whet(tmp_path, *words, "--json", "--", sys.executable, program, "{}")

    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["needed"] == {"heads": 3}
    assert (tmp_path / "small" / "config.json").is_file()


@pytest.mark.parametrize("named", ["Net", "net", "make"])
def test_a_module_of_linen_is_refused_by_its_name(tmp_path: Path, named: str) -> None:
    (tmp_path / "linen_models.py").write_text(
        "from flax import linen\n\n\n"
        "class Net(linen.Module):\n    width: int = 512\n\n"
        "    @linen.compact\n    def __call__(self, x):\n        return linen.Dense(self.width)(x)\n\n\n"
        "net = Net()\n\n\ndef make():\n    return Net()\n"
    )
    done = whet(tmp_path, "tiny", f"linen_models:{named}", "--python", sys.executable)

    assert done.returncode == 66, done.stdout + done.stderr
    assert "is a module of flax.linen, which whet can't make smaller" in done.stderr
    assert "flax.nnx" in done.stderr
