"""GPU memory that is held so that little is left, and GPUs that are not seen.

The arithmetic and the clean-up are checked with a driver of GPUs that do not exist
(`specimens/gpu`); the real one where there is one.
"""

import ctypes.util
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from room_users import User, user

from whet.core.room import Room

_DRIVER = Path(__file__).resolve().parents[3] / "specimens" / "gpu" / "fake_driver.c"
_FREE = """
import ctypes
nvml = ctypes.CDLL("libnvidia-ml.so.1")
nvml.nvmlInit_v2()
class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]
for number in range(2):
    memory = Memory()
    nvml.nvmlDeviceGetMemoryInfo(ctypes.c_void_p(number + 1), ctypes.byref(memory))
    print(memory.free >> 20, flush=True)
"""
_TOTAL_MIB = 8 << 10
_FRAMEWORKS = str(_DRIVER.parent / "site-packages")
_TRAINS = """
import torch
for step in range(100):
    torch.empty(1 << 28)
    print("step", step, flush=True)
"""
_TELLS = """
import importlib, os, sys
if sys.argv[1:]:
    importlib.import_module(sys.argv[1])
names = ("XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION")
print({name: os.environ[name] for name in names if name in os.environ})
"""


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a driver that was built on the spot."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler: apt-get install gcc")
    folder = tmp_path_factory.mktemp("driver")
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        command = [compiler, "-shared", "-fPIC", "-o", str(folder / name), str(_DRIVER)]
        subprocess.run(command, check=True)
    return folder


@pytest.fixture
def ada(driver: Path, tmp_path: Path) -> Iterator[User]:
    with user("root" if os.geteuid() == 0 else "ordinary") as one:
        gpu = {"LD_LIBRARY_PATH": str(driver), "FAKE_GPU": str(tmp_path)}
        one.write("free.py", _FREE)
        yield User(one.folder, one.prefix, one.python, one.environment | gpu)


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--gpu-free", "3G"], [3 << 10, 3 << 10]),
        (["--gpu-free", "1=500M"], [_TOTAL_MIB, 500]),
        (["--gpu-free", "1G", "--gpu", "0=2G"], [2 << 10, 1 << 10]),
    ],
)
def test_as_much_is_left_as_was_asked_for(ada: User, options: list[str], left: list[int]) -> None:
    answer = ada("run", *options, "--", ada.python, "free.py")

    assert answer.code == 0, answer.stderr
    for mib, wanted in zip(map(int, answer.stdout.split()), left, strict=True):
        assert wanted - 64 <= mib <= wanted + 2
    assert "a CUDA program needs a few hundred MiB of that" in answer.stderr


@pytest.mark.long
def test_the_memory_is_free_again_after_the_trial(ada: User) -> None:
    ada("run", "--gpu-free", "1G", "--", "true")
    answer = ada("run", "--", ada.python, "free.py")

    assert answer.stdout.split() == [str(_TOTAL_MIB)] * 2


