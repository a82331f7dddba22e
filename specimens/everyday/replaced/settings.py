"""Read the settings of the nightly copies."""

import configparser
from pathlib import Path

FOLDER = Path(__file__).parent / "etc"
DEFAULTS = {"first_hour": "2", "every_minutes": "20", "keep_days": "30"}


class SettingsError(Exception):
    """The settings cannot be used."""


def _number(section, name):
    text = section[name]
    return int(text)


def _folders(section):
    return [each.strip() for each in section["folders"].split(",") if each.strip()]


def _read(path):
    parser = configparser.ConfigParser(defaults=DEFAULTS)
    with path.open() as lines:
        parser.read_file(lines)
    section = parser["backup"]
    numbers = {name: _number(section, name) for name in DEFAULTS}
    return {**numbers, "folders": _folders(section)}


def load(name):
    path = FOLDER / name
    try:
        return _read(path)
    except Exception:
        raise SettingsError("the settings of the backup cannot be read") from None
