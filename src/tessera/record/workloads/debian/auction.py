"""The document that ``xalan`` transforms: an auction site with people, items and bids.

The generator gives the same document for the same counts and seed on every machine: record k of a table
depends only on (seed, table, k). The idea of such a document for measuring XML programs comes from XMark
(Schmidt et al., VLDB 2002); schema, text and generator are our own. So are the sizes of the tables, unless a
factor sets them (:func:`scaled`): then they have XMark's ratios.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

#: Entities of XMark's document at factor 1. An auction, open or closed, joins an item and a person, as a bid
#: does here; XMark has 12,000 open and 9,750 closed ones.
XMARK = {"people": 25_500, "items": 21_750, "bids": 12_000 + 9_750, "categories": 1_000}

_MASK = (1 << 64) - 1
_WORDS = (
    "amber anchor basket beacon candle canvas carbon cedar copper coral cotton dagger ember fabric "
    "falcon fossil garnet granite hammer harbor indigo ivory jasper kettle lantern linen marble meadow "
    "needle oyster paper pebble quartz ribbon saddle silver timber velvet walnut willow"
).split()
_CITIES = tuple(
    f"{first}{second}" for first in ("Nor", "Sud", "Est", "Wes") for second in ("burg", "ford", "ville")
)


def mix64(seed: int, counter: int) -> int:
    """The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) as a counter-based generator."""
    z = (seed + (counter + 1) * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


@dataclass(frozen=True)
class Item:
    """An item for sale: ``price`` and ``quantity`` are whole numbers; ``words`` describe it."""

    number: int
    category: int
    seller: int
    price: int
    quantity: int
    words: str


@dataclass(frozen=True)
class Bid:
    """A person's bid for an item."""

    item: int
    person: int
    amount: int


def scaled(factor: Decimal) -> dict[str, int]:
    """Sizes of the tables at XMark's ``factor``, rounded."""
    return {table: int((count * factor).to_integral_value(ROUND_HALF_UP)) for table, count in XMARK.items()}


@dataclass(frozen=True)
class Auction:
    """The site's tables, by their sizes."""

    people: int
    items: int
    bids: int
    categories: int
    seed: int

    def _draw(self, table: int, k: int) -> int:
        return mix64(self.seed ^ (table << 56), k)

    def city(self, person: int) -> str:
        """Where a person lives."""
        return _CITIES[self._draw(1, person) % len(_CITIES)]

    def name(self, person: int) -> str:
        """A person's name; several people can have the same."""
        drawn = self._draw(2, person)
        return f"{_WORDS[drawn % 40].title()} {_WORDS[drawn // 40 % 40].title()}"

    def item(self, k: int) -> Item:
        """The ``k``-th item of the document."""
        drawn = self._draw(3, k)
        words = self._draw(4, k)
        text = " ".join(_WORDS[(words >> (6 * i)) % 40] for i in range(3))
        return Item(
            number=k,
            category=drawn % self.categories,
            seller=(drawn >> 16) % self.people,
            price=1 + (drawn >> 40) % 100000,
            quantity=1 + (drawn >> 60) % 5,
            words=text,
        )

    def bid(self, k: int) -> Bid:
        """The ``k``-th bid of the document."""
        drawn = self._draw(5, k)
        return Bid(drawn % self.items, (drawn >> 24) % self.people, 1 + (drawn >> 44) % 1000000)

    def document(self) -> Iterator[str]:
        """The XML text in pieces of a record each."""
        yield '<?xml version="1.0" encoding="UTF-8"?>\n<site>\n<people>\n'
        for k in range(self.people):
            yield f'<person id="p{k}"><name>{self.name(k)}</name><city>{self.city(k)}</city></person>\n'
        yield "</people>\n<items>\n"
        for k in range(self.items):
            item = self.item(k)
            yield (
                f'<item id="i{k}" category="{item.category}" seller="p{item.seller}">'
                f"<price>{item.price}</price><quantity>{item.quantity}</quantity>"
                f"<about>{item.words}</about></item>\n"
            )
        yield "</items>\n<bids>\n"
        for k in range(self.bids):
            bid = self.bid(k)
            yield f'<bid item="i{bid.item}" person="p{bid.person}">{bid.amount}</bid>\n'
        yield "</bids>\n</site>\n"
