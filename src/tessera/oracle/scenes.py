"""Processes whose pages the host looks at: compaction, a pool of huge pages, reclaim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.kernel.guest import Look
from tessera.oracle import lists, moves, pools
from tessera.oracle.imitation import text_of
from tessera.oracle.paging import Paging, read_map
from tessera.oracle.record import FAULTS, FAULTS_RUN, Oracle


@dataclass(frozen=True)
class Scene:
    """A process.

    Attributes:
        events: its calls and accesses.
        options: of ``tessera-vm``, for the same run.
        setup: lines of the script before it starts.
        append: arguments for the kernel.
        replayed: the recorded events, as ``tessera-vm`` gets them.
    """

    events: Callable[[], list[str]]
    options: list[str]
    setup: str
    append: str = ""
    replayed: Callable[[list[str]], list[str]] = list

    def record(self, oracle: Oracle, out: Path) -> Paging:
        """The maps of the process at all its looks, and the state of memory at the look ``start``."""
        state = ""
        looks: dict[str, np.ndarray] = {}
        root = 0

        def look(look: Look) -> bool:
            nonlocal state, root
            if look.name == "ready":
                return False
            if look.name == "start":
                state, root = oracle.reader(look).text(others=True), look.processors[0]
            # Later, the processor may have another process's root: it keeps the last one while it sleeps.
            looks[look.name] = read_map(look.memory, root)
            return False

        lines = self.events()
        files = {"/run/faults": oracle.file("faults"), "/run/events": text_of(lines).encode()}
        oracle.run(FAULTS + self.setup + FAULTS_RUN, files, out, look, self.append)
        return Paging(lines, state, root // 4096, looks)


#: By name in a recording.
SCENES = {
    "compact": Scene(moves.events, moves.OPTIONS, moves.SETUP),
    "direct": Scene(moves.direct_events, moves.OPTIONS_DIRECT, moves.SETUP_DIRECT),
    "pool": Scene(pools.events, moves.OPTIONS, moves.SETUP),
    "reclaim": Scene(lists.events, lists.OPTIONS, lists.SETUP, lists.APPEND, lists.with_flushes),
    "kswapd": Scene(lists.kswapd_events, lists.OPTIONS, lists.SETUP_KSWAPD, lists.APPEND_KSWAPD),
}
