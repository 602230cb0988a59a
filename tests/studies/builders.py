"""Cells and platforms made of formulas, and how studies are run, for their tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from click.testing import CliRunner, Result

from tessera.cli.lab.study import run_command
from tessera.core.files import sha256_of
from tessera.core.platforms import Platform, Value
from tessera.core.results.tree import TRACE_NAME
from tessera.lab.study import Inputs
from tessera.simulate.runner import CellCache

#: STLB misses of nine layouts from all-4KB to all-2MB, as shares
SHARES = [1 - i / 8 for i in range(9)]


def lab_run(name: str, *words: object, out: Path) -> Result:
    """``tessera lab run NAME WORDS --out OUT``."""
    words = [name, *map(str, words), "--out", str(out)]
    return CliRunner().invoke(run_command, words, catch_exceptions=False)


def recorded(info: Path) -> Path:
    """A recording of the workload ``made``: its ``info.json`` and a trace of five bytes."""
    info.parent.mkdir(parents=True)
    trace = info.with_name(TRACE_NAME)
    trace.write_bytes(b"trace")
    said = {"workload": "made", "status": "ok", "message": "", "sha256": sha256_of(trace)}
    info.write_text(json.dumps(said))
    return info


def inputs(made: Platform, files: Sequence[Path], trace: Path = Path("t"), **options) -> Inputs:
    """Of a study of the workload ``made``, without a cache."""
    return Inputs("made", trace, made, files, CellCache(None), **options)


def platform(**values) -> Platform:
    """A platform of ``key=(value, source)`` with dots written as double underscores."""
    table = {key.replace("__", "."): Value(*pair) for key, pair in values.items()}
    return Platform("made-sim", "made up", "none", table)


def rows(
    runtime: Callable[[float], float], *, walk_cycles: float = 1e9, workload: str = "made", extra: int = 0
) -> list[dict]:
    """Cells of growing-0..8 whose runtime is a function of their walk cycles; 50 cycles a walk, 1000 hits.

    ``extra``: what growing-0 loads more from each level than growing-8.
    """
    found = []
    for i, share in enumerate(SHARES):
        C = share * walk_cycles
        found.append(
            {
                "workload": workload, "platform": "made-sim", "layout": f"growing-{i}", "repeat": 0,
                "status": "ok", "message": "", "runtime_cycles": runtime(C), "walk_cycles": C,
                "stlb_misses": C / 50, "stlb_hits": 1000, "engine": "timing",
                "program_l2_loads": 500 + share * extra, "program_l3_loads": 500 + share * extra,
                "program_dram_loads": 500,
            }
        )  # fmt: skip
    return found
