"""What can be made smaller in XML and HTML; every candidate is a document again."""

import html
from collections.abc import Iterator, Sequence
from functools import partial

from whet.reduction.edit import Change, Edit, make_changes
from whet.reduction.formats.documents.markup_scan import Attribute, attributes
from whet.reduction.formats.documents.markup_tree import ELEMENT, HTML, XML, Markup
from whet.reduction.formats.text.tree import Node, TreeSearch
from whet.reduction.payload_kind import Part
from whet.reduction.reduction_pass import Format, PassSearch, ReductionPass, Stage

_NAMES_OF_CODE = {b"<script": "script.js", b"<style": "style.css"}
_LEAST_TEXT = 4  # a text of fewer bytes holds nothing that has parts of its own
_CDATA_START, _CDATA_END = b"<![CDATA[", b"]]>"


def _is_element(node: Node) -> bool:
    return node.kind[:1] == ELEMENT


def _attributes(markup: Markup, node: Node) -> Iterator[Attribute]:
    if not _is_element(node):
        return iter(())
    end = node.inner_start - 1
    is_closed = markup.payload[end - 1 : end + 1] == b"/>"
    return attributes(markup.payload, node.start + len(node.kind), end - is_closed)


def _cuts(markup: Markup, node: Node | None) -> list[Change]:
    if node is not None:
        return [[Edit(each.outer_start, each.end)] for each in node.children]
    return [
        [Edit(each.outer_start, each.end)]
        for each in markup.roots
        if markup.is_html or not (_is_element(each) or _says_encoding(markup.payload, each))
    ]


def _says_encoding(payload: bytes, node: Node) -> bool:
    """Whether the XML declaration is needed to read the rest."""
    if not payload.startswith(b"<?xml", node.start):
        return False
    try:
        payload.decode()
    except ValueError:
        return True
    return False


def _hoist(markup: Markup, node: Node, below: Node) -> Change | None:
    # A text takes the place of an element when this is unwrapped: the root has to stay one.
    if not (_is_element(node) and _is_element(below)):
        return None
    return [
        Edit(node.start, below.start),
        *_declared_again(markup, node, [below]),
        Edit(below.end, node.end),
    ]


def _declared_again(markup: Markup, node: Node, below: Sequence[Node]) -> Iterator[Edit]:
    """Put the namespaces that an element declares into those that lose it."""
    payload = markup.payload
    if b"xmlns" not in payload[node.start : node.inner_start]:
        return
    declared = {
        each.name: payload[each.start : each.end]
        for each in _attributes(markup, node)
        if each.name.startswith(b"xmlns")
    }
    for each in filter(_is_element, below):
        own = {attribute.name for attribute in _attributes(markup, each)}
        lost = b"".join(text for name, text in declared.items() if name not in own)
        at = each.start + len(each.kind)
        yield Edit(at, at, lost)


def _unwrap(markup: Markup) -> PassSearch:
    """Put what is in an element in its place."""
    changes: list[Change] = [
        [
            Edit(node.start, node.inner_start),
            *_declared_again(markup, node, node.children),
            Edit(node.inner_end, node.end),
        ]
        for node in markup.nodes
        if _is_element(node) and node.children and (node.depth or markup.is_html)
    ]
    return make_changes(markup.payload, changes)


def _delete_attributes_by_name(markup: Markup) -> PassSearch:
    by_name: dict[bytes, list[Edit]] = {}
    for node in markup.nodes:
        for each in _attributes(markup, node):
            by_name.setdefault(each.name, []).append(Edit(each.start, each.end))
    return make_changes(markup.payload, list(by_name.values()))


def _delete_attributes(markup: Markup) -> PassSearch:
    edits = (
        Edit(each.start, each.end) for node in markup.nodes for each in _attributes(markup, node)
    )
    return make_changes(markup.payload, [[edit] for edit in edits])


def _close_at_once(markup: Markup) -> PassSearch:
    """Put `<a/>` for `<a></a>`."""
    changes = [
        [Edit(node.inner_start - 1, node.end, b"/>")]
        for node in markup.nodes
        if _is_element(node) and not node.children and node.inner_end < node.end
    ]
    return make_changes(markup.payload, changes)


def _delete_end_tags(markup: Markup) -> PassSearch:
    ends = [node for node in markup.nodes if _is_element(node) and node.inner_end < node.end]
    ends.sort(key=lambda node: node.inner_end)
    return make_changes(markup.payload, [[Edit(node.inner_end, node.end)] for node in ends])


