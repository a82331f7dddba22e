"""A file has one name wherever the code stands, and one owner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.failure import Frame
from whet.core.trial import CodeState, PayloadBinding, Trial
from whet.evidence.signature.ownership import Owner, Ownership, own

CWD = "/home/user/project"
names = st.text("abcdef_", min_size=1, max_size=6)
files = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/".join(parts) + ".py")


def ownership(*command: str, cwd: str = CWD, repository: str = "") -> Ownership:
    code = CodeState(repository=repository, commit="c", tree="t") if repository else None
    return Ownership.of(Trial(command=command, cwd=cwd, code=code))


@given(files)
def test_a_file_has_the_same_name_in_the_project_in_a_copy_and_in_a_worktree(file: str) -> None:
    trial = Trial(command=("python", "x.py"), cwd=CWD)

    assert {
        Ownership.of(trial).locate(file).file,
        Ownership.of(trial).locate(f"./{file}").file,
        Ownership.of(trial).locate(f"{CWD}/{file}").file,
        Ownership.of(trial).locate(f"/tmp/whet-ab3defgh/{file}").file,
        Ownership.of(trial).locate(f"/tmp/whet-ab3defgh/whet-Xy3defgh/{file}").file,
        Ownership.of(trial).locate(f"/var/tmp/whet-ab3defgh/worktree-2/{file}").file,
        Ownership.of(trial, roots=["/srv/slot/3"]).locate(f"/srv/slot/3/{file}").file,
    } == {file}


@given(files, st.text("abz0189_", min_size=8, max_size=8))
def test_a_file_in_a_temporary_folder_has_the_same_name_each_time(file: str, chance: str) -> None:
    """Wherever temporary files go: `TMPDIR` may lie in the project."""
    for folder in ("/tmp", CWD, f"{CWD}/tmp", "/dev/shm/state", "/srv/scratch"):
        assert ownership().locate(f"{folder}/tmp{chance}/{file}").file == file
    assert ownership(cwd=f"/tmp/tmp{chance}").locate(file).file == file


@given(files)
def test_a_file_is_named_from_the_top_of_the_repository(file: str) -> None:
    in_folder = ownership(cwd=f"{CWD}/scripts", repository=CWD)

    assert in_folder.locate(f"{CWD}/{file}").file == file
    assert in_folder.locate(f"../{file}").file == file
    assert in_folder.locate("run.py").file == "scripts/run.py"


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/usr/lib/python3.11/json/decoder.py", "json/decoder.py"),
        ("/opt/python/lib/python3.13t/json/decoder.py", "json/decoder.py"),
        ("/home/user/project/.venv/lib/python3.12/site-packages/yaml/scanner.py",
         "yaml/scanner.py"),
        ("/usr/lib/python3/dist-packages/yaml/scanner.py", "yaml/scanner.py"),
        ("/x/lib/python3.8/site-packages/pkg-1.0-py3.8.egg/pkg/a.py", "pkg/a.py"),
        ("/usr/lib/python311.zip/json/decoder.py", "json/decoder.py"),
        (r"C:\Python312\Lib\json\decoder.py", "json/decoder.py"),
        ("<frozen runpy>", "runpy.py"),
        ("/usr/lib/python3.13/pathlib/_local.py", "pathlib.py"),
        ("/usr/lib/python3.11/re/_parser.py", "sre_parser.py"),
        ("/usr/lib/python3.10/sre_parse.py", "sre_parser.py"),
        ("/x/site-packages/numpy/core/numeric.py", "numpy/_core/numeric.py"),
    ],
)  # fmt: skip
def test_a_library_file_is_named_from_the_folder_of_packages(path: str, file: str) -> None:
    located = ownership().locate(path)

    assert (located.file, located.owner) == (file, Owner.LIBRARY)


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/home/user/other/tool.py", "other/tool.py"),
        ("/root/tool.py", "tool.py"),
        ("/tmp/tmpab12cd34/tool.py", "tool.py"),
        ("/opt/site/tool.py", "opt/site/tool.py"),
        ("<stdin>", "<stdin>"),
        ("/tmp/ipykernel_71/2093.py", "<cell>"),
        ("<ipython-input-3-5f2a>", "<cell>"),
        ("Cell In[3]", "<cell>"),
    ],
)
def test_what_is_no_library_is_the_users_code(path: str, file: str) -> None:
    located = ownership().locate(path)

    assert (located.file, located.owner) == (file, Owner.USER)


def test_code_in_a_string_is_the_users_where_the_command_holds_it() -> None:
    assert ownership("python", "-c", "f()").locate("<string>").owner is Owner.USER
    assert ownership("python", "x.py").locate("<string>").owner is Owner.GENERATED


@pytest.mark.parametrize(
    ("command", "owner"),
    [
        (["python3.11", "-X", "dev", "-Ic", "f()"], Owner.USER),
        (["timeout", "5", "/usr/bin/python", "-cf()"], Owner.USER),
        (["sh", "-c", "cd /p && python -W error -c 'f()' < /dev/null"], Owner.USER),
        (["sh", "-c", "cd /p && python x.py -c own.toml < /dev/null"], Owner.GENERATED),
        (["sh", "-c", "echo 'unfinished"], Owner.GENERATED),
        (["python", "x.py", "-c", "own.toml"], Owner.GENERATED),
        (["python", "-m", "x", "-c", "own.toml"], Owner.GENERATED),
        (["python", "-W", "-c", "x.py"], Owner.GENERATED),
        (["./x", "-c", "own.toml", "-"], Owner.GENERATED),
    ],
)
def test_an_option_of_a_program_makes_no_generated_code_the_users(
    command: list[str], owner: Owner
) -> None:
    # The `__init__` of a dataclass stands in `<string>` too.
    assert ownership(*command).locate("<string>").owner is owner


@pytest.mark.parametrize(
    "path",
    ["<attrs generated init app.Row>", "<__array_function__ internals>", "<eval_with_key>.12",
     "<frozen importlib._bootstrap>", "/srv/whet/src/whet/agent/start.py"],
)  # fmt: skip
def test_what_a_program_or_whet_wrote_is_neither(path: str) -> None:
    assert ownership().locate(path).owner is Owner.GENERATED


def test_the_number_in_the_name_of_generated_code_does_not_count() -> None:
    located = ownership()

    assert located.locate("<eval_with_key>.12").file == located.locate("<eval_with_key>.3").file


def test_the_copy_of_a_payload_that_is_a_program_has_the_name_of_the_original() -> None:
    binding = PayloadBinding(argument=1, text="cases/repro.py", name="repro.py", digest="d")
    trial = Trial(command=("python", "cases/repro.py"), cwd=CWD, payloads=(binding,))
    marked = PayloadBinding(argument=1, text="{}", name="repro.py", digest="d")
    unnamed = Trial(command=("python", "{}"), cwd=CWD, payloads=(marked,))

    copy = "/tmp/whet-ab3defgh/17/repro.py"
    assert Ownership.of(trial).locate(copy).file == "cases/repro.py"
    assert Ownership.of(trial).locate("cases/repro.py").file == "cases/repro.py"
    assert Ownership.of(unnamed).locate(copy).file == "repro.py"


def test_a_file_beside_the_copy_of_a_payload_has_the_name_that_it_has_beside_the_original() -> None:
    binding = PayloadBinding(
        argument=1, text="{}", name="repro.py", digest="d", beside=f"{CWD}/cases"
    )
    located = Ownership.of(Trial(command=("python", "{}"), cwd=CWD, payloads=(binding,)))

    assert located.locate("/tmp/whet-ab3defgh/0/helper.py").file == "cases/helper.py"
    assert located.locate("/tmp/whet-ab3defgh/0/repro.py").file == "cases/repro.py"
    assert located.locate("/tmp/whet-ab3defgh/1/helper.py").file == "helper.py"


def stack(*functions: tuple[str, str]) -> list[tuple[Frame, int]]:
    return [
        (Frame(path=path, line=number, function=function, in_user_code=False), 1)
        for number, (path, function) in enumerate(functions)
    ]


def test_a_comprehension_counts_to_its_function_as_from_3_12_on() -> None:
    older = own(stack(("a.py", "f"), ("a.py", "<listcomp>"), ("a.py", "g")), ownership())
    newer = own(stack(("a.py", "f"), ("a.py", "g")), ownership())

    assert [frame.place for frame in older] == [frame.place for frame in newer]


def test_a_function_is_named_without_what_it_stands_in() -> None:
    qualified = own(stack(("a.py", "C.f.<locals>.g"), ("a.py", "<lambda>")), ownership())

    assert [frame.place for frame in qualified] == ["a.py:g", "a.py:<lambda>"]


def test_a_comprehension_whose_function_is_not_shown_is_still_a_frame() -> None:
    alone = own(stack(("a.py", "<setcomp>")), ownership())

    assert [frame.place for frame in alone] == ["a.py:<comprehension>"]
