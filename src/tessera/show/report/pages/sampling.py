"""The sampling study: full simulation of a window against samples of it."""

from __future__ import annotations

from tessera.judge.studies import sentences
from tessera.results.schema.studies import SAMPLING
from tessera.results.status import ok_rows, other_rows


def page(facts) -> dict:
    everything = facts.results.read(SAMPLING)
    errors = ok_rows(everything)
    return {
        "title": "Sampling",
        "figure": facts.figure("sampling"),
        "phases": facts.figure("sampling-phases"),
        "sentences": sentences.sampling(errors) if len(errors) else [],
        "windows": _windows(errors),
        "rows": _rows(errors),
        "failed": other_rows(everything).to_dict("records"),
    }


def _windows(errors) -> list[str]:
    first = errors.drop_duplicates("workload")
    return [
        f"{row.workload}: {row.window_accesses / 1e6:.0f} M accesses, "
        f"{row.window_instructions / 1e6:.0f} M instructions on {row.platform}"
        for row in first.itertuples()
    ]


def _rows(errors) -> list[dict]:
    """A row per workload, method and warm-up: worst errors over the layouts."""
    from tessera.show.figures.sampling_errors import label

    rows = []
    for (workload, method, warmup), part in errors.groupby(["workload", "method", "warmup"], sort=False):
        by = {name: part[part["quantity"] == name] for name in ("R", "C", "M")}
        differences, totals = (part[name].dropna() for name in ("difference_covers", "covers"))
        rows.append(
            {
                "workload": workload,
                "method": label(method, warmup),
                "cost": part["timed_instructions"].iloc[0] / part["window_instructions"].iloc[0],
                "intervals": int(part["intervals"].iloc[0]),
                "difference": {name: _worst(by[name], "difference_error") for name in by},
                "total": {name: _worst(by[name], "error") for name in by},
                "covered": f"{int(differences.sum())} of {len(differences)}" if len(differences) else "",
                "covered_totals": f"{int(totals.sum())} of {len(totals)}" if len(totals) else "",
            }
        )
    return rows


def _worst(part, column: str) -> float | None:
    values = part[column].dropna().abs()
    return float(values.max()) if len(values) else None
