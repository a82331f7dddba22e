"""A document that a JSON Schema allows."""

from collections.abc import Callable, Mapping
from typing import cast

from whet.core.errors import BadUsage
from whet.core.text.record import items_of, record_of
from whet.make.documents.json_values import Leaves
from whet.make.documents.number_range import NumberRange
from whet.make.documents.patterns import text_matching
from whet.make.edges import TEXTS
from whet.make.elements.fills import Filling

_DEEPEST, _MOST_VALUES = 6, 1000
"""In a document that is so deep or has so many values, what may be left out is."""

_MOST_NESTED = 60

_MOST_MADE = 1_000_000
"""No document has more values or characters, unless you ask for longer lists: a schema of 1 kB can ask for billions."""

_FORMATS = {
    "date": "2024-02-29", "time": "12:34:56Z", "date-time": "2024-02-29T12:34:56Z",
    "duration": "P1D", "email": "a@example.org", "idn-email": "a@example.org",
    "hostname": "example.org", "idn-hostname": "example.org", "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1", "uri": "https://example.org/a", "iri": "https://example.org/a",
    "uri-reference": "a", "iri-reference": "a", "json-pointer": "/a",
    "uuid": "00000000-0000-4000-8000-000000000001", "regex": "a",
}  # fmt: skip

Schema = Mapping[str, object]


