"""The readers of texts: what programs and tools print, settings, pins, index pages, little languages."""

import json
import re
import shlex
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path

from benchmarks.faults.facts import a_trial
from benchmarks.faults.mutator import Shape
from benchmarks.faults.payloads import CSV_TEXT, DIFF_TEXT, JSON_TEXT, SOURCES
from benchmarks.faults.printed import printed
from benchmarks.faults.reader import Reader, placed, scratch, text
from whet.bisection.commits import describe
from whet.bisection.names import ends_of, is_moment
from whet.bisection.pins import NoPinsError, read_pins
from whet.bisection.releases import releases_of
from whet.bisection.shown_diff import shown_diff
from whet.bisection.terms import Terms
from whet.cli.console import say
from whet.cli.verbs.payloads.tiny import setting_value
from whet.core.condition import Condition, duration_seconds
from whet.core.expectation import Expectation
from whet.core.limits import Limits, size_bytes, speed_bytes
from whet.core.observations.clue import Placing
from whet.core.oracle import AnyFailure
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.probe import changes_something, check_expression, parse_wishes, target_of, trace_wish
from whet.core.room import Disk, Fault, Room
from whet.core.text.code_lines import functions_in, lambdas_in, lambdas_on, statement_at
from whet.core.text.record import JsonObject, MalformedRecordError, as_record, decoded
from whet.core.text.shown_text import visible_line
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.evidence.calls.telling_calls import errors_of
from whet.evidence.clues.changed_functions import changed_functions
from whet.evidence.clues.not_a_number import forward_call
from whet.evidence.clues.records_in import records_in, without
from whet.evidence.experiments.changes import text_with
from whet.evidence.experiments.repairs import repairs_of
from whet.evidence.experiments.variations import deciding_lines, variations_of
from whet.evidence.printed.reported_tests import collected_tests, failed_tests
from whet.evidence.printed.warned import warning_clues
from whet.evidence.signature.classify import classify, headline
from whet.evidence.signature.message import normalise
from whet.host.code.code_snapshots import take_snapshot
from whet.host.code.git_trees import GitTrees
from whet.host.code.project import Project
from whet.host.code.settings import load_settings
from whet.host.inspect.asyncio_tasks import parse_tasks
from whet.host.inspect.cores import program_of_core
from whet.host.inspect.spying import parse_gdb
from whet.host.inspect.stacks import parse_report, spied_thread
from whet.host.kernel.call_targets import address_in
from whet.host.process.git import GitFailedError, Repository
from whet.host.python.index_page import NoPackagePageError, read_page
from whet.host.python.index_settings import IndexSettings
from whet.host.python.installed_packages import Python, is_pure, package_of
from whet.host.python.package_index import Listing
from whet.host.python.python_interpreter import PythonFacts
from whet.host.python.requirements import unmet_requirements
from whet.host.trial.trial_secrets import masked_words
from whet.report.markup import block, diff, prose
from whet.report.pages import shown_payload
from whet.report.wording import fence, one_line
from whet.workbench.inspect.definition import definition_of
from whet.workbench.toggle.toggles import known_toggles
from whet.workbench.trials.limit_sets import limits_asked

ROOT = Path(__file__).parents[2]
_TRANSCRIPTS = ROOT / "tests" / "evidence" / "transcripts"
_PYTHON = PythonFacts(path="/usr/bin/python3", version="3.11.7", implementation="cpython")
_PARTS = re.compile(r"^### \S+ (?:exit|signal) \d+\n", re.MULTILINE)


# ---- what programs print ----

_TRIALS = (
    Trial(command=("python", "app.py"), cwd="/home/user/project"),
    a_trial(),
    Trial(
        command=("pytest",), cwd="/home/user/project",
        limits=Limits(
            memory_bytes=1 << 30, files=64,
            room=Room(disks=(Disk(path="/d", size_bytes=9),), faults=(Fault(call="write", error="EIO"),), gpus=0),
        ),
    ),
)  # fmt: skip


_ENDS = (
    Outcome(exit_code=1), Outcome(signal=11), Outcome(timed_out=True), Outcome(exit_code=139),
)  # fmt: skip


