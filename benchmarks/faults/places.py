"""Where whet decodes bytes, and which of these places a fuzz target enters.

    python -m benchmarks.faults.places

It reads the seeds of every target, and writes `entered_modules.txt`: the modules that decode something
and were entered. `tests/repository/test_readers.py` holds that list and `REASONS` against the source:
a module that begins to decode something needs a target or a reason.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import whet
from benchmarks.faults.readers import READERS
from whet.core.errors import WhetError

_SOURCE = Path(whet.__file__).parent
_FUNCTIONS = {
    "json.loads", "json.load", "marshal.loads", "marshal.load", "pickle.loads", "pickle.load", "sqlite3.connect",
    "zipfile.ZipFile", "tarfile.open", "csv.reader", "csv.DictReader", "ast.literal_eval", "tomllib.loads",
    "tomllib.load", "gzip.open", "gzip.decompress", "bz2.open", "lzma.open", "decoded", "literal_in", "open_foreign_database",
}  # fmt: skip
_METHODS = {
    "unpack", "unpack_from", "iter_unpack", "from_bytes", "decompress", "decompressobj",
    "BZ2Decompressor", "LZMADecompressor",
}  # fmt: skip
_WORDS = re.compile("|".join(each.rpartition(".")[2] for each in (*_FUNCTIONS, *_METHODS)))
_MOST_SEEDS = 6
ENTERED = Path(__file__).with_name("entered_modules.txt")

REASONS: dict[str, tuple[str, ...]] = {
    "whet, or a process of its own, wrote the bytes in the same run": (
        "agent.estimate.worker", "agent.site.whet_leak.__init__", "agent.site.whet_leak.repeats",
        "agent.site.whet_leak.rounds", "agent.site.whet_leak.runs", "agent.site.whet_lines.counting",
        "agent.site.whet_probe.hits", "agent.site.whet_stage.forking.descriptors",
        "agent.site.whet_stage.forking.freeze", "agent.site.whet_stage.forking.memory",
        "agent.site.whet_stage.forking.sleepers", "agent.site.whet_stage.rewriting.module_facts",
        "agent.site.whet_stage.waiting", "agent.tiny.checkpoint", "agent.tiny.worker", "execution.warm_room",
        "execution.warm_room_server", "host.limits.gpu.gpu_caps", "host.limits.gpu.gpus",
        "host.process.messages", "host.process.room_reports", "host.spawner.launch", "host.spawner.watching",
        "workbench.files.recorded_line",
    ),
    "the kernel wrote them": (
        "host.files.folder_watch", "host.inspect.follower", "host.inspect.following", "host.kernel.counters", "host.kernel.mounts",
        "host.kernel.ptrace", "host.limits.faults", "host.profiling.sampling", "host.spawner.observer",
        "host.spawner.syscall_decoder", "host.spawner.tree_accesses",
    ),
    "it packs numbers or files of its own": (
        "cli.verbs.measuring.compare", "make.arrays.array_files", "make.elements.dtypes", "notebook.schema",
        "search.flaky.suspicion", "search.history.questions", "workbench.compare.weighing",
    ),
    "it reads through a reader that has a target, which refuses what is malformed": (
        "cli.display.sections", "cli.verbs.records.show", "evidence.provenance.sentences.groupings",
        "evidence.provenance.failure.differing",
        "evidence.provenance.trace.alike", "evidence.provenance.trace.contrast", "host.python.environments",
        "workbench.files.opened_files", "workbench.files.report_place", "workbench.inspect.probed_again",
        "workbench.investigate.steps.smaller", "workbench.make.explained", "workbench.profile.exported",
        "workbench.profile.profile", "workbench.versions.equivalent_versions", "workbench.watch.watch",
    ),
    "it runs in the user's Python with their libraries: what fails there is an answer to whet": (
        "agent.estimate.torch_steps", "agent.tiny.jax_models.reference", "agent.tiny.torch_models.modules",
        "agent.tiny.torch_models.number_types", "agent.tiny.torch_models.transformers_models",
    ),
}  # fmt: skip
"""Why a module that decodes has no target of its own."""


def decoding_modules() -> set[str]:
    """Return the modules of whet that call, or name, something that decodes bytes or a literal."""
    return {
        ".".join(path.relative_to(_SOURCE).with_suffix("").parts)
        for path in _SOURCE.rglob("*.py")
        if _WORDS.search(text := path.read_text("utf-8")) and any(_decodes(ast.parse(text)))
    }


def _decodes(tree: ast.Module) -> Iterator[bool]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            yield node.attr in _METHODS or f"{owner}.{node.attr}" in _FUNCTIONS
        elif isinstance(node, ast.Call):
            yield isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS


def entered_modules() -> set[str]:
    """Return the modules of whet in which a function ran while targets read their seeds."""
    entered: set[str] = set()
    above = f"{_SOURCE}/"

    def note(frame: FrameType, event: str, _argument: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(above):
            entered.add(file[len(above) : -len(".py")].replace("/", "."))

    for reader in READERS:
        seeds = list(reader.seeds())
        refused: tuple[type[Exception], ...] = (WhetError, *reader.refuses)
        sys.setprofile(note)
        try:
            for seed in seeds[:: len(seeds) // _MOST_SEEDS + 1]:
                try:
                    reader.read(seed)
                except refused:
                    continue
        finally:
            sys.setprofile(None)
    return entered


if __name__ == "__main__":
    ENTERED.write_text(
        "".join(f"{each}\n" for each in sorted(decoding_modules() & entered_modules()))
    )
