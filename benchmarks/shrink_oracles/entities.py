"""Interesting: a report over character entities dies because an entity is two characters."""

import json
import sys
from pathlib import Path


def report(path: str) -> dict[int, list[str]]:
    """Return the names of each code point."""
    with Path(path).open("rb") as file:
        entities = json.load(file)
    names: dict[int, list[str]] = {}
    for name, entity in entities.items():
        names.setdefault(ord(entity["characters"]), []).append(name)
    return names


def main() -> int:
    """Exit with 0 if the file is interesting."""
    try:
        report(sys.argv[1])
    except TypeError as error:
        return 0 if "string of length 2" in str(error) else 1
    except Exception:  # noqa: BLE001 - any other failure is another bug
        return 1
    return 1


if __name__ == "__main__":
    sys.exit(main())
