"""The answers of a package index about one package: PEP 503 (HTML), PEP 691 and 700 (JSON)."""

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from whet.core.text.record import JsonObject, as_record, decoded, optional_text, records, text
from whet.core.value_class import value_class


@value_class(kw_only=True)
class IndexFile:
    """A file of a release.

    Attributes:
        name: its name, such as ``six-1.16.0-py2.py3-none-any.whl``.
        requires_python: the Pythons that it is for, as a PEP 440 specifier; empty: all.
        yanked: why it was withdrawn; empty without a reason; None if it was not.
        uploaded: when, ISO 8601 in UTC; empty if the index doesn't say.
    """

    name: str
    requires_python: str = ""
    yanked: str | None = None
    uploaded: str = ""


class NoPackagePageError(Exception):
    """The answer isn't a package's page."""


def read_page(content: bytes, content_type: str) -> tuple[IndexFile, ...]:
    """Return the files that a page lists.

    An index is asked for JSON and may still answer HTML, so the content type decides.

    Raises:
        NoPackagePageError: if it can be read as neither.
    """
    if "json" in content_type:
        return _read_json(content)
    if content.lstrip()[:1] not in {b"<", b""}:
        raise NoPackagePageError(f"neither JSON nor HTML, but {content_type or 'no content type'}")
    page = _Page()
    try:
        page.feed(content.decode("utf-8", "replace"))
        page.close()
    except (ValueError, AssertionError) as error:  # a broken link; a broken `<![`
        raise NoPackagePageError(f"unreadable HTML: {error}") from error
    return tuple(page.files)


def _read_json(content: bytes) -> tuple[IndexFile, ...]:
    try:
        page = as_record(decoded(content), "page")
        files = [_file_of(each) for each in records(page, "files")]
    except ValueError as error:
        raise NoPackagePageError(f"not the JSON of PEP 691: {error}") from error
    if "files" not in page:
        raise NoPackagePageError("not the JSON of PEP 691: it has no `files`")
    return tuple(files)


def _file_of(data: JsonObject) -> IndexFile:
    yanked = data.get("yanked", False)
    return IndexFile(
        name=text(data, "filename"),
        requires_python=optional_text(data, "requires-python") or "",
        yanked=yanked if isinstance(yanked, str) else "" if yanked is True else None,
        uploaded=optional_text(data, "upload-time") or "",
    )


class _Page(HTMLParser):
    """Reads the anchors of a PEP 503 page."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[IndexFile] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of a file."""
        attributes = dict(attrs)
        target = attributes.get("href")
        if tag == "a" and target is not None:
            self.files.append(
                IndexFile(
                    name=unquote(urlsplit(target).path.rpartition("/")[2]),
                    requires_python=attributes.get("data-requires-python") or "",
                    # An attribute without a value says yanked without a reason (PEP 592).
                    yanked=(attributes["data-yanked"] or "")
                    if "data-yanked" in attributes
                    else None,
                    uploaded=attributes.get("data-upload-time") or "",
                )
            )
