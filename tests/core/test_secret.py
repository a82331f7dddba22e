"""What looks like a secret is masked in what is shown, and what only sounds like one is not."""

import pytest

from whet.core.secret import MASK, masked_variables, masked_words


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
