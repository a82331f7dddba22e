"""A PDF file is shrunk by its objects, and each candidate has a cross-reference table that is right."""

import io
import re
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges, shrunk, shrunk_ahead
from PIL import Image

from whet.reduction.formats.binary import pdf
from whet.reduction.formats.documents.packed import Pairs, tagged
from whet.reduction.payload_kinds import kinds_of, readable


def stream(head: str, content: bytes, *, is_packed: bool = False) -> bytes:
    packed = zlib.compress(content) if is_packed else content
    how = " /Filter /FlateDecode" if is_packed else ""
    return f"<< {head} /Length {len(packed)}{how} >>\nstream\n".encode() + packed + b"\nendstream"


def written(objects: dict[int, bytes], trailer: str = "/Root 1 0 R") -> bytes:
    """Return a file as an older writer makes it."""
    payload, places = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", dict[int, int]()
    for number, text in objects.items():
        places[number] = len(payload)
        payload += b"%d 0 obj\n%b\nendobj\n\n" % (number, text)
    start = len(payload)
    payload += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    payload += b"".join(b"%010d 00000 n \n" % place for place in places.values())
    payload += f"trailer << {trailer} /Size {len(objects) + 1} >>\n".encode()
    return payload + b"startxref\n%d\n%%%%EOF\n" % start


