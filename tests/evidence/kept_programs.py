"""Programs that keep results: with keys that lack what the result depends on, and with keys that rightly lack something."""

KEYWORDS = """\
import functools


def memoize(fn):
    store = {}

    @functools.wraps(fn)
    def inner(self, *args, **kwargs):
        key = (self, fn.__name__) + args
        if key in store:
            return store[key]
        value = store[key] = fn(self, *args, **kwargs)
        return value

    return inner


class Book:
    def __init__(self):
        self.prices = {"pear": 300, "plum": 410}
        self.tiers = {"list": 100, "trade": 90}

    @memoize
    def price(self, sku, tier="list"):
        return self.prices[sku] * self.tiers[tier] // 100


book = Book()


def due(skus):
    return sum(book.price(each, tier="trade") for each in skus)


def rebate(skus):
    saved = 0
    for each in skus:
        saved += book.price(each) - book.price(each, tier="trade")
    return saved


basket = ["pear", "plum"]
paid = due(basket)
given = rebate(basket)
if paid + given != 710:
    raise ValueError(f"{paid} + {given}")
"""
METHOD = """\
class Rates:
    def __init__(self, table):
        self.table = table
        self._cache = {}

    def rate(self, day, currency):
        key = day
        if key in self._cache:
            return self._cache[key]
        found = self.table[day][currency]
        self._cache[key] = found
        return found


def convert(lines, rates):
    return [amount * rates.rate(day, currency) for day, amount, currency in lines]


rates = Rates({"mon": {"EUR": 10, "GBP": 12}, "tue": {"EUR": 11, "GBP": 13}})
paid = convert([("mon", 100, "EUR"), ("mon", 50, "GBP"), ("tue", 70, "GBP")], rates)
total = sum(paid)
assert total == 2510, total
"""
CONFIG = """\
REGION = "north"
RATES = {"north": 7, "south": 9}
_known = {}


def tax(kind, amount):
    try:
        return _known[kind, amount]
    except KeyError:
        pass
    share = RATES[REGION] if kind == "goods" else 3
    _known[kind, amount] = amount * share
    return _known[kind, amount]


def bill(region, lines):
    global REGION
    REGION = region
    return sum(tax(kind, amount) for kind, amount in lines)


LINES = [("goods", 100), ("work", 40)]
north = bill("north", LINES)
south = bill("south", LINES)
assert (north, south) == (820, 1020), (north, south)
"""
SHARED = """\
class Shop:
    _prices = {}

    def __init__(self, name, markup):
        self.name = name
        self.markup = markup

    def price(self, sku):
        hit = Shop._prices.get(sku)
        if hit is None:
            hit = len(sku) * 100 + self.markup
            Shop._prices[sku] = hit
        return hit


def table(shops, skus):
    return {shop.name: [shop.price(sku) for sku in skus] for shop in shops}


found = table([Shop("harbour", 5), Shop("station", 17)], ["pear", "melon"])
if sum(found["station"]) - sum(found["harbour"]) != 24:
    raise SystemExit(f"difference is {sum(found['station']) - sum(found['harbour'])}")
"""
WORDS = """\
import functools


class Keep:
    def __init__(self, fn):
        self.fn = fn
        self.kept = {}
        functools.update_wrapper(self, fn)

    def __call__(self, text, width=20, sep="-"):
        name = f"{self.fn.__name__}:{text}:{width}"
        if name not in self.kept:
            self.kept[name] = self.fn(text, width, sep)
        return self.kept[name]


@Keep
def slug(text, width, sep):
    return sep.join(text.lower().split())[:width]


def page(title):
    return {"path": slug(title), "anchor": slug(title, sep="_")}


pages = [page("Spring Sale"), page("Returns")]
assert pages[0]["anchor"] == "spring_sale", pages[0]
"""
USER = """\
import asyncio


class Client:
    def __init__(self):
        self.user = "guest"
        self.answers = {}

    async def fetch(self, path):
        if path in self.answers:
            return self.answers[path]
        await asyncio.sleep(0)
        answer = f"{path} for {self.user}"
        self.answers[path] = answer
        return answer


async def session(client, user, paths):
    client.user = user
    return [await client.fetch(each) for each in paths]


async def main():
    client = Client()
    first = await session(client, "ann", ["/home", "/cart"])
    second = await session(client, "ben", ["/home", "/orders"])
    assert second[0] == "/home for ben", second[0]


asyncio.run(main())
"""
VERBOSE = """\
_sizes = {}
SEEN = []


def size(text, verbose=False):
    if text in _sizes:
        return _sizes[text]
    if verbose:
        SEEN.append(text)
    _sizes[text] = len(text) + 1
    return _sizes[text]


def total(words):
    return sum(size(each) for each in words) + size(words[0], verbose=True)


found = total(["pear", "plum", "fig"])
assert found == 15, found
"""
CHANGED = """\
_rows = {}


def rows(name, verbose=False):
    key = name
    if key in _rows:
        return _rows[key]
    if verbose:
        print("reading", name)
    _rows[key] = [len(name), 10, 20]
    return _rows[key]


def with_total(name):
    own = rows(name, verbose=True)
    own.append(sum(own))
    return own


first = with_total("north")
plain = rows("north")
assert len(plain) == 3, plain
"""
SPELT = """\
_codes = {}


def code(name, verbose=0):
    key = name.strip().lower()
    if key in _codes:
        return _codes[key]
    _codes[key] = sum(map(ord, key)) % 97
    return _codes[key]


def same(one, other):
    return code(one) == code(other)


pairs = [("Pear", "pear "), ("Plum", "plums"), ("Fig", "FIG")]
found = [same(one, other) for one, other in pairs]
assert found == [True, True, True], found
"""
SAME = """\
class Grid:
    _kept = {}

    def __init__(self, side):
        self.side = side
        self.asked = 0

    def root(self, number):
        self.asked += 1
        if number in Grid._kept:
            return Grid._kept[number]
        Grid._kept[number] = int(number ** 0.5)
        return Grid._kept[number]


grids = [Grid(3), Grid(4)]
found = [each.root(20) * each.side for each in grids]
assert sum(found) == 29, found
"""
STALE = """\
RATES = {"basic": 0, "gold": 12}
_known, LOG = {}, []


class Account:
    def __init__(self):
        self.tier = "basic"


def discount(name, accounts, trace):
    if name in _known:
        return _known[name]
    LOG.append(trace)
    _known[name] = RATES[accounts[name].tier]
    return _known[name]


def bill(orders):
    accounts = {name: Account() for name, _ in orders}
    found = []
    for number, (name, cents) in enumerate(orders):
        found.append(discount(name, accounts, f"req-{number}"))
        if cents > 500:
            accounts[name].tier = "gold"
    return found


found = bill([("ada", 900), ("bob", 100), ("ada", 200)])
assert found == [0, 0, 12], found
"""
AGED = """\
class Rates:
    def __init__(self):
        self.most = 30 * 60 * 60
        self.kept = {}
        self.times = {}

    def rate(self, pair, now):
        if pair in self.kept and now - self.times[pair] < self.most:
            return self.kept[pair]
        self.times[pair] = now
        self.kept[pair] = 110 + now // 3600
        return self.kept[pair]


rates = Rates()
found = [rates.rate("EUR/USD", now) for now in (600, 900, 9000, 9400)]
assert found == [110, 110, 112, 112], found
"""

LACKING = {
    "keyword arguments of a decorator": (KEYWORDS, "key = (self", "`tier`"),
    "an argument of a method": (METHOD, "key = day", "`currency`"),
    "a variable of the module": (CONFIG, "        return _known[", "`REGION`"),
    "the object": (SHARED, "hit = Shop", "`self`"),
    "a default in a text": (WORDS, 'name = f"', "`sep`"),
    "an attribute": (USER, "if path in", "`self.user`"),
}
"""Programs, the line with the key, and what that lacks."""
RIGHT = {
    "another line is wrong": VERBOSE,
    "what was kept is changed": CHANGED,
    "an argument is spelt otherwise": SPELT,
    "the result is the same for all objects": SAME,
}
"""Programs that fail for other reasons."""
OUT_OF_DATE = {
    "what it is made from changes": (STALE, "what that was made from has changed since"),
    "it is kept for too long": (AGED, "gave for now="),
}
"""Programs whose key is whole, and what is said of them."""
