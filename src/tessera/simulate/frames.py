"""``tessera simulate`` from Python: cells as a pandas data frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.platforms import Platform
from tessera.platforms.change import set_values
from tessera.results import cells
from tessera.simulate.cache import CellCache
from tessera.simulate.inputs import LAYOUT, MAPPING, find_inputs
from tessera.simulate.plan import Plan, parse_sampling
from tessera.simulate.runner import simulate


def simulated_frame(
    trace: str | Path,
    platform: str | Platform,
    *,
    layouts: str | Path | Iterable[str | Path] = (),
    mappings: str | Path | Iterable[str | Path] = (),
    changes: Mapping[str, int | str] | None = None,
    engine: str = "timing",
    sampling: str | Plan = "full",
    threads: int = 1,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """H, M, C and R of a trace, a row per layout or mapping (columns of docs/contracts.md, Cells).

    Args:
        trace: a trace file (.tst).
        platform: a name, the path of a YAML file, or a platform.
        layouts, mappings: files, folders or patterns; exactly one of the two is given.
        changes: values of the platform that differ, as ``--set`` of the command: ``{"mmu.design": "thp"}``.
        engine: ``timing``, ``partial`` (no R) or ``reference``.
        sampling: the plan of ``--sampling``, or a plan.
        cache: folder of finished cells; None: nothing is kept.

    Raises:
        TesseraError: both or none of layouts and mappings, or what the command refuses.
    """
    layouts, mappings = _words(layouts), _words(mappings)
    if bool(layouts) == bool(mappings):
        raise TesseraError(
            "tessera.simulate", "it needs either layouts or mappings",
            "give, for example: layouts='/tmp/layouts'", code="layouts-or-mappings",
        )  # fmt: skip
    kind = LAYOUT if layouts else MAPPING
    base = platform if isinstance(platform, Platform) else platforms.load(platform)
    rows = simulate(
        Path(trace), set_values(base, dict(changes or {})), find_inputs(layouts or mappings, kind),
        workload=Path(trace).stem, engine=engine,
        sampling=parse_sampling(sampling) if isinstance(sampling, str) else sampling,
        cache=CellCache(None if cache is None else Path(cache)), threads=threads, kind=kind,
    )  # fmt: skip
    return pd.DataFrame(rows, columns=list(cells.COLUMNS))


def _words(given: str | Path | Iterable[str | Path]) -> list[str]:
    return [str(given)] if isinstance(given, str | Path) else [str(word) for word in given]