def _program(data: bytes) -> None:
    """Read what a program printed, on either stream, however it ended."""
    quiet = BytesOutput(b"")
    for number, (out, errors) in enumerate(
        ((quiet, BytesOutput(data)), (BytesOutput(data), quiet))
    ):
        for at, end in enumerate(_ENDS):
            outcome = replace(end, stdout=out, stderr=errors)
            failure = classify(_TRIALS[(number + at) % 3], outcome)
            assert failure is not None, "it failed"
            headline(failure)
            outcome = outcome.with_failure(failure)
            AnyFailure().judge(outcome)
            errors_of(failure, text(data))


def _message(data: bytes) -> None:
    said = text(data)
    normalise(said)
    normalise(said, 'raise E(f"{a} of {b}")')
    forward_call(said)
    visible_line(said)


def _shown(data: bytes) -> None:
    """Show a text of somebody else on a page and in a terminal."""
    said = text(data)
    for show in (block, diff, prose, fence, one_line):
        show(said)
    shown_payload(data)


def _tests(data: bytes) -> None:
    outcome = Outcome(exit_code=1, stdout=BytesOutput(data))
    failed_tests(outcome, collected_tests(outcome))
    warning_clues(outcome, PLACING)


# ---- what tools print ----

_GDB = b"""Thread 2 (Thread 0x7f12 (LWP 8) "worker"):
#0  0x00007f in futex_wait (x=1) at ../sysdeps/futex.h:146
#1  0x00007f in f () from /usr/lib/libx.so.1

Thread 1 (LWP 7):
#0  main (argc=1) at /p/x.c:3
"""
_TASKS = (
    b'task\tTask-1\t1\tis ready\ta\\x0bb\n  File "/p/x.py", line 3 in f\ndied\tTask-2\t1\tValueError\n'
    b'  File "/p/\\u00e9\\U0001f600.py", line 9 in g\nend\n'
)
_FAULTHANDLER = (
    b'Current thread 0x00007f12 (most recent call first):\n  File "/p/x.py", line 3 in f\n'
    b'  File "/p/\\xe9.py", line ??? in <module>\n'
)
_SPIED = b"""[{"pid": 7, "os_thread_id": 7, "thread_name": "MainThread", "active": true, "owns_gil": false, "frames":
[{"name": "f", "filename": "/p/x.py", "line": 3, "module": null}]}]"""


def _core_file() -> bytes:
    names = b"/usr/bin/python3\0/lib/libc.so\0"
    note = struct.pack("<QQ", 2, 4096) + bytes(48) + names
    notes = struct.pack("<III", 5, len(note), 0x46494C45) + b"CORE\0\0\0\0" + note
    header = b"\x7fELF\x02\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    return header + struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(notes), 0, 0) + notes


# ---- a repository of somebody else: its own objects, read through git ----


@cache
def _repository() -> Path:
    top = scratch() / "repository"
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir(parents=True)
    _git(top, "init", "--quiet", "--initial-branch=main")
    return top


def _git(top: Path, *words: str, stdin: bytes = b"") -> str:
    done = subprocess.run(
        ["git", "-C", str(top), *words], input=stdin, capture_output=True, check=False
    )
    return done.stdout.decode("utf-8", "replace").strip()


_NAME = 40
_EMPTY_TREE = b"4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_COMMIT = (
    b"tree " + _EMPTY_TREE + b"\nauthor A <a@example.org> 1500000000 +0100\n"
    b"committer A <a@example.org> 1500000000 +0100\n\nsubject\n\nThis reverts commit 1234567890.\n"
)


def _commit(data: bytes) -> None:
    """Check out a commit object in somebody else's words, and take a snapshot on it."""
    top = _repository()
    _git(top, "write-tree")
    name = _git(top, "hash-object", "-w", "-t", "commit", "--literally", "--stdin", stdin=data)
    if len(name) != _NAME:
        return
    (top / ".git" / "refs" / "heads" / "main").write_text(f"{name}\n")
    state = scratch() / "snapshots"
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir()
    take_snapshot(top, state=state)
    repository = Repository(top)
    with suppress(GitFailedError):  # git's own words on an object that it refuses
        describe(repository, name, main_line=name)
        shown_diff(repository, name)


def _tree(data: bytes) -> None:
    """Read a tree object in somebody else's words."""
    top = _repository()
    name = _git(top, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data)
    if len(name) == _NAME:
        trees = GitTrees(Repository(top))
        with suppress(GitFailedError):
            trees.load([name])
            trees.entries(name)


# ---- packages ----

