"""Counts the words of a corpus; its service unit allows it few open files."""

import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

import report
from shards import Corpus

FILES, MOST_OPEN = 56, 64


def prepare(folder: Path) -> None:
    for number in range(FILES):
        text = f"Part {number}\nthe quick fox {number} jumps over the lazy dog\n"
        (folder / f"part-{number:03d}.txt").write_text(text)


def limit_open_files() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_OPEN, hard))


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        limit_open_files()
        counts: Counter[str] = Counter()
        corpus = Corpus(folder)
        for shard in corpus:
            counts.update(shard.words())
        print(report.write(counts, folder), "files")
    return 0


sys.exit(main())
