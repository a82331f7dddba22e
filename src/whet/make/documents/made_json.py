"""A document of JSON from nothing, as text."""

from whet.make.documents.json_schema import SchemaReader
from whet.make.documents.json_values import EDGES, Leaves, json_like, json_text
from whet.make.elements.fills import Filling


def made_json(schema: object, like: object, items: int, filling: Filling) -> str:
    """Return a document as text.

    Args:
        schema: what it must be; None: whatever.
        like: a document to resemble, where there is no schema; None: two numbers.
        items: how long lists become.
        filling: the values in it.

    Raises:
        BadUsage: if there is no such fill, or the schema allows nothing that whet can make.
    """
    leaves = Leaves(filling)
    if schema is not None:
        return json_text(SchemaReader(schema, items, leaves).document())
    if like is None and leaves.are_edges:
        return EDGES
    return json_text(json_like({"a": 0, "b": 0} if like is None else like, items, leaves))
