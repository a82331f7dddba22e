"""Each place that makes words of a shell says here how what it prints is known to work.

A line that shows a failure goes through `whet.workbench.files.pasted_line`, which runs it first.
"""

import ast
from collections.abc import Iterator

import pytest

from .tree import syntax_of, tracked

PART = "makes parts of a line that `Shell` runs"
SHOWN = "shows what was run, as a reader types it; nothing new is offered"
WRITTEN = "words for a shell that whet itself starts"

HOW_IT_IS_KNOWN = {
    "cli/display/summary": SHOWN,
    "cli/options/log_filter": SHOWN,
    "cli/options/reader_question": "installs: asked first, and run if the user says so",
    "cli/verbs/measuring/profile": SHOWN,
    "cli/verbs/records/show": SHOWN,
    "cli/options/line_of_request": "asks for the run that has just ended, with another number",
    "desk/script": PART,
    "evidence/calls/call_words": "no shell line: a path in a sentence",
    "host/code/project": "adopts: changes what the user has, so it is his to run",
    "host/process/own_command": "run in tests/host/processes/test_own_command.py",
    "host/process/git": "changes a repository, so it is the user's to run",
    "host/trial/known_secrets": "no line: forms in which a secret may be written",
    "host/trial/start_error": "the command did not start, so what it would do is not known: the user's to run",
    "workbench/files/asked_files": "run in tests/cli/test_asked_files.py",
    "workbench/files/recipe": PART,
    "workbench/files/recorded_line": "run with a stand-in for the program, whose words it compares",
    "workbench/files/reproducer": "run by `Shell` in another folder, as a line and as a script",
    "workbench/files/wording": PART,
    "workbench/inspect/post_mortem": SHOWN,
    "workbench/inspect/stacks": SHOWN,
    "workbench/investigate/steps/cost_steps": "the user's words for `whet shrink`: tests/cli/compare/test_slower_than.py",
    "workbench/investigate/steps/costs": "one is run in tests/cli/investigate/test_cost_bounds.py",
    "workbench/investigate/steps/missing_modules": "the command was run so; an installation changes what the user has",
    "workbench/investigate/steps/named_changes": "it is run in tests/cli/investigate/test_investigated_changes.py",
    "workbench/investigate/steps/so_far": SHOWN,
    "workbench/investigate/steps/surroundings": SHOWN,
    "workbench/make/making": "run again, with the same bytes: tests/cli/test_make.py",
    "workbench/parts/smallest_part": "run in a temporary folder before it is printed",
    "workbench/shrink/readers": "run by `install_readers` as it stands",
    "workbench/shrink/shrink_command": PART,
    "workbench/shrink/shrink_search": "the installation of `workbench/shrink/readers`",
    "workbench/starve/limited_shell": WRITTEN,
    "workbench/trials/adopt": SHOWN,
    "workbench/versions/line_on_commit": "run by `Shell` in a temporary checkout",
    "bisection/replay": "`git bisect replay` reads it: tests/cli/bisect/test_commit_search.py",
}

_MAKERS = {
    "whet.desk.one_liner": None,
    "whet.desk.script": None,
    "whet.core.text.shell_words": {"quoted", "joined"},
    "whet.workbench.shrink.readers": {"INSTALL_LINE"},
    "shlex": {"quote", "join"},
}


def _makes_words(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in _MAKERS:
            names = _MAKERS[node.module]
            if names is None or any(alias.name in names for alias in node.names):
                return True
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "shlex"
            and node.attr in {"quote", "join"}
        ):
            return True
    return False


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in tracked("src/whet/*.py"):
        if "src/whet/agent/" not in str(path):
            yield str(path).partition("src/whet/")[2].removesuffix(".py"), syntax_of(path)


def test_each_place_that_makes_words_of_a_shell_says_how_they_are_known_to_work() -> None:
    own = {"desk/one_liner", "core/text/shell_words"}
    places = {name for name, tree in _modules() if _makes_words(tree)} - own

    assert places == set(HOW_IT_IS_KNOWN)


def test_only_what_runs_a_line_makes_one() -> None:
    makers = {
        name
        for name, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"PastedLine", "Reproducer"}
    }

    assert makers == {
        f"workbench/files/{name}" for name in ("pasted_line", "recorded_line", "reproducer")
    }


@pytest.mark.parametrize(
    ("text", "is_one"), [("import shlex\nshlex.quote('')", True), ("1", False)]
)
def test_such_a_place_is_recognised(text: str, *, is_one: bool) -> None:
    assert _makes_words(ast.parse(text)) is is_one
