"""Studies of the simulator: sampling, ablations, assumed values, the regime and the cost of a walk."""

from __future__ import annotations

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.platforms import changed_platform
from tessera.core.results.outcomes import FAILED, ok_rows, other_rows
from tessera.core.results.study_tables import SAMPLING, SHAPES, SWEEP, VARIANTS
from tessera.lab import walk_cost
from tessera.lab.studies import ablations, sentences, sweep
from tessera.lab.studies.sweep import conclusion_named
from tessera.lab.studies.variations import ABLATIONS, BASELINE
from tessera.report import workload_table
from tessera.report.claims_table import rounded
from tessera.report.figures import style, workload_regimes
from tessera.report.figures.simulator_studies import sampling_label

# The sampling study: full simulation of a window against samples of it.


def sampling_page(facts) -> dict:
    everything = facts.results.read(SAMPLING)
    errors = ok_rows(everything)
    return {
        "title": "Sampling",
        "figure": facts.figure("sampling"),
        "phases": facts.figure("sampling-phases"),
        "sentences": sentences.sampling_sentences(errors) if len(errors) else [],
        "windows": _sampling_windows(errors),
        "rows": _sampling_rows(errors),
        "failed": other_rows(everything).to_dict("records"),
    }


def _sampling_windows(errors) -> list[str]:
    first = errors.drop_duplicates("workload")
    return [
        f"{row.workload}: {row.window_accesses / 1e6:.0f} M accesses, "
        f"{row.window_instructions / 1e6:.0f} M instructions on {row.platform}"
        for row in first.itertuples()
    ]


def _sampling_rows(errors) -> list[dict]:
    """A row per workload, method and warm-up: worst errors over the layouts."""
    rows = []
    for (workload, method, warmup), part in errors.groupby(["workload", "method", "warmup"], sort=False):
        by = {name: part[part["quantity"] == name] for name in ("R", "C", "M")}
        differences, totals = (part[name].dropna() for name in ("difference_covers", "covers"))
        rows.append(
            {
                "workload": workload,
                "method": sampling_label(method, warmup),
                "cost": part["timed_instructions"].iloc[0] / part["window_instructions"].iloc[0],
                "intervals": int(part["intervals"].iloc[0]),
                "difference": {name: _worst_error(by[name], "difference_error") for name in by},
                "total": {name: _worst_error(by[name], "error") for name in by},
                "covered": f"{int(differences.sum())} of {len(differences)}" if len(differences) else "",
                "covered_totals": f"{int(totals.sum())} of {len(totals)}" if len(totals) else "",
            }
        )
    return rows


def _worst_error(part, column: str) -> float | None:
    values = part[column].dropna().abs()
    return float(values.max()) if len(values) else None


# The ablations: slope and curvature with one mechanism switched off; explanations of the paper.


def ablations_page(facts) -> dict:
    everything = facts.results.read(SHAPES)
    shapes = ok_rows(everything)
    return {
        "title": "Ablations",
        "figure": facts.figure("ablations"),
        "sentences": sentences.ablation_sentences(shapes) if len(shapes) else [],
        "mispredictions": _mispredictions(shapes),
        "variants": [{"name": variant.name, "sentence": variant.sentence} for variant in ABLATIONS],
        "hypotheses": ablations.judged_hypotheses(shapes) if len(shapes) else [],
        "windows": _ablation_windows(ok_rows(facts.results.read(VARIANTS))),
        "rows": shapes.to_dict("records"),
        "failed": other_rows(everything).to_dict("records"),
    }


def _mispredictions(shapes) -> dict:
    found = sentences.slopes(shapes) if len(shapes) else shapes
    if not len(found):
        return {}
    return {"sentence": sentences.mispredictions_sentence(found), "rows": found.to_dict("records")}


def _ablation_windows(cells) -> list[str]:
    """The simulated window of each workload."""
    first = cells.dropna(subset=["accesses", "timed_instructions"]).drop_duplicates("workload")
    return [
        f"{row.workload}: {row.accesses / 1e6:.0f} M accesses, "
        f"{row.timed_instructions / 1e6:.1f} M instructions timed"
        for row in first.itertuples()
    ]


# The sweep over assumed values: which conclusions survive.


def assumptions_page(facts) -> dict:
    table = facts.results.read(SWEEP)
    good = ok_rows(table)
    found = sweep.survival(table) if (good["key"] != BASELINE).any() else None
    return {
        "title": "Assumptions",
        "figure": facts.figure("sweep"),
        "sentences": sentences.sweep_sentences(found, table) if found is not None else [],
        "cost": good[good["key"] == BASELINE].drop_duplicates(["workload", "platform"]).to_dict("records"),
        "rows": [_conclusion_row(row) for row in found.to_dict("records")] if found is not None else [],
        "left_out": _left_out(table),
        "failed": table[table["status"] == FAILED].to_dict("records"),
    }


