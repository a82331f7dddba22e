"""The counts, one file for each initial."""

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO


def write(counts: Counter[str], folder: Path) -> int:
    with ExitStack() as stack:
        files: dict[str, TextIO] = {}
        for word, count in sorted(counts.items()):
            if word[0] not in files:
                path = folder / f"words-{word[0]}.jsonl"
                files[word[0]] = stack.enter_context(path.open("w", encoding="utf-8"))
            files[word[0]].write(json.dumps([word, count]) + "\n")
    return len(files)
