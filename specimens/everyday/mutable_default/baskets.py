"""What goes into a parcel."""

SAMPLES = {"ada": "green tea", "cleo": "black tea"}


def basket_of(items):
    return [item.title() for item in items]


def with_gifts(customer, gifts=[]):
    gifts.append(f"card for {customer}")
    if customer in SAMPLES and len(gifts) > 2:
        gifts.append(SAMPLES[customer])
    return gifts
