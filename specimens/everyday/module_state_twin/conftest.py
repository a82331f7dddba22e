import pytest

import catalogue


@pytest.fixture(scope="session")
def season():
    before = dict(catalogue.SETTINGS)
    catalogue.configure(discount=0.25)
    yield catalogue
    catalogue.configure(**before)
