"""The agent: byte code by content, a stack on request, and no trace for the program."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.host.inspect.stacks import AGENT_SIGNAL

SITE = Path(whet.agent.__file__).parent / "site"


class World:
    """A folder of the user's code, a cache, and Python with the agent in it."""

    def __init__(self, folder: Path) -> None:
        self.code = folder / "code"
        self.cache = folder / "cache"
        self.reports = folder / "reports"
        for path in (self.code, self.reports):
            path.mkdir()

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return {
            **kept,
            "PYTHONPATH": f"{SITE}:{self.code}",
            "WHET_PYCACHE": str(self.cache),
            "WHET_AGENT": str(self.reports),
            **more,
        }

    def python(self, *arguments: str, **more: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.code,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def write(self, name: str, text: str) -> Path:
        """Write a file that looks as old as the one before, as in one and the same second."""
        path = self.code / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        return path

    @property
    def kept(self) -> list[Path]:
        return sorted(self.cache.iterdir()) if self.cache.exists() else []


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_stale_pyc_of_the_same_size_and_second_never_answers(world: World) -> None:
    world.write("mod.py", "value = 1\n")
    stale = "import mod; print(mod.value)"
    assert world.python("-c", stale, PYTHONPATH=str(world.code)) == "1\n", "plain Python made a pyc"
    assert (world.code / "__pycache__").exists()
    world.write("mod.py", "value = 2\n")
    assert world.python("-c", stale, PYTHONPATH=str(world.code)) == "1\n", "Python's own trap"

    assert world.python("-c", stale) == "2\n"
    assert world.python("-c", stale) == "2\n"


def test_the_users_tree_gets_no_byte_code(world: World) -> None:
    world.write("package/__init__.py", "from package import part\n")
    world.write("package/part.py", "value = 1\n")

    world.python("-c", "import package")

    assert list(world.code.rglob("*.pyc")) == []
    assert len(world.kept) == 2


def test_a_module_is_compiled_once_wherever_it_stands(world: World) -> None:
    one = world.write("one/mod.py", "def where():\n    return where.__code__.co_filename\n")
    two = world.write("two/mod.py", one.read_text())
    text = "import sys; sys.path.insert(0, sys.argv[1]); import mod; print(mod.where())"

    assert world.python("-c", text, str(one.parent)) == f"{one}\n"
    assert world.python("-c", text, str(two.parent)) == f"{two}\n"
    assert len(world.kept) == 1


def test_kinds_of_byte_code_are_kept_apart(world: World) -> None:
    world.write("mod.py", "def f():\n    'doc'\n    assert False\n    return 1\n")
    ask = "import mod; print(mod.f.__doc__)"

    assert world.python("-c", ask) == "doc\n"
    assert world.python("-OO", "-c", ask) == "None\n"
    assert world.python("-c", ask) == "doc\n"
    world.python("-c", ask, PYTHONNODEBUGRANGES="1")
    assert len(world.kept) == 2 + (sys.version_info >= (3, 11))


@pytest.mark.parametrize("damage", [b"", b"\0" * 100, b"cut"])
def test_a_damaged_file_of_the_cache_is_no_harm(world: World, damage: bytes) -> None:
    world.write("mod.py", "value = 1\n")
    world.python("-c", "import mod")
    (kept,) = world.kept
    kept.write_bytes(kept.read_bytes()[:20] if damage == b"cut" else damage)

    assert world.python("-c", "import mod; print(mod.value)") == "1\n"


@pytest.mark.parametrize("place", ["/proc/none", "/dev/null/x"])
def test_a_cache_that_cannot_be_written_is_no_harm(world: World, place: str) -> None:
    world.write("mod.py", "value = 1\n")

    assert world.python("-c", "import mod; print(mod.value)", WHET_PYCACHE=place) == "1\n"


def test_many_processes_fill_one_cache_at_once(world: World) -> None:
    for number in range(20):
        world.write(f"mod{number}.py", f"value = {number}\n")
    text = (
        "import importlib\nprint(sum(importlib.import_module(f'mod{n}').value for n in range(20)))"
    )
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", text], env=world.environment(), stdout=subprocess.PIPE
        )
        for _ in range(6)
    ]

    assert [one.communicate()[0] for one in crowd] == [b"190\n"] * 6
    assert [path for path in world.kept if path.suffix != ".pyc"] == []
    assert len(world.kept) == 20


