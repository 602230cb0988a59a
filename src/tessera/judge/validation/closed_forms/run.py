"""Simulate the closed-form cases and put the formula's value beside the obtained one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.judge.validation.closed_forms.cases import CASES, Case, applies, plain
from tessera.judge.validation.synthetic.batch import batch
from tessera.platforms import Platform
from tessera.results.schema.machine import CLOSED_FORMS
from tessera.results.write import frame_of, write

ENGINE = "timing"
Progress = Callable[[str], None]


def compare_closed_forms(
    chosen: list[Platform], out: Path, progress: Progress = lambda text: None
) -> pd.DataFrame:
    """All cases on the platforms to which the formulas apply; writes ``out`` (:data:`CLOSED_FORMS`)."""
    rows = []
    for platform in chosen:
        if not applies(platform):
            continue
        progress(f"closed forms on {platform.name}")
        with batch() as work:
            made = [case for function in CASES for case in function(plain(platform))]
            outputs = []
            for case in made:
                flat, layouts = work.add_platform(case.platform.flat()), work.add_layouts([case.layout()])
                trace = work.add_trace(case.stream)
                outputs.append(work.add_run(trace, flat, layouts, ENGINE, sampling=case.sampling))
            work.run()
            for case, out_file in zip(made, outputs, strict=True):
                found = work.rows(out_file)
                rows += judged(case, next(iter(found.by_layout.values()), {}), found.error)
    return write(CLOSED_FORMS, frame_of(CLOSED_FORMS, rows), out)


def judged(case: Case, row: dict[str, str], error: str = "") -> list[dict]:
    """A row per expected quantity; ``holds`` is false where nothing was obtained."""
    rows = []
    for quantity, (expected, tolerance) in case.expected.items():
        obtained = None if error else _obtained(row, quantity)
        rows.append(
            {
                "case": case.name,
                "platform": case.platform.name,
                "quantity": quantity,
                "formula": case.formula,
                "expected": expected,
                "obtained": obtained,
                "tolerance": tolerance,
                "holds": obtained is not None and abs(obtained - expected) <= tolerance,
                "message": error,
            }
        )
    return rows


def _obtained(row: dict[str, str], quantity: str) -> float:
    if quantity == "l1_misses":
        return float(row["stlb_hits"]) + float(row["stlb_misses"])
    return float(row[quantity])


def committed() -> list[Platform]:
    """The platforms that come with Tessera."""
    return [platforms.load(name) for name in platforms.names()]