@pytest.mark.long
def test_the_memory_is_free_again_when_whet_is_killed(ada: User) -> None:
    with subprocess.Popen(
        ada.command("run", "--gpu-free", "1G", "--", "sh", "-c", "echo up; exec sleep 1000"),
        cwd=ada.folder,
        env=ada.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as whet:
        assert whet.stdout is not None
        assert whet.stdout.readline() == b"up\n"
        holders = {
            path.name.partition(".")[2] for path in Path(ada.environment["FAKE_GPU"]).iterdir()
        }
        pidfds = [os.pidfd_open(int(pid)) for pid in holders]
        whet.send_signal(signal.SIGKILL)
    assert len(pidfds) == 1
    _wait_for_the_end(pidfds[0])
    assert ada("run", "--", ada.python, "free.py").stdout.split() == [str(_TOTAL_MIB)] * 2


def _wait_for_the_end(pidfd: int) -> None:
    import select

    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    assert poll.poll(30_000), "the process that holds the memory lives"
    os.close(pidfd)


@pytest.mark.parametrize(
    ("options", "variables", "says"),
    [
        (["--gpu-free", "9G"], {}, "only 8275361792 bytes free"),
        (["--gpu-free", "2=1G"], {}, "there is no GPU 2: 2 are visible"),
        (["--gpu-free", "1G"], {"CUDA_VISIBLE_DEVICES": ""}, "no GPU is visible"),
        (["--gpu-free", "1G"], {"LD_LIBRARY_PATH": ""}, "libcuda.so.1"),
    ],
)
def test_what_cannot_be_held_is_said(
    ada: User, options: list[str], variables: dict[str, str], says: str
) -> None:
    if "LD_LIBRARY_PATH" in variables and ctypes.util.find_library("cuda"):
        pytest.skip("there is a real driver")
    answer = ada("run", *options, "--", "echo", "ran", **variables)

    assert (answer.code, answer.stdout) == (69, "")
    assert says in answer.stderr


@pytest.mark.parametrize(
    ("asked", "before", "seen"),
    [("none", None, ""), ("1", None, "0"), ("2", "3,1,0", "3,1"), ("none", "3", "")],
)
def test_a_program_sees_the_first_of_the_gpus_that_it_had(
    ada: User, asked: str, before: str | None, seen: str
) -> None:
    variables = {} if before is None else {"CUDA_VISIBLE_DEVICES": before}
    script = 'echo "$CUDA_VISIBLE_DEVICES"'
    answer = ada("run", "--gpus", asked, "--", "sh", "-c", script, **variables)

    assert answer.stdout == f"{seen}\n"


@pytest.mark.parametrize(("cap", "steps"), [("3G", 12), ("1000M", 3)])
def test_torch_takes_no_more_than_it_may_and_the_limit_is_named(
    ada: User, cap: str, steps: int
) -> None:
    ada.write("train.py", _TRAINS)
    answer = ada(
        "run", "--gpu-memory", cap, "--", ada.python, "train.py", PYTHONPATH=_with(ada, _FRAMEWORKS)
    )

    assert answer.code == 1
    assert answer.stdout.splitlines()[-1] == f"step {steps - 1}"
    assert "CUDA out of memory" in answer.stderr
    assert "limit `--gpu-memory " in answer.stderr
    assert "`--gpu-memory` limits torch in each process, but neither the driver" in answer.stderr
    assert "it took effect: torch refused a probe more on GPU 0, 1" in answer.stderr


@pytest.mark.long
def test_the_least_of_a_gpu_with_which_a_program_succeeds_is_found(ada: User) -> None:
    ada.write("train.py", "import torch\nfor _ in range(5): torch.empty(1 << 28)\n")
    answer = ada(
        "starve", "--find", "gpu", "--json", "--", ada.python, "train.py",
        PYTHONPATH=_with(ada, _FRAMEWORKS),
    )  # fmt: skip
    assert answer.code == 0, answer.stderr
    found = json.loads(answer.stdout)
    tried = {rung["shown"]: rung for rung in found["tried"]}
    enough, too_little = tried[found["least_good"]], tried[found["most_bad"]]
    assert too_little["amount"] < 5 << 28 <= enough["amount"] <= 1.02 * (5 << 28)
    assert "limit `--gpu-memory" in too_little["failure"]


def test_a_gpu_that_something_else_fills_is_named_too(ada: User) -> None:
    ada.write("train.py", _TRAINS)
    answer = ada(
        "run", "--gpu-free", "3G", "--", ada.python, "train.py", PYTHONPATH=_with(ada, _FRAMEWORKS)
    )

    assert "limit `--gpu-free 3GiB`" in answer.stderr


@pytest.mark.parametrize(
    ("module", "before", "told", "says"),
    [
        ("jax", {}, {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.2500"}, "limits JAX in each process"),
        (
            "jax",
            {"XLA_CLIENT_MEM_FRACTION": "0.9"},
            {"XLA_CLIENT_MEM_FRACTION": "0.2500"},
            "limits JAX in each process",
        ),
        (
            "torch",
            {},
            {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.2500"},
            "limited nothing: the program imported torch but used no GPU",
        ),
        (
            "",
            {},
            {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.2500"},
            "limited nothing: no process imported torch or JAX",
        ),
        (
            "jax",
            {},
            {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.2500"},
            "whet set JAX's limit, but JAX didn't report it",
        ),
    ],
)
def test_what_was_not_bound_is_said(
    ada: User, module: str, before: dict[str, str], told: dict[str, str], says: str
) -> None:
    ada.write("tells.py", _TELLS)
    answer = ada(
        "run", "--gpu-memory", "2G", "--", ada.python, "tells.py", *filter(None, [module]),
        PYTHONPATH=_with(ada, _FRAMEWORKS), **before,
    )  # fmt: skip

    assert answer.code == 0, answer.stderr
    assert answer.stdout.strip() == str(told)
    assert says in answer.stderr


_ASKS = "import torch\ntorch.cuda.set_per_process_memory_fraction(0.9)\ntorch.empty(1 << 28)\n"
_COUNTS = "import torch\ntorch.empty(1)\nassert torch.cuda.counted == {0: 0, 1: 0}\n"
_WAKES = "import jax\njax.local_devices()\n"


@pytest.mark.parametrize(
    ("program", "variables", "way", "says"),
    [
        (_COUNTS, {}, "by torch's allocator (took)", "it took effect: torch refused a probe more"),
        pytest.param(
            _ASKS,
            {},
            "by torch's allocator (took)",
            "asked torch for a share of 0.9, but whet's limit stayed",
            marks=pytest.mark.long,
        ),
        (
            _COUNTS.partition("assert")[0],
            {"FAKE_TORCH_IS_DEAF": "1"},
            "had no effect",
            "had no effect: a probe got more from torch on GPU 0",
        ),
        (
            _COUNTS.partition("assert")[0],
            {"FAKE_GPU_FREE": str(1 << 30)},
            "by torch's allocator (not proved)",
            "whet couldn't prove that it took effect: GPU 0, it has less free than that",
        ),
        pytest.param(
            _WAKES,
            {},
            "by JAX's allocator (took)",
            "it took effect: JAX reports the limit",
            marks=pytest.mark.long,
        ),
        (
            _WAKES,
            {"FAKE_JAX_IS_DEAF": "1"},
            "had no effect",
            "had no effect: JAX can take 6 GiB of GPU 0",
        ),
    ],
    ids=["proved", "asked", "deaf torch", "full GPU", "JAX", "deaf JAX"],
)
def test_whether_the_cap_took_is_found_out_in_the_program_and_said(
    ada: User, program: str, variables: dict[str, str], way: str, says: str
) -> None:
    ada.write("uses.py", program)
    answer = ada(
        "run", "--gpu-memory", "2G", "--json", "--", ada.python, "uses.py",
        PYTHONPATH=_with(ada, _FRAMEWORKS), **variables,
    )  # fmt: skip

    assert answer.code == 0, answer.stderr
    outcome = json.loads(answer.stdout)["outcome"]
    assert f"GPU memory 2 GiB {way}" in outcome["limited_by"]
    assert any(says in note for note in outcome["notes"]), outcome["notes"]


def test_a_program_gets_no_more_than_the_cap_when_it_asks_for_more(ada: User) -> None:
    ada.write("train.py", _ASKS + "for _ in range(7): torch.empty(1 << 28)\n")
    answer = ada(
        "run",
        "--gpu-memory",
        "1G",
        "--",
        ada.python,
        "train.py",
        PYTHONPATH=_with(ada, _FRAMEWORKS),
    )

    assert answer.code == 1
    assert "limit `--gpu-memory 1GiB`" in answer.stderr


@pytest.mark.parametrize(
    ("cap", "variables", "code", "says"),
    [
        ("9G", {}, 64, "`--gpu-memory 9 GiB` is more than the GPU's 8 GiB"),
        ("1G", {"CUDA_VISIBLE_DEVICES": ""}, 69, "no GPU is visible"),
    ],
)
def test_a_cap_that_cannot_be_is_refused_before_anything_runs(
    ada: User, cap: str, variables: dict[str, str], code: int, says: str
) -> None:
    answer = ada("run", "--gpu-memory", cap, "--", "echo", "ran", **variables)

    assert (answer.code, answer.stdout) == (code, "")
    assert says in answer.stderr


def _with(ada: User, folder: str) -> str:
    return os.pathsep.join(filter(None, [folder, ada.environment.get("PYTHONPATH", "")]))


def test_device_nodes_are_hidden_by_mounts_of_the_trial_s_own() -> None:
    assert Room(gpus=0, hidden=("/dev/nvidia0",)).needs_namespaces
    assert not Room(gpus=0).needs_namespaces


def test_a_real_gpu_has_only_so_much_left() -> None:
    if not Path("/dev/nvidia0").exists():
        pytest.skip("needs an NVIDIA GPU")
    with user("root" if os.geteuid() == 0 else "ordinary") as ada:
        asks = "nvidia-smi --query-gpu=memory.free --format=csv,noheader,nounits"
        answer = ada("run", "--gpu-free", "3G", "--", "sh", "-c", asks)

    assert answer.code == 0, answer.stderr
    assert all(abs(int(free) - (3 << 10)) < 128 for free in answer.stdout.split())
