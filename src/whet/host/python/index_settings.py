"""The package index in the settings of the user's uv and pip.

Environment variables come before files, and uv before pip, because uv installs. whet passes the index
on to the installing tool, so it lists only releases that the tool can install.
"""

import configparser
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from whet.core.text.record import JsonObject, as_record, boolean, record, records, text, texts
from whet.core.text.toml import toml_data
from whet.core.value_class import value_class

PYPI = "https://pypi.org/simple"
_PIP_SECTIONS = ("install", "index", "global")


@value_class(kw_only=True)
class IndexSettings:
    """The package index to use.

    Attributes:
        url: where its simple API begins; may hold credentials, so show `shown` instead.
        extra: other indexes that are searched as well.
        source: the variable or file that says so; empty for the default.
        certificates: a file of certificates to trust, or None.
    """

    url: str = PYPI
    extra: tuple[str, ...] = ()
    source: str = ""
    certificates: str | None = None

    @classmethod
    def configured(cls, environment: Mapping[str, str]) -> "IndexSettings":
        """Return what ``environment`` and the files that it leads to say."""
        url, source = PYPI, ""
        extra: list[str] = []
        certificates = environment.get("PIP_CERT") or None
        for layer in _layers(environment):
            if layer.url and not source:
                url, source = layer.url, layer.source
            extra += layer.extra
            certificates = certificates or layer.certificates
        others = (each for each in dict.fromkeys(extra) if each != url and _may_exist(each))
        return cls(url=url, extra=tuple(others), source=source, certificates=certificates)

    @property
    def shown(self) -> str:
        """The address without the credentials in it."""
        return without_credentials(self.url)

    def for_uv(self) -> dict[str, str]:
        """Return the environment that makes uv use these indexes."""
        variables = {"UV_DEFAULT_INDEX": self.url, "UV_INDEX": " ".join(self.extra)}
        if self.extra:
            # pip takes the best version of all indexes; uv alone would stop at the first one.
            variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
        if self.certificates:
            variables["SSL_CERT_FILE"] = self.certificates
        return variables

    def for_pip(self) -> dict[str, str]:
        """Return the environment that makes pip use these indexes."""
        variables = {"PIP_INDEX_URL": self.url, "PIP_EXTRA_INDEX_URL": " ".join(self.extra)}
        return {**variables, "PIP_CERT": self.certificates} if self.certificates else variables


def without_credentials(url: str) -> str:
    """Return ``url`` without the user and password in it."""
    try:
        parts = urlsplit(url)
    except ValueError:  # no address at all; what stands before an `@` is still not shown
        return url.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


@value_class(kw_only=True)
class _Layer:
    """What one place says."""

    source: str
    url: str = ""
    extra: tuple[str, ...] = ()
    certificates: str | None = None


def _layers(environment: Mapping[str, str]) -> Iterator[_Layer]:
    """Yield what each place says, the strongest first."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        yield _Layer(source=name, url=_address(environment.get(name, "")))
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        extra = tuple(_address(each) for each in environment.get(name, "").split())
        yield _Layer(source=name, extra=extra)
    config = Path(environment.get("XDG_CONFIG_HOME") or _home(environment) / ".config")
    for path in (config / "uv" / "uv.toml", Path("/etc/uv/uv.toml")):
        yield from _of_uv(path)
    for path in _pip_files(environment, config):
        yield from _of_pip(path)


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())


def _address(value: str) -> str:
    """Return the address in ``NAME=ADDRESS`` or ``ADDRESS``, as uv writes them."""
    name, equals, address = value.partition("=")
    return address if equals and "/" not in name else value


def _pip_files(environment: Mapping[str, str], config: Path) -> Iterator[Path]:
    file = environment.get("PIP_CONFIG_FILE", "")
    if file == "/dev/null":  # pip reads this as: no file at all
        return
    if file:
        yield Path(file)
    if environment.get("VIRTUAL_ENV"):
        yield Path(environment["VIRTUAL_ENV"], "pip.conf")
    yield config / "pip" / "pip.conf"
    yield _home(environment) / ".pip" / "pip.conf"
    yield Path("/etc/pip.conf")
    yield Path("/etc/xdg/pip/pip.conf")


def _of_pip(path: Path) -> Iterator[_Layer]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, configparser.Error):
        return  # pip itself will say what is wrong with it
    for section in _PIP_SECTIONS:
        if parser.has_section(section):
            yield _Layer(
                source=str(path),
                url=parser.get(section, "index-url", fallback="").strip(),
                extra=tuple(parser.get(section, "extra-index-url", fallback="").split()),
                certificates=parser.get(section, "cert", fallback="").strip() or None,
            )


def _of_uv(path: Path) -> Iterator[_Layer]:
    try:
        settings = as_record(toml_data(path.read_text(encoding="utf-8")), "uv.toml")
        layers = [_of_uv_table(table, str(path)) for table in (settings, record(settings, "pip"))]
    except (OSError, ValueError):
        return  # uv itself will say what is wrong with it
    yield from layers


def _of_uv_table(table: JsonObject, source: str) -> _Layer:
    url, extra = text(table, "index-url", ""), list(texts(table, "extra-index-url"))
    for index in records(table, "index"):
        if boolean(index, "default"):
            url = text(index, "url")
        elif not boolean(index, "explicit"):
            extra.append(text(index, "url"))
    return _Layer(source=source, url=url, extra=tuple(extra))


def _may_exist(url: str) -> bool:
    """Whether an extra index can be there: pip passes over a folder that isn't."""
    if not url.startswith("file:"):
        return True
    with suppress(OSError, ValueError):
        return Path(unquote(urlsplit(url).path)).is_dir()
    return False
