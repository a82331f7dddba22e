"""GPUs, as NVML and `nvidia-smi` tell of them; a real one is looked at where there is one."""

import sys
import types
from pathlib import Path

import pytest

from whet.host.levels.gpus import Gpu, NoGpuError, NvidiaSmi, gpu_reading, gpu_source
from whet.host.limits.gpu.gpus import device_nodes

SMI = """\
#!/bin/sh
case "$1" in
  --query-gpu=*)
    echo "0, GPU-aa, NVIDIA H100, 10240, 81559, 35, 41"
    echo "1, GPU-bb, NVIDIA H100, 20480, 81559, [N/A], [N/A]";;
  *) echo "GPU-bb, 1, 20000";;
esac
"""


def told_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    (tmp_path / "nvidia-smi").write_text(script)
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setitem(sys.modules, "pynvml", None)


def test_without_the_library_nvidia_smi_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_by(tmp_path, monkeypatch, SMI)
    gpus = gpu_source().gpus()
    assert [each.used_bytes for each in gpus] == [10240 << 20, 20480 << 20]
    reading = gpu_reading("gpu", gpus, None)
    assert (reading.headline, reading.title) == ("21.5 GB", "GPU 1 NVIDIA H100")
    assert reading.detail == "of 85.5 GB, 35 % busy"
    assert [row[:3] for row in reading.table[1:]] == [("0", "", "10.737"), ("1", "1", "20.972")]
    assert {each.name: each.value for each in reading.numbers} == {
        "gpu.memory": 20480 << 20,
        "gpu.busy": 35,
    }


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\necho 'No devices were found'\nexit 6\n", "No devices were found"),
        ("#!/bin/sh\nexit 0\n", "no NVIDIA GPU is visible here"),
    ],
)
def test_why_there_is_no_gpu_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    told_by(tmp_path, monkeypatch, script)
    with pytest.raises(NoGpuError, match=reason):
        gpu_source()


def test_without_a_driver_both_ways_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(NoGpuError, match=r"no `nvidia-smi` \(the package `nvidia-ml-py` isn't"):
        gpu_source()


def test_a_gpu_that_is_not_there_is_named() -> None:
    gpu = Gpu(
        index=0, name="G", used_bytes=1, total_bytes=2, busy_percent=None, celsius=None,
        processes={},
    )  # fmt: skip
    assert gpu_reading("gpu:3", [gpu], 3).reason == "there is no GPU 3; here is GPU 0"


def test_nvml_tells_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    class NVMLError(Exception):
        pass

    def refuse(*_: object) -> None:
        raise NVMLError

    process = types.SimpleNamespace(pid=1, usedGpuMemory=None)
    nvml = types.ModuleType("pynvml")
    vars(nvml).update(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlDeviceGetCount=lambda: 1,
        nvmlDeviceGetHandleByIndex=lambda number: number,
        nvmlDeviceGetMemoryInfo=lambda _: types.SimpleNamespace(used=3_000_000_000, total=8e9),
        nvmlDeviceGetName=lambda _: b"MIG",
        nvmlDeviceGetUtilizationRates=refuse,  # as a slice of a GPU does
        nvmlDeviceGetTemperature=refuse,
        nvmlDeviceGetComputeRunningProcesses=lambda _: [process],
        nvmlDeviceGetGraphicsRunningProcesses=lambda _: [],
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    reading = gpu_reading("gpu", gpu_source().gpus(), None)
    assert (reading.headline, reading.detail) == ("3.0 GB", "of 8.0 GB")
    assert reading.table[1][:3] == ("0", "1", "?")


@pytest.mark.skipif(not device_nodes(), reason="needs a GPU: there is no /dev/nvidia* here")
def test_both_ways_tell_the_same_of_a_real_gpu() -> None:
    one, other = gpu_source().gpus(), NvidiaSmi().gpus()
    assert [(each.name, each.total_bytes >> 20) for each in one] == [
        (each.name, each.total_bytes >> 20) for each in other
    ]
