"""Sets up what the shrink benchmark needs: the peers, and the programs that are its oracles."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.shrink.payloads import ORACLES

PEERS = Path(__file__).parents[1] / ".venv-peers"
PEER_PACKAGES = (
    "shrinkray==26.9.13.0",
    "picire==21.8",
    "setuptools<80",  # picire imports pkg_resources
    "lithium-reducer==4.0.0",
)
UNUSED = "llama-cpp-python ; sys_platform == 'never'"
"""Takes minutes to compile, and its passes are off."""

GRAMMARS = ("c", "html", "python", "sql", "yaml")
"""What shrinkray has tree-sitter for among the cases; JSON it parses by itself."""

ORACLE_PACKAGES = (
    "astor==0.8.1",
    "html2text==2020.1.16",
    "numpy==2.4.6",
    "pyyaml==6.0.3",
    "rich==14.3.1",
    "safetensors==0.8.0",
    "toml==0.10.2",
)
BUNDLED = "semver@7.7.2"
"""A package of npm; without npm its case is skipped."""

RELEASES = ("json_repair==0.30.0", "json_repair==0.47.0")

_SHIM = '''\
"""Gives shrinkray its grammars from wheels: the language pack asks GitHub for them otherwise."""
import importlib
import sys

NAMES = {names}


def _patch():
    import tree_sitter
    import tree_sitter_language_pack as pack

    asked = pack.get_language

    def get_language(name):
        if name not in NAMES:
            return asked(name)
        return tree_sitter.Language(importlib.import_module("tree_sitter_" + name).language())

    pack.get_language = get_language
    pack.downloaded_languages = lambda: list(NAMES)


if any("shrinkray" in word for word in sys.argv[:1] + sys.orig_argv):
    _patch()
'''


def install_oracles() -> str:
    """Install the programs that die, for Python 3.11; return why that is not possible."""
    stamp = ORACLES / "ready"
    wanted = "\n".join((*ORACLE_PACKAGES, *RELEASES, BUNDLED))
    if stamp.exists() and stamp.read_text() == wanted:
        return ""
    python = str(ORACLES / "bin" / "python")
    own = sys.executable if sys.version_info[:2] == (3, 11) else _python_of("3.11")
    steps = [
        ["venv", "--python", own, "--clear", str(ORACLES)],
        ["pip", "install", "--python", python, *ORACLE_PACKAGES],
    ]
    for release in RELEASES:
        target = str(ORACLES / "releases" / release.replace("==", "-"))
        steps.append(
            ["pip", "install", "--python", python, "--no-deps", "--target", target, release]
        )
    why_not = _uv(steps)
    if not why_not:
        _unpack_bundled(ORACLES / "releases" / "semver")
        stamp.write_text(wanted)
    return why_not


def _unpack_bundled(folder: Path) -> None:
    if shutil.which("npm") is None:
        return
    folder.mkdir(parents=True)
    words = ["npm", "pack", BUNDLED, "--silent", "--pack-destination", str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        return
    for archive in folder.glob("*.tgz"):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        archive.unlink()


def install_peers() -> str:
    """Install shrinkray, picire and lithium; return why that is not possible."""
    stamp = PEERS / "ready"
    grammars = [f"tree-sitter-{name}" for name in GRAMMARS]
    wanted = "\n".join((*PEER_PACKAGES, *grammars))
    if stamp.exists() and stamp.read_text() == wanted:
        return ""
    own = sys.executable if sys.version_info >= (3, 12) else _python_of("3.12")
    python = PEERS / "bin" / "python"
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as overrides:
        overrides.write(UNUSED)
        overrides.flush()
        install = ["pip", "install", "--python", str(python), "--overrides", overrides.name]
        why_not = _uv(
            [
                ["venv", "--python", own, "--clear", str(PEERS)],
                [*install, *PEER_PACKAGES, *grammars],
            ]
        )
    if why_not:
        return why_not
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    site = Path(found.stdout.strip())
    (site / "grammars_of_wheels.py").write_text(_SHIM.format(names=GRAMMARS))
    (site / "grammars_of_wheels.pth").write_text("import grammars_of_wheels\n")
    stamp.write_text(wanted)
    return ""


def install_cvise() -> str:
    """Install the Debian package if this is root; return why cvise is not there."""
    if shutil.which("cvise"):
        return ""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return "cvise is missing: as root, `apt-get install cvise`"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-qq"], ["install", "-qq", "--no-install-recommends", "cvise"]):
        done = subprocess.run(
            ["apt-get", *words], check=False, capture_output=True, text=True, env=environment
        )
        if done.returncode:
            return f"`apt-get {' '.join(words)}`: {done.stderr.strip()}"
    return ""


def _python_of(version: str) -> str:
    """Return a Python of a version or a newer one: a path, or a version for uv to find or fetch."""
    major, minor = version.split(".")
    versions = Path.home() / ".pyenv" / "versions"  # uv sees pyenv's shims only, which may be off
    for newer in range(int(minor), int(minor) + (1 if version == "3.11" else 3)):
        found = sorted(versions.glob(f"{major}.{newer}.*/bin/python3"))
        if found:
            return str(found[-1])
    return version


def _uv(steps: Sequence[Sequence[str]]) -> str:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        return "uv is missing: `pip install uv`"
    for words in steps:
        done = subprocess.run([uv, *words], check=False, capture_output=True, text=True)
        if done.returncode:
            return f"`uv {' '.join(words)}`: {done.stderr.strip()}"
    return ""
