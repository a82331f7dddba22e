"""Whose doing a save was that came while the program ran."""

from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.execution.warm import Start
from whet.host.process.messages import APPEND, OTHER, REMOVE, WRITE, LastingEffect
from whet.workbench.loop.meanwhile import Meanwhile


def _learnt(
    meanwhile: Meanwhile, path: Path, changed: Collection[str] | None = (), *, is_newer: bool = True
) -> tuple[str, ...]:
    """Let a file be saved during a run; return what the loop learns when that is over.

    Args:
        meanwhile: of the loop.
        path: the file.
        changed: what the run has changed; None: there may be more.
        is_newer: it was saved after the program might have read it.
    """
    meanwhile.begin(lambda _: is_newer)
    assert not meanwhile.ends_the_run(str(path), counts=meanwhile.counts(str(path)))
    meanwhile.end(Start(changed_files=None if changed is None else frozenset(changed)), ())
    return meanwhile.by_others()


_FOUND = set[str]()
_MANY = 100


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "made" / "data"
    path.parent.mkdir()
    path.write_text("1")
    return path


def _of(folder: Path, *, is_reset: bool = False) -> Meanwhile:
    return Meanwhile(
        folder, ("python", "main.py"), (), is_reset=is_reset, has_found=lambda path: path in _FOUND
    )


def test_what_the_run_has_not_changed_was_saved_by_somebody_else(
    tmp_path: Path, saved: Path
) -> None:
    assert _learnt(_of(tmp_path), saved, [str(tmp_path / "made" / "other")]) == (str(saved),)


@pytest.mark.parametrize(
    "changed", [["made/data"], ["made"], None], ids=["the file", "its folder", "who knows"]
)
def test_what_the_run_may_have_changed_is_its_own(
    tmp_path: Path, saved: Path, changed: list[str] | None
) -> None:
    paths = None if changed is None else [str(tmp_path / each) for each in changed]

    assert _learnt(_of(tmp_path), saved, paths) == ()


def test_what_was_saved_before_the_program_could_read_it_is_known_to_it(
    tmp_path: Path, saved: Path
) -> None:
    assert _learnt(_of(tmp_path), saved, is_newer=False) == ()


def test_a_file_that_is_gone_was_nobody_s(tmp_path: Path, saved: Path) -> None:
    saved.unlink()

    assert _learnt(_of(tmp_path), saved) == ()


