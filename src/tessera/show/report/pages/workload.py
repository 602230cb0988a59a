"""One workload: curves, errors, fitted equations and layouts on each platform."""

from __future__ import annotations

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.results.pair import Pair
from tessera.results.trace_notes import sentence
from tessera.show.figures import looks, style


def page(facts, workload: str) -> dict:
    cells = facts.results.simulated
    here = cells[cells["workload"] == workload]
    platforms = [
        _platform(facts, workload, name) for name in facts.platforms() if (here["platform"] == name).any()
    ]
    trace_note = sentence(facts.results.trace_notes.get(workload, ""))
    return {
        "title": workload, "workload": workload, "about": _about(workload), "trace_note": trace_note,
        "platforms": platforms,
    }  # fmt: skip


def _about(workload: str) -> str:
    try:
        from tessera.record.workloads import load

        return str(load(workload).description)
    except (ImportError, TesseraError, AttributeError):
        return ""  # a workload that isn't in config/workloads has no description


def _platform(facts, workload: str, platform: str) -> dict:
    results = facts.results
    samples = results.samples(workload, platform)
    pair = Pair(workload, platform)
    missing = pair.rows(results.gaps)
    errors = pair.rows(results.models("errors", analysed=False))
    every = errors[errors["protocol"] == "all"]
    names = set(samples["layout"])
    absent = [name for name in (ALL_4KB, ALL_2MB) if name not in names]
    return {
        "name": platform,
        "provenance": samples["runtime_provenance"].iloc[0],
        "dropped": results.dropped.get((workload, platform), ""),
        "summary": _summary(results, workload, platform, samples),
        "gaps": len(missing),
        "curves": [facts.figure("curves", workload, platform)],
        "layouts": [facts.figure("layouts", workload, platform)],
        "layout_count": samples["layout"].nunique(),
        "samples": len(names - {ALL_1GB}),
        "errors": _errors(facts, workload, platform, errors) if len(every) else [],
        "why": f"The anchor {' and '.join(absent)} has no good cell."
        if absent
        else "models/errors.csv has no row.",
    }


def _summary(results, workload: str, platform: str, samples: pd.DataFrame) -> str:
    low, high = samples["runtime_cycles"].min(), samples["runtime_cycles"].max()
    scale, unit = style.count_unit(high)
    text = f"{len(samples)} layouts between {low / scale:.3g} and {high / scale:.3g} {unit} of cycles."
    squares = Pair(workload, platform).rows(results.models("rsquared", analysed=False))
    if len(squares):
        each = ", ".join(f"{row.input} {row.r_squared:.2f}" for row in squares.itertuples())
        text += f" R\u00b2 of a straight line in one input: {each}."
        known = squares["effective_n"].dropna()
        if len(known):
            text += f" Models are fitted to effective n = {known.iloc[0]:g} distinct (H, M, C) rows."
    return text


def _errors(facts, workload: str, platform: str, errors: pd.DataFrame) -> list[dict]:
    terms = Pair(workload, platform).rows(facts.results.models("coefficients", analysed=False))
    rows = []
    for model in looks.ordered(errors["model"]):
        every = errors[(errors["model"] == model) & (errors["protocol"] == "all")]
        test = errors[(errors["model"] == model) & (errors["protocol"] == ALL_1GB)]
        if len(every):
            rows.append(
                {
                    "label": looks.look(model).label,
                    "max_error": every["max_error"].iloc[0],
                    "geomean_error": every["geomean_error"].iloc[0],
                    "test_error": test["max_error"].iloc[0] if len(test) else None,
                    "formula": formula(terms[terms["model"] == model]),
                    "message": every["message"].iloc[0],
                }
            )
    return rows


def formula(terms: pd.DataFrame) -> str:
    """``R = 4.1e+09 + 0.35 C``; empty without coefficients."""
    parts = []
    for row in terms.itertuples():
        size = f"{abs(row.coefficient):.3g}" + ("" if str(row.term) == "1" else f" {row.term}")
        sign = "\u2212" if row.coefficient < 0 else "+" if parts else ""
        parts.append(f"{sign} {size}".strip() if parts else f"{sign}{size}")
    return f"R = {' '.join(parts)}" if parts else ""
