"""Asking a package index for the files of a package."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from whet.core.errors import IndexUnreachable, UnknownPackage
from whet.core.value_class import value_class
from whet.host.process.tool import call_tool
from whet.host.python.index_page import IndexFile, NoPackagePageError, read_page
from whet.host.python.index_settings import IndexSettings, without_credentials

ACCEPT = (
    "application/vnd.pypi.simple.v1+json, "
    "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
)
TIMEOUT_SECONDS = 30.0
_NOT_THERE = frozenset({404, 410})


@value_class(kw_only=True)
class Listing:
    """What an index has of a package.

    Attributes:
        package: its name as the user wrote it.
        index: address of the index, without credentials.
        files: the files of all releases.
        bare_versions: releases of which only the version is known; what `pip index` tells
            where the index doesn't speak to whet itself.
    """

    package: str
    index: str
    files: tuple[IndexFile, ...] = ()
    bare_versions: tuple[str, ...] = ()


class _NotListedError(Exception):
    """The index doesn't know the package."""


class _UnreachableError(Exception):
    """The index gave no answer; the message says why."""


@value_class(kw_only=True)
class PackageIndex:
    """The package index that is configured, and those beside it.

    Attributes:
        settings: where it is.
        environment: what `pip` gets, if it has to be asked instead.
        timeout_seconds: how long one answer may take.
    """

    settings: IndexSettings
    environment: Mapping[str, str]
    timeout_seconds: float = TIMEOUT_SECONDS

    @classmethod
    def configured(cls, environment: Mapping[str, str]) -> "PackageIndex":
        """Return the index that uv's and pip's settings name."""
        return cls(settings=IndexSettings.configured(environment), environment=environment)

    def listing(self, package: str) -> Listing:
        """Return what there is of ``package``.

        Raises:
            UnknownPackage: if no index has it, or its name can't be one.
            IndexUnreachable: if the index gives no answer, not even to pip.
        """
        page = _normalised(package)
        files: list[IndexFile] = []
        is_listed = False
        problem: _UnreachableError | None = None
        for url in (self.settings.url, *self.settings.extra):
            try:
                files += self._files(url, page)
                is_listed = True
            except _NotListedError:
                continue
            except _UnreachableError as error:
                # An extra index that is down leaves the others; the main one doesn't.
                problem = problem or (error if url == self.settings.url else None)
        if problem is not None:
            return self._ask_pip(package, problem)
        if not is_listed:
            raise UnknownPackage(
                f"the package index {self.settings.shown} doesn't have `{package}`",
                hint="check the spelling; use the name for `pip install`, which may differ from the name that you import",
            )
        return Listing(package=package, index=self.settings.shown, files=tuple(files))

    def check_reachable(self, package: str) -> None:
        """Raise IndexUnreachable if the index gives no answer about ``package``."""
        try:
            self._files(self.settings.url, _normalised(package))
        except _NotListedError:
            return
        except _UnreachableError as error:
            raise self._unreachable(error) from error

    def _files(self, url: str, page: str) -> tuple[IndexFile, ...]:
        address = f"{url.rstrip('/')}/{page}/"
        try:
            scheme = urlsplit(url).scheme
        except ValueError as error:
            raise _UnreachableError(str(error)) from error
        if scheme == "file":
            return _files_of_folder(address)
        if scheme not in {"http", "https"}:
            raise _UnreachableError("its address starts with neither https:// nor http://")
        return self._fetch(address)

    def _fetch(self, address: str) -> tuple[IndexFile, ...]:
        # Slow to import (ssl), and only needed here.
        import http.client
        import ssl
        import urllib.error
        import urllib.request

        request = urllib.request.Request(  # noqa: S310 - the caller lets only http and https pass
            without_credentials(address), headers={"Accept": ACCEPT, **_authorisation(address)}
        )
        try:
            trust = ssl.create_default_context(cafile=self.settings.certificates)
            with urllib.request.urlopen(  # noqa: S310 - as above
                request, timeout=self.timeout_seconds, context=trust
            ) as answer:
                kind: str = answer.headers.get("Content-Type", "")
                content: bytes = answer.read()
            return read_page(content, kind)
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _NOT_THERE:
                    raise _NotListedError from error
                raise _UnreachableError(f"it answers {error.code} {error.reason}") from error
        except urllib.error.URLError as error:
            raise _UnreachableError(str(error.reason)) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _UnreachableError(str(error) or type(error).__name__) from error
        except NoPackagePageError as error:
            raise _UnreachableError(f"its answer is {error}") from error

    def _ask_pip(self, package: str, problem: _UnreachableError) -> Listing:
        """Let pip try, which knows more ways in: proxies in its settings, keyrings, netrc."""
        command = [sys.executable, "-m", "pip", "index", "versions", "--pre", "--retries", "0"]
        timeout = max(1, int(self.timeout_seconds))
        answer = call_tool(
            [*command, "--timeout", str(timeout), "--no-input", "--", package],
            environment={**self.environment, **self.settings.for_pip()},
        )
        versions = _versions_told_by_pip(answer.text.splitlines())
        if answer.exit_code != 0 or not versions:
            raise self._unreachable(problem) from problem
        return Listing(package=package, index=self.settings.shown, bare_versions=versions)

    def _unreachable(self, problem: _UnreachableError) -> IndexUnreachable:
        source = f" (from `{self.settings.source}`)" if self.settings.source else ""
        return IndexUnreachable(
            f"the package index {self.settings.shown}{source} cannot be reached: {problem}",
            hint="check the network and the proxy, or name another index with `PIP_INDEX_URL`",
        )


def _normalised(package: str) -> str:
    from packaging.utils import InvalidName, canonicalize_name

    try:
        return canonicalize_name(package, validate=True)
    except InvalidName as error:
        raise UnknownPackage(
            f"`{package}` is not a valid package name",
            hint="a name has letters, digits, `.`, `_` and `-`; give the version apart from it",
        ) from error


def _authorisation(address: str) -> dict[str, str]:
    """Return the header for the user and password in an address."""
    import base64

    parts = urlsplit(address)
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _files_of_folder(address: str) -> tuple[IndexFile, ...]:
    page = Path(unquote(urlsplit(address).path), "index.html")
    try:
        return read_page(page.read_bytes(), "text/html")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _NotListedError from error
    except (OSError, NoPackagePageError) as error:
        raise _UnreachableError(str(error)) from error


def _versions_told_by_pip(lines: Sequence[str]) -> tuple[str, ...]:
    listing = [line for line in lines if line.startswith("Available versions:")]
    names = listing[0].partition(":")[2].split(",") if listing else []
    return tuple(name.strip() for name in names if name.strip())
