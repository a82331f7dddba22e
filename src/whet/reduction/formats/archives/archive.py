"""Archives: members that can go, be emptied and be made plain, whatever the file format.

A format of archives says how members are read and written (`Codec`); here is what can be made
smaller in them. The raw bytes of a member that isn't touched are copied, never packed again.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from whet.core.value_class import value_class
from whet.reduction.edit import first_that_fails, keep_least
from whet.reduction.formats.text.names import renamed, shared_names
from whet.reduction.payload_kind import Part
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage
from whet.search.subsets.delta import Kept

_MOST_NAMED_BYTES = 64 * 1024
"""In a larger file a name proves nothing."""

FILE, FOLDER, OTHER = "file", "folder", "other"


@value_class(kw_only=True)
class Member:
    """A member of an archive, as it is there.

    Attributes:
        path: its name in the archive.
        what: a file, a folder, or other, such as a link or what is encrypted.
        raw: all of it: headers, content as it is packed, padding.
        at: where the packed content starts in ``raw``.
        size: how long the packed content is.
        entry: what stands about it elsewhere, such as in a directory at the archive's end.
    """

    path: bytes
    what: str
    raw: bytes
    at: int
    size: int
    entry: bytes = b""

    @property
    def packed(self) -> bytes:
        """The content as it is in the archive."""
        return self.raw[self.at : self.at + self.size]

    @property
    def name(self) -> str:
        """A file name for what it holds."""
        return self.path.rpartition(b"/")[2].decode("utf-8", "replace")


@value_class(kw_only=True)
class Codec:
    """How a format of archives reads and writes members.

    Attributes:
        build: the archive of a head, members and a tail.
        content: what a file holds, unpacked; None if it can't be read.
        with_content: a file whose content can be read with other content, packed as before.
        plain: the member without what nobody reads, such as times and owners.
        plain_tail: the shortest tail.
    """

    build: Callable[[bytes, Sequence[Member], bytes], bytes]
    content: Callable[[Member], bytes | None]
    with_content: Callable[[Member, bytes], Member]
    plain: Callable[[Member], Member]
    plain_tail: bytes


@value_class(kw_only=True)
class Archive:
    """An archive.

    Attributes:
        payload: all of it.
        head: what stands before the first member.
        members: in their order.
        tail: what stands behind them and isn't made from them.
        codec: its format.
    """

    payload: bytes
    head: bytes
    members: tuple[Member, ...]
    tail: bytes
    codec: Codec

    def having(self, members: Sequence[Member]) -> bytes:
        """Return the archive of other members."""
        return self.codec.build(self.head, members, self.tail)

    def of(self, kept: Kept) -> bytes:
        """Return the archive of the members that are kept."""
        return self.having([self.members[index] for index in kept.elements()])


Parse: TypeAlias = Callable[[bytes], Archive | None]


def _without(archive: Archive, groups: Sequence[Sequence[int]], kept: Kept) -> bytes:
    """Leave out the members of each group that isn't kept."""
    stays = set(kept.elements())
    gone = {index for number, group in enumerate(groups) if number not in stays for index in group}
    return archive.having([each for at, each in enumerate(archive.members) if at not in gone])


def _delete_folders(parse: Parse, archive: Archive) -> PassSearch:
    """Leave out folders with all that is in them, level by level from the outermost."""
    payload, depth = archive.payload, 1
    while groups := _folders(archive.members, depth):
        render = partial(_without, archive, groups)
        payload = yield from keep_least(len(groups), render, start=payload)
        following = parse(payload)
        if following is None:
            break
        archive, depth = following, depth + 1
    return payload


def _folders(members: Sequence[Member], depth: int) -> list[list[int]]:
    """Return the members below each folder of a depth, itself among them."""
    folders: dict[tuple[bytes, ...], list[int]] = {}
    for index, member in enumerate(members):
        names = tuple(name for name in member.path.split(b"/") if name not in (b"", b"."))
        if len(names) > depth or (len(names) == depth and member.what == FOLDER):
            folders.setdefault(names[:depth], []).append(index)
    return list(folders.values())


