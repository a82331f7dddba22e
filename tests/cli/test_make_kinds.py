"""`whet make` of each kind: printed, written, the same each time, and refused with the next step."""

import io
import json
import wave

import pytest
from whet_command import Whet

KINDS = {
    "array": ("a.npy", "[[1, 2], [3, 4]]\n"),
    "table": ("a.csv", "a,b\n1,2\n3,4\n"),
    "text": ("a.txt", "1 2\n3 4\n"),
    "tokens": ("a.json", "[[1, 2, 3, 4], [5, 6, 7, 8]]\n"),
    "json": ("a.json", '{\n "a": 1,\n "b": 2\n}\n'),
    "image": ("a.png", "[[1, 2], [3, 4]]\n"),
    "sound": ("a.wav", "[[1], [2], [3], [4]]\n"),
    "bytes": ("a.bin", "00000000  01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10\n"),
    "tree": ("a", "file1.txt\nfile2.txt\n"),
    "sqlite": ("a.db", "BEGIN TRANSACTION;\n"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_printed_small_and_counts(whet: Whet, kind: str) -> None:
    said = whet("make", kind)

    assert said.code == 0
    assert said.stdout.startswith(KINDS[kind][1])
    assert said.stderr.startswith("whet: ")
    assert said.stderr.endswith(", count\n")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_file_that_is_told_as_json(whet: Whet, kind: str) -> None:
    name = KINDS[kind][0]
    facts = json.loads(whet("make", kind, "-o", name, "--json").stdout)

    path = whet.folder / name
    assert path.exists()
    assert facts["file"] == str(path)
    assert facts["fill"] == "count"


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"tree"}))
def test_each_kind_is_the_same_each_time_and_another_with_another_seed(
    whet: Whet, kind: str
) -> None:
    name = KINDS[kind][0]
    made: list[bytes] = []
    for seed in ("1", "1", "2"):
        whet("make", kind, "--fill", "random", "--seed", seed, "-o", name)
        made.append((whet.folder / name).read_bytes())

    assert made[0] == made[1]
    assert made[0] != made[2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_edges_of_each_kind_are_written(whet: Whet, kind: str) -> None:
    said = whet("make", kind, "--fill", "edge", "-o", KINDS[kind][0])

    assert said.code == 0, said.stderr
    assert (whet.folder / KINDS[kind][0]).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_fill_is_answered_with_the_closest(whet: Whet, kind: str) -> None:
    said = whet("make", kind, "--fill", "cuont", "-o", KINDS[kind][0])

    assert said.code == 64
    assert "`cuont` is not a fill" in said.stderr
    assert "did you mean `count`" in said.stderr
    assert list(whet.folder.iterdir()) == []


def test_json_is_made_by_a_schema_or_like_a_document(whet: Whet) -> None:
    whet.write("schema.json", '{"properties": {"id": {"type": "integer", "minimum": 5}}}')
    whet.write("real.json", '{"rows": [{"id": 17, "name": "Ada"}]}')

    by_schema = json.loads(whet("make", "json", "--schema", "schema.json").stdout)
    alike = json.loads(whet("make", "json", "--like", "real.json", "--items", "1").stdout)

    assert by_schema == {"id": 5}
    assert alike == {"rows": [{"id": 1, "name": "name2"}]}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["json", "--schema", "gone.json"], 66, "there is no file `gone.json`"),
        (["json", "--schema", "broken.json"], 64, "`broken.json` isn't JSON"),
        (["json", "--like", "broken.json", "--schema", "broken.json"], 64, "exclude each other"),
        (["bytes", "--size", "many"], 64, "`--size many` isn't a size"),
        (["bytes", "--size", "900T"], 69, "of memory are left"),
        (["image", "-o", "a.pgn"], 64, "`.pgn` is not a file of images"),
        (["sound", "-o", "a.mp3"], 64, "`.mp3` is not a file of sound"),
        (["tokens", "-o", "a.txt"], 64, "`.txt` is not a file of tokens"),
        (["tree", "-o", "broken.json"], 73, "is there already"),
        (["tree", "-o", "gone/top"], 66, "is not a folder"),
        (["table", "--columns", "a:itn64"], 64, "`itn64` is not a type of a column"),
    ],
)
def test_what_can_not_be_made_is_said(
    whet: Whet, words: list[str], code: int, message: str
) -> None:
    whet.write("broken.json", "{")

    said = whet("make", *words)

    assert said.code == code, said.stderr
    assert message in said.stderr
    assert "hint: " in said.stderr
    assert [each.name for each in whet.folder.iterdir()] == ["broken.json"]


def test_the_kinds_are_listed_in_their_order(whet: Whet) -> None:
    _, _, listed = whet("make", "--help").stdout.partition("Commands:\n")
    kinds = [line.split()[0] for line in listed.splitlines() if line.strip()]

    assert kinds[:3] == ["array", "tensor", "table"]
    assert {*kinds} - {"tensor"} == {*KINDS}


def test_the_name_of_a_file_may_be_its_ending_alone(whet: Whet) -> None:
    assert whet("make", "array", "-o", ".npy").code == 0


def test_a_tree_is_written_whole(whet: Whet) -> None:
    whet("make", "tree", "--depth", "3", "--width", "2", "-o", "top")

    files = [each for each in (whet.folder / "top").rglob("*") if each.is_file()]
    assert sorted(int(each.read_text()) for each in files) == list(range(1, 15))


def test_a_sound_and_tokens_are_read_by_the_standard_library(whet: Whet) -> None:
    whet("make", "sound", "--frames", "10", "--channels", "2", "-o", "a.wav")
    whet("make", "tokens", "--vocab", "5", "-o", "a.json")

    with wave.open(io.BytesIO((whet.folder / "a.wav").read_bytes())) as read:
        assert (read.getnframes(), read.getnchannels()) == (10, 2)
    assert json.loads((whet.folder / "a.json").read_text()) == [[1, 2, 3, 4], [0, 1, 2, 3]]


def test_a_coordinate_in_an_image_and_in_a_text_is_explained(whet: Whet) -> None:
    words = ["--fill", "coordinates", "-o"]
    whet("make", "image", "--dtype", "uint16", "--width", "9", "--height", "9", *words, "a.png")
    whet("make", "text", "--lines", "9", "--words", "9", *words, "a.txt")

    lines = whet("make", "--explain", "4005").stdout.splitlines()

    assert [line.split(" (")[0] for line in lines] == [
        "element [4, 5] of `a.txt`",
        "element [4, 5] of `a.png`",
    ]
