"""Prices with the tax of each country."""

from taxes import RATES, calculators


def invoice(net, country, table):
    gross = table[country](net)
    return round(gross, 2)


def check(net, gross, country):
    expected = round(net * (1 + RATES[country] / 100), 2)
    assert gross == expected, f"{country}: {gross} instead of {expected}"


def main():
    table = calculators()
    for net in (10.0, 25.5):
        for country in sorted(RATES):
            gross = invoice(net, country, table)
            check(net, gross, country)
            print(country, net, gross)


if __name__ == "__main__":
    main()