def _delete_members(archive: Archive) -> PassSearch:
    return keep_least(len(archive.members), archive.of, start=archive.payload)


def _empty_members(archive: Archive) -> PassSearch:
    """Leave files empty."""
    return _change_members(archive, lambda member: _emptied(archive.codec, member))


def _emptied(codec: Codec, member: Member) -> Member | None:
    if member.what != FILE or not member.size or not codec.content(member):
        return None
    return codec.with_content(member, b"")


def _plain_members(archive: Archive) -> PassSearch:
    payload = yield from _change_members(archive, archive.codec.plain)
    codec = archive.codec
    tidy = [codec.build(archive.head, archive.members, codec.plain_tail)]
    if payload == archive.payload and archive.tail != codec.plain_tail:
        payload = (yield from first_that_fails(tidy)) or payload
    return payload


def _shorten_names(archive: Archive) -> PassSearch:
    """Give names that stand in more than one file a short one, the same in all of them."""
    contents = {
        index: content
        for index, member in enumerate(archive.members)
        if member.what == FILE and len(member.packed) <= _MOST_NAMED_BYTES
        for content in [archive.codec.content(member)]
        if content
    }
    names = shared_names(list(contents.values()))
    order = list(names)

    def render(kept: Kept) -> bytes:
        stays = {order[number] for number in kept.elements()}
        gone = {name: short for name, short in names.items() if name not in stays}
        members = list(archive.members)
        for index, content in contents.items():
            new = renamed(content, gone)
            if new != content:
                members[index] = archive.codec.with_content(members[index], new)
        return archive.having(members)

    return keep_least(len(order), render, start=archive.payload)


def _change_members(archive: Archive, change: Callable[[Member], Member | None]) -> PassSearch:
    """Change as many members as the failure survives; those for which it returns None stay."""
    changes = {
        index: new
        for index, member in enumerate(archive.members)
        for new in [change(member)]
        if new is not None and new != member
    }
    places = list(changes)

    def render(kept: Kept) -> bytes:
        members = list(archive.members)
        stays = set(kept.elements())
        for number, index in enumerate(places):
            if number not in stays:
                members[index] = changes[index]
        return archive.having(members)

    return keep_least(len(changes), render, start=archive.payload)


def files_in(archive: Archive) -> Iterator[Part]:
    """Yield what the files of an archive hold; empty ones too, so that none changes its place."""
    for index, member in enumerate(archive.members):
        content = archive.codec.content(member) if member.what == FILE else None
        if content is not None:
            put = partial(_put, archive, index)
            yield Part(content=content, name=member.name, put=put)


def _put(archive: Archive, index: int, content: bytes) -> bytes:
    new = archive.codec.with_content(archive.members[index], content)
    return archive.having((*archive.members[:index], new, *archive.members[index + 1 :]))


def archive_passes(parse: Parse, noun: str) -> tuple[ReductionPass[Archive], ...]:
    """Return what is tried on archives of a format; ``noun`` keeps the passes' names apart."""
    # What is plain must be so before what is in it is reduced: a candidate that differs in a
    # time alone is another candidate, and all that was tried inside would be tried again.
    return (
        ReductionPass(
            name=f"delete folders of {noun}",
            stage=Stage.STRUCTURE,
            search=partial(_delete_folders, parse),
        ),
        ReductionPass(
            name=f"delete members of {noun}",
            stage=Stage.STRUCTURE,
            search=_delete_members,
            unit="members",
        ),
        ReductionPass(
            name=f"empty members of {noun}", stage=Stage.STRUCTURE, search=_empty_members
        ),
        ReductionPass(
            name=f"make members of {noun} plain", stage=Stage.STRUCTURE, search=_plain_members
        ),
        ReductionPass(
            name=f"shorten names in {noun}", stage=Stage.STRUCTURE, search=_shorten_names
        ),
    )
