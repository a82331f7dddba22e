"""A place has one writer, and one that is dead gives it back."""

import subprocess
import sys
from pathlib import Path

from whet.host.files.claims import Claims

HOLDER = """
import sys
from pathlib import Path
from whet.host.files.claims import Claims
claims = Claims(Path(sys.argv[1]))
print(claims.take(Path(sys.argv[2])), flush=True)
sys.stdin.read()
"""


def test_a_place_is_taken_once(tmp_path: Path) -> None:
    mine, other = Claims(tmp_path / "claims"), Claims(tmp_path / "claims")
    place = tmp_path / "result"

    assert (mine.take(place), mine.take(place), other.take(place)) == (True, True, False)
    assert other.take(tmp_path / "another")

    mine.give_back_all()

    assert other.take(place)


def test_another_name_of_the_place_is_the_same_place(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    mine, other = Claims(tmp_path / "claims"), Claims(tmp_path / "claims")

    assert mine.take(tmp_path / "result")
    assert not other.take(tmp_path / "link" / "result")


def test_a_whet_that_is_killed_gives_its_places_back(tmp_path: Path) -> None:
    mine, place = Claims(tmp_path / "claims"), tmp_path / "result"
    words = [sys.executable, "-c", HOLDER, str(tmp_path / "claims"), str(place)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert not mine.take(place)
        holder.kill()

    assert mine.take(place)
    mine.give_back_all()
    assert list((tmp_path / "claims").iterdir()) == []


def test_the_files_of_whets_that_were_killed_are_swept_and_those_in_use_stay(
    tmp_path: Path,
) -> None:
    mine, folder = Claims(tmp_path / "claims"), tmp_path / "claims"
    assert mine.take(tmp_path / "result")
    (kept,) = folder.iterdir()
    (folder / "left").write_bytes(b"")
    (folder / "link").symlink_to(tmp_path / "elsewhere")

    Claims(folder).sweep()

    assert set(folder.iterdir()) == {kept, folder / "link"}
    assert not Claims(folder).take(tmp_path / "result")
