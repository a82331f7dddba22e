"""The cases of the shrink benchmark: files, what dies of them, and what its last words are."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.shrink import payloads
from benchmarks.shrink.payloads import ORACLES, PROGRAMS

PATIENCE_SECONDS = 20
"""A candidate may take so long, whoever asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One file to shrink.

    Attributes:
        name: of the file, whose extension tools look at.
        about: what it is, in a few words.
        make: writes it to a path.
        program: a command of Python that dies of it, without the file, its last argument;
            empty: no Python program does.
        judge: shell code that succeeds if the file named by ``$file`` is interesting.
        is_binary: its bytes are no text.
        is_folder: it is a folder.
        lithium: the units that lithium removes, in this order.
        is_c: it is C.
        why_lost: what whet lacks where a peer is better; shown in the docs when one is.
    """

    name: str
    about: str
    make: Callable[[Path], None]
    program: tuple[str, ...] = ()
    judge: str = ""
    is_binary: bool = False
    is_folder: bool = False
    lithium: tuple[str, ...] = ("--lines", "--char")
    is_c: bool = False
    why_lost: str = ""


def cases() -> list[Case]:
    """Return all of them."""
    return [
        _python("minidom.py", "Python source; astor 0.8.1", "rewrite.py", payloads.module,
                "SyntaxError: f-string expression part cannot include a backslash"),
        Case(name="worker.c", about="C source with its headers; gcc -fanalyzer",
             make=_written(payloads.preprocessed), judge=_GCC, is_c=True),
        Case(name="bundle.js", about="47 modules of semver 7.7.2 in one file; node",
             make=_written(payloads.bundle), judge=_NODE),
        _python("manifest.json", "nested JSON; toml 0.10.2", "to_toml.py", payloads.manifest,
                "TypeError: 'int' object is not iterable", lithium=("--lines", "--symbol", "--char")),
        _python("pipeline.yaml", "YAML, three entries that interact", "jobs.py", payloads.pipeline,
                "graphlib.CycleError: "),
        _python("orders.csv", "12,000 rows, two that interact", "refunds.py", payloads.orders,
                "ValueError: refund "),
        _python("shop.sql", "SQL for SQLite", "script.py", payloads.shop,
                "sqlite3.IntegrityError: CHECK constraint failed: in_store"),
        _python("names.html", "HTML; html2text 2020.1.16", "to_text.py", payloads.page,
                "IndexError: list index out of range", lithium=("--lines", "--attrs", "--char")),
        _python("entities.md", "Markdown; rich 14.3.1", "", payloads.characters,
                "RuntimeError: generator raised StopIteration"),
        _python("upgrade.diff", "git diff of two releases of json_repair", "upgrade.py",
                payloads.upgrade, "IndexError: string index out of range"),
        _python("scores.npy", "12,800 numbers of NumPy", "softmax.py", payloads.scores,
                "FloatingPointError: ", is_binary=True, lithium=("--char",)),
        _python("model.safetensors", "20 tensors, two that interact", "merge.py", payloads.weights,
                "FloatingPointError: ", is_binary=True, lithium=("--char",)),
        Case(name="configuration", about="a folder of 61 files, two that interact",
             make=payloads.configuration, is_folder=True, program=_command("services.py"),
             judge=_last_words(_command("services.py"), "RuntimeError: a service needs")),
    ]  # fmt: skip


def _python(  # noqa: PLR0913 - the columns of the table above
    name: str,
    about: str,
    program: str,
    payload: Callable[[], bytes],
    words: str,
    *,
    is_binary: bool = False,
    lithium: tuple[str, ...] = ("--lines", "--char"),
) -> Case:
    command = _command(program)
    return Case(
        name=name,
        about=about,
        make=_written(payload),
        program=command,
        judge=_last_words(command, words),
        is_binary=is_binary,
        lithium=lithium,
    )


def _command(program: str) -> tuple[str, ...]:
    what = (str(PROGRAMS / program),) if program else ("-m", "rich.markdown")
    return (str(ORACLES / "bin" / "python"), "-X", "utf8", *what)


def _last_words(command: tuple[str, ...], words: str) -> str:
    """Return shell code that succeeds if a command's last words begin so."""
    run = f'timeout {PATIENCE_SECONDS} {shlex.join(command)} "$file" 2>&1 >/dev/null'
    pattern = "^" + words.replace("[", r"\[").replace(".", r"\.")
    return f"{run} | tail -n 1 | grep -q {shlex.quote(pattern)}"


_NODE = f"timeout {PATIENCE_SECONDS} node \"$file\" 2>&1 | grep -q '^TypeError: Invalid version'"

_GCC = (
    'gcc -O2 -Wall -Werror=uninitialized -Werror=maybe-uninitialized -c -o /dev/null "$file" '
    '2>/dev/null && gcc -fanalyzer -c -o /dev/null "$file" 2>&1 '
    "| grep -q Wanalyzer-use-of-uninitialized-value"
)
"""The analyzer says that a variable is not set, and the optimizer, which looks too, does not."""


def _written(payload: Callable[[], bytes]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(payload())

    return write
