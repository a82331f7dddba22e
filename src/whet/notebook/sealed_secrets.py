"""Secrets beside the notebook: each is a file, and in `notebook.db` stands a digest of it.

Whoever has `notebook.db` alone has no secret: the digest is keyed with bytes that aren't in it.
Equal secrets have equal digests, so that equal trials are found; see decision 94.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from whet.core.errors import SecretNotKept
from whet.core.trial import Trial
from whet.host.files.files import storage_error, write_atomically
from whet.host.trial.kept_environment import salt_of
from whet.host.trial.known_secrets import holds_known, know_sealed, know_trial, with_known
from whet.host.trial.trial_secrets import SEALED, Found, Piece, secrets_of, with_secrets

FOLDER = "sealed"


class Seals:
    """The secrets of one notebook.

    Attributes:
        folder: where they are; made when there is one.
    """

    def __init__(self, state: Path, key: Callable[[], bytes] = bytes) -> None:
        """Keep secrets in a folder of their own.

        Args:
            state: the folder of the notebook.
            key: what their digests are keyed with; empty: with random bytes in that folder.
        """
        self.folder = state / FOLDER
        self._state = state
        self._find_key = key
        self._key = b""
        self._kept: set[str] = set()
        self._last: tuple[Trial | None, Trial] = None, Trial(command=(), cwd="")

    def marked(self, trial: Trial) -> Trial:
        """Return a trial with a digest instead of each secret; nothing is written."""
        known, marked = self._last  # it is asked for several times in a row
        if known is not trial:
            marked = with_secrets(trial, lambda piece: self._mark(piece.text))
            self._last = trial, marked
        return marked

    def sealed_trial(self, trial: Trial) -> str:
        """Return a trial as JSON without its secrets, which are kept.

        Raises:
            SecretNotKept: if it has one that was sealed elsewhere.
            DiskFull, CannotWrite: if one can't be kept.
        """
        found = list(secrets_of(trial))
        if not found:
            self._last = trial, trial
            return self.sealed(trial.to_json())
        self._check(found)
        know_trial(trial)
        return self.sealed(with_secrets(trial, self._seal_piece).to_json())

    def sealed(self, data: Mapping[str, object]) -> str:
        """Return data as JSON, with the secrets that are known kept elsewhere."""
        whole = json.dumps(data, separators=(",", ":"))
        if not holds_known(whole):
            return whole
        return json.dumps(self._leaves(data), separators=(",", ":"))

    def sealed_text(self, text: str) -> str:
        """Return a text with the secrets that are known kept elsewhere."""
        return with_known(text, self._seal)

    def opened(self, text: str, *, is_json: bool, is_trial: bool) -> str:
        """Return a text with the secrets in it, as far as they are kept here.

        Those of a trial are asked for again, by what the user's lists say now.
        """
        if "<sealed " not in text:
            return text

        def put(mark: str, digest: str) -> str:
            value = self._value(digest)
            if value is not None and not is_trial:
                know_sealed(value)
            return mark if value is None else json.dumps(value)[1:-1] if is_json else value

        return SEALED.sub(lambda found: put(found[0], found[1]), text)

    def take(self, digest: str, data: bytes) -> None:
        """Keep what another folder holds, if this user's whet has sealed it there."""
        with suppress(UnicodeDecodeError):
            value = data.decode("utf-8", "surrogatepass")
            if hmac.compare_digest(self._mark(value), f"<sealed {digest}>"):
                self._seal(value)

    def _check(self, found: Sequence[Found]) -> None:
        for each in found:
            if SEALED.fullmatch(each.value):
                source = "-- COMMAND`, with the secret in it"
                if each.environment:
                    source = f"--env {each.environment}=VALUE`"
                raise SecretNotKept(
                    f"this machine doesn't have the secret of {each.place}",
                    hint=f"give it again: `whet run --like TRIAL {source}",
                )

    def _leaves(self, data: object) -> object:
        if isinstance(data, str):
            return self.sealed_text(data)
        if isinstance(data, Mapping):
            table = cast("Mapping[str, object]", data)
            return {name: self._leaves(each) for name, each in table.items()}
        if isinstance(data, Sequence):
            return [self._leaves(each) for each in cast("Sequence[object]", data)]
        return data

    def _seal_piece(self, piece: Piece) -> str:
        return self._seal(piece.text)

    def _seal(self, value: str) -> str:
        mark = self._mark(value)
        if mark in self._kept or mark == value:
            return mark
        path = self.folder / mark[8:-1]
        try:
            if not path.exists():
                self.folder.mkdir(mode=0o700, exist_ok=True)
                write_atomically(path, value.encode("utf-8", "surrogatepass"), mode=0o600)
        except OSError as error:
            raise storage_error(error, path) from error
        self._kept.add(mark)
        return mark

    def _value(self, digest: str) -> str | None:
        with suppress(OSError, UnicodeDecodeError):
            value = (self.folder / digest).read_bytes().decode("utf-8", "surrogatepass")
            # What it doesn't hold any more, or somebody else has put there, is none.
            return value if self._mark(value) == f"<sealed {digest}>" else None
        return None

    def _mark(self, value: str) -> str:
        if SEALED.fullmatch(value):
            return value
        self._key = self._key or self._find_key() or salt_of(self._state)
        data = value.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(data, key=self._key, digest_size=16).hexdigest()
        return f"<sealed {digest}>"
