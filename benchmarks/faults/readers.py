"""All readers of bytes that somebody else wrote."""

from benchmarks.faults.answers import answer_readers
from benchmarks.faults.documents import document_readers
from benchmarks.faults.measured import measured_readers
from benchmarks.faults.payloads import payload_readers
from benchmarks.faults.reader import Reader
from benchmarks.faults.records import record_readers
from benchmarks.faults.samples import sample_readers
from benchmarks.faults.texts import text_readers

READERS: tuple[Reader, ...] = (
    *record_readers(),
    *text_readers(),
    *payload_readers(),
    *document_readers(),
    *measured_readers(),
    *sample_readers(),
    *answer_readers(),
)
