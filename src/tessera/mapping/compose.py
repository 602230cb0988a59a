"""A guest's mapping over its host's: what nested paging translates a page to (Park, KAIST 2019, 2.5 and 3.6).

The host's mapping is a mapping file, too. Page g of its pool ``mmap`` is the guest's frame g. The composed
page has the host's frame, and the smaller of both page sizes, which is what a TLB can hold. Chunks of both
intersect: a guest's chunk of 4 pages over two host chunks of 2 gives two chunks of 2.
"""

from __future__ import annotations

import numpy as np

from tessera.core.errors import TesseraError
from tessera.mapping.rows import POOLS, Rows
from tessera.mapping.states import Mapping, difference

HOST_POOL = "mmap"


def compose(guest: Mapping, host: Mapping) -> Mapping:
    """The composed mapping, with an epoch at each epoch of the two that changes it.

    Raises:
        TesseraError: the host maps no frame to a page that the guest uses; ``code`` is ``mapping/host``.
    """
    numbers = sorted({*guest.epochs, *host.epochs})
    before, found = Rows.empty(), {}
    for number in numbers:
        names = (guest.name, host.name)
        after = compose_states(guest.at(number), host.at(number), *names)
        change = difference(before, after)
        if len(change):
            found[number] = change
        before = after
    return Mapping(f"{guest.name}-over-{host.name}", found)


def compose_states(guest: Rows, host: Rows, guest_name: str = "guest", host_name: str = "host") -> Rows:
    """The same for one state of each."""
    host = host.where(host.pool == POOLS.index(HOST_POOL))
    # where the guest's rows lie in its physical memory, as rows whose `page` is the guest's frame
    physical = Rows(
        np.full(len(guest), POOLS.index(HOST_POOL)), guest.frame, guest.page, guest.pages, guest.size
    )
    order = np.argsort(physical.page, kind="stable")
    pieces = physical.where(order).split(np.union1d(host.start, host.end))
    row = np.searchsorted(host.start, pieces.start, side="right") - 1
    known = row >= 0
    row = np.maximum(row, 0)
    if len(host):
        known &= pieces.start < host.end[row]
    if not known.all():
        at = int((~known).argmax())
        raise TesseraError(
            f"host mapping {host_name}",
            f"page {pieces.page[at]} of pool mmap has no row, and guest mapping {guest_name} uses this frame",
            "make a host mapping that is larger: tessera mapping generate --pool mmap=SIZE",
            code="mapping/host",
        )
    # `pieces.frame` is the guest's virtual page; its pool is that of the row it was cut from
    source = np.searchsorted(guest.frame[order], pieces.page, side="right") - 1
    return (
        Rows(
            guest.pool[order][source],
            pieces.frame,
            host.frame[row] + pieces.page - host.page[row],
            pieces.pages,
            np.minimum(pieces.size, host.size[row]),
        )
        .in_order()
        .merged()
    )
