"""What was not committed does not leave with the repository, whichever way that goes."""

import subprocess
from pathlib import Path

import pytest
from user_repository import UserRepository

from whet.host.code.code_snapshots import take_snapshot

WAYS_OUT = {
    "push --mirror": ("push --quiet --mirror ../other",),
    "push --all": ("push --quiet --all ../other",),
    "push of all references": ("push --quiet ../other +refs/*:refs/*",),
    "clone": ("clone --quiet . ../copy",),
    "clone --mirror": ("clone --quiet --mirror . ../copy",),
    "clone --no-local": ("clone --quiet --no-local . ../copy",),
    "bundle": ("bundle create --quiet ../copy --all",),
    "a fetch of all": ("-C ../other fetch --quiet ../project +refs/*:refs/*",),
    "gc and a copy": ("gc --quiet", "clone --quiet . ../copy"),
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_nothing_that_was_not_committed_leaves_with_the_repository(
    tmp_path: Path, way: str
) -> None:
    user = UserRepository.with_two_files(tmp_path / "home" / "project")
    secret = "PASSWORD=correct-horse-battery-staple"
    user.write(".env", secret)
    user.write("train.py", "a\nc\n")
    code = take_snapshot(user.top, state=tmp_path / "state").code
    assert code is not None
    names = user.whets("rev-list", "--objects", "--no-object-names", str(code.snapshot))
    UserRepository.make(user.top.parent / "other", "--bare")

    for each in WAYS_OUT[way]:
        user.git(*each.split())

    committed = set(user.git("rev-list", "--objects", "--no-object-names", "--all").split())
    kept = set(names.split()) - committed
    assert kept
    for there in (user.top, user.top.parent / "other", user.top.parent / "copy"):
        if there.is_dir():
            asked = subprocess.run(
                ["git", "cat-file", "--batch-check"], cwd=there, check=True, capture_output=True,
                input="\n".join(sorted(kept)).encode(),
            )  # fmt: skip
            assert asked.stdout.count(b" missing") == len(kept)
    for path in user.top.parent.rglob("*"):
        if path.is_file() and path.name != ".env":
            assert secret.encode() not in path.read_bytes()


def test_what_whet_keeps_in_a_home_that_is_a_repository_is_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = UserRepository.with_two_files(tmp_path / "home")
    monkeypatch.setenv("XDG_STATE_HOME", str(user.top / "kept" / "state"))
    user.write("train.py", "a\nc\n")

    found = [
        take_snapshot(user.top, state=user.top / "kept" / "state" / "whet" / "projects" / "home")
        for _ in range(3)
    ]

    assert found[0].code is not None
    assert [each.code for each in found] == [found[0].code] * 3
    kept = user.whets("ls-tree", "-r", "--name-only", str(found[0].code.snapshot)).split()
    assert kept == ["package/model.py", "train.py"]
