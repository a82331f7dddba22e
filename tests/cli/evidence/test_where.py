"""`whet where`: the file that Python loads, the others of its name, and whether it ran."""

import json
import os
import py_compile
import sys
import zipfile
from pathlib import Path

import pytest
from whet_command import Whet

WRONG = Path(__file__).parents[3] / "specimens" / "wrong_file"


def ask(whet: Whet, *words: str, **environment: str) -> dict[str, object]:
    said = whet("where", "--json", *words, environment=environment)
    assert said.code == 0, said.stderr
    answer: dict[str, object] = json.loads(said.stdout)
    return answer


def ran(whet: Whet, *words: str, **environment: str) -> dict[str, object]:
    found = ask(whet, *words, **environment)["ran"]
    assert isinstance(found, dict)
    return found


@pytest.fixture
def package(whet: Whet) -> Whet:
    whet.write("src/shop/__init__.py", "")
    whet.write(
        "src/shop/prices.py",
        "import functools\n"
        "class Base:\n"
        "    def net(self):\n"
        "        '''Documented.'''\n"
        "        return 1\n"
        "    def gross(self): return self.net() * 1.2\n"
        "class Sale(Base):\n"
        "    def net(self): return super().net() / 2\n"
        "@functools.lru_cache\n"
        "def cached(x): return x\n"
        "async def later(): return 3\n"
        "def steps():\n    yield 1\n    yield 2\n",
    )
    return whet


def test_the_file_is_found_by_the_path_of_the_command(package: Whet) -> None:
    found = ask(package, "shop.prices", PYTHONPATH="src")

    assert found["file"] == str(package.folder / "src/shop/prices.py")
    assert found["warnings"] == []


def test_the_script_s_folder_comes_first_as_it_does_for_the_command(whet: Whet) -> None:
    whet.write("tool/helper.py", "")
    whet.write("helper.py", "")
    whet.write("tool/main.py", "import helper\nhelper\n")

    assert ask(whet, "helper")["file"] == str(whet.folder / "helper.py")
    with_command = ask(whet, "helper", "--", sys.executable, "tool/main.py")
    assert with_command["file"] == str(whet.folder / "tool/helper.py")


def test_nothing_of_a_module_is_run_to_find_it(whet: Whet) -> None:
    whet.write("dangerous.py", "open('ran', 'w')\n")

    assert ask(whet, "dangerous")["file"] == str(whet.folder / "dangerous.py")
    assert whet("where", "dangerous:gone", "--no-import").code == 66
    assert not (whet.folder / "ran").exists()


def test_the_class_that_defines_a_method_and_those_that_override_it_are_named(
    package: Whet,
) -> None:
    shown = package("where", "shop.prices:Sale.gross", environment={"PYTHONPATH": "src"}).stdout
    assert f"class  shop.prices.Base  defines it at {package.folder}/src/shop/prices.py:6" in shown
    assert "class  shop.prices.Sale\n" in shown

    shown = package("where", "shop.prices.Base.net", environment={"PYTHONPATH": "src"}).stdout
    assert (
        f"overridden  shop.prices.Sale  defines it at {package.folder}/src/shop/prices.py:8"
        in shown
    )


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("shop.price", "`prices`"),
        ("shop.prices:Base.ent", "`Base.net`"),
        ("shopp", "`shop`"),
        ("shop.prices:cache", "`cached`"),
    ],
)
def test_of_an_unknown_target_the_closest_names_are_told(
    target: str, hint: str, package: Whet
) -> None:
    said = package("where", target, environment={"PYTHONPATH": "src"})

    assert said.code == 66
    assert f"did you mean {hint}" in said.stderr


@pytest.mark.parametrize("target", ["a b", "shop.prices:12", "nothing.py", "x/y.py"])
def test_what_is_no_target_is_refused_with_the_form_it_should_have(target: str, whet: Whet) -> None:
    whet.write("shop/prices.py", "")
    said = whet("where", target)

    assert said.code in {64, 66}
    assert f"`{target}`" in said.stderr
    assert "hint: " in said.stderr


