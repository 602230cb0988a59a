"""Processors and designs: platforms, the study of designs, threads and energy, which number to simulate."""

from __future__ import annotations

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.platforms import changed_platform
from tessera.core.reference import published_tables
from tessera.core.results.outcomes import is_ok, ok_rows, other_rows
from tessera.core.results.study_tables import (
    DESIGN_CELLS,
    DESIGN_MAPPINGS,
    DESIGN_STRUCTURES,
    PROBES,
    SAVINGS,
    THREADS_SWEEP,
)
from tessera.core.results.transfer_tables import (
    ANSWERED,
    FITS,
    LADDER,
    NEW_DESIGNS,
    POINTS,
    SAMPLES,
    TWINS,
    VERDICTS,
)
from tessera.lab.energy import cell_energy, guz_model, power
from tessera.lab.studies import sentences
from tessera.lab.studies.design_catalogue import DESIGN_VARIANTS, DESIGNS
from tessera.lab.transfer import rules
from tessera.lab.transfer.bracket_answers import REFUSED
from tessera.lab.transfer.classes import GROUPS, VARIANTS
from tessera.lab.transfer.points import COUNTED
from tessera.lab.transfer.verdicts import which_number
from tessera.report import new_designs
from tessera.report.claims_table import claim_for_reading
from tessera.report.page_elements import other_figures

# Platforms: every value with its source, or marked as assumed.


def platforms_page(facts) -> dict:
    return {
        "title": "Platforms",
        "platforms": [_platform(facts, name) for name in facts.platforms()],
        "figures": other_figures(facts, "platforms.html"),
    }


def _platform(facts, name: str) -> dict:
    detected = facts.results.tree.platform(name)
    cells = facts.results.simulated
    about = {"name": name, "cells": int((cells["platform"] == name).sum())}
    try:
        platform = platforms.load_platform(detected if detected.exists() else name)
        platform = changed_platform(platform, facts.config.get("changes") or {})
    except TesseraError as error:
        return {**about, "problem": f"{error.asked}: {error.found}.", "todo": error.remedy}
    values = [
        {
            "key": key,
            "value": v.value,
            "source": v.source.removeprefix("assumed").lstrip(": ") + (" (default)" if v.defaulted else ""),
            "assumed": v.assumed,
        }
        for key, v in platform.values.items()
    ]
    return {
        **about,
        "problem": "",
        "description": platform.description.rstrip("."),
        "hardware_class": platform.hardware_class,
        "entries": values,
        "assumed": sum(value["assumed"] for value in values),
    }


# The study of designs: cells, mappings beside Park's distances, and probes of single structures.

PRINTED_DISTANCES = "park_table36_distances"
#: Beginning of our workload's name -> program of Park; network-simplex stands in for mcf.
PROGRAMS = {"gups": "gups", "graph500": "graph500", "network-simplex": "mcf", "mitosis-canneal": "canneal"}


