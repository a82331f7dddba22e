import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_index import JSON, LocalIndex, served

from whet.core.errors import IndexUnreachable, UnknownPackage
from whet.host.python.index_page import IndexFile, NoPackagePageError, read_page
from whet.host.python.index_settings import PYPI, IndexSettings, without_credentials
from whet.host.python.package_index import PackageIndex


@pytest.fixture
def local() -> Iterator[LocalIndex]:
    with served(LocalIndex()) as index:
        yield index


def index_at(url: str, *extra: str, source: str = "") -> PackageIndex:
    return PackageIndex(
        settings=IndexSettings(url=url, extra=extra, source=source),
        environment={"PIP_CONFIG_FILE": "/dev/null"},
        timeout_seconds=5,
    )


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.mark.parametrize("speaks_json", [True, False], ids=["JSON", "HTML"])
def test_json_and_html_tell_the_same(local: LocalIndex, *, speaks_json: bool) -> None:
    local.wheel("tool", "1.0", requires_python=">=3.8,<4", uploaded="2020-01-02T03:04:05Z")
    local.wheel("tool", "1.1", yanked="breaks & burns").wheel("tool", "1.2", yanked="")
    local.sdist("tool", "1.3")
    local.speaks_json = speaks_json

    listing = index_at(local.url).listing("Tool")

    assert (listing.package, listing.index) == ("Tool", local.url)
    assert [file.name for file in listing.files] == [
        "tool-1.0-py3-none-any.whl",
        "tool-1.1-py3-none-any.whl",
        "tool-1.2-py3-none-any.whl",
        "tool-1.3.tar.gz",
    ]
    assert [file.yanked for file in listing.files] == [None, "breaks & burns", "", None]
    assert listing.files[0].requires_python == ">=3.8,<4"
    assert listing.files[0].uploaded == "2020-01-02T03:04:05Z"


def test_json_is_asked_for_first_and_html_is_taken(local: LocalIndex) -> None:
    local.wheel("my-tool", "1.0")

    index_at(local.url + "/").listing("My_Tool")

    path, accepted = local.asked[0]
    assert path == "/simple/my-tool/"
    assert accepted.startswith(JSON)
    assert "text/html" in accepted


def test_an_unknown_package_is_named_with_its_index(local: LocalIndex) -> None:
    with pytest.raises(UnknownPackage, match="doesn't have `tolo`") as refused:
        index_at(local.url).listing("tolo")

    assert local.url in str(refused.value)
    index_at(local.url).check_reachable("tolo")


@pytest.mark.parametrize("name", ["", "tool==1.0", "a b", "../etc", "-r"])
def test_what_cannot_be_a_name_is_refused_without_asking(local: LocalIndex, name: str) -> None:
    with pytest.raises(UnknownPackage, match="is not a valid package name"):
        index_at(local.url).listing(name)

    assert not local.asked


@pytest.mark.slow
def test_an_index_on_a_closed_port_is_named_with_where_it_was_set() -> None:
    url = f"http://127.0.0.1:{closed_port()}/simple"

    with pytest.raises(IndexUnreachable, match="Connection refused") as refused:
        index_at(url, source="PIP_INDEX_URL").listing("tool")

    assert f"{url} (from `PIP_INDEX_URL`)" in str(refused.value)
    assert "PIP_INDEX_URL" in refused.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("url", ["ftp://127.0.0.1/simple", "index.example", "http://[::1/simple"])
def test_an_address_that_is_none_is_said_to_be_unreachable(url: str) -> None:
    with pytest.raises(IndexUnreachable):
        index_at(url).listing("tool")


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 503])
def test_an_index_that_refuses_is_named_with_its_answer(local: LocalIndex, status: int) -> None:
    local.wheel("tool", "1.0").status = status

    with pytest.raises(IndexUnreachable, match=f"it answers {status}"):
        index_at(local.url).listing("tool")
    with pytest.raises(IndexUnreachable, match=f"it answers {status}"):
        index_at(local.url).check_reachable("tool")


def test_an_answer_that_is_no_page_is_named_as_that(local: LocalIndex) -> None:
    local.status = 200  # also for what is not there: "not here", in words

    with pytest.raises(IndexUnreachable, match="its answer is neither JSON nor HTML"):
        index_at(local.url).check_reachable("tool")


