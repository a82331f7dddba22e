"""Finds the package, installed or not."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent


def prepare() -> None:
    for folder in ("src", "build/lib"):
        path = ROOT / folder
        if path.is_dir():
            sys.path.insert(0, str(path))