def designs_page(facts) -> dict:
    everything = facts.results.read(DESIGN_CELLS)
    cells, mappings = ok_rows(everything), ok_rows(facts.results.read(DESIGN_MAPPINGS))
    return {
        "title": "Designs",
        "figure": facts.figure("designs"),
        "nested": facts.figure("designs-nested"),
        "sentences": sentences.design_sentences(cells) if len(cells) else [],
        "designs": [{"name": one.name, "sentence": one.sentence} for one in (*DESIGNS, *DESIGN_VARIANTS)],
        "windows": _design_windows(cells, mappings),
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
    saved = published_tables.load_published("park_table22_synonym_filter", facts.reference)
    values = published_tables.load_published("park_values", facts.reference)
    hit = values.loc[values["quantity"] == "index_cache_hit", "value"]
    for row in found:
        same = saved[(saved["workload"] == row["case"]) & (saved["quantity"] == row["quantity"])]["value"]
        row["printed"] = float(same.iloc[0]) if len(same) else None
        if row["case"].startswith("2048 segments"):  # he does not say of a node or of a walk
            row["printed"] = float(hit.iloc[0])
    return found


def printed_distances(reference) -> pd.DataFrame:
    """Park's anchor distances in pages; columns workload, mapping, value."""
    return published_tables.load_published(PRINTED_DISTANCES, reference)[["workload", "mapping", "value"]]


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


def _design_windows(cells: pd.DataFrame, mappings: pd.DataFrame) -> list[str]:
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


# Threads and energy: E8 of the cells under swept constants, the model of threads, Table 7, sweeps of L3.

PRINTED_ENERGY = "opera_table7"
#: claims about threads and energy, by the beginnings of their names
ENERGY_CLAIMS = ("opera-threads-", "opera-energy-", "tessera-threads-")


def energy_page(facts) -> dict:
    saved = facts.results.read(SAVINGS)
    swept = facts.results.read(THREADS_SWEEP, expected=False)
    return {
        "title": "Threads and energy",
        "figure": facts.figure("energy"),
        "efficiency": facts.figure("opera-fig11"),
        "misses": facts.figure("opera-fig12"),
        "sentences": cell_energy.sentences(saved),
        "sets": cell_energy.by_constants(saved),
        "pairs": cell_energy.baseline(saved).to_dict("records") if len(saved) else [],
        "constants": _constants(),
        "machines": _machines(),
        "printed": _printed_energy(facts.reference),
        "claims": _energy_claims(facts),
        "sweep": ok_rows(swept).to_dict("records") if len(swept) else [],
        "fits": ok_rows(swept).drop_duplicates(["workload", "platform"]).to_dict("records"),
        "failed": other_rows(swept).to_dict("records") if len(swept) else [],
    }


def _constants() -> list[dict]:
    given = power.read_power(power.default_power_file())
    return [
        {"key": key, "value": f"{leaf.value:g}", "source": leaf.source} for key, leaf in given.values.items()
    ]


def _machines() -> list[dict]:
    loaded = [guz_model.load_machine(name) for name in guz_model.machine_names()]
    return [
        {
            "machine": one.name,
            "key": key,
            "value": f"{leaf.value:g}",
            "source": leaf.source,
            "assumed": leaf.assumed,
        }
        for one in loaded
        for key, leaf in one.values.items()
    ]


def _printed_energy(reference) -> list[dict]:
    try:
        found = published_tables.load_published(PRINTED_ENERGY, reference)
    except TesseraError:
        return []
    return found[found["note"] != ""].to_dict("records")


def _energy_claims(facts) -> list[dict]:
    rows = facts.claims.to_dict("records")
    return [claim_for_reading(row) for row in rows if row["id"].startswith(ENERGY_CLAIMS)]


# Models and new designs: verdicts of models in classes of designs, and what they rest on.

TRANSFER_TABLES = (SAMPLES, FITS, POINTS, TWINS, LADDER, VERDICTS, ANSWERED, NEW_DESIGNS)


def transfer_page(facts) -> dict:
    tables = {table.name: facts.results.read(table) for table in TRANSFER_TABLES}
    verdicts, points = tables[VERDICTS.name], tables[POINTS.name]
    judged = verdicts[verdicts["verdict"] != rules.NOT_JUDGED]
    return {
        "title": "Models and new designs",
        "figures": [facts.figure("transfer"), facts.figure("transfer-ladder")],
        "designs": for_a_new_design(tables[NEW_DESIGNS.name]),
        "refusals": refusals(tables[ANSWERED.name]),
        "sentences": surviving_models(verdicts),
        "groups": [{"name": name, "sentence": text} for name, text in GROUPS.items()],
        "variants": [{"name": v.name, "group": v.group, "sentence": v.sentence} for v in VARIANTS],
        "windows": transfer_windows(tables[SAMPLES.name]),
        "invisible": invisible(tables[TWINS.name]),
        "two_by_two": two_by_two(judged),
        "ladder": tables[LADDER.name].to_dict("records"),
        "verdicts": judged.to_dict("records"),
        "fits": tables[FITS.name].to_dict("records"),
        "unjudged": _unjudged(points),
        "failed": other_rows(points)
        .drop_duplicates(["workload", "platform", "variant", "layout"])
        .to_dict("records"),
    }


def surviving_models(verdicts: pd.DataFrame) -> list[str]:
    """A sentence for each class of designs: which models survive, if its points are enough to say so."""
    found = []
    for group in GROUPS:
        mine = verdicts[verdicts["group"] == group]
        sizes = mine.groupby("platform")[["judged", "workloads"]].max()
        judged = int(sizes["judged"].sum())
        if judged and (reason := new_designs.too_few(judged, int(sizes["workloads"].max()))):
            found.append(f"{group} ({GROUPS[group]}). {reason}")
        elif len(mine):
            found += which_number(mine)
    return found


def for_a_new_design(table: pd.DataFrame) -> list[dict]:
    """A table for each platform and scope: ``about`` and ``rows``, of classes with judged points."""
    words = {new_designs.ALL: "all workloads", new_designs.NEW: "workloads on which nothing was tuned"}
    return [
        {"about": f"{platform}, {words[scope]}", "rows": rows.to_dict("records")}
        for platform, scope, rows in new_designs.tables(table)
    ]


def refusals(answers: pd.DataFrame) -> list[dict]:
    """Judged points without an answer: class and codes -> points, and one reason as an example."""
    rows = answers[(answers["status"] == REFUSED) & answers["judged"].eq(True)]
    keys = ["platform", "group", "codes"]
    return [
        dict(zip(keys, key, strict=True)) | {"points": len(part), "message": part["message"].iloc[0]}
        for key, part in rows.groupby(keys, sort=False)
    ]


def transfer_windows(samples: pd.DataFrame) -> list[str]:
    """Sizes of the windows, with accesses per touched page, warm-up apart."""
    found = []
    for row in samples.drop_duplicates(["workload", "platform"]).itertuples():
        timed = row.window_accesses - row.warm_accesses
        found.append(
            f"{row.workload} on {row.platform}: {row.window_accesses / 1e6:.2g} M accesses, "
            f"{row.units} units, {timed / row.touched_pages:.1f} timed accesses per touched page"
        )
    return found


def invisible(twins: pd.DataFrame) -> list[dict]:
    """Exact twins with another R: (workload, variant) -> largest transfer error, g, and the bound."""
    rows = twins[(twins["inputs"] == COUNTED) & (twins["kind"] == "exact") & (twins["group"] != "control")]
    found = []
    keys = ["platform", "workload", "group", "variant"]
    for key, part in rows.groupby(keys, sort=False):
        worst = part.loc[part["gap"].idxmax()]
        found.append(
            dict(zip(keys, key, strict=True))
            | {"points": len(part), "median": part["gap"].median(), "layout": worst["layout"]}
            | {name: worst[name] for name in ("transfer_error", "gap", "least_error", "provenance")}
        )
    return found


def two_by_two(judged: pd.DataFrame) -> list[dict]:
    """Workloads by (good on P, good on P-bar), summed over models, and whether the hull warns of failure."""
    rows = judged[judged["inputs"] == COUNTED]
    cells = ["good_good", "good_bad", "bad_good", "bad_bad",
             "inside_pass", "inside_fail", "outside_pass", "outside_fail"]  # fmt: skip
    return [
        {"group": group} | {name: int(part[name].sum()) for name in cells}
        for group, part in rows.groupby("group", sort=False)
    ]


def _unjudged(points: pd.DataFrame) -> list[dict]:
    rows = ok_rows(points)
    rows = rows[(rows["inputs"] == COUNTED) & ~rows["judged"].astype(bool)]
    counts = rows.groupby(["workload", "platform", "group"], sort=False).size()
    return [dict(zip(("workload", "platform", "group"), key, strict=True)) | {"points": n}
            for key, n in counts.items()]  # fmt: skip
