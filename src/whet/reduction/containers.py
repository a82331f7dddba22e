"""Kinds of payload that hold others: archives and compressed files.

Nobody reads their bytes. Which of two is better is said by what a person reads of what they
hold: each member counts by the order of its own kind.
"""

import hashlib
import math
from collections.abc import Callable

from whet.core.text.quantity import shown_bytes
from whet.core.value_class import value_class
from whet.reduction.edit import first_that_fails
from whet.reduction.formats.archives.archive import FILE, Archive, Codec, Member, Parse, files_in
from whet.reduction.formats.archives.shown import NestedText, archive_text, content_text
from whet.reduction.formats.archives.tar_archive import TAR, TAR_PASSES, parse_tar
from whet.reduction.formats.archives.zip_archive import ZIP, ZIP_PASSES, parse_zip
from whet.reduction.formats.text.expansion import COMPRESSIONS, Compression, most_expanded
from whet.reduction.order import TEXT, Order
from whet.reduction.payload_kind import Kind, Part, lifted
from whet.reduction.reduction_pass import (
    Format,
    PassSearch,
    ReductionPass,
    Stage,
    last_view,
)

_DEEPEST_WEIGHED = 2
"""An archive can contain itself; at this depth it counts by its bytes."""

_MEMBER_WEIGHT = 1 << 64
"""More than the content of any member: one member less is better than anything else."""

_MOST_REMEMBERED = 20_000


@value_class
class NestedWeight:
    """A weight of payloads that hold others, to a depth."""

    weigh: Callable[[bytes, int], float]

    def __call__(self, payload: bytes, depth: int = 0) -> float:
        """Return how much there is to read, ``depth`` archives deep."""
        return self.weigh(payload, depth)


def _weight_of(content: bytes, name: str, depth: int) -> float:
    """Return how much a person reads of what is in a container."""
    from whet.reduction.payload_kinds import kinds_of

    if depth >= _DEEPEST_WEIGHED:
        return TEXT.weight(content)
    weight = kinds_of(content, name=name)[0].order.weight
    return weight(content, depth + 1) if isinstance(weight, NestedWeight) else weight(content)


def _rank_of(content: bytes, name: str) -> tuple[object, ...]:
    """Return what decides between contents of one weight; ranks of two kinds are never compared."""
    from whet.reduction.payload_kinds import kinds_of

    kind = kinds_of(content, name=name)[0]
    if kind.order.rank is TEXT.rank or isinstance(kind.order.weight, NestedWeight):
        return ("", TEXT.rank(content))
    return (kind.name, kind.order.rank(content))


class _Weights:
    """Weights of members by digest: an edit of one member leaves those of the others."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, int], float] = {}

    def of(self, codec: Codec, member: Member, depth: int) -> float:
        digest = hashlib.blake2b(member.raw, digest_size=16, key=member.path[-64:]).digest()
        weight = self._known.get((digest, depth))
        if weight is None:
            content = codec.content(member) if member.what == FILE else None
            weight = _weight_of(content or member.packed, member.name, depth)
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[digest, depth] = weight
        return weight


def _archive_order(parse: Parse) -> Order:
    weights = _Weights()

    def weigh(payload: bytes, depth: int) -> float:
        archive = parse(payload)
        if archive is None:
            return math.inf
        inner = sum(weights.of(archive.codec, each, depth) for each in archive.members)
        return len(archive.members) * _MEMBER_WEIGHT + inner

    def rank(payload: bytes) -> tuple[object, ...]:
        archive = parse(payload)
        assert archive is not None, "only what has a weight is ranked"
        codec = archive.codec
        odd = sum(codec.plain(each) != each for each in archive.members)
        contents = [codec.content(each) or each.packed for each in archive.members]
        ranks = [
            _rank_of(content, each.name)
            for content, each in zip(contents, archive.members, strict=True)
        ]
        return (*ranks, odd, *TEXT.rank(payload))

    return Order(NestedWeight(weigh), rank)


def _archive_kind(
    name: str,
    format_: Format[Archive],
    passes: tuple[ReductionPass[Archive], ...],
    parse: Parse,
) -> Kind:
    def claims(payload: bytes, _name: str) -> bool:
        archive = parse(payload)
        return archive is not None and bool(archive.members)

    def inside(payload: bytes) -> list[Part]:
        archive = parse(payload)
        return [] if archive is None else list(files_in(archive))

    def text(payload: bytes, depth: int) -> str:
        archive = parse(payload)
        return "" if archive is None else archive_text(archive, depth)

    return Kind(
        name=name,
        claims=claims,
        passes=lifted(format_, passes),
        order=_archive_order(last_view(parse)),
        is_text=False,
        inside=inside,
        shown=NestedText(text),
    )


def _compressed_kind(compression: Compression) -> Kind:
    """Return the kind of a file that is one other file, packed."""

    @last_view
    def content_of(payload: bytes) -> bytes | None:
        return compression.expand(payload, most_expanded(len(payload)))

    def weigh(payload: bytes, depth: int) -> float:
        content = content_of(payload)
        return math.inf if content is None else _weight_of(content, "", depth)

    def rank(payload: bytes) -> tuple[object, ...]:
        content = content_of(payload)
        assert content is not None, "only what has a weight is ranked"
        is_odd = payload != compression.compress(content)
        return (_rank_of(content, ""), is_odd, *TEXT.rank(payload))

    def inside(payload: bytes) -> list[Part]:
        content = content_of(payload)
        if not content:
            return []
        return [Part(content=content, name="", put=compression.compress)]

    def text(payload: bytes, depth: int) -> str:
        content = content_of(payload) or b""
        head = f"{compression.name} of {shown_bytes(len(content))}"
        return "\n".join([head, *content_text(content, "", depth).splitlines()])

    def pack_again(payload: bytes) -> PassSearch:
        content = content_of(payload)
        packed = payload if content is None else compression.compress(content)
        if packed == payload:
            return payload
        return (yield from first_that_fails([packed])) or payload

    return Kind(
        name=compression.name,
        claims=lambda payload, _: bool(content_of(payload)),
        passes=(
            ReductionPass(
                name=f"pack {compression.name} again", stage=Stage.STRUCTURE, search=pack_again
            ),
        ),
        order=Order(NestedWeight(weigh), rank),
        is_text=False,
        inside=inside,
        shown=NestedText(text),
    )


CONTAINERS = (
    _archive_kind("zip", ZIP, ZIP_PASSES, parse_zip),
    _archive_kind("tar", TAR, TAR_PASSES, parse_tar),
    *(_compressed_kind(each) for each in COMPRESSIONS),
)
"""Kinds that hold others."""
