"""What goes into a parcel."""

SAMPLES = {"ada": "green tea", "cleo": "black tea"}


_titles = []


def basket_of(items):
    _titles.extend(item.title() for item in items)
    return list(_titles)


def with_gifts(customer, gifts=()):
    gifts = list(gifts)
    gifts.append(f"card for {customer}")
    if customer in SAMPLES and len(gifts) > 2:
        gifts.append(SAMPLES[customer])
    return gifts
