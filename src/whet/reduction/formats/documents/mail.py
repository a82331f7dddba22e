"""E-mails and mailboxes over their own text: messages, headers, and the parts of MIME."""

import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import partial

from whet.core.value_class import value_class
from whet.reduction.edit import Edit, delete_pieces, make_changes
from whet.reduction.payload_kind import Part
from whet.reduction.reduction_pass import Format, PassSearch, ReductionPass, Stage, last_view

_FROM_LINE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]++\r?\n(?=[!-9;-~]++:)")
_HEADER = re.compile(
    rb"(?P<name>[!-9;-~]++):(?P<value>[^\n]*+(?:\n[ \t]++[^\r\n][^\n]*+)*)(?:\n|\Z)"
)
_BLANK_LINE = re.compile(rb"\r?\n")
_BOUNDARY = re.compile(rb"""(?i)\bmultipart/.*?\bboundary=(?:"([^"]++)"|([^\s;"]++))""", re.DOTALL)
_FILE_NAME = re.compile(rb"""(?i)\b(?:file)?name="?([^"\s;]++)""")
_LEAST_HEADERS = 2
_KNOWN = frozenset(
    b"from to cc subject date message-id received mime-version content-type return-path sender"
    b" reply-to delivered-to".split()
)


@value_class
class Body:
    """What is below headers and is encoded.

    Attributes:
        start: where it starts.
        end: where it ends.
        encoding: ``base64`` or ``quoted-printable``.
        name: its file name, if it has one.
    """

    start: int
    end: int
    encoding: bytes
    name: str


@value_class
class Mail:
    """A message or a mailbox.

    Attributes:
        payload: the text.
        messages: where each message of a mailbox starts, then the end.
        headers: where each header is, its folded lines included.
        parts: where the parts of MIME are, each with the boundary before it.
        bodies: what is encoded.
    """

    payload: bytes
    messages: tuple[int, ...]
    headers: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    parts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    bodies: list[Body] = field(default_factory=list[Body])


def parse_mail(payload: bytes) -> Mail | None:
    """Return the messages; None if the payload starts with no header that is known."""
    starts = [match.span() for match in _FROM_LINE.finditer(payload)]
    if starts and starts[0][0] > 0:
        starts = []
    bounds = (*(start for start, _ in starts), len(payload)) if starts else (0, len(payload))
    mail = Mail(payload, bounds)
    heads = [end for _, end in starts] or [0]
    waiting = [*zip(heads, bounds[1:], strict=True)][::-1]
    while waiting:
        waiting += reversed(list(_read(mail, *waiting.pop())))
    return mail if starts or _known(payload) else None


def _known(payload: bytes) -> int:
    """Return how many headers that every mail may have stand at the start, up to a blank line."""
    names: set[bytes] = set()
    position = 0
    while match := _HEADER.match(payload, position):
        names.add(match["name"].lower())
        position = match.end()
    is_ended = position == len(payload) or _BLANK_LINE.match(payload, position) is not None
    return len(names & _KNOWN) if is_ended else 0


def _read(mail: Mail, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Note the headers of a message or part; yield the parts that stand in it."""
    found: dict[bytes, bytes] = {}
    while (match := _HEADER.match(mail.payload, start, end)) is not None:
        mail.headers.append(match.span())
        found[match["name"].lower()] = match["value"]
        start = match.end()
    blank = _BLANK_LINE.match(mail.payload, start, end)
    start = start if blank is None else blank.end()
    boundary = _BOUNDARY.search(found.get(b"content-type", b""))
    encoding = found.get(b"content-transfer-encoding", b"").strip().lower()
    if boundary is not None:
        yield from _parts(mail, start, end, boundary[1] or boundary[2])
    elif encoding in {b"base64", b"quoted-printable"}:
        name = _FILE_NAME.search(b"\n".join(found.values()))
        text = "" if name is None else name[1].decode("ascii", "replace")
        mail.bodies.append(Body(start, end, encoding, text))


def _parts(mail: Mail, start: int, end: int, boundary: bytes) -> Iterator[tuple[int, int]]:
    line = re.compile(
        rb"(?:(?<=\n)|\A)--" + re.escape(boundary) + rb"(?P<last>--)?[ \t]*\r?(?:\n|\Z)"
    )
    before: re.Match[bytes] | None = None
    for match in line.finditer(mail.payload, start, end):
        if before is not None:
            mail.parts.append((before.start(), match.start()))
            yield before.end(), match.start()
        before = None if match["last"] else match
    if before is not None:
        mail.parts.append((before.start(), end))
        yield before.end(), end


MAIL = Format(name="mail", parse=last_view(parse_mail))


def _delete_messages(mail: Mail) -> PassSearch:
    return delete_pieces(mail.payload, mail.messages)


def _cutting(spans: Callable[[Mail], list[tuple[int, int]]]) -> Callable[[Mail], PassSearch]:
    def search(mail: Mail) -> PassSearch:
        return make_changes(mail.payload, [[Edit(start, end)] for start, end in spans(mail)])

    return search


def parts_in_mail(payload: bytes) -> list[Part]:
    """Return what the encoded bodies say."""
    mail = MAIL.parse(payload)
    parts: list[Part] = []
    for body in () if mail is None else mail.bodies:
        text = payload[body.start : body.end]
        try:
            content = _decoded(text, body.encoding)
        except ValueError:  # base64 that is none
            continue
        parts.append(Part(content=content, name=body.name, put=partial(_put, payload, body)))
    return parts


def _decoded(text: bytes, encoding: bytes) -> bytes:
    return binascii.a2b_base64(text) if encoding == b"base64" else binascii.a2b_qp(text)


def _put(payload: bytes, body: Body, content: bytes) -> bytes:
    if body.encoding == b"base64":
        lines = (binascii.b2a_base64(content[at : at + 57]) for at in range(0, len(content), 57))
        text = b"".join(lines) or b"\n"
    else:
        text = binascii.b2a_qp(content)
    old = payload[body.start : body.end]
    if b"\r\n" in old:
        text = text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if old.endswith(b"\n") and not text.endswith(b"\n"):
        text += b"\r\n" if b"\r\n" in old else b"\n"
    return payload[: body.start] + text + payload[body.end :]


MAIL_PASSES = (
    ReductionPass(
        name="delete messages", stage=Stage.STRUCTURE, search=_delete_messages, unit="messages"
    ),
    ReductionPass(
        name="delete parts",
        stage=Stage.STRUCTURE,
        search=_cutting(lambda mail: mail.parts),
        unit="parts",
    ),
    ReductionPass(
        name="delete headers",
        stage=Stage.STRUCTURE,
        search=_cutting(lambda mail: mail.headers),
        unit="headers",
    ),
)


def is_mail(payload: bytes, _name: str) -> bool:
    """Return whether a payload is an e-mail or a mailbox."""
    if _FROM_LINE.match(payload) is not None:
        return True
    return _HEADER.match(payload) is not None and _known(payload) >= _LEAST_HEADERS
