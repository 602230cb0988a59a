"""Generated mappings of a guest over its host: kinds such as ``high-over-low`` (Park, KAIST 2019, 3.6).

The guest's mapping is of one kind and its host's of another; the result is their composition
(:mod:`tessera.mapping.compose`). The guest's memory begins at its frame 0 and ends behind its last used
frame, rounded up to 2MB. The host maps all of it.

Assumed: both allocate independently, so the host has the seed after the guest's. The host of kind ``demand``
sees the guest's first touches in their order, and then the frames that the guest maps and never touches.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.units import PAGE_4KB, format_bytes, round_up
from tessera.mapping import kinds
from tessera.mapping.compose import HOST_POOL, compose_states
from tessera.mapping.kinds import Made, Request
from tessera.mapping.regions import Region
from tessera.mapping.rows import PAGES_OF_2MB, POOLS, Rows
from tessera.mapping.touches import Touches

OVER = "-over-"
#: Pages of 4KB of a guest's memory, with its unused frames: 128GB, which numpy arrays of all pages can have.
LARGEST_GUEST = 1 << 25


def parts(name: str) -> tuple[str, ...]:
    """The kinds of a name: one, or those of the guest and of the host.

    Raises:
        TesseraError: a part is no kind.
    """
    found = tuple(name.split(OVER, 1))
    for kind in found:
        if kind not in kinds.ALL_KINDS:
            known = [*kinds.KINDS, "pages-N (N = 1, 2, 4, ..., 65536)", f"GUEST{OVER}HOST of these"]
            raise unknown_name("kind of mapping", kind, known)
    return found


def needs_touches(name: str) -> bool:
    """Whether a kind, or one of both, needs the order of first touches."""
    return any("touches" in kinds.ALL_KINDS[kind].uses for kind in parts(name))


def make(name: str, asked: Request) -> Made:
    """Rows of a kind, or of a guest over its host.

    Raises:
        TesseraError: as :func:`tessera.mapping.kinds.make`; options of single kinds are given for two; or the
            guest's memory is larger than 128GB (``mapping/guest-size``).
    """
    names = parts(name)
    if len(names) == 1:
        return kinds.make(name, asked)
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
    guest = kinds.make(guest_kind, replace(asked, touches=own))
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
    host = kinds.make(host_kind, Request([Region(HOST_POOL, memory)], seed=asked.seed + 1, touches=touches))
    report = {f"guest, {text}": value for text, value in guest.report.items()}
    report |= {f"host, {text}": value for text, value in host.report.items()}
    return Made(compose_states(guest.rows, host.rows, guest_kind, host_kind), report)


def _host_touches(guest: Rows, touches: Touches | None) -> Touches | None:
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
