"""Reading TOML that somebody else wrote, in time and memory that its length bounds."""

import re

_BETWEEN_KEYS = re.compile(r"[\s=\"'#]+")
_MOST_DOTS = 200


def toml_data(text: str) -> dict[str, object]:
    """Return the tables of a document.

    Raises:
        ValueError: if it is none, or nested too deeply; `tomllib` takes the square of a key's parts.
    """
    import tomllib  # 16 ms: only who has such a file pays

    if any(word.count(".") > _MOST_DOTS for word in _BETWEEN_KEYS.split(text)):
        raise ValueError(f"a key has more than {_MOST_DOTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
