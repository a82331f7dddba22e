"""Text with indented blocks, such as Python or YAML: a line and what stands deeper below it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whet.core.value_class import value_class
from whet.reduction.edit import Change, Edit, make_changes
from whet.reduction.formats.text.pieces import parse_lines
from whet.reduction.reduction_pass import Format, PassSearch, ReductionPass, Stage, last_view


@dataclass(slots=True)
class Block:
    """A line and the lines below it that are indented deeper, blank ones between them included.

    Attributes:
        first: number of its first line.
        stop: number of the line behind its last.
        depth: in how many blocks it stands.
        indent: blanks before its first line.
        body_indent: blanks before the next deeper line; 0 if there is none.
    """

    first: int
    stop: int
    depth: int
    indent: int
    body_indent: int = 0


@value_class
class BlockText:
    """A text and its blocks.

    Attributes:
        payload: the text.
        bounds: where each line starts, then the end.
        indents: blanks at the start of each line; None for a line of nothing else.
        blocks: one for each line that isn't blank, in the order of the text.
    """

    payload: bytes
    bounds: Sequence[int]
    indents: tuple[int | None, ...]
    blocks: tuple[Block, ...]


def parse_blocks(payload: bytes) -> BlockText | None:
    """Return the blocks of a text; None if no line is indented."""
    lines = parse_lines(payload)
    indents = tuple(_indent(text) for text in lines.texts())
    if not any(indents):
        return None
    return BlockText(payload, lines.bounds, indents, tuple(_blocks(indents)))


def _indent(line: bytes) -> int | None:
    stripped = line.lstrip(b" \t")
    return len(line) - len(stripped) if stripped.strip() else None


def _blocks(indents: tuple[int | None, ...]) -> list[Block]:
    found: list[Block] = []
    around: list[Block] = []
    for number, indent in enumerate(indents):
        if indent is None:
            continue
        while around and around[-1].indent >= indent:
            around.pop()
        for block in around:
            block.stop = number + 1
        if around and not around[-1].body_indent:
            around[-1].body_indent = indent
        found.append(Block(number, number + 1, len(around), indent))
        around.append(found[-1])
    return found


BLOCKS = Format(name="blocks", parse=last_view(parse_blocks))


def _delete_blocks(text: BlockText) -> PassSearch:
    """Delete whole blocks, level by level from the outermost."""
    payload, depth = text.payload, 0
    while True:
        cuts = [[_cut(text, block)] for block in text.blocks if block.depth == depth]
        if not cuts:
            return payload
        payload = yield from make_changes(text.payload, cuts)
        following = parse_blocks(payload)
        if following is None:
            return payload
        text, depth = following, depth + 1


def _cut(text: BlockText, block: Block) -> Edit:
    return Edit(text.bounds[block.first], text.bounds[block.stop])


def _hoist_bodies(text: BlockText) -> PassSearch:
    """Put the body of a block in its place: delete the first line, indent the others less."""
    changes = [list(_hoist(text, block)) for block in text.blocks if block.body_indent]
    return make_changes(text.payload, changes)


def _hoist(text: BlockText, block: Block) -> Iterator[Edit]:
    yield Edit(text.bounds[block.first], text.bounds[block.first + 1])
    yield from _dedents(text, block, block.indent)


def _dedents(text: BlockText, block: Block, to: int) -> Iterator[Edit]:
    """Cut the same columns from each line of a body, so that dedents of nested blocks add up."""
    for number in range(block.first + 1, block.stop):
        start, indent = text.bounds[number], text.indents[number]
        if indent is not None:
            yield Edit(start + min(to, indent), start + min(block.body_indent, indent))


def _indent_by_one(text: BlockText) -> PassSearch:
    """Indent each level by a single blank."""
    whole = [
        edit
        for block in text.blocks
        if block.body_indent > block.indent + 1
        for edit in _dedents(text, block, block.indent + 1)
    ]
    changes: list[Change] = [whole] if whole else []
    return make_changes(text.payload, changes)


def _pass_for_bodies(text: BlockText) -> PassSearch:
    """Put `pass` for the body of a block, as Python needs one."""
    changes: list[Change] = []
    for block in text.blocks:
        if block.body_indent:
            start, end = text.bounds[block.first + 1], text.bounds[block.stop]
            changes.append([Edit(start, end, b" " * (block.indent + 1) + b"pass\n")])
    return make_changes(text.payload, changes)


BLOCK_PASSES = (
    ReductionPass(name="delete blocks", stage=Stage.STRUCTURE, search=_delete_blocks),
    ReductionPass(name="put pass for bodies", stage=Stage.LINES, search=_pass_for_bodies),
    ReductionPass(name="hoist bodies", stage=Stage.LINES, search=_hoist_bodies),
    ReductionPass(name="indent by one", stage=Stage.TOKENS, search=_indent_by_one),
)
