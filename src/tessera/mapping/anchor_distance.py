"""Algorithm 1 of Park (KAIST 2019, 3.4): the anchor distance that the system chooses from a histogram.

For a distance d, a chunk of c pages needs a = floor(c/d) anchors; of the rest r = c mod d, l = floor(r/512)
entries of 2MB pages and p = r mod 512 entries of 4KB pages. The alignment of chunks is ignored. The text of
3.4.1 gives this remainder; the printed listing does not define it. The cost of d has two readings, summed
over all chunks:

- ``count``: a + l + p, "the number of TLB entries";
- ``printed``: a/d + l/512 + p, as the listing and the text weigh the entries.

The distances of Table 3.6 agree with ``count``, which is therefore the default. Ties go to the smaller
distance.
"""

from __future__ import annotations

from fractions import Fraction

from tessera.core.errors import TesseraError, unknown_name
from tessera.mapping.chunks import Histogram

DISTANCES = tuple(1 << k for k in range(1, 17))
READINGS = ("count", "printed")
_PAGES_OF_2MB = 512


def cost(histogram: Histogram, distance: int, reading: str = "count") -> Fraction:
    """The exact cost of one distance.

    Raises:
        TesseraError: the distance is no power of two in 2..2^16, or the reading is unknown.
    """
    if distance not in DISTANCES:
        raise TesseraError(
            f"anchor distance {distance}", "it must be a power of two from 2 to 65536", "give such a distance"
        )
    if reading not in READINGS:
        raise unknown_name("reading of Algorithm 1", reading, READINGS)
    contiguity, frequency = histogram.contiguity, histogram.frequency
    rest = contiguity % distance
    parts = (contiguity // distance, rest // _PAGES_OF_2MB, rest % _PAGES_OF_2MB)
    anchors, large, pages = (int((part * frequency).sum()) for part in parts)
    if reading == "count":
        return Fraction(anchors + large + pages)
    return Fraction(anchors, distance) + Fraction(large, _PAGES_OF_2MB) + pages


def anchor_distance(histogram: Histogram, reading: str = "count") -> int:
    """The distance with the smallest cost, in pages of 4KB.

    Raises:
        TesseraError: there is no chunk, or the reading is unknown.
    """
    if not histogram.chunks:
        raise TesseraError("anchor distance", "the mapping has no chunk", "give a mapping with mapped pages")
    return min(DISTANCES, key=lambda distance: (cost(histogram, distance, reading), distance))