@pytest.mark.slow
def test_an_answer_that_breaks_off_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.recv(4096)
                client.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 9999\r\n\r\n<a href=")

        thread = threading.Thread(target=answer)
        thread.start()
        index = index_at(f"http://127.0.0.1:{server.getsockname()[1]}/simple")
        with pytest.raises(IndexUnreachable, match="IncompleteRead"):
            index.check_reachable("tool")
        thread.join()


def test_user_and_password_are_sent_and_never_shown(local: LocalIndex) -> None:
    local.wheel("tool", "1.0")
    url = local.url.replace("http://", "http://user:p%40ss@")

    listing = index_at(url).listing("tool")

    assert local.authorisations == ["Basic dXNlcjpwQHNz"]
    assert listing.index == local.url


def test_files_of_an_extra_index_stand_beside_those_of_the_main_one(local: LocalIndex) -> None:
    local.wheel("tool", "1.0")
    with served(LocalIndex().wheel("tool", "2.0").wheel("other", "3.0")) as extra:
        down = f"http://127.0.0.1:{closed_port()}/simple"
        index = index_at(local.url, extra.url, down)

        assert len(index.listing("tool").files) == 2
        assert len(index.listing("other").files) == 1


def test_an_index_may_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "index.html").write_text('<a href="tool-1.0.tar.gz">x</a>')
    index = index_at(tmp_path.as_uri())

    (file,) = index.listing("tool").files

    assert file == IndexFile(name="tool-1.0.tar.gz")
    with pytest.raises(UnknownPackage):
        index.listing("other")


def test_a_page_may_have_a_base_and_links_that_are_no_files() -> None:
    html = b'<base href="/pool/"><a>no link</a><a href="a%2Bb-1.0.zip?x#frag">t</a><p href="y">'

    (file,) = read_page(html, "text/html; charset=utf-8")

    assert file.name == "a+b-1.0.zip"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{}", "application/json"),
        (b"[]", "application/json"),
        (b"{", "application/json"),
        (b'{"files": 3}', "application/json"),
        (b'{"files": [{}]}', "application/json"),
        (b'<a href="http://[">x</a>', "text/html"),
        (b"<![x[", "text/html"),
        (b"\x89PNG", "image/png"),
        (b"plain", ""),
    ],
)
def test_what_is_no_page_of_a_package_is_refused(content: bytes, kind: str) -> None:
    with pytest.raises(NoPackagePageError):
        read_page(content, kind)


@given(content=st.binary(max_size=200), kind=st.sampled_from(["text/html", "application/json"]))
def test_any_answer_is_read_or_refused(content: bytes, kind: str) -> None:
    try:
        files = read_page(content, kind)
    except NoPackagePageError:
        return
    assert all(isinstance(file, IndexFile) for file in files)


@pytest.mark.slow
def test_where_the_index_does_not_speak_to_whet_pip_is_asked(
    local: LocalIndex, tmp_path: Path
) -> None:
    # An answer of an unknown kind, from an index that pip finds in another way.
    local.wheel("tool", "1.0").wheel("tool", "2.0b1")
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "index.html").write_text("plainly no page")
    index = PackageIndex(
        settings=IndexSettings(url=tmp_path.as_uri()),
        environment={"PIP_CONFIG_FILE": "/dev/null", "PIP_FIND_LINKS": local.url + "/tool/"},
        timeout_seconds=5,
    )
    local.speaks_json = False

    assert index.listing("tool").bare_versions == ("2.0b1", "1.0")


