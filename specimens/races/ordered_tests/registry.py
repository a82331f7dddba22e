"""A registry of readers that is filled when somebody first asks for a reader by name."""

READERS: dict[str, str] = {}


def register(kind: str, reader: str) -> None:
    """Add a reader."""
    READERS[kind] = reader


def reader_of(kind: str) -> str:
    """Return the reader of a kind."""
    return READERS[kind]