def _unquote_attributes(markup: Markup) -> PassSearch:
    changes = [
        [Edit(each.value[0] - 1, each.value[0]), Edit(each.value[1], each.value[1] + 1)]
        for node in markup.nodes
        for each in _attributes(markup, node)
        if each.value is not None and each.quote and each.value[0] < each.value[1]
    ]
    return make_changes(markup.payload, changes)


def _text_for_cdata(markup: Markup) -> PassSearch:
    changes: list[Change] = []
    for node in markup.nodes:
        if node.kind == b"cdata":
            content = markup.payload[node.start + len(_CDATA_START) : node.end - len(_CDATA_END)]
            changes.append([Edit(node.start, node.end, _escaped(content, b""))])
    return make_changes(markup.payload, changes)


def _escaped(content: bytes, quote: bytes) -> bytes:
    content = content.replace(b"&", b"&amp;").replace(b"<", b"&lt;")
    if quote == b'"':
        return content.replace(b'"', b"&quot;")
    return content.replace(b"'", b"&#39;") if quote else content.replace(b"]]>", b"]]&gt;")


def parts_of_markup(markup: Markup) -> Iterator[Part]:
    """Yield what attributes, texts and CDATA sections say, and scripts and styles."""
    code = ""
    for node in markup.nodes:
        for each in _attributes(markup, node):
            if each.value is not None and each.quote:
                yield from _part(markup.payload, *each.value, each.quote)
        if _is_element(node):
            code = _NAMES_OF_CODE.get(node.kind, "") if markup.is_html else ""
        elif node.kind == b"cdata":
            start, end = node.start + len(_CDATA_START), node.end - len(_CDATA_END)
            put = partial(_put_raw, markup.payload, start, end, _CDATA_END)
            yield Part(content=markup.payload[start:end], name="", put=put)
        elif node.kind == b"text" and code:
            put = partial(_put_raw, markup.payload, node.start, node.end, b"</")
            yield Part(content=markup.payload[node.start : node.end], name=code, put=put)
        elif node.kind == b"text":
            yield from _part(markup.payload, node.start, node.end, b"")


def _part(payload: bytes, start: int, end: int, quote: bytes) -> Iterator[Part]:
    if end - start < _LEAST_TEXT:
        return
    try:
        content = html.unescape(payload[start:end].decode()).encode()
    except ValueError:  # not UTF-8, or half a character
        return
    yield Part(content=content, name="", put=partial(_put_text, payload, start, end, quote))


def _put_text(payload: bytes, start: int, end: int, quote: bytes, content: bytes) -> bytes:
    return payload[:start] + _escaped(content, quote) + payload[end:]


def _put_raw(payload: bytes, start: int, end: int, stop: bytes, content: bytes) -> bytes | None:
    return None if stop in content else payload[:start] + content + payload[end:]


def _passes(format_: Format[Markup]) -> tuple[ReductionPass[Markup], ...]:
    trees = TreeSearch(parse=format_.parse, cuts=_cuts, hoist=_hoist)
    searches = {
        "hoist only": trees.hoist_only_children,
        "hoist largest alike": trees.hoist_largest_alike,
        "delete": trees.delete,
        "delete attributes by name in": _delete_attributes_by_name,
        "hoist": trees.hoist_children,
        "hoist alike": trees.hoist_alike,
        "unwrap": _unwrap,
        "delete attributes in": _delete_attributes,
    }
    return tuple(
        ReductionPass(
            name=f"{name} {format_.name} nodes",
            stage=Stage.STRUCTURE,
            search=search,
            unit="nodes" if name == "delete" else "",
        )
        for name, search in searches.items()
    )


XML_PASSES = (
    *_passes(XML),
    ReductionPass(name="put text for CDATA", stage=Stage.LINES, search=_text_for_cdata),
    ReductionPass(name="close empty elements at once", stage=Stage.LINES, search=_close_at_once),
)

HTML_PASSES = (
    *_passes(HTML),
    ReductionPass(name="delete end tags", stage=Stage.TOKENS, search=_delete_end_tags),
    ReductionPass(name="unquote attributes", stage=Stage.TOKENS, search=_unquote_attributes),
)


def parts_in_xml(payload: bytes) -> list[Part]:
    """Return what is in XML as what it is on its own."""
    markup = XML.parse(payload)
    return [] if markup is None else list(parts_of_markup(markup))


def parts_in_html(payload: bytes) -> list[Part]:
    """Return what is in HTML as what it is on its own."""
    markup = HTML.parse(payload)
    return [] if markup is None else list(parts_of_markup(markup))