def test_a_file_that_is_gone_and_was_found_was_removed_by_somebody_else(
    tmp_path: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved.unlink()
    monkeypatch.setitem(globals(), "_FOUND", {str(saved)})

    assert _learnt(_of(tmp_path), saved) == (str(saved),)
    assert _learnt(_of(tmp_path), saved, [str(saved)]) == ()


def test_what_is_saved_while_reset_steps_may_write_is_nobody_s(tmp_path: Path, saved: Path) -> None:
    assert _learnt(_of(tmp_path, is_reset=True), saved) == ()


def test_a_file_that_brings_one_run_after_the_other_is_the_program_s_in_the_end(
    tmp_path: Path, saved: Path
) -> None:
    meanwhile = _of(tmp_path)
    found = [_learnt(meanwhile, saved) for _ in range(_MANY + 3)]

    assert found == [(str(saved),)] * _MANY + [()] * 3


def test_a_file_that_is_saved_now_and_then_is_the_user_s_for_ever(
    tmp_path: Path, saved: Path
) -> None:
    meanwhile, other = _of(tmp_path), tmp_path / "other"
    other.write_text("1")
    found = [_learnt(meanwhile, path) for _ in range(8) for path in (saved, other)]

    assert all(found)


def test_what_an_earlier_run_has_written_may_be_saved_by_somebody_else_later(
    tmp_path: Path, saved: Path
) -> None:
    meanwhile = _of(tmp_path)
    meanwhile.begin(lambda _: True)
    meanwhile.end(
        Start(effects=(LastingEffect(WRITE, str(saved)),), changed_files=frozenset({str(saved)})),
        (),
    )

    assert _learnt(meanwhile, saved) == (str(saved),)


@settings(max_examples=25)
@given(
    kind=st.sampled_from((WRITE, APPEND, REMOVE)),
    name=st.from_regex(r"[a-z {}]{1,9}\.py", fullmatch=True),
)
def test_what_a_program_writes_or_appends_to_is_its_own_and_no_sentence_says_so(
    kind: str, name: str
) -> None:
    path = f"/project/{name}"
    effect, meanwhile, misread = (
        LastingEffect(kind, path),
        _of(Path("/project")),
        _of(Path("/project")),
    )
    meanwhile.end(Start(effects=(effect,)), ())
    misread.end(Start(effects=(LastingEffect(OTHER, says=str(effect)),)), ())

    assert not meanwhile.counts(path)
    assert misread.counts(path)


def test_a_save_is_learnt_of_once(tmp_path: Path, saved: Path) -> None:
    meanwhile = _of(tmp_path)

    assert _learnt(meanwhile, saved)
    assert meanwhile.by_others() == ()


def test_what_is_heard_of_late_counts_as_well(tmp_path: Path, saved: Path) -> None:
    meanwhile = _of(tmp_path)
    meanwhile.begin(lambda _: True)
    meanwhile.end(Start(changed_files=frozenset({str(tmp_path / "out")})), ())

    assert meanwhile.is_by_others(str(saved))
    assert not meanwhile.is_by_others(str(tmp_path / "out"))


def test_what_is_written_soon_after_each_end_brings_many_runs_and_is_told_once(
    tmp_path: Path, saved: Path
) -> None:
    meanwhile, brings, news = _of(tmp_path), list[bool](), list[tuple[str, ...]]()
    for _ in range(_MANY + 3):
        meanwhile.begin(lambda _: False)
        meanwhile.end(Start(changed_files=frozenset()), ())
        news.append(meanwhile.news())
        brings.append(not meanwhile.is_echo(str(saved), 1_000_000))

    assert brings == [True] * _MANY + [False] * 3
    assert list(filter(None, news)) == [(str(saved),)]
    assert not meanwhile.is_echo(str(saved), 2_000_000_000)  # somebody had to think first


def test_what_is_watched_is_no_echo(tmp_path: Path) -> None:
    meanwhile = _of(tmp_path)
    for _ in range(_MANY + 3):
        meanwhile.begin(lambda _: False)
        meanwhile.end(Start(changed_files=frozenset()), ())
        assert not meanwhile.is_echo(str(tmp_path / "main.py"), 1_000_000)


def _ran(meanwhile: Meanwhile, *saved: str) -> tuple[str, ...]:
    """Make a run that some saves have brought; return what is told of at its end."""
    meanwhile.begin(lambda _: False, saved)
    meanwhile.end(Start(changed_files=frozenset()), ())
    return meanwhile.news()


def test_files_of_other_names_that_are_written_soon_after_each_end_bring_many_runs(
    tmp_path: Path,
) -> None:
    meanwhile = _of(tmp_path)
    names = [str(tmp_path / f"report{number}") for number in range(_MANY + 3)]
    brought, news = list[str](), list[tuple[str, ...]]()
    _ran(meanwhile)
    for name in names:
        if not meanwhile.is_echo(name, 1_000_000):
            brought.append(name)
            news.append(_ran(meanwhile, name))

    assert brought == names[:_MANY]
    assert list(filter(None, news)) == [(names[_MANY - 1],)]
    _ran(meanwhile, str(tmp_path / "main.py"))
    assert not meanwhile.is_echo(names[0], 1_000_000)


def test_a_file_that_is_not_written_after_some_ends_is_somebody_s_again(
    tmp_path: Path, saved: Path
) -> None:
    meanwhile = _of(tmp_path)
    while not meanwhile.is_echo(str(saved), 1_000_000):
        _ran(meanwhile)

    for _ in range(3):
        _ran(meanwhile, str(tmp_path / "main.py"))

    assert not meanwhile.is_echo(str(saved), 1_000_000)


def test_what_the_program_has_written_makes_no_verification_doubtful(
    tmp_path: Path, saved: Path
) -> None:
    meanwhile = _of(tmp_path)
    meanwhile.begin(lambda _: True)
    for path in (saved, tmp_path / "other"):
        meanwhile.ends_the_run(str(path), counts=False)
    meanwhile.end(Start(effects=(LastingEffect(WRITE, str(saved)),)), ())

    assert meanwhile.by_nobody() == (str(tmp_path / "other"),)