def pages(size: int = 40, turned: int = 23) -> bytes:
    """Return pages, one of which is turned in an odd way."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(size))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {size} >>".encode(),
    }
    for number in range(size):
        turn = " /Rotate 45" if number == turned else ""
        head = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200.50]{turn}"
        objects[3 + 2 * number] = f"{head} /Contents {4 + 2 * number} 0 R >>".encode()
        text = f"BT\n/F1 12 Tf\n(page {number} \\(x\\)) Tj\nET\n".encode() * 5
        objects[4 + 2 * number] = stream("", text, is_packed=number % 2 == 0)
    return written(objects)


def checked(payload: bytes) -> dict[int, bytes]:
    """Return the objects of a file where its cross-reference table says they are."""
    assert payload.startswith(b"%PDF-")
    found = re.fullmatch(rb".*startxref\n(\d+)\n%%EOF\n", payload, re.DOTALL)
    assert found is not None
    table, _, trailer = payload[int(found[1]) :].partition(b"trailer\n")
    head, *lines = table.split(b"\n")
    assert head == b"xref"
    assert b"/Root " in trailer
    objects: dict[int, bytes] = {}
    number = 0
    for line in filter(None, lines):
        if line.endswith(b" n "):
            assert len(line) == 19
            place = int(line[:10])
            assert payload.startswith(b"%d 0 obj\n" % number, place)
            objects[number] = payload[place:].partition(b"\nendobj\n")[0]
            length = re.search(rb"/Length (\d+)>>\nstream\n", objects[number])
            if length is not None:
                assert payload.startswith(
                    b"\nendstream\nendobj\n", place + length.end() + int(length[1])
                )
            number += 1
        elif not line.endswith(b" f "):
            number = int(line.split()[0])
    return objects


def has_an_odd_turn(payload: bytes) -> bool:
    """Walk the pages as a viewer does; what has no pages is refused."""
    objects = checked(payload)
    tree = next((each for each in objects.values() if b"/Type /Pages" in each), None)
    if tree is None:
        raise ValueError("no pages")
    kids = re.search(rb"/Kids \[([^\]]*)\]", tree)
    numbers = [] if kids is None else [int(each) for each in re.findall(rb"(\d+) 0 R", kids[1])]
    if f"/Count {len(numbers)}>>".encode() not in tree:
        raise ValueError("another number of pages")
    return any(b"/Rotate 45" in objects.get(number, b"") for number in numbers)


def test_one_page_of_many_is_left_in_few_trials() -> None:
    payload = pages()

    done = shrunk(payload, fails_if(has_an_odd_turn))

    assert done.reduction.payload.count(b" obj\n") <= 3
    assert len(done.reduction.payload) < 330
    assert done.calls <= 240, "ask for the reason before raising this"
    assert shrunk_ahead(payload, fails_if(has_an_odd_turn), 3) == done.reduction


@given(st.integers(1, 3), odd_judges())
@settings(max_examples=8)
def test_every_candidate_has_a_right_table(size: int, judge: Judge) -> None:
    done = shrunk(pages(size, 0), judge, format_name="pdf")

    for candidate, _ in done.told:
        checked(candidate.data)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**40), 2**40),
    st.sampled_from([0.5, -1.25, 3.0]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=9),
    st.text(st.characters(max_codepoint=255), max_size=5).map(lambda text: f"/{text}"),
    st.binary(min_size=1, max_size=9).map(lambda raw: tagged("!bytes", (raw + b"\0").hex())),
    st.just(tagged("!ref", 7)),
)
VALUES: st.SearchStrategy[object] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple),
        st.lists(st.tuples(st.sampled_from(["/A", "/B c", "/#"]), inner), max_size=3).map(
            lambda items: Pairs(tuple(items))
        ),
    ),
    max_leaves=9,
)


@given(VALUES)
def test_values_come_back(value: object) -> None:
    trailer = Pairs((("/Root", tagged("!ref", 1)), ("/X", value)))
    payload = pdf.pack([Pairs((("version", "1.7"), ("trailer", trailer)))])

    checked(payload)
    assert pdf.unpack(payload) == [Pairs((("version", "1.7"), ("trailer", trailer)))]


def test_objects_in_streams_and_bytes_of_no_known_form_are_kept() -> None:
    inner = b"1 0 2 35 << /Type /Catalog /Pages 2 0 R >>  << /Type /Pages /Kids [] /Count 0 >>"
    payload = b"%PDF-1.5\n" + b"".join(
        b"%d 0 obj %b endobj\n" % (number, text)
        for number, text in (
            (3, stream("/Type /ObjStm /N 2 /First 9", inner, is_packed=True)),
            (4, stream("/Filter /DCTDecode", b"\xff\xd8 endstrea")),
            (5, stream("/Type /XRef /Root 1 0 R /Info 4 0 R /W [1 2 1]", b"\0\1", is_packed=True)),
        )
    )

    (document,) = pdf.unpack(payload)
    left = checked(pdf.pack([document]))

    assert left[1] == b"1 0 obj\n<</Type /Catalog /Pages 2 0 R>>"
    assert left[2] == b"2 0 obj\n<</Type /Pages /Kids [] /Count 0>>"
    assert b"/DCTDecode" in left[4]
    assert b"\xff\xd8 endstrea\nendstream" in left[4]


def test_a_file_of_a_library_is_read() -> None:
    file = io.BytesIO()
    Image.new("RGB", (9, 9), (9, 99, 200)).save(file, "PDF", title="a (b) \u00e9")

    objects = checked(pdf.pack(pdf.unpack(file.getvalue())))

    assert any(b"/Subtype /Image" in each for each in objects.values())
    assert any(b"/Count 1" in each for each in objects.values())


def test_what_a_person_reads() -> None:
    payload = written({1: b"<</A (x\\)\\101\\\ny) /B <ff0> /C 2 0 R>>", 2: stream("", b"q\nQ\n")})

    assert readable(payload) == (
        '{"version": "1.4", "trailer": {"/Root": {"!object": 1, "value": {"/A": "x)Ay", "/B": '
        '{"!bytes": "ff00"}, "/C": {"!object": 2, "value": {"!stream": ["q\\n", "Q\\n"], "dict": {}}}}}}}'
    )


def test_a_chain_of_objects_is_read_however_long_it_is() -> None:
    objects = {number: b"<</Next %d 0 R>>" % (number + 1) for number in range(1, 900)}
    payload = written(objects)

    assert kinds_of(payload)[0].name == "pdf"
    assert len(checked(pdf.pack(pdf.unpack(payload)))) == 899


@pytest.mark.parametrize(
    "payload",
    [
        b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n",  # it names no first object
        b"%PDF-1.4\ntrailer << /Root 1 0 R",
        b"%PDF-1.4\n1 0 obj " + b"[" * 500 + b"]" * 500 + b" endobj trailer <</Root 1 0 R>>",
        b"%PDF-1.4\n99999999 0 obj 1 endobj trailer <</Root 99999999 0 R>>",
        written({1: stream("", b"\0" * 17_000_000, is_packed=True)}),
        written({1: b"(" * 99}),
        b"text about %PDF",
    ],
    ids=range(7),
)
def test_what_is_no_pdf(payload: bytes) -> None:
    kinds = kinds_of(payload)
    again = kinds[0].again

    assert kinds[0].name != "pdf" or (again is not None and not again(payload))
