"""A small virtual machine with this machine's own files, read-only, and another kernel and systemd.

For what the machine that runs the tests may not have: control groups of version 2, and a systemd that
gives them to users. qemu runs Debian's kernel; what is written goes to memory and is gone with it.
It emulates the processor: a virtual machine may have a `/dev/kvm` that does not work.
"""

import lzma
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PATIENCE_SECONDS = 1500
_MODULES = (
    "virtio", "virtio_ring", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci",
    "virtio_blk", "fscache", "netfs", "9pnet", "9pnet_virtio", "9p", "overlay",
    "crc16", "crc32c_generic", "libcrc32c", "mbcache", "jbd2", "ext4",
)  # fmt: skip
_MASKED = (
    "systemd-udevd", "systemd-udev-trigger", "systemd-udev-settle", "systemd-sysusers",
    "systemd-tmpfiles-setup", "systemd-tmpfiles-setup-dev", "systemd-journal-flush",
    "systemd-journald", "systemd-modules-load", "systemd-remount-fs", "systemd-sysctl",
    "systemd-random-seed", "systemd-update-done", "systemd-journal-catalog-update",
    "systemd-hwdb-update", "systemd-machine-id-commit", "systemd-firstboot", "systemd-pstore",
    "systemd-binfmt", "systemd-networkd", "systemd-resolved", "systemd-timesyncd",
    "systemd-update-utmp", "keyboard-setup", "console-setup", "apparmor", "networking",
    "modprobe@configfs", "modprobe@dm_mod", "modprobe@drm", "modprobe@fuse", "modprobe@loop",
)  # fmt: skip
_MASKED_OTHERS = (
    "systemd-journald.socket", "systemd-journald-dev-log.socket", "systemd-journald-audit.socket",
    "systemd-udevd-control.socket", "systemd-udevd-kernel.socket", "dev-hugepages.mount",
    "dev-mqueue.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount",
    "sys-kernel-config.mount", "sys-fs-fuse-connections.mount",
    "proc-sys-fs-binfmt_misc.automount",
)  # fmt: skip
_INIT = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox mkdir -p /proc /sys /dev /low /over /root
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for round in 1 2 3 4; do for each in /modules/*; do insmod $each 2>/dev/null; done; done
stop() {{ echo "$1"; dmesg | tail; poweroff -f; }}
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,ro,cache=loose host /low || stop "no 9p"
mount -t tmpfs tmpfs /over; mkdir /over/upper /over/work
mount -t overlay -o lowerdir=/low,upperdir=/over/upper,workdir=/over/work overlay /root || stop "no overlay"
units=/root/etc/systemd/system
rm -rf $units; mkdir -p $units
for each in {masked}; do ln -s /dev/null $units/$each; done
cat > $units/trial.target <<X
[Unit]
Requires=basic.target trial.service
X
cat > $units/trial.service <<X
[Unit]
After=basic.target dbus.service systemd-logind.service
Wants=dbus.service systemd-logind.service
[Service]
Type=oneshot
Delegate=yes
ExecStart=/bin/sh /trial.sh
ExecStopPost=/bin/systemctl poweroff -ff
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
TimeoutStartSec=infinity
X
echo > /root/etc/fstab
rm -f /root/etc/machine-id; echo 0123456789abcdef0123456789abcdef > /root/etc/machine-id
cp /trial.sh /root/trial.sh
exec switch_root /root /lib/systemd/systemd --unit=trial.target --show-status=false --log-target=null
"""


@dataclass(frozen=True)
class Machine:
    """What is needed to start one.

    Attributes:
        folder: of its own.
        kernel: to start.
        busybox: for the first steps.
        modules: the files of the kernel's modules.
    """

    folder: Path
    kernel: Path
    busybox: Path
    modules: tuple[Path, ...]

    @classmethod
    def ready(cls, folder: Path, kept: Path) -> "Machine":
        """Return a machine; its kernel is downloaded as a Debian package and kept.

        Args:
            folder: empty.
            kept: where packages lie from one run to the next.
        """
        if os.geteuid() != 0:
            pytest.skip("needs root: the virtual machine sees this machine's files as who runs it")
        if not Path("/lib/systemd/systemd").exists():
            pytest.skip("needs `systemd`: apt-get install systemd dbus libpam-systemd")
        name = _newest_kernel()
        for package in (name, "busybox-static"):
            _unpack(package, kept, folder)
        (kernel,) = (folder / "boot").glob("vmlinuz-*")
        found = {path.name.partition(".")[0]: path for path in folder.rglob("*.ko*")}
        modules = tuple(found[module] for module in _MODULES if module in found)
        return cls(folder, kernel, next(folder.rglob("bin/busybox")), modules)

    def run(self, script: str) -> str:
        """Start it, run a script as root in it, and return what was said meanwhile."""
        root, disk, said = self.folder / "root", self.folder / "disk", self.folder / "said"
        (root / "bin").mkdir(parents=True)
        (root / "modules").mkdir()
        shutil.copy2(self.busybox, root / "bin" / "busybox")
        for path in self.modules:
            data = path.read_bytes()
            (root / "modules" / path.name.removesuffix(".xz")).write_bytes(
                lzma.decompress(data) if path.suffix == ".xz" else data
            )
        masked = [*(f"{name}.service" for name in _MASKED), *_MASKED_OTHERS]
        (root / "init").write_text(_INIT.format(masked=" ".join(masked)))
        (root / "init").chmod(0o755)
        (root / "trial.sh").write_text(script)
        packed = self.folder / "initrd"
        names = "\n".join(str(path.relative_to(root)) for path in (root, *root.rglob("*")))
        with packed.open("wb") as file:
            subprocess.run(
                ["cpio", "-o", "-H", "newc", "--quiet"],
                cwd=root, input=names.encode(), stdout=file, check=True,
            )  # fmt: skip
        with disk.open("wb") as file:
            file.truncate(64 << 20)
        command = [
            "qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max",
            "-m", "2000", "-smp", "2", "-kernel", str(self.kernel), "-initrd", str(packed),
            "-append", "console=ttyS0 quiet loglevel=1 panic=-1", "-display", "none",
            "-serial", f"file:{said}", "-nic", "none", "-no-reboot",
            "-drive", f"file={disk},format=raw,if=virtio",
            "-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=host,mount_tag=host",
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                timeout=PATIENCE_SECONDS,
            )  # fmt: skip
        finally:
            text = said.read_text("utf-8", "replace") if said.exists() else ""
            sys.stdout.write(text)  # which pytest shows if a test fails
        assert text, done.stderr.decode("utf-8", "replace")
        return text.replace("\r", "")


def part(said: str, name: str) -> str:
    """Return what stands between the marks of a part of a script's output."""
    found = re.search(rf"^<{name}>$(.*?)^</{name}>$", said, re.DOTALL | re.MULTILINE)
    assert found is not None, f"it never came to `{name}`"
    return found[1].strip()


def _newest_kernel() -> str:
    done = subprocess.run(
        ["apt-cache", "depends", "linux-image-amd64"], capture_output=True, check=False, text=True
    )
    found = re.search(r"Depends: (linux-image-\S+)", done.stdout)
    if found is None:
        pytest.skip("no kernel is to be had here: `apt-cache depends linux-image-amd64`")
    return found[1]


def _unpack(package: str, kept: Path, folder: Path) -> None:
    if not any(kept.glob(f"{package}_*.deb")):
        done = subprocess.run(
            ["apt-get", "download", package], cwd=kept, capture_output=True, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"`apt-get download {package}`: {done.stderr.decode()[-200:]}")
    (deb,) = kept.glob(f"{package}_*.deb")
    subprocess.run(["dpkg-deb", "-x", str(deb), str(folder)], check=True)
