"""Programs that are not started as `python SCRIPT`: warm they are what they are cold."""

import pytest
from crossed import crossed
from workshop import SLOW, Workshop

pytestmark = pytest.mark.slow

BODY = SLOW + "from . import part\ndef main(x):\n    time.sleep(0.06)\n    print({text})\nmain(1)\n"


def test_a_module_is_run_as_a_script_too(workshop: Workshop) -> None:
    workshop.write({"tool.py": SLOW + "print(open('data').read())\n", "data": "1"})
    workshop.run("-m", "tool")
    workshop.write({"data": "2"})
    workshop.run("-m", "tool")

    assert workshop.starts[1].place


@crossed(
    place=[("pack.tool", "pack/tool.py"), ("pack", "pack/__main__.py"), ("pack.sub", "pack/sub/__main__.py")],
    is_namespace=[True, False],
    text=["__name__, __package__, x", "1 / 0", "__import__('sys').exit(7)"],
)  # fmt: skip
def test_the_rest_of_a_function_of_a_module_is_answered_warm(
    workshop: Workshop, place: tuple[str, str], text: str, *, is_namespace: bool
) -> None:
    module, file = place
    body = BODY.replace("from .", "from pack")
    files = {file: body.format(text="x"), "pack/part.py": "print('part')\n"}
    if not is_namespace:
        files |= {"pack/__init__.py": "print('here')\n", "pack/sub/__init__.py": ""}
    workshop.write(files)
    workshop.run("-m", module)
    workshop.write({file: body.format(text=text)})
    workshop.run("-m", module)

    assert workshop.starts[-1].place == f"{file.rpartition('/')[2]}:6", workshop.starts


@pytest.mark.parametrize(
    "text",
    [
        "import sys, inspect\nprint([f.function for f in inspect.stack()], sys.argv)\n",
        "import tool\nprint(tool is __import__('__main__'))\n",
        "print(sorted(globals()), __file__, __spec__.name, type(__loader__), __cached__)\n",
        pytest.param("import traceback\ndef f(): traceback.print_stack()\nf()\n", marks=pytest.mark.long),
        pytest.param("raise KeyboardInterrupt\n", marks=pytest.mark.long),
        "import atexit\natexit.register(print, 'end')\nraise ValueError(1)\n",
        pytest.param("import sys\nsys.exit('a message')\n", marks=pytest.mark.long),
        pytest.param("import sys\nsys.excepthook = lambda *a: print(a[0], a[2].tb_lineno)\n1 / 0\n", marks=pytest.mark.long),
        "def main(): raise RuntimeError\ntry:\n    main()\nexcept RuntimeError as error:\n    raise ValueError from error\n",
    ],
)  # fmt: skip
def test_a_module_sees_nothing_of_whet(workshop: Workshop, text: str) -> None:
    workshop.write({"tool.py": SLOW + text})
    workshop.run("-m", "tool")
    workshop.write({"tool.py": SLOW + text + "\nprint('more')\n"})
    workshop.run("-m", "tool")


@pytest.mark.parametrize("words", [("-m", "none"), ("-m", "pack"), ("-m", "tool"), ("folder",)])
def test_a_module_that_cannot_be_run_is_what_python_says_of_it(
    workshop: Workshop, words: tuple[str, ...]
) -> None:
    workshop.write({"pack/__init__.py": "", "tool.py": "def\n", "folder/__main__.py": "1 / 0\n"})

    assert workshop.run(*words).exit_code == 1


def console_script(workshop: Workshop, target: str) -> None:
    """Make what an installer makes of an entry point, and let it be what is run."""
    module, _, name = target.partition(":")
    stub = workshop.folder / "bin" / "tool"
    workshop.write({
        "bin/tool": f"#!{workshop.python}\nimport sys\nsys.path.insert(0, {str(workshop.folder)!r})\n"
        f"from {module} import {name}\nif __name__ == '__main__':\n    sys.exit({name}())\n"
    })  # fmt: skip
    stub.chmod(0o755)
    workshop.python = str(stub)


def test_the_rest_of_a_function_of_a_console_script_is_answered_warm(workshop: Workshop) -> None:
    body = "import time\ndef main():\n    time.sleep(0.06)\n    print('before')\n    {}\n"
    console_script(workshop, "pack.cli:main")
    workshop.write({"pack/cli.py": body.format("return 3")})
    workshop.run("word")
    workshop.write({"pack/cli.py": body.format("raise KeyError(1)")})
    workshop.run("word")

    assert workshop.starts[-1].place == "cli.py:4"


def test_what_a_command_line_library_calls_later_may_change(workshop: Workshop) -> None:
    body = SLOW + "import click\n@click.group()\ndef main(): pass\n"
    command = "@main.command()\n@click.option('--n', default=1)\ndef go(n):\n    {}\n"
    console_script(workshop, "pack.cli:main")
    workshop.write({"pack/cli.py": body + command.format("print(n)")})
    workshop.run("go", "--n", "3")
    workshop.write({"pack/cli.py": body + command.format("print(n + 1)")})
    workshop.run("go", "--n", "3")

    assert workshop.starts[-1].place == "tool:5", workshop.starts


@pytest.mark.parametrize(
    "end",
    [
        pytest.param("print(2)", marks=pytest.mark.long),
        "raise KeyError",
        "await later()\n    print(3)",
    ],
)
def test_a_coroutine_that_has_not_been_run_may_change(workshop: Workshop, end: str) -> None:
    text = (
        SLOW + "import asyncio\nasync def later():\n    await asyncio.sleep(0.06)\n"
        "async def main():\n    await later()\n    {}\nif __name__ == '__main__':\n    asyncio.run(main())\n"
    )  # fmt: skip
    workshop.edit(text.format("print(1)"), text.format(end))


@pytest.mark.parametrize("way", ["a path that is added", "an editable install"])
def test_code_beside_the_project_is_followed(workshop: Workshop, way: str) -> None:
    beside = workshop.folder / "beside"
    main = f"import library\n{SLOW}library.f()\n"
    if way == "an editable install":  # what a `.pth` file does when Python starts
        workshop.write({"links/library.pth": f"{beside}\n"})
        main = f"import site\nsite.addsitedir({str(workshop.folder / 'links')!r})\n{main}"
    else:
        main = f"import sys\nsys.path[:0] = [{str(beside)!r}]\n{main}"
    library = "def f(): print({})\n"
    workshop.write({"main.py": main, "beside/library.py": library.format(1)})
    workshop.run()
    workshop.write({"beside/library.py": library.format(2)})
    workshop.run()

    assert workshop.starts[-1].place.startswith("main.py"), workshop.starts
