"""What the agent keeps of failures, and that the program never notices."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.core.text.record import as_record
from whet.evidence.variables.failure_text import error_words, failure_lines
from whet.evidence.variables.kept_failure import KeptFailure, kept_failures
from whet.host.inspect.failures import read_failures

SITE = Path(whet.agent.__file__).parent / "site"
SPECIMENS = Path(__file__).parents[2] / "specimens" / "failures"
# The first takes the machine's memory; the second writes where nothing fits.
LEFT_OUT = {"out_of_memory.py", "disk_full.py", "called_program.py"}


class Program:
    """A program of the user's, and what the agent has kept of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports = folder / "reports"
        self.reports.mkdir()

    def run(
        self, *arguments: str, keeps: bool = True, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment = {
            **kept,
            "PYTHONPATH": str(SITE),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "WHET_PYCACHE": str(self.folder / "cache"),
            "WHET_AGENT": str(self.reports),
            "WHET_LOCALS": "1" if keeps else "0",
        }
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd or self.folder,
            env=environment,
            capture_output=True,
            check=False,
            timeout=60,
        )

    def failures(self, text: str, *arguments: str) -> tuple[KeptFailure, ...]:
        (self.folder / "program.py").write_text(text)
        self.run(*(arguments or ("program.py",)))
        return self.kept()

    def kept(self) -> tuple[KeptFailure, ...]:
        return tuple(
            failure
            for evidence in read_failures(self.reports)
            for failure in kept_failures(evidence.data)
        )


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def values(failure: KeptFailure) -> dict[str, object]:
    """Return the variables of the innermost frame of the user's own."""
    place = failure.error.place
    assert place is not None
    return {each.name: each.value for each in place.variables or ()}


# The others, each in two processes of its own, take a quarter of a minute.
OFTEN = {"ignored_at_exit.py", "interrupted.py", "nested_group.py", "silent_segfault.py",
         "thread_then_exit.py", "pool_worker.py", "endless_recursion.py"}  # fmt: skip


@pytest.mark.parametrize(
    "specimen",
    [
        name if name in OFTEN else pytest.param(name, marks=pytest.mark.long)
        for name in sorted(
            path.name for path in SPECIMENS.glob("*.py") if path.name not in LEFT_OUT
        )
    ],
)
def test_output_and_exit_are_byte_for_byte_those_of_a_run_without(
    specimen: str, program: Program
) -> None:
    with_locals, without = (
        program.run(specimen, keeps=keeps, cwd=SPECIMENS) for keeps in (True, False)
    )

    def said(done: subprocess.CompletedProcess[bytes]) -> tuple[int, bytes, bytes]:
        # Addresses and process numbers differ from run to run.
        return done.returncode, _plain(done.stdout), _plain(done.stderr)

    assert said(with_locals) == said(without)


def _plain(output: bytes) -> bytes:
    return re.sub(rb"0x[0-9a-f]+|\d\d:\d\d:\d\d,\d+|Process-?\w*-\d+|\b\d{4,}\b", b"#", output)


def test_the_values_of_the_failing_frames_are_kept(program: Program) -> None:
    (failure,) = program.failures(
        "def mean(numbers, scale=2):\n"
        "    total = sum(numbers)\n"
        "    return scale * total / len(numbers)\n"
        "mean([])\n"
    )

    assert error_words(failure.error) == "ZeroDivisionError: division by zero"
    assert [each.frame.function for each in failure.error.frames] == ["<module>", "mean"]
    assert values(failure) == {
        "numbers": {"k": "list", "type": "list", "of": [], "n": 0},
        "scale": 2,
        "total": 0,
    }


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs co_positions")
def test_the_sub_expression_that_raised_is_marked(program: Program) -> None:
    (failure,) = program.failures("d = {'a': {}}\né = 1 + d['a']['b'] * len('x')\n")

    told = failure_lines(failure)
    at = next(n for n, line in enumerate(told) if "d['a']['b']" in line)

    begins, ends = told[at + 1].index("^"), told[at + 1].rindex("^") + 1
    assert told[at][begins:ends] == "d['a']['b']"


