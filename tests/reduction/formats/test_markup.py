"""XML and HTML: what is read as what, exact minima, and candidates that are documents."""

import io
import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.documents.markup_scan import attributes, scan_html, scan_xml
from whet.reduction.formats.documents.markup_tree import HTML, XML, Markup, parse_html, parse_xml
from whet.reduction.order import TEXT
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.reduction.reduction_pass import Stage
from whet.testing.reduction import check_format, check_pass

ATOM = "http://www.w3.org/2005/Atom"


def feed(entries: int) -> bytes:
    """An Atom feed with extensions of other namespaces, as ElementTree writes it."""
    ET.register_namespace("", ATOM)
    ET.register_namespace("media", "http://example.org/media/")
    root = ET.Element(f"{{{ATOM}}}feed")
    ET.SubElement(root, f"{{{ATOM}}}title").text = "News & views <daily>"
    for number in range(entries):
        entry = ET.SubElement(root, f"{{{ATOM}}}entry", {"lang": "en"})
        ET.SubElement(entry, f"{{{ATOM}}}id").text = f"urn:{number}"
        ET.SubElement(entry, f"{{{ATOM}}}link", {"rel": "self", "href": f"/{number}"})
        size = "large" if number == entries // 2 else str(number)
        ET.SubElement(
            entry, "{http://example.org/media/}content", {"url": f"/i/{number}", "size": size}
        )
    ET.indent(root)
    file = io.BytesIO()
    ET.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)
    return file.getvalue()


XMLS = [
    feed(2),
    b'<?xml version="1.0"?>\r\n<!-- note -->\r\n<a x="1" y=\'2\'>\r\n  <b/>text &amp; &#65;\r\n</a>\r\n',
    b'<!DOCTYPE a [\n<!ENTITY one "1]>">\n<!ELEMENT a ANY>\n]>\n<a><![CDATA[<b>]]><c><c/></c></a>',
    b"\xef\xbb\xbf<a><b><c>x</c></b><b/></a>",
    '<é ü="ö">\u4e00</é>'.encode(),
    b"<a><a><b><a>1</a></b></a></a>",
    '<?xml version="1.0" encoding="iso-8859-1"?><a>caf\xe9<b/></a>'.encode("latin-1"),
]
HTMLS = [
    b"""<!DOCTYPE html>
<html><head><title>a<b></title><script>if (a</b/.x) {}</script></head>
<body class=x><p>one<p>two<br><img src="a.png" alt='it is'><ul><li>1<li>2</ul></body></html>""",
    b"<table><tr><td>1<td>2<tr><td>3</table></div> 1 < 2 & so <- on",
    b"<div><p>a</div><p>b</p></p><!-- open",
    b"<html><p title=it's>x</html>",
]


def is_xml(payload: bytes) -> bool:
    """Return whether it is well-formed; prefixes that are not declared are another question."""
    parser = expat.ParserCreate()
    try:
        for piece, is_final in ((payload, False), (b"", True)):
            parser.Parse(piece, is_final)
    except expat.ExpatError:
        return False
    return True


@pytest.mark.parametrize("payload", XMLS)
def test_what_expat_reads_is_xml(payload: bytes) -> None:
    assert is_xml(payload)
    assert parse_xml(payload) is not None


@pytest.mark.parametrize(
    "payload",
    [b"", b"text", b"<a>", b"<a></b>", b"<a/><b/>", b"<a/>text", b"<a b=c/>", b"<a b/>", b"<a>&</a>",
     b"<a>& b</a>", b'<a b="<"/>', b"<!-- only -->", b"<a><![CDATA[</a>", b"<a/><", b"</a>",
     b"<a><!-- </a>", b"<1/>", b"x = a<b>c"],
)  # fmt: skip
def test_what_expat_refuses_is_text(payload: bytes) -> None:
    assert not is_xml(payload)
    assert parse_xml(payload) is None
    assert "xml" not in {each.name for each in kinds_of(payload, name="x.xml")}


@given(st.text(alphabet="<>/ab=\"'&;!-[]? \n", max_size=24))
def test_only_what_is_nearly_xml_is_read_as_xml(text: str) -> None:
    markup = parse_xml(text.encode())

    if is_xml(text.encode()):
        assert markup is not None
    check_format(HTML, [b"<p>", text.encode()])


def names(markup: Markup | None) -> list[tuple[bytes, int]]:
    assert markup is not None
    return [(each.kind, each.depth) for each in markup.nodes]


def test_html_closes_what_browsers_close() -> None:
    assert names(parse_html(b"<ul><li>1<li>2</ul><p>a<p>b<br>c<div>")) == [
        (b"<ul", 0), (b"<li", 1), (b"text", 2), (b"<li", 1), (b"text", 2),
        (b"<p", 0), (b"text", 1), (b"<p", 0), (b"text", 1), (b"<br", 1), (b"text", 1), (b"<div", 0),
    ]  # fmt: skip
    assert names(parse_html(b"<script>a<b></c></script><p></i>")) == [
        (b"<script", 0), (b"text", 1), (b"<p", 0), (b"end tag", 1)
    ]  # fmt: skip


def test_attributes_are_found_with_and_without_quotes() -> None:
    text = b""" a="1>" b='2' c = 3 d e="it's" """

    found = list(attributes(text, 0, len(text)))

    assert [each.name for each in found] == [b"a", b"b", b"c", b"d", b"e"]
    values = [text[slice(*each.value)] if each.value else None for each in found]
    assert values == [b"1>", b"2", b"3", None, b"it's"]


@pytest.mark.parametrize("format_", [XML, HTML], ids=["xml", "html"])
def test_formats_keep_their_promises(format_: object) -> None:
    assert format_ in {XML, HTML}
    check_format(XML if format_ is XML else HTML, [*XMLS, *HTMLS])


