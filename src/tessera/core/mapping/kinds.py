"""The kinds of mappings that ``tessera mapping generate`` makes: single ones, and a guest over its host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.mapping import paging
from tessera.core.mapping.free_blocks import ORDERS, Buddy
from tessera.core.mapping.page_mapping import HOST_POOL, PAGES_OF_2MB, POOLS, MappingRows, compose_states
from tessera.core.mapping.paging import Touches
from tessera.core.mapping.synthetic import EQUAL_LENGTHS, ONLY_4KB, UsedPages, synthetic_rows
from tessera.core.units import PAGE_4KB, format_bytes, round_up

# The kinds of mappings that ``tessera mapping generate`` makes: one row each.

ADJACENT = "-adjacent"  #: ends the name of a kind whose free blocks of the highest order lie side by side


@dataclass(frozen=True)
class MappingInputs:
    """What a kind may use.

    Attributes:
        alignment: of chunks, in pages (low, medium, high, max); None: 512.
        free: free blocks of the buddy, order -> number (demand, eager, adjacent or not); None: enough of
            order 10.
        touches: the order of first touches (demand, demand-adjacent).
    """

    regions: Sequence[UsedPages]
    seed: int = 1
    alignment: int | None = None
    free: Mapping[int, int] | None = None
    touches: Touches | None = None


@dataclass(frozen=True)
class MappingKind:
    """One kind: the function that makes it, and the optional parts of a request that it uses."""

    make: Callable[[MappingInputs], MadeMapping]
    uses: frozenset[str]


@dataclass(frozen=True)
class MadeMapping:
    """Rows from epoch 0 on, and what to tell the user: name -> value."""

    rows: MappingRows
    report: Mapping[str, str] = field(default_factory=dict)


def _synthetic(kind: str) -> MappingKind:
    def make_it(asked: MappingInputs) -> MadeMapping:
        alignment = PAGES_OF_2MB if asked.alignment is None else asked.alignment
        return MadeMapping(synthetic_rows(kind, asked.regions, asked.seed, alignment))

    return MappingKind(make_it, frozenset({"alignment"}))


def _eager(adjacent: bool) -> MappingKind:
    def make_it(asked: MappingInputs) -> MadeMapping:
        return _with_buddy(asked, adjacent, lambda buddy: paging.eager_paging(asked.regions, buddy))

    return MappingKind(make_it, frozenset({"free"}))


def _demand(adjacent: bool) -> MappingKind:
    def make_it(asked: MappingInputs) -> MadeMapping:
        touches = asked.touches
        if touches is None:
            raise TesseraError(
                "mapping of kind demand" + (ADJACENT if adjacent else ""),
                "it needs the order in which pages are first touched",
                "give --trace, or --touches FILE (tessera trace touches --help)",
                code="mapping/no-touches",
            )
        return _with_buddy(
            asked,
            adjacent,
            lambda buddy: paging.demand_paging(asked.regions, touches.pool, touches.page, buddy),
        )

    return MappingKind(make_it, frozenset({"free", "touches"}))


def _with_buddy(asked: MappingInputs, adjacent: bool, make: Callable[[Buddy], MappingRows]) -> MadeMapping:
    free = enough_free_blocks(asked.regions) if asked.free is None else asked.free
    buddy = Buddy.start(free, asked.seed, adjacent=adjacent)
    before = buddy.frames, buddy.unusable_index
    rows = make(buddy)
    return MadeMapping(
        rows,
        {
            "free frames of 4KB before and after": f"{before[0]} {buddy.frames}",
            "unusable index before and after": f"{before[1]:.3f} {buddy.unusable_index:.3f}",
        },
    )


def enough_free_blocks(regions: Sequence[UsedPages]) -> dict[int, int]:
    """Blocks of order 10 for all pages of the regions, and one more for each region."""
    order = ORDERS - 1
    return {order: -(-sum(region.pages for region in regions) // (1 << order)) + len(regions)}


def parse_free_blocks(text: str) -> dict[int, int]:
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


KINDS: dict[str, MappingKind] = {
    "low": _synthetic("low"),
    "medium": _synthetic("medium"),
    "high": _synthetic("high"),
    "max": _synthetic("max"),
    "demand": _demand(adjacent=False),
    "eager": _eager(adjacent=False),
    f"demand{ADJACENT}": _demand(adjacent=True),
    f"eager{ADJACENT}": _eager(adjacent=True),
}
#: chunks of one length: pages-1, pages-2, ..., pages-65536; with 4KB pages alone: pages-1-4kb, ...
EQUAL_KINDS: dict[str, MappingKind] = {
    name + end: _synthetic(name + end) for end in ("", ONLY_4KB) for name in EQUAL_LENGTHS
}
EQUAL_NAMES = ("pages-N (N = 1, 2, 4, ..., 65536)", f"pages-N{ONLY_4KB}")  #: for a message
ALL_KINDS = KINDS | EQUAL_KINDS
OPTIONAL = ("alignment", "free", "touches")


def make_single(kind: str, asked: MappingInputs) -> MadeMapping:
    """Rows of a kind.

    Raises:
        TesseraError: the kind is unknown, misses an input or has no use for one, or memory does not suffice.
    """
    if kind not in ALL_KINDS:
        raise unknown_name("kind of mapping", kind, [*KINDS, *EQUAL_NAMES])
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


# Generated mappings of a guest over its host: kinds such as ``high-over-low`` (Park, KAIST 2019, 3.6).
#
# The guest's mapping is of one kind and its host's of another; the result is their composition
# (:mod:`tessera.core.mapping.page_mapping`). The guest's memory begins at its frame 0 and ends behind its
# last used frame, rounded up to 2MB. The host maps all of it.
#
# Assumed: both allocate independently, so the host has the seed after the guest's. The host of kind
# ``demand`` sees the guest's first touches in their order, and then the frames that the guest maps and never
# touches.

OVER = "-over-"
#: Pages of 4KB of a guest's memory, with its unused frames: 128GB, which numpy arrays of all pages can have.
LARGEST_GUEST = 1 << 25


def kinds_of_name(name: str) -> tuple[str, ...]:
    """The kinds of a name: one, or those of the guest and of the host.

    Raises:
        TesseraError: a part is no kind.
    """
    found = tuple(name.split(OVER, 1))
    for kind in found:
        if kind not in ALL_KINDS:
            raise unknown_name("kind of mapping", kind, [*KINDS, *EQUAL_NAMES, f"GUEST{OVER}HOST of these"])
    return found


def needs_touches(name: str) -> bool:
    """Whether a kind, or one of both, needs the order of first touches."""
    return any("touches" in ALL_KINDS[kind].uses for kind in kinds_of_name(name))


def make_mapping(name: str, asked: MappingInputs) -> MadeMapping:
    """Rows of a kind, or of a guest over its host.

    Raises:
        TesseraError: as :func:`make_single`; options of single kinds are given for two; or the guest's
            memory is larger than 128GB (``mapping/guest-size``).
    """
    names = kinds_of_name(name)
    if len(names) == 1:
        return make_single(name, asked)
    for option in ("alignment", "free"):
        if getattr(asked, option) is not None:
            raise TesseraError(
                f"mapping of kind {name} with --{option}",
                f"guest and host may need different values of --{option}",
                "generate both and join them: tessera mapping compose --help",
                code="mapping/unused-option",
            )
    guest_kind, host_kind = names
    own = asked.touches if needs_touches(guest_kind) or not needs_touches(name) else None
    guest = make_single(guest_kind, replace(asked, touches=own))
    memory = round_up(int((guest.rows.frame + guest.rows.pages).max()), PAGES_OF_2MB)
    if memory > LARGEST_GUEST:
        raise TesseraError(
            f"mapping of kind {name}",
            f"the guest's frames lie in {format_bytes(memory * PAGE_4KB)} of memory; the limit is "
            f"{format_bytes(LARGEST_GUEST * PAGE_4KB)}, because short chunks lie 2MB apart",
            "use a guest with longer chunks, a smaller pool, or tessera mapping generate --alignment 1 "
            "and tessera mapping compose",
            code="mapping/guest-size",
        )
    touches = _host_touches(guest.rows, asked.touches) if needs_touches(host_kind) else None
    host = make_single(
        host_kind, MappingInputs([UsedPages(HOST_POOL, memory)], seed=asked.seed + 1, touches=touches)
    )
    report = {f"guest, {text}": value for text, value in guest.report.items()}
    report |= {f"host, {text}": value for text, value in host.report.items()}
    return MadeMapping(compose_states(guest.rows, host.rows, guest_kind, host_kind), report)


def _host_touches(guest: MappingRows, touches: Touches | None) -> Touches | None:
    """Frames of the guest in the order in which the host first sees them; shape ``(frames,)``."""
    if touches is None:
        return None
    number = (touches.pool << 40) + touches.page
    row = np.searchsorted(guest.start, number, side="right") - 1
    first = guest.frame[row] + number - guest.start[row]
    every = np.repeat(guest.frame - np.cumsum(guest.pages) + guest.pages, guest.pages)
    every += np.arange(len(every))
    frames = np.concatenate([first, np.setdiff1d(every, first)])
    return Touches(np.full(len(frames), POOLS.index(HOST_POOL)), frames, np.arange(len(frames)))
