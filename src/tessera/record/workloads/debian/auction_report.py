"""The transformation of :mod:`auction`'s document, as a stylesheet and as Python code that checks its output.

First every bid is joined with its item, its bidder and the item's seller: three keys, random nodes. Then
items are grouped by category (Muenchian grouping) and sorted by price. The most expensive items are joined
with their bids, also sorted. All numbers are integers, so XPath's doubles represent them exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tessera.record.workloads.debian.auction import Auction

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


def report(auction: Auction) -> Iterator[str]:
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