def test_other_copies_are_listed_and_a_newer_one_is_warned_of(package: Whet) -> None:
    old = package.write("build/lib/shop/prices.py", "# newer\n")
    os.utime(package.folder / "src/shop/prices.py", (1, 1))

    found = ask(package, "shop.prices", PYTHONPATH="src")

    assert found["copies"] == [
        {"path": str(old), "is_on_path": False, "is_same": False, "is_newer": True}
    ]
    assert any(str(old) in warning for warning in map(str, _list(found["warnings"])))


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def test_a_file_that_is_not_the_one_that_is_loaded_is_told(package: Whet) -> None:
    other = package.write("old/shop/prices.py", "x = 1\n")
    package.write("old/shop/__init__.py", "")

    found = ask(package, "old/shop/prices.py", PYTHONPATH="src")

    assert found["module"] == "shop.prices"
    assert found["file"] == str(package.folder / "src/shop/prices.py")
    assert [_path(copy) for copy in _list(found["copies"])] == [str(other)]


def _path(copy: object) -> object:
    assert isinstance(copy, dict)
    return copy["path"]


def test_a_hidden_standard_module_is_warned_of(whet: Whet) -> None:
    folder = WRONG / "shadowed_module"
    found = ask(whet, "statistics", "--cwd", str(folder), "--", sys.executable, "main.py")

    assert found["file"] == str(folder / "statistics.py")
    assert "hides Python's own module `statistics`" in str(found["warnings"])