@pytest.mark.parametrize("kind", ["xml", "html"])
def test_every_candidate_is_a_document(kind: str) -> None:
    # Entities go with their doctype, so what uses them is no document without it.
    examples = [each for each in XMLS if b"ENTITY" not in each] if kind == "xml" else HTMLS
    for each in KINDS[kind].passes:
        if each.stage is Stage.STRUCTURE:
            check_pass(each, examples, is_valid=is_xml if kind == "xml" else lambda _: True)
        else:
            check_pass(each, examples)


def test_one_attribute_in_a_feed_leaves_its_element_alone() -> None:
    content = "{http://example.org/media/}content"

    def is_wrong(payload: bytes) -> bool:
        sizes = [each.get("size", "0") for each in ET.fromstring(payload).iter(content)]
        return any(not size.isdigit() for size in sizes)

    payload = feed(300)
    done = shrunk(payload, fails_if(is_wrong), name="feed.xml")

    root = ET.fromstring(done.reduction.payload)
    assert (root.tag, root.attrib, len(root)) == (content, {"size": ""}, 0)
    assert len(done.reduction.payload) < 70
    assert done.calls < 450


def test_two_elements_that_belong_together_are_all_that_is_left() -> None:
    payload = feed(200)

    def is_wrong(payload: bytes) -> bool:
        root = ET.fromstring(payload)
        links = [each.get("href") for each in root.iter(f"{{{ATOM}}}link")]
        return "/3" in links and "/150" in links

    done = shrunk(payload, fails_if(is_wrong))

    assert done.reduction.payload.count(b"<") <= 4
    assert done.calls < 520


class Nested(HTMLParser):
    """Finds a form in a form, as browsers refuse it."""

    def __init__(self) -> None:
        super().__init__()
        self.open_forms = 0
        self.is_nested = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "form":
            self.is_nested |= self.open_forms > 0 and ("id", None) not in attrs
            self.open_forms += 1

    def handle_endtag(self, tag: str) -> None:
        self.open_forms -= tag == "form"


def test_a_page_with_unclosed_tags_is_reduced_to_two_tags() -> None:
    rows = b"".join(b'<tr><td class="n">%d<td><a href=/%d>more</a>\n' % (n, n) for n in range(200))
    payload = (
        b"<!DOCTYPE html>\n<html><head><title>x</title></head><body><form action=/a><div><table>"
        + rows
        + b"</table><p>and<ul><li><form id=inner><input name=q></form></ul></form></body></html>"
    )

    def is_wrong(payload: bytes) -> bool:
        page = Nested()
        page.feed(payload.decode())
        return page.is_nested

    done = shrunk(payload, fails_if(is_wrong), name="page.html")

    assert done.reduction.payload == b"<form><form>"
    assert done.calls < 150


def test_json_in_a_script_a_cdata_section_and_an_attribute_is_reduced_where_it_lies() -> None:
    value = json.dumps({"a": {"deep": [1, {"x": "y"}]}, "b": [1, 2, 3]})
    escaped = value.replace("&", "&amp;").replace('"', "&quot;")
    payload = f'<r><p data="{escaped}"/><q><![CDATA[{value}]]></q><t>{value}</t></r>'.encode()

    def is_wrong(payload: bytes) -> bool:
        root = ET.fromstring(payload)
        texts = [root[0].get("data"), root[1].text, root[2].text]
        return all(json.loads(each or "null")["a"]["deep"] is not None for each in texts)

    done = shrunk(payload, fails_if(is_wrong), name="x.xml")

    root = ET.fromstring(done.reduction.payload)
    texts = [root[0].attrib.popitem()[1] if root[0].attrib else "", root[1].text, root[2].text]
    assert [json.loads(each or "null") for each in texts] == [{"a": {"deep": 0}}] * 3
    assert done.calls < 880


@pytest.mark.parametrize("name", [pytest.param("deep.xml", marks=pytest.mark.long), "deep.html"])
def test_a_nesting_of_100_000_elements_is_searched(name: str) -> None:
    payload = b"<a>" * 100_000 + b"<b/>" + b"</a>" * 100_000

    done = shrunk(payload, fails_if(lambda it: b"b" in it and b"<" in it and b">" in it), name=name)

    assert sorted(done.reduction.payload) == sorted(b"<b>")
    assert done.calls < 60


documents = st.recursive(
    st.sampled_from([b"t", b"<b/>", b"<!--c-->", b'<a x="1" y="2"/>', b"<![CDATA[d]]>", b" "]),
    lambda inner: st.lists(inner, max_size=3).map(lambda parts: b"<a>" + b"".join(parts) + b"</a>"),
    max_leaves=6,
).map(lambda inner: b"<r>" + inner + b"</r>")


@pytest.mark.slow
@given(documents, odd_judges())
def test_no_node_can_go_alone_and_a_second_shrink_changes_nothing(
    payload: bytes, judge: Judge
) -> None:
    smallest = shrunk(payload, judge, format_name="xml").reduction.payload

    assert smallest == payload or judge(smallest) is Verdict.BAD
    assert shrunk(smallest, judge, format_name="xml").reduction.payload == smallest
    markup = parse_xml(smallest)
    assert markup is not None
    for node in markup.nodes[1:]:
        rest = smallest[: node.outer_start] + smallest[node.end :]
        assert not TEXT.is_better(rest, smallest) or judge(rest) is not Verdict.BAD


def test_comments_in_a_doctype_that_does_not_end_take_no_longer_than_text() -> None:
    payload = b"<!DOCTYPE a [" + b"<!-- x -->" * 60 + b"'"

    assert list(scan_xml(payload)) == [None]
    assert b"".join(payload[each.start : each.end] for each in scan_html(payload)) == payload
