"""GPU memory that is held so that little is left, and GPUs that are not seen.

The arithmetic and the clean-up are checked with a driver of GPUs that do not exist
(`specimens/gpu`); the real one where there is one.
"""

import ctypes.util
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from room_users import User, user

from whet.core.room import Room

_DRIVER = Path(__file__).resolve().parents[2] / "specimens" / "gpu" / "fake_driver.c"
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
    assert "a CUDA program needs some hundreds of MiB of that" in answer.stderr


def test_the_memory_is_free_again_after_the_trial(ada: User) -> None:
    ada("run", "--gpu-free", "1G", "--", "true")
    answer = ada("run", "--", ada.python, "free.py")

    assert answer.stdout.split() == [str(_TOTAL_MIB)] * 2


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
        (["--gpu-free", "1G"], {"CUDA_VISIBLE_DEVICES": ""}, "there is no GPU at all"),
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
