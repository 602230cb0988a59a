"""Rule: shares of remote leaf entries of all sockets must sum to N - 1 (Figure 4; BTree's sum to 290%).

A leaf table lies on one of N sockets. It is local to that socket and remote to the other N - 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from tessera.numa.archive import Archive
from tessera.numa.defects.finding import Finding

_ROUNDING_PERCENT = 0.5  #: of one share, which is printed without decimals


def remote_shares(archive: Archive) -> Iterator[Finding]:
    """Shares of remote leaf entries whose sum over N sockets is not N - 1."""
    rows = archive.every[archive.every["quantity"] == "remote_leaf_entries"]
    for (location, workload), shares in rows.groupby(["location", "workload"], sort=False):
        wanted, slack = 100.0 * (len(shares) - 1), _ROUNDING_PERCENT * len(shares)
        total = float(shares["value"].sum())
        if abs(total - wanted) > slack:
            terms = " + ".join(f"{share:g}" for share in shares["value"])
            yield Finding(
                str(location), str(workload), "all sockets", total, wanted, "percent",
                f"{terms} = {total:g}, not {wanted:g} within {slack:g}",
            )  # fmt: skip