@pytest.mark.parametrize("text", ["1/0\n", "def f(: pass\n", "import no_such_module\n"])
def test_a_traceback_is_that_of_plain_python(world: World, text: str) -> None:
    world.write("bad.py", text)
    plain = world.python("-c", "import bad", PYTHONPATH=str(world.code))

    assert world.python("-c", "import bad") == plain
    assert "bad.py" in plain


def test_a_module_looks_as_it_does_in_plain_python(world: World) -> None:
    world.write("mod.py", "def f():\n    return 1\n")
    text = (
        "import inspect, mod, sys\n"
        "print(mod.__file__, mod.__cached__, mod.__spec__.origin, type(mod.__loader__).__name__)\n"
        "print(inspect.getsource(mod.f), mod.f.__code__.co_filename)\n"
        "print(sys.path, 'whet_agent' in sys.modules, sys.flags)\n"
    )
    plain = world.python("-c", text, PYTHONPATH=str(world.code))

    assert world.python("-c", text) == plain
    world.python("-c", text)
    assert world.python("-c", text) == plain


def test_a_program_in_a_zip_file_and_one_run_as_a_module_work(world: World) -> None:
    import zipfile

    with zipfile.ZipFile(world.code / "app.zip", "w") as archive:
        archive.writestr("inner.py", "value = 'zipped'\n")
    world.write("tool/__main__.py", "from tool import part; print(part.value)\n")
    world.write("tool/part.py", "value = 'module'\n")
    text = "import sys; sys.path.insert(0, 'app.zip'); import inner; print(inner.value)"

    assert world.python("-c", text) == "zipped\n"
    assert world.python("-m", "tool") == "module\n"


def test_a_loader_that_compiles_in_its_own_way_is_asked_each_time(world: World) -> None:
    world.write("mod.py", "value = 1\n")
    text = (
        "import importlib.machinery, importlib.util\n"
        "class Loader(importlib.machinery.SourceFileLoader):\n"
        "    def source_to_code(self, data, path, **named):\n"
        "        return compile(data.replace(b'1', b'5'), path, 'exec')\n"
        "spec = importlib.util.spec_from_file_location('mod', 'mod.py', loader=Loader('mod', 'mod.py'))\n"
        "mod = importlib.util.module_from_spec(spec); spec.loader.exec_module(mod); print(mod.value)\n"
    )
    world.python("-c", "import mod")

    assert world.python("-c", text) == "5\n"
    assert world.python("-c", "import mod; print(mod.value)") == "1\n"


def test_the_users_own_sitecustomize_runs_too_and_is_the_one_that_is_seen(world: World) -> None:
    world.write("sitecustomize.py", "import builtins; builtins.customized = __file__\n")

    said = world.python("-c", "import sitecustomize; print(customized, sitecustomize.__file__)")

    assert said.split() == [str(world.code / "sitecustomize.py")] * 2


@pytest.mark.parametrize("text", ["import no_such_module\n", "1/0\n"])
def test_a_sitecustomize_that_fails_says_what_it_says_in_plain_python(
    world: World, text: str
) -> None:
    world.write("sitecustomize.py", text)

    plain = world.python("-c", "print('ran')", PYTHONPATH=str(world.code))

    assert world.python("-c", "print('ran')") == plain


@pytest.mark.parametrize("option", ["-I", "-E", "-S", "-s", "-P"])
def test_options_that_keep_the_agent_out_change_nothing(world: World, option: str) -> None:
    assert world.python(option, "-c", "print('ran')") == "ran\n"


