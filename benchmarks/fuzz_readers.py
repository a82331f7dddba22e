"""All readers of bytes that somebody else wrote."""

from fuzz_payloads import payload_readers
from fuzz_reader import Reader
from fuzz_records import record_readers
from fuzz_texts import text_readers

READERS: tuple[Reader, ...] = (*record_readers(), *text_readers(), *payload_readers())
