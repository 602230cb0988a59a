"""Debian's ``xalan`` (Xalan-C++), unmodified: an XSLT transformation of an auction site's document.

A size's args say how large the document is and where the recorded part begins:

- ``--factor F``: XMark's tables times F (:func:`scaled_counts`); or ``--people``, ``--items``, ``--bids`` and
  ``--categories``, each with its own count. ``--seed`` chooses among documents of one size.
- ``--begin tree``: xalan has built the tree of the document, and the transformation begins; it closes the
  document there. ``--begin output``: the first line of the report leaves xalan, all keys are built.
  ``--skip N``: after N data accesses. Without either, the program's beginning.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.record.debian_programs import input_counts
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import WORKLOADS, Finished, ProgramRun

DOCUMENT, SHEET, OUTPUT = "auction.xml", "report.xsl", "report.txt"
_DEFAULTS = {"people": 1000, "items": 1000, "bids": 5000, "categories": 20, "seed": 1, "skip": 0}

#: Regions of interest that begin at an event of the program, by ``--begin``.
BEGINS = {"tree": f"closed:{DOCUMENT}", "output": f"written:{OUTPUT}"}


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """Write document and stylesheet into ``folder``; the run writes the report there."""
    owner = f"{workload.name}, size {size.label}"
    words, rest = _words(owner, size.args)
    chosen = input_counts(
        owner, rest, _DEFAULTS | (_tables(owner, words["factor"]) if "factor" in words else {})
    )
    if "factor" in words and (both := [f"--{table}" for table in XMARK if f"--{table}" in rest]):
        raise TesseraError(
            f"{owner}: --factor and {', '.join(both)}", "the factor sets all tables", "give one of them only"
        )
    roi = _region(owner, words.get("begin"), chosen.pop("skip"))
    for table in ("people", "items", "categories"):
        if chosen[table] == 0:
            raise TesseraError(f"{owner}: --{table} 0", "the table must have a row", "give 1 or more")
    auction = Auction(**chosen)
    with (folder / DOCUMENT).open("w") as document:
        document.writelines(auction.document())
    (folder / SHEET).write_text(STYLESHEET)
    (folder / OUTPUT).unlink(missing_ok=True)
    files = [str(folder / name) for name in (DOCUMENT, SHEET, OUTPUT)]
    return ProgramRun(
        argv=(workload.executable, "-q", "-in", files[0], "-xsl", files[1], "-out", files[2]),
        paths=(folder,),
        folder=folder,
        image=WORKLOADS,
        roi=roi,
        verify=lambda done: _verified(workload.name, auction, done),
    )


def _words(owner: str, args: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The values of ``--factor`` and ``--begin``, and all other args."""
    found: dict[str, str] = {}
    rest: list[str] = []
    pairs = [list(args[i : i + 2]) for i in range(0, len(args), 2)]
    for pair in pairs:
        name = pair[0].removeprefix("--")
        if pair[0] not in ("--factor", "--begin") or len(pair) < 2:
            rest += pair
        elif name in found:
            raise TesseraError(f"{owner}: {pair[0]}", "this option is given twice", "give it once")
        else:
            found[name] = pair[1]
    return found, rest


def _tables(owner: str, factor: str) -> dict[str, int]:
    """Sizes of the tables at ``factor``."""
    try:
        number = Decimal(factor)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number <= 0:
        raise TesseraError(
            f"{owner}: --factor {factor}", "the factor must be a positive decimal number", "write it as 9.5"
        )
    return scaled_counts(number)


def _region(owner: str, begin: str | None, skip: int) -> str:
    """The region of interest, as in :mod:`tessera.record.traces.options`."""
    if begin is None:
        return f"skip:{skip}" if skip else "auto"
    if begin not in BEGINS:
        raise unknown_name(f"beginning of {owner}", begin, list(BEGINS))
    if skip:
        raise TesseraError(
            f"{owner}: --begin and --skip", "both say where recording begins", "give one of them only"
        )
    return BEGINS[begin]


def _verified(name: str, auction: Auction, done: Finished) -> dict:
    """The report, line by line, against the same report made by Python from the tables."""
    path = done.folder / OUTPUT
    if not path.exists():
        raise _wrong(f"xalan did not write {OUTPUT}: {done.stderr.strip()[-300:]}")
    found = path.read_text().splitlines(keepends=True)
    expected = list(auction_report(auction))
    for number, (ours, theirs) in enumerate(zip(expected, found, strict=False), start=1):
        if ours != theirs:
            raise _wrong(f"line {number} of {OUTPUT} is {theirs!r}, expected {ours!r}")
    if len(found) != len(expected):
        raise _wrong(f"{OUTPUT} has {len(found)} lines, expected {len(expected)}")
    return {
        "workload": name,
        "input_bytes": (done.folder / DOCUMENT).stat().st_size,
        "lines": len(found),
        "checksum": hashlib.sha256(path.read_bytes()).hexdigest(),
        "verified": True,
    }


def _wrong(found: str) -> TesseraError:
    remedy = "run it alone: tessera workload run xml-transform; no trace is kept of a wrong result"
    return TesseraError("result of xalan", found, remedy, exit_code=EXIT_FAILED)


# The document: an auction site with people, items and bids.
#
# The generator gives the same document for the same counts and seed on every machine: record k of a table
# depends only on (seed, table, k). The idea of such a document for measuring XML programs comes from XMark
# (Schmidt et al., VLDB 2002); schema, text and generator are our own. So are the sizes of the tables, unless
# a factor sets them (:func:`scaled_counts`): then they have XMark's ratios.

