"""The points of the grid over xml-transform's parameters.

The size ``published`` follows one rule (config/workloads/xml-transform.yaml): XMark's ratios, one factor, and
a region that begins with the transformation. The rule leaves three choices that a reader can doubt: how large
the factor is, how many categories a factor brings, and where the region begins. The grid varies these three,
so claims about the row can be judged over them and not at one point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product

from tessera.core.errors import unknown_name
from tessera.core.units import GB, MB
from tessera.record import workloads
from tessera.record.workloads import Size, Workload
from tessera.record.workloads.debian.auction import XMARK, scaled
from tessera.record.workloads.debian.xalan import BEGINS

WORKLOAD = "xml-transform"


@dataclass(frozen=True)
class GridPoint:
    """One document and the beginning of its region.

    Attributes:
        factor: XMark's factor, of all tables.
        categories_per_factor: XMark has 1000.
        begin: ``tree`` or ``output``, as in :data:`.xalan.BEGINS`.
    """

    factor: Decimal
    categories_per_factor: int
    begin: str

    @property
    def name(self) -> str:
        """For files and progress."""
        return f"factor-{self.factor}-categories-{self.categories_per_factor}-{self.begin}"

    @property
    def tables(self) -> dict[str, int]:
        """Sizes of the document's tables; at least one category."""
        categories = max(1, round(self.categories_per_factor * float(self.factor)))
        return scaled(self.factor) | {"categories": categories}

    @property
    def published(self) -> bool:
        """Whether the point follows the ratios of XMark and begins with the transformation."""
        return self.categories_per_factor == XMARK["categories"] and self.begin == "tree"

    def workload(self, pool_bytes: int) -> Workload:
        """xml-transform with this point as its only size, labelled by :attr:`name`."""
        args = [word for table, count in self.tables.items() for word in (f"--{table}", str(count))]
        size = Size(self.name, (*args, "--begin", self.begin), pool_bytes, pool_bytes, pool_bytes)
        return replace(workloads.load(WORKLOAD), sizes={self.name: size})


@dataclass(frozen=True)
class Grid:
    """Values along the three axes, and how much of each point is recorded and simulated."""

    factors: tuple[str, ...]
    categories: tuple[int, ...]
    begins: tuple[str, ...]
    pool_bytes: int
    max_accesses: int
    sampling: str

    def points(self) -> list[GridPoint]:
        """All combinations; the regions of one document follow each other."""
        axes = product(self.factors, self.categories, self.begins)
        return [GridPoint(Decimal(factor), categories, begin) for factor, categories, begin in axes]


#: ``published``: a quarter, half and all of the published footprint; a quarter, all and four times XMark's
#: categories. ``half`` stops at half of the footprint. ``tiny`` tries the command.
GRIDS = {
    "tiny": Grid(("0.02", "0.04"), (250, 1000), ("tree", "output"), 128 * MB, 400_000,
                 "units=4,warmup_accesses=20000,timed_instructions=50000"),
    "half": Grid(("1", "2", "4"), (250, 1000, 4000), tuple(BEGINS), GB, 100_000_000,
                 "units=20,warmup_accesses=2500000,timed_instructions=1000000"),
    "published": Grid(("2", "4", "8"), (250, 1000, 4000), tuple(BEGINS), GB, 100_000_000,
                      "units=20,warmup_accesses=2500000,timed_instructions=1000000"),
}  # fmt: skip


def grid(label: str) -> Grid:
    """The grid of this size.

    Raises:
        TesseraError: no such size; the message lists the sizes.
    """
    if label not in GRIDS:
        raise unknown_name("size of the grid", label, list(GRIDS))
    return GRIDS[label]
