"""Whether a change adds a line, or puts it in place of another one."""

import difflib

from hypothesis import given
from hypothesis import strategies as st

from whet.workbench.bisect.added_line import adds

LINES = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)


def diff_of(old: list[str], new: list[str]) -> list[str]:
    head = ["diff --git a/app.py b/app.py", "index 1..2 100644"]
    return [*head, *difflib.unified_diff(old, new, "a/app.py", "b/app.py", lineterm="")]


@given(LINES, st.integers(0, 8))
def test_a_line_put_between_others_is_added(lines: list[str], at: int) -> None:
    diff = diff_of(lines, [*lines[:at], "  fails()", *lines[at:]])

    assert adds(diff, "app.py", "fails()")
    assert not adds(diff, "other.py", "fails()")
    assert not adds(diff, "app.py", lines[0])


@given(LINES, st.data())
def test_a_line_put_in_place_of_another_one_is_not_added(
    lines: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))

    assert not adds(diff_of(lines, [*lines[:at], "fails()", *lines[at + 1 :]]), "app.py", "fails()")


def test_each_line_of_a_new_file_is_added() -> None:
    head = [
        "diff --git a/b c.py b/b c.py",
        "new file mode 100644",
        "--- /dev/null",
        "+++ b/b c.py\t",
    ]

    assert adds([*head, "@@ -0,0 +1,2 @@", "+x = 1", "+fails()", ""], "b c.py", "fails()")
