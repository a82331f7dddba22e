"""How a value is named in a sentence."""

from whet.evidence.provenance.recording import Value
from whet.evidence.provenance.wording import shown


def test_an_array_is_named_by_what_it_holds_and_a_table_by_its_type() -> None:
    array = Value("array", "numpy.ndarray", "", facts={"dtype": "float64"})
    table = Value("array", "pandas.DataFrame", "", facts={})
    assert shown(array) == "an array of float64"
    assert shown(table) == "a DataFrame"