_PAGE_HTML = (
    b'<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.0"><base href="/x/"></head><body>'
    b'<a href="six-1.16.0-py2.py3-none-any.whl#sha256=1" data-requires-python="&gt;=2.7" data-yanked="bad">six</a>'
    b'<a href="six-1.15.0.tar.gz" data-yanked>six</a></body></html>'
)  # fmt: skip
_PAGE_JSON = (
    b'{"meta": {"api-version": "1.1"}, "name": "six", "files": [{"filename": "six-1.16.0-py2.py3-none-any.whl", "url":'
    b' "six.whl", "requires-python": ">=2.7", "yanked": false, "upload-time": "2021-05-05T00:00:00Z"},'
    b' {"filename": "six-1.0.tar.gz", "url": "https://h/six.tgz", "yanked": "x"}]}'
)  # fmt: skip


def _page(kind: str, data: bytes) -> None:
    files = read_page(data, kind)
    for each in releases_of(Listing(package="six", index="i", files=files), _PYTHON):
        str(each)
        str(each.order)


_PINS = (
    (b"six==1.16.0 --hash=sha256:1 \\\n    --hash=sha256:2\nnumpy==2.0 ; python_version > '3.8' # note\n-e .\npkg @ file:///x\n"
    b"a[b]>=1,<2\n"),
    (b'version = 1\n[[package]]\nname = "six"\nversion = "1.16.0"\nsource = { registry = "https://pypi.org/simple" }\n'
    b'resolution-markers = ["sys_platform == \'linux\'"]\nwheels = [{ url = "https://h/six-1.16.0-py3-none-any.whl" }]\n'),
    (b'lock-version = "1.0"\n[[packages]]\nname = "six"\nversion = "1.16.0"\nmarker = "python_version > \'3\'"\n'
    b'wheels = [{name = "six-1.16.0-py2.py3-none-any.whl", url = "x"}]\n'),
)  # fmt: skip


def _installed(name: str, data: bytes) -> None:
    """Read what stands in an environment that somebody else has made."""
    top = scratch() / "site"
    shutil.rmtree(top, ignore_errors=True)
    placed(f"site/six-1.16.dist-info/{name}", data)
    if name != "METADATA":
        placed("site/six-1.16.dist-info/METADATA", _METADATA)
    placed("site/x.egg-info/PKG-INFO", data)
    placed("site/a.pth", data)
    Python(version="CPython 3.11", prefix=str(top), folders=(str(top),)).packages({})
    package_of(str(top / "six.py"), [str(top)])
    is_pure("six", [str(top)])
    unmet_requirements(top, {"numpy": "2.0", "odd": "no version"}, _PYTHON)


_METADATA = (
    b"Metadata-Version: 2.1\nName: six\nVersion: 1.16\nRequires-Dist: numpy (>=1.0) ; python_version > '3'\n"
    b"Requires-Dist: odd[x]==1.*\n\nText\n"
)
_RECORD = b'six.py,sha256=x,10\n"a,b.py",,\nsix-1.16.dist-info/RECORD,,\n'


def _index_settings(name: str, data: bytes) -> None:
    home = scratch() / "home"
    shutil.rmtree(home, ignore_errors=True)
    placed(f"home/.config/{name}", data)
    environment = {"HOME": str(home), "PIP_EXTRA_INDEX_URL": "https://u:p@h/s"}
    found = IndexSettings.configured(environment)
    found.for_pip()
    found.for_uv()
    str(found.shown)


# ---- settings and the little languages ----

_SETTINGS = (
    b'timeout_seconds = 5\njobs = 2\n[limits.small]\nmemory = "2G"\nfiles = 64\ndisk = "1M:/d"\n[toggles.x]\n'
    b'variables = { CACHE = "0" }\nsigns = ["module:x"]\namplifies = true\n'
)


def _settings(name: str, data: bytes) -> None:
    root = scratch() / "project"
    shutil.rmtree(root, ignore_errors=True)
    is_users = name == "settings.toml"
    placed(f"project/home/whet/{name}" if is_users else f"project/{name}", data)
    project = Project(root=root, state=root / "state", folder=root)
    settings = load_settings(project, {"XDG_CONFIG_HOME": str(root / "home")})
    known_toggles({**settings.toggles, **settings.switches_not_agreed})
    assert "toggles" not in settings.wider_limits
    for each in settings.limits:
        limits_asked(Limits(), each, settings.limits)