def test_byte_code_that_is_not_what_the_source_says_is_warned_of(whet: Whet) -> None:
    path = whet.write("stale.py", "x = 1\n")
    py_compile.compile(str(path), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    path.write_text("x = 2\n")

    assert "which doesn't match the source" in str(ask(whet, "stale")["warnings"])


def test_fresh_byte_code_is_not_warned_of(whet: Whet) -> None:
    path = whet.write("fresh.py", "def f(x: int = 3) -> int:\n    return x\n")
    py_compile.compile(str(path))

    assert ask(whet, "fresh")["warnings"] == []


def test_byte_code_without_a_source_is_warned_of(whet: Whet) -> None:
    path = whet.write("gone.py", "x = 1\n")
    py_compile.compile(str(path), cfile=str(whet.folder / "gone.pyc"))
    path.unlink()

    assert "is stale byte code: its source is gone" in str(ask(whet, "gone")["warnings"])


def test_a_run_tells_that_another_copy_was_loaded(whet: Whet) -> None:
    folder = WRONG / "stale_copy"
    said = whet("where", "shop.prices:price", "--cwd", str(folder), "--", sys.executable, "main.py")

    loaded = f"loaded from {folder}/vendor/shop/prices.py, NOT {folder}/shop/prices.py"
    assert loaded in said.stdout
    assert "was loaded, but none of it ran" in said.stdout


def test_a_run_tells_that_an_override_ran_instead(whet: Whet) -> None:
    folder = WRONG / "wrong_override"
    words = ("--cwd", str(folder), "--", sys.executable, "main.py")

    assert ran(whet, "main:Trainer.loss", *words)["count"] == 0
    assert ran(whet, "main:Tuned.loss", *words)["count"] == 1


def test_calls_are_counted_and_the_first_caller_is_named(package: Whet) -> None:
    package.write(
        "main.py",
        "from shop.prices import Sale, cached, later, steps\n"
        "import asyncio\n"
        "def work():\n"
        "    for _ in range(7): Sale().gross()\n"
        "work()\n"
        "cached(1); cached(1); asyncio.run(later()); list(steps())\n",
    )

    def count(target: str) -> dict[str, object]:
        return ran(package, target, "--", sys.executable, "main.py", PYTHONPATH="src")

    net = count("shop.prices:Base.net")
    assert net["count"] == 7
    (calls,) = _list(net["calls"])
    assert isinstance(calls, dict)
    assert [frame[2] for frame in calls["by"][-4:]] == [
        "<module>",
        "work",
        "Base.gross",
        "Sale.net",
    ]
    assert calls["by"][-3][1] == 4
    assert [count(f"shop.prices:{name}")["count"] for name in ("cached", "later", "steps")] == [
        1,
        1,
        1,
    ]
    assert count("shop.prices:Sale")["count"] == 7


def test_counting_changes_nothing_that_the_program_says(package: Whet) -> None:
    text = (
        "import traceback, shop.prices as p\n"
        "print(p.Base.net.__doc__, p.Base.net.__code__.co_firstlineno)\n"
        "try:\n    p.cached([])\nexcept TypeError:\n    traceback.print_exc()\n"
    )
    package.write("main.py", text)
    environment = {"PYTHONPATH": "src"}
    command = ("--", sys.executable, "main.py")

    plain = package("run", *command, environment=environment)
    counted = package("where", "shop.prices", *command, environment=environment)

    assert plain.stdout in counted.stdout
    assert plain.stderr.splitlines()[:-1] == counted.stderr.splitlines()[:-1]


def test_each_process_counts_for_itself(package: Whet) -> None:
    package.write(
        "main.py",
        "import os\nfrom shop.prices import Base\n"
        "Base().net()\n"
        "if os.fork() == 0:\n    Base().net(); Base().net(); os._exit(0)\n"
        "os.wait()\n",
    )

    found = ran(package, "shop.prices:Base.net", "--", sys.executable, "main.py", PYTHONPATH="src")

    calls = _list(found["calls"])
    assert [each["count"] for each in calls if isinstance(each, dict)] == [1, 2]


def test_a_module_that_is_never_loaded_says_so(package: Whet) -> None:
    package.write("main.py", "print(1)\n")
    said = package(
        "where", "shop.prices", "--", sys.executable, "main.py", environment={"PYTHONPATH": "src"}
    )

    assert "this command never loaded shop.prices" in said.stdout


def test_changes_that_an_editor_has_not_saved_are_warned_of(whet: Whet) -> None:
    whet.write("open.py", "")
    whet.write(".open.py.swp", "")

    assert "has unsaved changes" in str(ask(whet, "open")["warnings"])


def test_an_editable_install_is_told_as_such(whet: Whet) -> None:
    found = ask(whet, "whet.core.errors", "--", sys.executable, "-c", "1")

    told = found["told"]
    assert isinstance(told, dict)
    assert told["file"] == str(Path(__file__).parents[3] / "src/whet/core/errors/__init__.py")
    assert told["installed_by"]["name"] == "whet"
    assert told["installed_by"]["editable"] is True


@pytest.fixture
def borrowed(whet: Whet) -> Whet:
    """A program whose names stand for what is written elsewhere, or not at all."""
    whet.write("base.py", "class Base:\n    def go(self): return 1\n")
    whet.write(
        "names.py",
        "import dataclasses, functools, os, math\n"
        "from base import Base\n"
        "class Child(Base): pass\n"
        "class Mixed(Base):\n    def own(self): return 2\n"
        "@dataclasses.dataclass\nclass Data:\n    x: int\n"
        "def plain(x): return x\n"
        "def make():\n    def inner(): return 3\n    return inner\n"
        "made = make()\n"
        "part = functools.partial(plain, 1)\n"
        "least = functools.partial(min, 1)\n"
        "short = lambda: 4\n"
        "one, two = lambda: 5, lambda: 6\n",
    )
    whet.write("by_path.py", "def run_by_path(): pass\nrun_by_path()\n")
    whet.write(
        "main.py",
        "import names, json, math, os, runpy\n"
        "names.Child().go(); names.Mixed().go(); names.Data(1); names.made(); names.part()\n"
        "names.least(2); names.short(); names.short(); names.two()\n"
        "json.JSONDecoder().decode('1'); math.sqrt(4); os.makedirs('x/y')\n"
        "runpy.run_path('by_path.py')\n",
    )
    return whet


@pytest.mark.parametrize(
    ("target", "count", "note"),
    [
        ("names:Child.go", 2, "`names:Child.go` is `Base.go` of "),
        ("json:JSONDecoder.decode", 1, "json/decoder.py`"),
        ("names:short", 2, ""),
        ("names:two", 1, "there are 2 lambdas on "),
        ("names:part", 1, "is a partial of `plain`"),
        ("names:made", 1, "whet counts all calls of"),
        ("by_path:run_by_path", 1, ""),
    ],
)
def test_calls_are_counted_where_what_runs_is_written(
    target: str, count: int, note: str, borrowed: Whet
) -> None:
    found = ran(borrowed, target, "--", sys.executable, "main.py")

    assert (found["count"], found["cannot_be_told"]) == (count, "")
    assert note in str(found["note"])


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("names:least", "not written in Python"),
        ("math:sqrt", "it is written in C"),
        ("math", "it is written in C"),
        ("names:Data.__init__", "it is generated while the program runs"),
        ("names:Child", "its methods come from `base.Base`"),
    ],
)
def test_of_what_cannot_be_met_it_is_never_said_that_it_did_not_run(
    target: str, why: str, borrowed: Whet
) -> None:
    said = borrowed("where", target, "--", sys.executable, "main.py")

    assert f"whet can't tell whether {target} ran: " in said.stdout
    assert why in said.stdout
    assert "never" not in said.stdout