HOSTILE = {
    "raises": "def __repr__(self): raise RuntimeError",
    "leaves": "def __repr__(self): import os; os._exit(3)",
    "hangs": "def __repr__(self):\n        while True: pass",
    "is huge": "def __repr__(self): return 'x' * (1 << 40)",
    "lies about its class": "__class__ = property(lambda self: 1 / 0)",
    "has no attributes": "def __getattribute__(self, name): raise SystemExit(9)",
    "compares in no way": "def __eq__(self, other): raise RuntimeError\n    __hash__ = None",
    "iterates for ever": "def __iter__(self):\n        while True: yield 1",
    "has no length": "def __len__(self): return -5",
    "has a metaclass": "class Meta(type):\n        def __eq__(self, other): raise RuntimeError\n"
    "        def __hash__(self): raise RuntimeError\n"
    "        def __getattribute__(self, name): raise RuntimeError\n"
    "    inner = Meta('Odd', (), {})",
    "is no truth": "def __bool__(self): raise RuntimeError",
}


BASES = ("object", "dict", "list", "str", "int", "Exception")


@pytest.mark.parametrize("how", HOSTILE)
def test_no_code_of_a_hostile_object_is_run(how: str, program: Program) -> None:
    classes = "".join(f"class H{base}({base}):\n    {HOSTILE[how]}\n" for base in BASES)
    made = "".join(f"    one_{base} = H{base}()\n" for base in BASES)
    (failure,) = program.failures(
        f"{classes}def f():\n{made}"
        "    odd = vars(Hobject).get('inner', object)\n"
        "    inner = object.__new__(odd)\n    after = 5\n    1 / 0\nf()\n"
    )

    assert {f"one_{base}" for base in BASES} <= set(values(failure))
    assert values(failure)["after"] == 5


def test_secrets_never_leave_the_program(program: Program) -> None:
    secrets = ["hunter2hunter2", "hf_abcdefghijklmnopqrstu", "s3cr3tp4ss", "AKIAABCDEFGHIJKLMNOP"]
    (program.folder / "secrets.json").write_text(json.dumps(secrets))
    program.failures(
        "import json\n"
        "class Settings: pass\n"
        "def f():\n"
        "    password, other, third, fourth = json.load(open('secrets.json'))\n"
        "    url = 'postgres://me:' + third + '@host/db'\n"
        "    deep = {'x': [{'api_key': password, 'HF_TOKEN': 'x' + password}], 'note': other}\n"
        "    s = Settings(); s.client_secret = password; s.header = 'Bearer ' + other\n"
        "    long = 'y' * 990 + ' ' + fourth\n"
        "    del third, other, fourth\n"
        "    1 / 0\nf()\n"
    )

    told = b"".join(path.read_bytes() for path in program.reports.glob("*.failures")).decode()
    assert "postgres://" in told
    for secret in secrets:
        assert secret not in told
        assert secret[:12] not in told


def test_names_that_only_look_like_secrets_are_told(program: Program) -> None:
    (failure,) = program.failures(
        "def f():\n    key = 'price'\n    tokens = ['a']\n    tokenizer = 'bpe'\n"
        "    max_tokens = '512'\n    keyboard = 'qwerty'\n    1 / 0\nf()\n"
    )

    assert values(failure)["key"] == "price"
    assert values(failure)["tokenizer"] == "bpe"
    assert values(failure)["max_tokens"] == "512"


def test_the_chain_and_the_group_are_kept_with_their_frames(program: Program) -> None:
    (failure,) = program.failures(
        "def inner():\n    low = 1\n    raise KeyError('k')\n"
        "def outer():\n"
        "    errors = []\n"
        "    for number in (1, 2):\n"
        "        try:\n            inner()\n"
        "        except KeyError as error:\n            errors.append(error)\n"
        "    raise ExceptionGroup('both', errors) from ValueError('why')\n"
        "outer()\n"
    )

    error = failure.error
    assert [error_words(member) for member in error.members] == ["KeyError: 'k'"] * 2
    assert all(member.frames[-1].frame.function == "inner" for member in error.members)
    assert error.earlier is not None
    assert (error.earlier.relation, error_words(error.earlier)) == ("cause", "ValueError: why")


