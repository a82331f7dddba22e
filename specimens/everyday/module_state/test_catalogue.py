import pytest

import catalogue


def test_an_unknown_article_is_refused():
    with pytest.raises(KeyError):
        catalogue.price("sofa")


def test_a_sale_takes_a_quarter_off():
    catalogue.configure(discount=0.25)
    assert catalogue.price("lamp") == 30.0


def test_every_article_has_a_price():
    assert all(catalogue.price(each) > 0 for each in catalogue.PRICES)


def test_a_label_has_the_full_price():
    assert catalogue.label("chair") == "chair: 75.00 EUR"