class SchemaReader:
    """Makes documents of a schema."""

    def __init__(self, schema: object, items: int, leaves: Leaves) -> None:
        """Read nothing yet.

        Args:
            schema: the whole schema, which references lead into.
            items: how long a list is where the schema allows it.
            leaves: the values.
        """
        self._root, self._items, self._leaves = schema, items, leaves
        self._values = self._characters = 0
        self._most = max(_MOST_MADE, 10 * items)

    def document(self) -> object:
        """Return a document.

        Raises:
            BadUsage: if the schema allows none that whet could make; it says where and why.
        """
        return self._value(self._root, "$", 0)

    def _value(self, schema: object, at: str, depth: int) -> object:
        self._values += 1
        if self._values > self._most:
            raise self._refused(at, f"the document has more than {self._most:,} values")
        if depth > _MOST_NESTED:
            raise self._refused(at, "it contains itself without an end")
        if schema is True or schema == {}:
            return self._leaves.like(0, "")
        held = record_of(schema)
        if held is None:
            raise self._refused(at, "it allows nothing" if schema is False else "it is no schema")
        whole = self._whole(held, at, 0)
        if "const" in whole:
            return whole["const"]
        if "enum" in whole:
            values = items_of(whole["enum"])
            if not values:
                raise self._refused(at, "`enum` is empty")
            return values[(self._leaves.next() - 1) % len(values)]
        return self._makers()[self._type(whole, at)](whole, at, depth + 1)

    def _makers(self) -> "dict[str, Callable[[Schema, str, int], object]]":
        return {
            "object": self._object,
            "array": self._array,
            "string": self._text,
            "integer": self._number,
            "number": self._number,
            "boolean": lambda _schema, _at, _depth: self._leaves.like(value=True, key=""),
            "null": lambda _schema, _at, _depth: None,
        }

    def _whole(self, schema: Schema, at: str, depth: int) -> Schema:
        """Return a schema with what it refers to and what it joins; of a choice the first."""
        if depth > _MOST_NESTED:
            raise self._refused(at, "it refers to itself")
        joined = dict(schema)
        parts: list[object] = items_of(joined.pop("allOf", None))
        if isinstance(reference := joined.pop("$ref", None), str):
            parts.append(self._referred(reference, at))
        for name in ("anyOf", "oneOf"):
            parts += items_of(joined.pop(name, None))[:1]
        for part in parts:
            if (held := record_of(part)) is not None:
                joined = _joined(joined, self._whole(held, at, depth + 1))
        return joined

    def _referred(self, reference: str, at: str) -> object:
        found = self._root
        if not reference.startswith("#"):
            raise self._refused(at, f"it refers to `{reference}`, which is another document")
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            held = record_of(found) or {}
            if name not in held:
                raise self._refused(at, f"it refers to `{reference}`, which isn't there")
            found = held[name]
        return found

    def _type(self, schema: Schema, at: str) -> str:
        named = schema.get("type")
        names = items_of(named) or ([named] if named else [_implied(schema)])
        known = [each for each in names if isinstance(each, str) and each in self._makers()]
        if not known:
            raise self._refused(at, f"`{named}` is no type of JSON")
        return known[0]

    def _object(self, schema: Schema, at: str, depth: int) -> object:
        properties = record_of(schema.get("properties")) or {}
        required = [each for each in items_of(schema.get("required")) if isinstance(each, str)]
        names = list(dict.fromkeys([*(() if self._is_enough(depth) else properties), *required]))
        other = schema.get("additionalProperties", True)
        made = {
            name: self._value(properties.get(name, other), f"{at}.{name}", depth) for name in names
        }
        least = self._least(schema, "minProperties", at)
        for number in range(1, least - len(made) + 1):
            made[f"more{number}"] = self._value(other, at, depth)
        return made

    def _array(self, schema: Schema, at: str, depth: int) -> object:
        least = self._least(schema, "minItems", at)
        most = _whole_number(schema.get("maxItems"), max(least, self._items))
        if least > most:
            raise self._refused(at, f"`minItems` {least} is above `maxItems` {most}")
        first = items_of(schema.get("prefixItems")) or items_of(schema.get("items"))
        anything: object = {}
        other = anything if isinstance(schema.get("items"), list) else schema.get("items", anything)
        wanted = (
            least if self._is_enough(depth) or self._leaves.are_edges else max(least, self._items)
        )
        length = min(max(wanted, len(first)), most) if other is not False else len(first)
        made: list[object] = []
        for place in range(length):
            inner = first[place] if place < len(first) else other
            made.append(self._value(inner, f"{at}[{place}]", depth))
        if schema.get("uniqueItems") is True and len(set(map(repr, made))) < len(made):
            if self._leaves.filling.name == "count":
                raise self._refused(at, f"its {length} values can't all be different")
            self._leaves = Leaves(Filling())  # only a count is sure to differ
            return self._array(schema, at, depth)
        return made

    def _least(self, schema: Schema, name: str, at: str) -> int:
        least = _whole_number(schema.get(name), 0)
        if least > self._most:
            raise self._refused(at, f"`{name}` is above {self._most:,}, the most that whet makes")
        return least

    def _is_enough(self, depth: int) -> bool:
        return depth > _DEEPEST or self._values > _MOST_VALUES

    def _text(self, schema: Schema, at: str, _depth: int) -> object:
        least = self._least(schema, "minLength", at)
        self._characters += least
        if self._characters > self._most:
            raise self._refused(at, f"its texts have more than {self._most:,} characters")
        most = _whole_number(schema.get("maxLength"), max(least, 1 << 20))
        if least > most:
            raise self._refused(at, f"`minLength` {least} is above `maxLength` {most}")
        named = schema.get("format")
        pattern = schema.get("pattern")
        if isinstance(pattern, str):
            made = text_matching(pattern, least)
            if made is None or len(made) > most:
                raise self._refused(at, f"whet finds no text for the pattern `{pattern}`")
            return made
        if isinstance(named, str) and named in _FORMATS:
            return _FORMATS[named]
        if self._leaves.are_edges:
            fitting = [each for each in TEXTS if least <= len(each) <= most]
            return fitting[(self._leaves.next() - 1) % len(fitting)] if fitting else "x" * least
        made = str(self._leaves.like("", at.rpartition(".")[2].partition("[")[0].strip("$")))
        return (made + "x" * least)[: max(least, min(len(made), most))]

    def _number(self, schema: Schema, at: str, _depth: int) -> object:
        try:
            allowed = NumberRange(schema)
        except ValueError as error:
            raise self._refused(at, str(error)) from error
        if self._leaves.are_edges:
            return allowed.edge()
        wanted = self._leaves.like(0 if allowed.has_step else 0.0, "")
        return allowed.near(wanted if isinstance(wanted, int | float) else 0)

    def _refused(self, at: str, why: str) -> BadUsage:
        return BadUsage(
            f"whet can't make what the schema asks for at `{at}`: {why}",
            hint="check the schema there, or give an example: `--like FILE`",
        )


def _joined(one: Schema, other: Schema) -> dict[str, object]:
    """Return a schema that allows what both allow, as far as whet makes use of it."""
    joined = {**other, **one}
    for name in ("properties", "required"):
        if name in one and name in other:
            first, second = record_of(one[name]), record_of(other[name])
            if first is not None and second is not None:
                joined[name] = {**second, **first}
            else:
                joined[name] = [*items_of(other[name]), *items_of(one[name])]
    for name, choose in (
        ("minimum", max),
        ("maximum", min),
        ("minLength", max),
        ("maxLength", min),
    ):
        values = [each[name] for each in (one, other) if isinstance(each.get(name), int | float)]
        if len(values) > 1:
            joined[name] = choose(cast("list[float]", values))
    return joined


def _implied(schema: Schema) -> str:
    """Return the type that the other words of a schema speak of."""
    words = {
        "object": ("properties", "required", "additionalProperties", "minProperties"),
        "array": ("items", "prefixItems", "minItems", "maxItems"),
        "string": ("pattern", "format", "minLength", "maxLength"),
    }
    return next((name for name, own in words.items() if {*own} & {*schema}), "integer")


def _whole_number(value: object, otherwise: int) -> int:
    if isinstance(value, int | float) and 0 <= value < float("inf"):
        return int(value)
    return otherwise
