from pathlib import Path

from whet.workbench.files.recipe import index_to_name


def test_what_uv_is_set_up_for_is_not_spelled_out(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": "/dev/null",
        "UV_DEFAULT_INDEX": "https://index.example/simple",
    }

    assert index_to_name(environment) == {}


def test_an_index_that_only_pip_knows_is_named_for_uv(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_INDEX_URL": "https://index.example/simple",
        "PIP_CERT": "/etc/own.pem",
    }

    assert index_to_name(environment) == {
        "UV_DEFAULT_INDEX": "https://index.example/simple",
        "SSL_CERT_FILE": "/etc/own.pem",
    }


def test_no_password_is_passed_on(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_INDEX_URL": "https://me:secret@index.example/simple",
    }

    assert index_to_name(environment) == {}
