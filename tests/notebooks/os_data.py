"""Makes the data of notebook 09: a program under 36 scenarios, with the misses that follow.

The program is gups on 64MB, recorded from its first instruction. In an activated environment:

    ./run tessera trace record --out /tmp/gups.tst --events --roi whole --kernel-accesses on \\
        -- build/workloads/gups --size 64MB --reads 100000
    python -m tests.notebooks.os_data /tmp/gups.tst notebooks/data/os
"""

from __future__ import annotations

import io
import itertools
import sys
import tempfile
from pathlib import Path

import pandas as pd

from tessera.core import platforms, scenarios
from tessera.report.explore.kernel import FRAGMENTATION, MEMORY, PLATFORM, TABLES, THP
from tessera.simulate import operating_system
from tessera.simulate.inputs import LOG
from tessera.simulate.runner import CellCache, simulate_platform
from tessera.simulate.sampling import TLBS

#: Every so many rows of the table ``sizes``: the pictures need no more.
EVERY = 5


def make(trace: Path, into: Path) -> None:
    """Write one CSV for each table, with the three choices in front of each row."""
    found: dict[str, list[pd.DataFrame]] = {name: [] for name in TABLES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chosen = {}
        for number, choice in enumerate(itertools.product(THP, FRAGMENTATION, MEMORY)):
            log = folder / f"scenario-{number:02}.oslog"
            chosen[log.stem] = choice
            operating_system.run_scenario(
                trace, _scenario(*choice, folder / f"scenario-{number:02}.yaml"), log
            )
            for table in set(TABLES) - {"misses"}:
                rows = pd.read_csv(io.StringIO(operating_system.show_log(log, table)))
                if table == "sizes":
                    rows = pd.concat([rows.iloc[::EVERY], rows.iloc[-1:]]).drop_duplicates()
                found[table].append(_with(choice, rows))
        cells = simulate_platform(
            trace, platforms.load_platform(PLATFORM), sorted(folder.glob("*.oslog")), workload="gups",
            engine="partial", sampling=TLBS, cache=CellCache(None), kind=LOG,
        )  # fmt: skip
    for cell in cells:
        rows = pd.DataFrame([{key: cell[key] for key in ("accesses", "stlb_hits", "stlb_misses")}])
        found["misses"].append(_with(chosen[cell["layout"]], rows))
    into.mkdir(parents=True, exist_ok=True)
    for table, parts in found.items():
        pd.concat(parts).to_csv(into / f"{table}.csv", index=False, lineterminator="\n")


def _scenario(thp: str, fragmentation: str, memory: str, path: Path) -> scenarios.Scenario:
    index = "none" if FRAGMENTATION[fragmentation] == 0 else "unusable-index"
    path.write_text(
        f"description: one of the notebook\nmemory_bytes: {MEMORY[memory]}\n"
        f"thp: {{enabled: {THP[thp][0]}, use_zero_page: {str(THP[thp][1]).lower()}}}\n"
        f"fragmentation: {{index: {index}, target_thousandths: {FRAGMENTATION[fragmentation]},"
        " tolerance_thousandths: 20}\n"
    )
    return scenarios.load_scenario(path)


def _with(choice: tuple[str, str, str], rows: pd.DataFrame) -> pd.DataFrame:
    for place, (key, value) in enumerate(zip(("thp", "fragmentation", "memory"), choice, strict=True)):
        rows.insert(place, key, value)
    return rows


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