_CONDITIONS = (
    b"seconds > 2 and stdout ~ 'a(b|c)' or exit == 3", b"loss>=1e-3 or peak_memory < 500MB", b'stderr !~ "x y"',
    b"exit 0", b"KeyError", b"json.JSONDecodeError", b"SIGSEGV", b"out of memory", b"good", b"seconds < 200ms",
)  # fmt: skip
_OUTCOME = Outcome(exit_code=1, measurements={"loss": 0.5}, stdout=BytesOutput(b"abc"))


def _condition(data: bytes) -> None:
    Condition.parse(text(data)).holds(_OUTCOME)


def _expectation(data: bytes) -> None:
    Expectation.parse(text(data)).met(_OUTCOME, Verdict.BAD)


_WORDS = (b"x.py:3 a.b:C.d f:return raise:ValueError print 'x + 1' stack if 'y > 3' after 10 every 2 sleep 200ms",
          b"pkg.mod:*", b"1.5GiB", b"5MB/s", b"write:ENOSPC@5:*.pt", b"openat:EMFILE%2", b"v1..v2", b"2 weeks ago",
          b"2024-01-02T03:04 +01:00", b"broken,fixed", b"--token=abcdefghijkl --x https://u:p@h/")  # fmt: skip


def _little(data: bytes) -> None:
    """Read the small words of a command line."""
    said = text(data)
    for read in (duration_seconds, size_bytes, speed_bytes, Fault.parse, is_moment, target_of):
        read(said)
    masked_words(said.split())


def _little_or_usage(read: Callable[[list[str]], object], data: bytes) -> None:
    try:
        words = shlex.split(text(data))
    except ValueError:
        words = text(data).split()
    read(words)


_SETTING_VALUES = (b"64", b'[1, {"a": null, "b": 2.5e3}]', b'"gelu"', b"gelu", b"NaN")


def _setting_value(data: bytes) -> None:
    json.dumps(setting_value(text(data)))


def _terms(words: Sequence[str]) -> object:
    return Terms.parse(" ".join(words))


def _ends(words: Sequence[str]) -> object:
    return ends_of(tuple(words))


def _expression(words: Sequence[str]) -> None:
    changes_something(check_expression(" ".join(words)))


# ---- sources of programs ----


def _source(data: bytes) -> None:
    """Read what may be a module of Python."""
    said = data.decode("utf-8", "replace")
    changed_functions({"a.py": said}, {"a.py": said + "\nx = 1\n"})
    [text_with(said, each) for each in repairs_of(said)[:20]]
    deciding_lines(said, {3})
    list(islice(variations_of(said, [2, 3, 7], set(), lambda _node, _line: "builtins.int"), 20))


def _source_or_syntax(data: bytes) -> None:
    statement_at(data, 3)
    functions_in(data)
    lambdas_in(data)
    lambdas_on(data, 11)


def _records(data: bytes) -> None:
    said = data.decode("utf-8", "replace")
    for name in ("a.json", "a.csv"):
        for each in records_in(name, said)[:5]:
            without(said, each)


_WHERE = (
    b'{"kind": "source", "file": "/p/x.py", "module": "x", "version": "3.11.7", "defined_in": "/p/y.py", "line": 3,'
    b' "qualified_name": "A.<locals>.<lambda>", "is_partial": false, "frozen_from": null, "classes": [],'
    b' "type": "function"}'
)


def _definition(data: bytes) -> None:
    told: JsonObject = as_record(decoded(data), "answer")
    definition_of(told, "main")
    definition_of(told, "*")


PLACING = Placing("/project")
_Row = tuple[
    str, Callable[[], Sequence[bytes]], Callable[[bytes], object], tuple[type[Exception], ...]
]


_OF_WORDS: tuple[tuple[str, Callable[[list[str]], object]], ...] = (
    ("wishes", parse_wishes), ("a trace", trace_wish), ("an expression", _expression),
    ("terms", _terms), ("ends", _ends),
)  # fmt: skip