def test_python_children_have_the_agent_and_others_its_variables(world: World) -> None:
    text = (
        "import os, subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'pass'])\n"
        "print(len(os.listdir(os.environ['WHET_AGENT'])))\n"
    )

    assert world.python("-c", text) == "2\n"


def test_the_signal_is_caught_and_its_file_stands_high_and_closes_on_exec(world: World) -> None:
    text = (
        "import os\n"
        "print(open('/proc/self/status').read())\n"
        "for n in os.listdir('/proc/self/fd'):\n"
        "    if os.path.exists(f'/proc/self/fd/{n}') and 'reports' in os.readlink(f'/proc/self/fd/{n}'):\n"
        "        print('report', n, os.get_inheritable(int(n)))\n"
    )
    said = world.python("-c", text)

    caught = re.search(r"SigCgt:\s*([0-9a-f]+)", said)
    assert caught is not None
    assert int(caught[1], 16) >> (AGENT_SIGNAL - 1) & 1
    assert "report 1000 False" in said


def test_with_few_descriptors_the_program_runs_all_the_same(world: World) -> None:
    command = f"ulimit -n 12; exec '{sys.executable}' -c \"print('ran')\""
    done = subprocess.run(
        ["sh", "-c", command], env=world.environment(), capture_output=True, check=False
    )

    assert (done.stdout, done.stderr) == (b"ran\n", b"")


def test_a_folder_for_reports_that_is_not_there_is_no_harm(world: World) -> None:
    assert world.python("-c", "print('ran')", WHET_AGENT="/no/such/folder") == "ran\n"


@pytest.mark.slow
def test_pytest_rewrites_assertions_and_never_reads_a_stale_test(world: World) -> None:
    def test_file(value: int) -> None:
        path = world.code / "test_it.py"
        path.write_text(f"def test_it():\n    value = {value}\n    assert value == 1\n")

    arguments = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    test_file(1)
    assert "1 passed" in world.python(*arguments)
    before = (world.code / "test_it.py").stat()
    test_file(2)
    os.utime(world.code / "test_it.py", ns=(before.st_atime_ns, before.st_mtime_ns))

    said = world.python(*arguments)

    assert "assert 2 == 1" in said
    assert "1 failed" in said


def test_byte_code_of_a_pytest_that_trusts_times_is_read_only_when_it_is_older(
    world: World,
) -> None:
    # pytest before 9.2 goes by whole seconds and size; this is the part of it that is guarded.
    rewriter = "def _read_pyc(source, pyc, trace=None):\n    return 'read'\n"
    world.write("site-packages/_pytest/__init__.py", "")
    world.write("site-packages/_pytest/assertion/__init__.py", "")
    world.write("site-packages/_pytest/assertion/rewrite.py", rewriter)
    source, pyc = world.write("test_it.py", ""), world.write("test_it.pyc", "")
    text = (
        "import sys; sys.path.insert(0, 'site-packages')\n"
        "import _pytest.assertion.rewrite as rewrite\n"
        "from pathlib import Path\n"
        "print(rewrite._read_pyc(Path('test_it.py'), Path('test_it.pyc'), print), rewrite.__file__)"
    )
    assert world.python("-c", text).startswith("None ")
    os.utime(pyc, (0, source.stat().st_mtime + 5))

    assert world.python("-c", text).startswith("read ")
    assert "rewrite.py" in world.python("-c", text)


@pytest.mark.parametrize("python", ["/usr/bin/python3", "/usr/bin/python2"])
def test_other_pythons_of_the_system_are_not_disturbed(world: World, python: str) -> None:
    if not Path(python).exists():
        pytest.skip(f"needs `{python}`")
    world.write("mod.py", "value = 1\n")
    done = subprocess.run(
        [python, "-c", "import mod; print(mod.value)"],
        env=world.environment(),
        capture_output=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == (b"1\n", b"")