def _conclusion_row(row: dict) -> dict:
    conclusion = conclusion_named(row["conclusion"])
    holds = row["baseline_holds"]
    return row | {
        "sentence": conclusion.sentence,
        "what": conclusion.number,
        "baseline": "holds" if holds is True else "does not hold" if holds is False else "not determined",
        "share": row["survives"] / row["points"] if row["points"] else None,
    }


def _left_out(table) -> list[dict]:
    rows = table[table["status"].isin(["refused", "skipped"])]
    return rows[["workload", "platform", "key", "alternative", "status", "message"]].to_dict("records")


# The regime: what each pair asks of address translation, and model errors with and without gups.


def regime_page(facts) -> dict:
    rows = facts.regime
    ours = rows[rows["source"] == workload_regimes.THIS_RUN]
    return {
        "title": "Demand for translation",
        "figure": facts.figure("regime"),
        "sentences": regime_sentences(ours, rows[rows["source"] != workload_regimes.THIS_RUN])
        if len(ours)
        else [],
        "rows": [
            row | {"place": workload_table.recording_place(row)}
            for row in map(_known_values, rows.to_dict("records"))
        ],
        "this_run": workload_regimes.THIS_RUN,
        "walk_cost": walk_cost_section(facts),
        "errors": [
            row | {"label": style.model_look(row["model"]).label}
            for row in workload_regimes.errors_without_gups(facts.results)
        ],
    }


def regime_sentences(ours: pd.DataFrame, printed: pd.DataFrame) -> list[str]:
    """What the table says, in numbers of this run."""
    walk = ours["walk_cycles_per_miss"].dropna()
    said = []
    if len(walk):
        text = f"A walk takes {walk.median():.0f} cycles in the median pair"
        text += f" ({walk.min():.0f} to {walk.max():.0f})."
        for row in printed.dropna(subset=["walk_cycles_per_miss"]).to_dict("records"):
            text += f" {row['source']} prints {row['walk_cycles_per_miss']:.0f} for {row['workload']}."
        said.append(text)
    known = ours[ours["as_published"].notna() & (ours["as_published"] != "")]
    programs = known.drop_duplicates("workload")
    if len(programs):
        less = sorted(programs.loc[programs["as_published"] == "no", "workload"])
        text = f"{len(programs) - len(less)} of {len(programs)} workloads touch at least 90% of the "
        text += "published footprint."
        said.append(text + (f" Those that touch less are {', '.join(less)}." if less else ""))
        smaller = programs.dropna(subset=["published_share"]).sort_values("workload")
        if len(smaller):
            shares = zip(smaller["workload"], smaller["published_share"], strict=True)
            listed = ", ".join(f"{name} ({share:.0%})" for name, share in shares)
            said.append(f"By declaration, smaller than published are {listed}.")
    beyond = int((ours["leaf_bytes_per_l3"] > 1).sum())
    said.append(f"Leaf page-table entries exceed L3 in {beyond} of {len(ours)} pairs.")
    return said


def _known_values(row: dict) -> dict:
    return {key: None if pd.isna(value) or value == "" else value for key, value in row.items()}


# Section "Cost of a walk" of the regime page: evidence, both ends, and claims that depend on the value.


def walk_cost_section(facts) -> dict:
    """Variables of ``parts/walk_cost.html``."""
    known, both = walk_cost.sources(), walk_cost.committed()
    return {
        "key": walk_cost.KEY,
        "lower": walk_cost.LOWER_CYCLES,
        "upper": walk_cost.UPPER_CYCLES,
        "sources": known,
        "deciding": [one.source for one in walk_cost.deciding(known)],
        "here": _values_of_this_run(facts),
        "claims": len(both),
        "differing": [
            one._replace(
                obtained_lower=rounded(one.obtained_lower), obtained_upper=rounded(one.obtained_upper)
            )
            for one in both
            if one.differs
        ],
        "shown": set(facts.claims.get("id", ())),  # this run's table may lack claims
    }


def _values_of_this_run(facts) -> list[dict]:
    """The value on each committed platform of this run."""
    found = []
    for name in facts.config.get("platforms") or []:
        try:
            platform = changed_platform(platforms.load_platform(name), facts.config.get("changes") or {})
        except TesseraError:
            continue  # the page "Platforms" says what is wrong
        found.append({"platform": name, "cycles": platform.values[walk_cost.KEY].value})
    return found
