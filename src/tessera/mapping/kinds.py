"""The kinds of mappings that ``tessera mapping generate`` makes: one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tessera.core.errors import TesseraError, unknown_name
from tessera.mapping import paging
from tessera.mapping.buddy import ORDERS, Buddy
from tessera.mapping.regions import Region
from tessera.mapping.rows import PAGES_OF_2MB, Rows
from tessera.mapping.synthetic import EQUAL, synthetic
from tessera.mapping.touches import Touches


@dataclass(frozen=True)
class Request:
    """What a kind may use.

    Attributes:
        alignment: of chunks, in pages (low, medium, high, max); None: 512.
        free: free blocks of the buddy, order -> number (demand, eager); None: enough blocks of order 10.
        touches: the order of first touches (demand).
    """

    regions: Sequence[Region]
    seed: int = 1
    alignment: int | None = None
    free: Mapping[int, int] | None = None
    touches: Touches | None = None


@dataclass(frozen=True)
class Kind:
    """One kind: the function that makes it, and the optional parts of a request that it uses."""

    make: Callable[[Request], Made]
    uses: frozenset[str]


@dataclass(frozen=True)
class Made:
    """Rows from epoch 0 on, and what to tell the user: name -> value."""

    rows: Rows
    report: Mapping[str, str] = field(default_factory=dict)


def _synthetic(kind: str) -> Kind:
    def make_it(asked: Request) -> Made:
        alignment = PAGES_OF_2MB if asked.alignment is None else asked.alignment
        return Made(synthetic(kind, asked.regions, asked.seed, alignment))

    return Kind(make_it, frozenset({"alignment"}))


def _eager(asked: Request) -> Made:
    return _with_buddy(asked, lambda buddy: paging.eager(asked.regions, buddy))


def _demand(asked: Request) -> Made:
    touches = asked.touches
    if touches is None:
        raise TesseraError(
            "mapping of kind demand",
            "it needs the order in which pages are first touched",
            "give --trace, or --touches FILE (tessera trace touches --help)",
            code="mapping/no-touches",
        )
    return _with_buddy(asked, lambda buddy: paging.demand(asked.regions, touches.pool, touches.page, buddy))


def _with_buddy(asked: Request, make: Callable[[Buddy], Rows]) -> Made:
    free = enough(asked.regions) if asked.free is None else asked.free
    buddy = Buddy.start(free, asked.seed)
    before = buddy.frames, buddy.unusable_index
    rows = make(buddy)
    return Made(
        rows,
        {
            "free frames of 4KB before and after": f"{before[0]} {buddy.frames}",
            "unusable index before and after": f"{before[1]:.3f} {buddy.unusable_index:.3f}",
        },
    )


def enough(regions: Sequence[Region]) -> dict[int, int]:
    """Blocks of order 10 for all pages of the regions, and one more for each region."""
    order = ORDERS - 1
    return {order: -(-sum(region.pages for region in regions) // (1 << order)) + len(regions)}


def free_blocks(text: str) -> dict[int, int]:
    """Free blocks of words such as ``10=4096,0=1000``: order=number.

    Raises:
        TesseraError: another form, an order above 10, or an order given twice.
    """
    found: dict[int, int] = {}
    for part in text.split(","):
        order, equals, number = part.strip().partition("=")
        digits = order.isascii() and order.isdigit() and number.isascii() and number.isdigit()
        if not equals or not digits or int(order) >= ORDERS or int(order) in found:
            raise TesseraError(
                f"--free {text}",
                f"'{part}' must be ORDER=NUMBER, with each order from 0 to {ORDERS - 1} once",
                "write for example --free 10=2048,4=100000",
            )
        found[int(order)] = int(number)
    if sum(number << order for order, number in found.items()) >= 1 << 36:
        raise TesseraError(f"--free {text}", "the limit is 2^36 free frames", "give fewer blocks")
    return found


KINDS: dict[str, Kind] = {
    "low": _synthetic("low"),
    "medium": _synthetic("medium"),
    "high": _synthetic("high"),
    "max": _synthetic("max"),
    "demand": Kind(_demand, frozenset({"free", "touches"})),
    "eager": Kind(_eager, frozenset({"free"})),
}
#: chunks of one length: pages-1, pages-2, ..., pages-65536
EQUAL_KINDS: dict[str, Kind] = {name: _synthetic(name) for name in EQUAL}
ALL_KINDS = KINDS | EQUAL_KINDS
OPTIONAL = ("alignment", "free", "touches")


def make(kind: str, asked: Request) -> Made:
    """Rows of a kind.

    Raises:
        TesseraError: the kind is unknown, misses an input or has no use for one, or memory does not suffice.
    """
    if kind not in ALL_KINDS:
        raise unknown_name("kind of mapping", kind, [*KINDS, "pages-N (N = 1, 2, 4, ..., 65536)"])
    for name in OPTIONAL:
        if getattr(asked, name) is not None and name not in ALL_KINDS[kind].uses:
            users = ", ".join(other for other, row in KINDS.items() if name in row.uses)
            raise TesseraError(
                f"mapping of kind {kind} with --{name}",
                f"only these kinds use --{name}: {users}",
                f"leave out --{name}, or use such a kind",
                code="mapping/unused-option",
            )
    return ALL_KINDS[kind].make(asked)
