"""Walk cycles of threads on several sockets, from the shares of leaf entries that they find remote.

C(socket) = C(local) + n x share x (remote - local). Each thread walks as the given cell does, spread evenly
over the leaf entries, and only leaf entries come from memory. With replicas (+M) every walk is local, so
C(socket) / C(local) is what Mitosis saves. Not modelled: contention of the sockets, loads from another
socket's L3, threads that prefer their own part of the data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError, unknown_name
from tessera.kernel.placement import remote_leaf_share
from tessera.numa.archive import Archive
from tessera.numa.maps import PlacementMap, leaf_entries
from tessera.numa.predict import Memory, Walks
from tessera.results.read import read_file
from tessera.results.schema.kernel import PLACEMENT

COLUMNS = ("socket", "remote_share", "walker_load_cycles", "walk_cycles", "walk_cycles_ratio")
FIGURE4 = "remote_leaf_entries"  #: quantity of the archive


def published_shares(archive: Archive, workload: str) -> np.ndarray:
    """Shares of Figure 4 by socket; numbers in quarantine are no shares."""
    rows = archive.good[archive.good["quantity"] == FIGURE4]
    known = list(dict.fromkeys(rows["workload"]))
    if workload not in known:
        raise unknown_name("workload of Figure 4", workload, known)
    return rows.loc[rows["workload"] == workload, "value"].to_numpy(float) / 100


def measured_shares(path: Path, workload: str, config: str) -> np.ndarray:
    """Shares in a guest with our kernel, from its table of page tables (docs/kernel.md).

    Raises:
        TesseraError: an unreadable table, or no such run in it.
    """
    rows = read_file(PLACEMENT, path)
    known = sorted(set(zip(rows["workload"], rows["config"], strict=True)))
    if (workload, config) not in known:
        names = [" ".join(pair) for pair in known]
        raise unknown_name("program and configuration", f"{workload} {config}", names)
    run = rows[(rows["workload"] == workload) & (rows["config"] == config)]
    return remote_leaf_share(run, sorted(set(run["target_socket"]))).to_numpy(float)


def mapped_shares(found: PlacementMap, nodes: int) -> np.ndarray:
    """Shares of a map of pages and page tables; each 4KB page is an entry.

    Raises:
        TesseraError: more nodes than sockets, or a page without a table.
    """
    local = leaf_entries(found, nodes)
    return 1 - local / local.sum()


def costs(shares: np.ndarray, walks: Walks, memory: Memory) -> pd.DataFrame:
    """:data:`COLUMNS`: a row for each socket; ratios are over page tables that are all local.

    Raises:
        TesseraError: shares that are no shares of N sockets, whose sum must be N - 1.
    """
    slack = 0.01 * len(shares)  # shares are printed in whole percent
    if np.isnan(shares).any() or abs(shares.sum() - (len(shares) - 1)) > slack:
        raise TesseraError(
            f"remote shares {', '.join(f'{share:.2f}' for share in shares)}",
            f"they sum to {shares.sum():.2f}; of {len(shares)} sockets, each entry is remote for all but one",
            "give shares of one set of page tables; with +M every share is 0 and nothing is to compute",
            code="numa-shares",
        )
    extra = shares * (memory.remote_cycles - memory.local_cycles)
    cycles = walks.cycles + walks.loads * extra
    ratios = cycles / walks.cycles if walks.cycles else np.ones(len(shares))
    rows = zip(range(len(shares)), shares, memory.local_cycles + extra, cycles, ratios, strict=True)
    return pd.DataFrame(rows, columns=list(COLUMNS))