def test_a_part_of_the_interpreter_is_counted_or_it_is_said_why_not(borrowed: Whet) -> None:
    for target, name in (("os:makedirs", "os"), ("os.path:join", "posixpath")):
        program = "import os; os.makedirs(os.path.join('.'), exist_ok=True)"
        found = ask(borrowed, target, "--", sys.executable, "-c", program)
        counted = found["ran"]
        assert isinstance(counted, dict)
        assert found["module"] == name
        assert found["copies"] == []
        is_told = sys.version_info >= (3, 12)
        assert bool(counted["cannot_be_told"]) is not is_told
        assert bool(counted["count"]) is is_told


def test_what_a_class_inherits_is_said_to_be_left_out(borrowed: Whet) -> None:
    said = borrowed("where", "names:Mixed", "--", sys.executable, "main.py")

    assert "whet doesn't count the methods that `Mixed` inherits from `base.Base`" in said.stdout
    assert "the command called none of its own methods" in said.stdout


def test_the_script_is_the_module_of_its_package_and_its_threads_count(whet: Whet) -> None:
    whet.write("pkg/__init__.py", "")
    whet.write(
        "pkg/tool.py",
        "import threading\nshort = lambda: 1\ndef work(): short()\n"
        "for _ in range(3):\n"
        "    one = threading.Thread(target=work); one.start(); one.join()\n",
    )

    for target in ("pkg.tool:work", "pkg/tool.py:work", "pkg.tool:short"):
        assert ran(whet, target, "--", sys.executable, "pkg/tool.py")["count"] == 3


@pytest.mark.long
def test_modules_that_pytest_rewrites_count(whet: Whet) -> None:
    whet.write(
        "conftest.py",
        "import pytest\n@pytest.fixture\ndef thing(): return aid()\ndef aid(): pass\n",
    )
    whet.write(
        "tests/test_it.py",
        "def helper(x):\n    assert x\n    return x\n"
        "def test_one(thing): assert helper(1)\ndef test_two(thing): assert helper(2)\n",
    )
    command = ("--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")

    for target in ("tests/test_it.py:helper", "conftest:aid", "conftest:thing"):
        assert ran(whet, target, *command)["count"] == 2


def test_of_a_large_module_every_function_counts(whet: Whet) -> None:
    whet.write("large.py", "".join(f"def f{n}(): pass\n" for n in range(600)))
    whet.write("main.py", "import large\nlarge.f0(); large.f599()\n")

    calls = _list(ran(whet, "large", "--", sys.executable, "main.py")["calls"])

    assert [each["function"] for each in calls if isinstance(each, dict)] == ["f0", "f599"]


def test_a_module_in_a_zip_file_is_not_said_to_have_been_left_alone(whet: Whet) -> None:
    with zipfile.ZipFile(whet.folder / "lib.zip", "w") as archive:
        archive.writestr("packed.py", "def inside(): pass\n")
    whet.write("main.py", "import packed\npacked.inside()\n")

    found = ran(
        whet, "packed:inside", "--", sys.executable, "main.py",
        PYTHONPATH=str(whet.folder / "lib.zip"),
    )  # fmt: skip

    assert found["count"] == 1 or "zip" in str(found["cannot_be_told"])


def test_what_another_loader_compiles_cannot_be_told(whet: Whet) -> None:
    whet.write("odd.py", "def inside(): pass\ninside()\n")
    whet.write("main.py", "exec(compile(open('odd.py').read(), 'odd.py', 'exec'))\n")

    found = ran(whet, "odd:inside", "--", sys.executable, "main.py")

    assert found["count"] == 1 or "a custom loader" in str(found["cannot_be_told"])


def test_a_script_that_no_import_can_name_is_found_and_counted(whet: Whet) -> None:
    whet.write("train-model.py", "def f(): pass\nf()\nf()\n")
    said = whet("where", "--json", "train-model.py:f", "--", sys.executable, "train-model.py")

    told = json.loads(said.stdout)
    assert (Path(told["file"]).name, told["ran"]["count"]) == ("train-model.py", 2)


def test_a_file_with_a_dot_in_its_name_is_said_to_be_no_module(whet: Whet) -> None:
    whet.write("a.b.py", "")
    said = whet("where", "a.b.py")

    assert said.code == 64
    assert "`a.b.py` has a dot in its name" in said.stderr
