"""Make an archive of some files."""

import os
import tempfile
import zipfile
from pathlib import Path


def pack(folder, names):
    target = Path(tempfile.mkdtemp()) / "letters.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            os.replace(folder / name, target.parent / name)
            archive.write(target.parent / name, name)
    return target.stat().st_size


def unpacked_size(names):
    return sum(len(name) for name in names)
