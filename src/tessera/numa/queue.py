"""The wait of a load at a node whose memory bandwidth another process uses up (Table 2, interference).

The hog is a closed queue: a fixed number of its lines is always outstanding, and the memory serves one line
in ``cycles_per_line``. A load that arrives then waits behind all of them, W = lines x cycles_per_line
(Little's law). The number of lines is assumed: every core of the hog's socket has all its fill buffers busy.
W is never fitted to archived runs. Not modelled: memory channels, the order of service, the link's queue.
"""

from __future__ import annotations

from tessera.core.errors import TesseraError
from tessera.numa.machine import Machine

FILL_BUFFERS = 10  #: of one Haswell core (Intel optimization manual)

#: factor of the assumed number of lines -> why this factor
SWEEP: dict[float, str] = {
    0.5: "half of the fill buffers are busy",
    1.0: "all fill buffers are busy",
    4 / 3: "write-backs add a third to the lines",
    2.0: "twice as many lines, for example by prefetchers",
}


def hog_lines(machine: Machine) -> int:
    """Outstanding lines of a hog on all cores of one socket; assumed."""
    return machine.cores_per_socket * FILL_BUFFERS


def wait_cycles(lines: float, cycles_per_line: float) -> float:
    """W in cycles of a load that arrives behind ``lines`` lines.

    Raises:
        TesseraError: a negative number of lines, or a rate that is not positive.
    """
    if not lines >= 0 or not cycles_per_line > 0:
        raise TesseraError(
            f"a queue of {lines:g} lines at {cycles_per_line:g} cycles a line",
            "lines must be 0 or more, and cycles a line more than 0",
            "correct --hog-lines, or memory.cycles_per_line of the platform",
            code="numa-queue",
        )
    return lines * cycles_per_line