def _rows() -> Iterator[_Row]:
    no = ()
    yield "program: what it printed", printed, _program, no
    yield "program: a message", printed, _message, no
    yield "program: tests", printed, _tests, no
    yield "shown: a text", lambda: [DIFF_TEXT, *printed()], _shown, no
    yield "shown: on a terminal", printed, lambda data: say(text(data)), no
    yield "tool: gdb", lambda: [_GDB], lambda data: parse_gdb(text(data)), no
    yield (
        "tool: faulthandler",
        lambda: [_FAULTHANDLER],
        lambda data: parse_report(text(data)),
        no,
    )
    yield (
        "tool: asyncio tasks",
        lambda: [_TASKS],
        lambda data: list(parse_tasks(text(data))),
        no,
    )
    yield (
        "tool: a core file",
        lambda: [_core_file()],
        lambda data: program_of_core(placed("core", data)),
        no,
    )
    yield "tool: an address", lambda: [b"\x02\0\0\x50\x7f\0\0\1", b"\x0a\0\0\x50" + bytes(24),
                                                  b"\1\0/run/x.sock\0"], address_in, no  # fmt: skip
    yield "git: a commit", lambda: [_COMMIT], _commit, no
    yield (
        "git: a tree",
        lambda: [b"100644 a\0" + bytes(20) + b"40000 b\0" + bytes(20)],
        _tree,
        no,
    )


def _rows_of_packages() -> Iterator[_Row]:
    no = ()
    for kind, page in (("text/html", _PAGE_HTML), ("application/json", _PAGE_JSON)):
        seeds: Callable[[], Sequence[bytes]] = partial(list[bytes], [page])
        yield (
            f"index: {kind}",
            seeds,
            partial(_page, kind),
            (NoPackagePageError,),
        )
    yield (
        "packages: pins",
        lambda: _PINS,
        lambda data: read_pins(data, _PYTHON),
        (NoPinsError,),
    )
    for name, wanted in (
        ("METADATA", _METADATA),
        ("RECORD", _RECORD),
        ("WHEEL", b"Root-Is-Purelib: true\n"),
    ):
        yield (
            f"packages: {name}",
            partial(list[bytes], [wanted]),
            partial(_installed, name),
            no,
        )
    for name, wanted in (
        (
            "pip/pip.conf",
            b"[global]\nindex-url = https://u:p@h/s\nextra-index-url =\n    https://a\n    file:///b\n",
        ),
        (
            "uv/uv.toml",
            b'index-url = "https://h/s"\n[[index]]\nurl = "https://a"\ndefault = true\n[pip]\n',
        ),
    ):
        yield (
            f"packages: {name}",
            partial(list[bytes], [wanted]),
            partial(_index_settings, name),
            no,
        )


def _rows_of_words() -> Iterator[_Row]:
    no = ()
    sources = [SOURCES["python"]]
    malformed = (MalformedRecordError,)
    for name in ("whet.toml", "settings.toml"):
        yield f"settings: {name}", lambda: [_SETTINGS], partial(_settings, name), no
    yield "settings: pyproject.toml", lambda: [b"[tool.whet]\n" + _SETTINGS.replace(
        b"[limits", b"[tool.whet.limits").replace(b"[toggles", b"[tool.whet.toggles")], partial(_settings, "pyproject.toml"), no  # fmt: skip
    yield "words: a condition", lambda: _CONDITIONS, _condition, no
    yield "words: an expectation", lambda: _CONDITIONS, _expectation, no
    yield "words: of a command line", lambda: [*_WORDS, *_CONDITIONS], _little, no
    yield "words: a model's setting", lambda: _SETTING_VALUES, _setting_value, no
    for title, read in _OF_WORDS:
        yield f"words: {title}", lambda: _WORDS, partial(_little_or_usage, read), no
    yield "source: a module", lambda: sources, _source, no
    yield (
        "source: its lines",
        lambda: sources,
        _source_or_syntax,
        (SyntaxError, ValueError),
    )
    yield (
        "source: records",
        lambda: [JSON_TEXT, CSV_TEXT, b"[1, [2, 3, 4], {}]"],
        _records,
        no,
    )
    yield (
        "tool: where a module is",
        lambda: [_WHERE],
        _definition,
        malformed,
    )


def _all_rows() -> Iterator[_Row]:
    yield from _rows()
    yield from _rows_of_packages()
    yield from _rows_of_words()


_SHAPES = {
    "index: application/json": Shape.JSON, "source: records": Shape.JSON, "tool: where a module is": Shape.JSON,
}  # fmt: skip


def text_readers() -> Iterator[Reader]:
    """Yield the readers of texts."""
    for name, seeds, read, refuses in _all_rows():
        yield Reader(
            name=name, seeds=seeds, read=read, refuses=refuses,
            shape=_SHAPES.get(name, Shape.BYTES),
        )  # fmt: skip
    yield Reader(
        name="tool: py-spy", seeds=lambda: [_SPIED], shape=Shape.JSON,
        read=lambda data: spied_thread(data, 7),
    )  # fmt: skip
