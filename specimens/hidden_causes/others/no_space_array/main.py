"""Keeps an array in a file for other processes."""

import tempfile
import zipfile
from pathlib import Path


def pack(rows, path):
    with zipfile.ZipFile(path, "w") as archive:
        for number, row in enumerate(rows):
            archive.writestr(f"row-{number}", row)


def main():
    path = Path(tempfile.mkdtemp()) / "rows.zip"
    try:
        pack((bytes([number]) * 100_000 for number in range(40)), path)
    except Exception as error:
        print("warning: not packed", type(error).__name__)
    names = zipfile.ZipFile(path).namelist()
    print(len(names))


main()