#: Entities of XMark's document at factor 1. An auction, open or closed, joins an item and a person, as a bid
#: does here; XMark has 12,000 open and 9,750 closed ones.
XMARK = {"people": 25_500, "items": 21_750, "bids": 12_000 + 9_750, "categories": 1_000}

_MASK = (1 << 64) - 1
_VOCABULARY = (
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


def scaled_counts(factor: Decimal) -> dict[str, int]:
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
        return f"{_VOCABULARY[drawn % 40].title()} {_VOCABULARY[drawn // 40 % 40].title()}"

    def item(self, k: int) -> Item:
        """The ``k``-th item of the document."""
        drawn = self._draw(3, k)
        words = self._draw(4, k)
        text = " ".join(_VOCABULARY[(words >> (6 * i)) % 40] for i in range(3))
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


# The transformation of the document, as a stylesheet and as Python code that checks its output.
#
# First every bid is joined with its item, its bidder and the item's seller: three keys, random nodes. Then
# items are grouped by category (Muenchian grouping) and sorted by price. The most expensive items are joined
# with their bids, also sorted. All numbers are integers, so XPath's doubles represent them exactly.

#: Items of a category that the report lists; the stylesheet says the same.
DEAREST = 20

STYLESHEET = """<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="text" encoding="UTF-8"/>
<xsl:key name="person" match="person" use="@id"/>
<xsl:key name="item" match="item" use="@id"/>
<xsl:key name="category" match="item" use="@category"/>
<xsl:key name="bids" match="bid" use="@item"/>

<xsl:template match="/site">
  <xsl:for-each select="bids/bid">
    <xsl:variable name="item" select="key('item', @item)"/>
    <xsl:value-of select="key('person', @person)/city"/>
    <xsl:text> </xsl:text><xsl:value-of select="$item/@category"/>
    <xsl:text> </xsl:text><xsl:value-of select="key('person', $item/@seller)/city"/>
    <xsl:text>&#10;</xsl:text>
  </xsl:for-each>
  <xsl:for-each select="items/item[generate-id() = generate-id(key('category', @category)[1])]">
    <xsl:sort select="@category" data-type="number"/>
    <xsl:call-template name="category">
      <xsl:with-param name="members" select="key('category', @category)"/>
    </xsl:call-template>
  </xsl:for-each>
</xsl:template>

<xsl:template name="category">
  <xsl:param name="members"/>
  <xsl:text>category </xsl:text><xsl:value-of select="@category"/>
  <xsl:text> items </xsl:text><xsl:value-of select="count($members)"/>
  <xsl:text> pieces </xsl:text><xsl:value-of select="sum($members/quantity)"/>
  <xsl:text>&#10;</xsl:text>
  <xsl:for-each select="$members">
    <xsl:sort select="price" data-type="number" order="descending"/>
    <xsl:sort select="substring(@id, 2)" data-type="number"/>
    <xsl:if test="position() &lt;= 20"><xsl:call-template name="item"/></xsl:if>
  </xsl:for-each>
</xsl:template>

<xsl:template name="item">
  <xsl:variable name="seller" select="key('person', @seller)"/>
  <xsl:variable name="offers" select="key('bids', @id)"/>
  <xsl:value-of select="@id"/><xsl:text> </xsl:text><xsl:value-of select="price"/>
  <xsl:text> </xsl:text><xsl:value-of select="$seller/name"/>
  <xsl:text>, </xsl:text><xsl:value-of select="$seller/city"/>
  <xsl:text>: </xsl:text><xsl:value-of select="substring-before(concat(about, ' '), ' ')"/>
  <xsl:text>; </xsl:text><xsl:value-of select="count($offers)"/>
  <xsl:for-each select="$offers">
    <xsl:sort select="." data-type="number" order="descending"/>
    <xsl:sort select="substring(@person, 2)" data-type="number"/>
    <xsl:if test="position() &lt;= 3">
      <xsl:text> </xsl:text><xsl:value-of select="."/>
      <xsl:text> of </xsl:text><xsl:value-of select="key('person', @person)/name"/>
    </xsl:if>
  </xsl:for-each>
  <xsl:text>&#10;</xsl:text>
</xsl:template>
</xsl:stylesheet>
"""


def auction_report(auction: Auction) -> Iterator[str]:
    """The lines that the transformation must print, with their line ends."""
    for k in range(auction.bids):
        bid = auction.bid(k)
        item = auction.item(bid.item)
        yield f"{auction.city(bid.person)} {item.category} {auction.city(item.seller)}\n"
    by_category = defaultdict(list)
    for k in range(auction.items):
        item = auction.item(k)
        by_category[item.category].append(item)
    offers = defaultdict(list)
    for k in range(auction.bids):
        bid = auction.bid(k)
        offers[bid.item].append((-bid.amount, bid.person))
    for category in sorted(by_category):
        items = by_category[category]
        yield f"category {category} items {len(items)} pieces {sum(item.quantity for item in items)}\n"
        for item in sorted(items, key=lambda item: (-item.price, item.number))[:DEAREST]:
            best = "".join(f" {-a} of {auction.name(p)}" for a, p in sorted(offers[item.number])[:3])
            seller = f"{auction.name(item.seller)}, {auction.city(item.seller)}"
            about = item.words.split()[0]
            yield f"i{item.number} {item.price} {seller}: {about}; {len(offers[item.number])}{best}\n"
