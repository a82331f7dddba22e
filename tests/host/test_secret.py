"""What looks like a secret is masked in what is shown, and what only sounds like one is not."""

import pytest

from whet.agent.site.whet_state.secret_rule import MASK, masked, obey, why_secret
from whet.host.trial.trial_secrets import masked_variables, masked_words


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["login", "--password=hunter22"], ["login", f"--password={MASK}"]),
        (["login", "--api-key", "abcd1234"], ["login", "--api-key", MASK]),
        (["env", "DB_PASSWORD=hunter22", "python"], ["env", f"DB_PASSWORD={MASK}", "python"]),
        (["push", "ghp_0123456789abcdef"], ["push", MASK]),
        (["curl", "https://ada:hunter22@example.org/x"], ["curl", f"https://{MASK}@example.org/x"]),
    ],
)
def test_a_secret_among_words_is_masked(words: list[str], shown: list[str]) -> None:
    assert masked_words(words) == shown


@pytest.mark.parametrize(
    "words",
    [
        ["train.py", "--max-tokens", "4096", "--session", "long-one"],
        ["train.py", "--max_tokens=4096", "--key", "name", "--author", "ada lovelace"],
        ["python", "-c", "password = ask()\nprint(len(password))"],
        ["sh", "-c", 'env -i API_TOKEN="$API_TOKEN" DB_PASSWORD="${DB_PASSWORD}" x'],
        ["x", "--token", "--verbose"],
        ["x", "--token", "no"],
        ["x", "--password"],
    ],
)
def test_what_only_sounds_like_one_is_shown(words: list[str]) -> None:
    assert masked_words(words) == words


def test_secrets_among_variables_are_masked() -> None:
    shown = masked_variables({"API_TOKEN": "abcd1234", "LANG": "C", "PASSWORD": ""})
    assert shown == {"API_TOKEN": MASK, "LANG": "C", "PASSWORD": ""}


_KEY = "wJalrXUtnFEMIK7MDENGbPxRfiCYzEX4MPl3"


@pytest.mark.parametrize(
    "text",
    [
        "password='{}'",
        '{{"password": "{}"}}',
        "Settings(user='ada', api_key='{}')",
        "postgres://ada:{}@db/x",
        "Authorization: Bearer {}",
        "'Authorization': 'Basic {}='",
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        "Server=x;Password={};Port=1",
        "Cookie: id={}; more",
    ],
)
def test_a_secret_inside_a_text_is_masked_and_the_rest_of_it_is_shown(text: str) -> None:
    shown = masked(f"before {text.format('hunter22hunter22')} after")

    assert "hunter22" not in shown
    assert shown.startswith("before ")
    assert MASK in shown


@pytest.mark.parametrize(
    "text",
    [
        "password = ask()\nprint(len(password))",
        "token=get_token()",
        "unexpected token: end of file",
        "api_key={api_key}",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "Basic authentication failed",
        "http://localhost:8080/a",
    ],
)
def test_a_text_that_only_speaks_of_secrets_is_shown(text: str) -> None:
    assert masked(text) == text


def test_characters_that_look_drawn_are_a_secret_and_digests_paths_and_names_are_none() -> None:
    assert masked_words(["run", _KEY]) == ["run", MASK]
    plain = [
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "123e4567-e89b-12d3-a456-426614174000",
        "tests/test_LongModuleName2.py::TestClass1::test_Something",
        "/tmp/pytest-of-ada/pytest-12/TestFoo0/run_A1_b2_C3_d4",
        "checkpoints/ResNet50/run12_LargeBatchAndMore",
        "AVeryLongClassNameOfSomeProgramThatHasNoFigures",
    ]
    assert masked_words(plain) == plain


@pytest.mark.parametrize("name", ["password_file", "--api-key-path", "token_count", "secret-name"])
def test_a_name_that_tells_of_a_secret_is_none(name: str) -> None:
    assert why_secret(name, "somewhere") == ""


def test_the_user_s_list_adds_and_his_exceptions_take_away() -> None:
    words = ["x", "--acme-id=abcdefgh", "acme_live_abc", "--password=hunter22"]
    try:
        obey(["ACME_*", "prefix:acme_live_"], ["password"])
        assert masked_words(words) == [
            "x", f"--acme-id={MASK}", MASK, "--password=hunter22",
        ]  # fmt: skip
        assert masked("it is acme_live_abc, see") == f"it is {MASK}, see"
        obey([], ["prefix:ghp_"])
        assert masked("ghp_abcdefghijklmnop") == "ghp_abcdefghijklmnop"
    finally:
        obey([], [])
    assert masked_words(words) == [*words[:3], f"--password={MASK}"]