def test_a_thread_s_failure_is_kept_with_the_thread_s_name(program: Program) -> None:
    (failure,) = program.failures(
        "import threading\n"
        "def load(part):\n    return {}[part]\n"
        "thread = threading.Thread(target=load, args=('x',), name='loader')\n"
        "thread.start(); thread.join()\n"
    )

    assert (failure.where, failure.thread) == ("thread", "loader")
    assert values(failure) == {"part": "x"}


def test_a_failure_is_kept_though_the_program_then_waits_for_a_thread(program: Program) -> None:
    program.failures(
        "import os, threading\n"
        "def leave():\n"
        "    threading.main_thread().join()\n"
        "    import sys, time\n"
        "    while not os.listdir('reports'): time.sleep(0.01)\n"
        "    os._exit(4)\n"
        "threading.Thread(target=leave).start()\n"
        "[][0]\n"
    )

    assert [error_words(each.error) for each in program.kept()] == [
        "IndexError: list index out of range"
    ]


def test_pytest_s_failures_are_kept_and_those_that_are_expected_are_not(program: Program) -> None:
    (program.folder / "test_it.py").write_text(
        "import pytest\n"
        "def helper(items):\n    total = sum(items)\n    return items[total]\n"
        "def test_bad(): helper([1, 2])\n"
        "def test_good(): assert True\n"
        "def test_skipped(): pytest.skip('no')\n"
        "@pytest.mark.xfail\ndef test_expected(): helper([5])\n"
    )

    program.run("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "test_it.py")

    (failure,) = program.kept()
    assert (failure.where, failure.thread) == ("pytest", "test_it.py::test_bad")
    assert values(failure)["total"] == 3


def test_unittest_s_failures_are_kept_and_those_that_are_expected_are_not(program: Program) -> None:
    (failure,) = program.failures(
        "import unittest\n"
        "class T(unittest.TestCase):\n"
        "    def test_bad(self):\n        got = 7\n        self.assertEqual(got, 8)\n"
        "    @unittest.expectedFailure\n"
        "    def test_expected(self): self.fail()\n"
        "unittest.main()\n"
    )

    assert failure.thread == "T.test_bad"
    assert values(failure)["got"] == 7


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_a_process_of_multiprocessing_keeps_its_failure(how: str, program: Program) -> None:
    (failure,) = program.failures(
        "import multiprocessing\n"
        "def work(rank):\n    loss = rank / 2\n    raise ValueError(rank)\n"
        "if __name__ == '__main__':\n"
        f"    process = multiprocessing.get_context('{how}').Process(target=work, args=(3,))\n"
        "    process.start(); process.join()\n"
    )

    assert values(failure) == {"rank": 3, "loss": 1.5}


@pytest.mark.parametrize(
    "pool",
    ["multiprocessing.Pool", "concurrent.futures.ProcessPoolExecutor"],
    ids=["pool", "futures"],
)
def test_a_worker_of_a_pool_keeps_what_its_task_held(pool: str, program: Program) -> None:
    failures = program.failures(
        "import concurrent.futures, multiprocessing\n"
        "def work(rank):\n    loss = rank / 2\n    return 1 / (loss - 1.5)\n"
        "if __name__ == '__main__':\n"
        f"    with {pool}(1) as pool:\n        list(pool.map(work, [1, 3]))\n"
    )

    (worker,) = [each for each in failures if each.where == "process"]
    assert values(worker) == {"rank": 3, "loss": 1.5}
    assert {each.where for each in failures} == {"process", "main"}


def test_a_deep_recursion_keeps_its_ends(program: Program) -> None:
    (failure,) = program.failures("def f(n):\n    return f(n + 1)\nf(0)\n")

    frames = failure.error.frames
    depths = [each.variables[0].value for each in frames if each.variables and each.name == "f"]
    assert depths[0] == 0
    assert len(frames) == 100
    assert failure.error.skipped > 800
    assert frames[-1].variables is not None


def test_an_array_is_told_by_its_range_and_what_is_no_number(program: Program) -> None:
    pytest.importorskip("numpy")
    (failure,) = program.failures(
        "import numpy\n"
        "def f():\n"
        "    x = numpy.array([1.0, numpy.nan, 3.0, numpy.inf], dtype='float32')\n"
        "    large = numpy.zeros((3000, 2000)); large[7, 7] = numpy.nan\n"
        "    objects = numpy.array([object()])\n"
        "    1 / 0\nf()\n"
    )

    x, large = as_record(values(failure)["x"], "x"), as_record(values(failure)["large"], "large")
    assert {name: x[name] for name in ("shape", "dtype", "nan", "inf", "min", "mean", "max")} == {
        "shape": [4], "dtype": "float32", "nan": 1, "inf": 1, "min": 1.0, "mean": 2.0, "max": 3.0,
    }  # fmt: skip
    assert large["shape"] == [3000, 2000]
    assert "sampled" in large


def test_a_program_that_does_not_fail_loads_nothing_of_it(program: Program) -> None:
    done = program.run(
        "-c", "import sys, threading; print([m for m in sys.modules if 'whet' in m])"
    )

    assert done.stdout == b"[]\n"
    assert program.kept() == ()


def test_a_failure_leaves_no_name_behind(program: Program) -> None:
    done = program.run(
        "-c",
        "import sys, threading\n"
        "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()\n"
        "print([m for m in sys.modules if 'whet' in m], [p for p in sys.path if 'agent' in p])\n",
    )

    assert done.stdout == b"[] []\n"
    assert len(program.kept()) == 1


def test_what_a_process_keeps_is_bounded(program: Program) -> None:
    failures = program.failures(
        "import threading\n"
        "def f():\n    big = ['x' * 900] * 10000\n    1 / 0\n"
        "for _ in range(50):\n"
        "    t = threading.Thread(target=f); t.start(); t.join()\n"
    )

    assert len(failures) == 20
    assert sum(path.stat().st_size for path in program.reports.glob("*.failures")) < 5_000_000


def test_a_line_that_was_cut_is_left_out(program: Program) -> None:
    program.failures("[][0]\n")
    (path,) = program.reports.glob("*.failures")
    path.write_bytes(path.read_bytes() + b'{"pid": 1, "err')

    assert len(program.kept()) == 1


HOSTILE_NAMES = [
    "password",
    "Passwort",
    "API_KEY",
    "db_passphrase",
    "clientSecret",
    "\N{FULLWIDTH LATIN CAPITAL LETTER A}PI_key",
    "x_token",
]
HOSTILE_TEXTS = [
    "password={}",
    'json: {{"password": "{}"}}',
    "user=me&api_key={}&page=2",
    "https://me:{}@host/db",
    "Authorization: Bearer {}",
]


@pytest.mark.slow
def test_secrets_are_masked_under_any_name_and_in_any_text(program: Program) -> None:
    secret = "hunter2hunter2"
    (program.folder / "secret.txt").write_text(secret)
    held = "".join(f"    {name} = secret\n" for name in HOSTILE_NAMES)
    texts = "".join(
        f"    text{n} = {text!r}.format(secret)\n" for n, text in enumerate(HOSTILE_TEXTS)
    )
    nested = (
        "    outer = {'a b': [{'PassWord': secret}], b'secret': secret, 'it': {'secret': secret}}\n"
    )
    program.failures(
        f"def f():\n    secret = open('secret.txt').read()\n{held}{texts}{nested}    1 / 0\nf()\n"
    )
    told = b"".join(path.read_bytes() for path in program.reports.glob("*.failures")).decode()
    assert "text0" in told
    assert secret not in told
    assert secret[:8] not in told
