"""Makes a working copy of a picture, and measures it."""

import shutil
import tempfile
from pathlib import Path


def working_copy(source):
    target = Path(tempfile.mkdtemp()) / "copy.raw"
    try:
        with source.open("rb") as reader, target.open("wb") as writer:
            shutil.copyfileobj(reader, writer)
    except OSError:
        return None
    return target


def main():
    source = Path(__file__).with_name("picture.raw")
    with source.open("wb") as file:
        file.truncate(4_000_000)
    copy = working_copy(source)
    print(copy.stat().st_size)


main()
