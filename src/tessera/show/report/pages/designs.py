"""The study of designs: cells, mappings beside Park's distances, and probes of single structures."""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.designs import sentences
from tessera.judge.studies.designs.catalogue import DESIGNS, VARIANTS
from tessera.reference import tables
from tessera.results.schema.designs import DESIGN_CELLS, DESIGN_MAPPINGS, DESIGN_STRUCTURES, PROBES
from tessera.results.status import is_ok, ok_rows, other_rows

PRINTED = "park_table36_distances"
#: Beginning of our workload's name -> program of Park; network-simplex stands in for mcf.
PROGRAMS = {"gups": "gups", "graph500": "graph500", "network-simplex": "mcf", "mitosis-canneal": "canneal"}


def page(facts) -> dict:
    everything = facts.results.read(DESIGN_CELLS)
    cells, mappings = ok_rows(everything), ok_rows(facts.results.read(DESIGN_MAPPINGS))
    return {
        "title": "Designs",
        "figure": facts.figure("designs"),
        "nested": facts.figure("designs-nested"),
        "sentences": sentences.fewest(cells) if len(cells) else [],
        "designs": [{"name": one.name, "sentence": one.sentence} for one in (*DESIGNS, *VARIANTS)],
        "windows": _windows(cells, mappings),
        "mappings": _mappings(mappings, facts.reference) if len(mappings) else [],
        "rows": cells.to_dict("records"),
        "structures": _structures(facts),
        "probes": _probes(facts),
        "failed_probes": other_rows(facts.results.read(PROBES)).to_dict("records"),
        "failed": other_rows(everything).to_dict("records"),
    }


def _probes(facts) -> list[dict]:
    """Rows of the probes; ``printed``: Park's number for the same quantity, if there is one."""
    found = ok_rows(facts.results.read(PROBES)).to_dict("records")
    saved = tables.load("park_table22_synonym_filter", facts.reference)
    values = tables.load("park_values", facts.reference)
    hit = values.loc[values["quantity"] == "index_cache_hit", "value"]
    for row in found:
        same = saved[(saved["workload"] == row["case"]) & (saved["quantity"] == row["quantity"])]["value"]
        row["printed"] = float(same.iloc[0]) if len(same) else None
        if row["case"].startswith("2048 segments"):  # he does not say of a node or of a walk
            row["printed"] = float(hit.iloc[0])
    return found


def printed_distances(reference) -> pd.DataFrame:
    """Park's anchor distances in pages; columns workload, mapping, value."""
    return tables.load(PRINTED, reference)[["workload", "mapping", "value"]]


def program_of(workload: str) -> str:
    """The program of Park that a workload is, or stands in for; empty if there is none."""
    return next((program for name, program in PROGRAMS.items() if workload.startswith(name)), "")


def _mappings(rows: pd.DataFrame, reference) -> list[dict]:
    printed = printed_distances(reference)
    found = []
    for row in rows.to_dict("records"):
        program = program_of(row["workload"])
        same = printed[printed["mapping"] == row["mapping"]]
        own = same.loc[same["workload"] == program, "value"]
        found.append(
            row
            | {
                "program": program,
                "printed": int(own.iloc[0]) if len(own) else None,
                "printed_all": counted(same["value"]),
                "per_page": row["accesses"] / row["touched_pages"] if row["touched_pages"] else None,
            }
        )
    return found


def counted(values: pd.Series) -> str:
    """Distances with the number of programs that have each, the most frequent first: ``32 (10), 16 (3)``."""
    counts = values.dropna().astype(int).value_counts().reset_index()
    counts.columns = ["distance", "programs"]
    counts = counts.sort_values(["programs", "distance"], ascending=[False, True])
    return ", ".join(f"{row.distance} ({row.programs})" for row in counts.itertuples())


def _windows(cells: pd.DataFrame, mappings: pd.DataFrame) -> list[str]:
    touched = mappings.drop_duplicates("workload").set_index("workload")["touched_pages"]
    found = []
    for row in cells.drop_duplicates("workload").itertuples():
        accesses, instructions = row.accesses / 1e6, row.instructions / 1e6
        text = f"{row.workload}: {accesses:.2g} M accesses, {instructions:.2g} M instructions"
        if pages := touched.get(row.workload, 0):
            text += f", {row.accesses / pages:.1f} accesses per touched page of the pools"
        found.append(text)
    return found


def _structures(facts) -> list[dict]:
    cells = facts.results.read(DESIGN_CELLS)
    good = {
        (row.workload, row.platform, row.design, row.mapping)
        for row in cells.itertuples()
        if is_ok(row.status)
    }
    rows = facts.results.read(DESIGN_STRUCTURES).to_dict("records")
    return [r for r in rows if (r["workload"], r["platform"], r["design"], r["mapping"]) in good]