def settings(tmp_path: Path, **environment: str) -> IndexSettings:
    files = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    return IndexSettings.configured(files | environment)


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_the_environment_wins_over_files_and_uv_over_pip(tmp_path: Path) -> None:
    write(tmp_path / ".pip" / "pip.conf", "[global]\nindex-url = https://old.example/simple\n")
    assert settings(tmp_path).url == "https://old.example/simple"

    user = write(
        tmp_path / "config" / "pip" / "pip.conf",
        "[global]\nindex-url = https://pip.example/simple\nextra-index-url =\n  https://one.example\n"
        "  https://two.example\n[install]\ncert = /some/ca.pem\n",
    )
    by_pip = settings(tmp_path)
    assert (by_pip.url, by_pip.source) == ("https://pip.example/simple", str(user))
    assert by_pip.extra[:2] == ("https://one.example", "https://two.example")
    assert by_pip.certificates == "/some/ca.pem"

    write(
        tmp_path / "config" / "uv" / "uv.toml",
        '[[index]]\nurl = "https://uv.example/simple"\ndefault = true\n[[index]]\n'
        'url = "https://more.example"\n[[index]]\nurl = "https://torch.example"\nexplicit = true\n'
        '[pip]\nindex-url = "https://late.example"\nextra-index-url = ["https://x.example"]\n',
    )
    by_uv = settings(tmp_path)
    assert by_uv.url == "https://uv.example/simple"
    assert by_uv.extra[:2] == ("https://more.example", "https://x.example")

    environment = {"PIP_INDEX_URL": "https://env.example/simple"}
    assert settings(tmp_path, **environment).source == "PIP_INDEX_URL"
    environment["UV_INDEX_URL"] = "https://env-uv.example/simple"
    assert settings(tmp_path, **environment).url == "https://env-uv.example/simple"
    environment["UV_DEFAULT_INDEX"] = "named=https://user:secret@default.example/simple"
    named = settings(tmp_path, **environment, UV_INDEX="a=https://a.example https://b.example")
    assert named.url == "https://user:secret@default.example/simple"
    assert named.shown == "https://default.example/simple"
    assert named.extra[:2] == ("https://a.example", "https://b.example")


def test_without_any_setting_it_is_pypi(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": "/dev/null"}

    found = PackageIndex.configured(environment).settings

    assert (found.url, found.source, found.extra) == (PYPI, "", ())


@pytest.mark.parametrize("name", ["pip/pip.conf", "uv/uv.toml"])
@pytest.mark.parametrize(
    "content", ["[global\n", "\x00\udcff", "index = 3\n", "[pip]\nindex = [1]"]
)
def test_a_settings_file_that_cannot_be_read_says_nothing(
    tmp_path: Path, name: str, content: str
) -> None:
    path = tmp_path / "config" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode("utf-8", "surrogateescape"))

    assert settings(tmp_path).url == PYPI


def test_an_extra_folder_that_is_not_there_is_passed_over_as_pip_does(tmp_path: Path) -> None:
    there, gone = tmp_path.as_uri(), (tmp_path / "gone").as_uri()

    extra = f"{gone} {there} file://[ {there}"

    found = settings(tmp_path, PIP_CONFIG_FILE="/dev/null", PIP_EXTRA_INDEX_URL=extra)

    assert found.extra == (there,)


def test_a_file_named_for_pip_and_that_of_the_virtual_environment_are_read(tmp_path: Path) -> None:
    named = write(tmp_path / "mine.conf", "[global]\nindex-url = https://mine.example\n")
    write(tmp_path / "venv" / "pip.conf", "[global]\nindex-url = https://venv.example\n")

    with_both = settings(tmp_path, PIP_CONFIG_FILE=str(named), VIRTUAL_ENV=str(tmp_path / "venv"))
    with_venv = settings(tmp_path, VIRTUAL_ENV=str(tmp_path / "venv"))

    assert with_both.url == "https://mine.example"
    assert with_venv.url == "https://venv.example"


def test_uv_and_pip_are_told_the_same_index() -> None:
    found = IndexSettings(url="https://a", extra=("https://b", "https://c"), certificates="/ca")

    assert found.for_uv() == {
        "UV_DEFAULT_INDEX": "https://a",
        "UV_INDEX": "https://b https://c",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "SSL_CERT_FILE": "/ca",
    }
    assert found.for_pip() == {
        "PIP_INDEX_URL": "https://a",
        "PIP_EXTRA_INDEX_URL": "https://b https://c",
        "PIP_CERT": "/ca",
    }
    assert "UV_INDEX_STRATEGY" not in IndexSettings().for_uv()


def test_an_address_without_credentials_stays_as_it_is() -> None:
    assert without_credentials("https://a.example:8080/x?y#z") == "https://a.example:8080/x?y#z"
    assert without_credentials("https://u:p@a.example/x") == "https://a.example/x"
    assert without_credentials("https://u:p@[") == "["
