"""Workloads: the table of all, the page of one with its curves and fits, and where its misses are."""

from __future__ import annotations

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts import generation
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB, PAGE_SIZE_OF
from tessera.core.results.cell_tables import MANIFEST, PROFILE
from tessera.core.results.loader import SENSITIVITY_THRESHOLD, Pair
from tessera.core.results.outcomes import note_sentence, ok_rows
from tessera.report import workload_table
from tessera.report.figures import style
from tessera.report.page_elements import other_figures

# Workloads: the table of all rows, which are analysed, and the three uniform layouts of every pair.


def workload_href(workload: str) -> str:
    """Page of one workload."""
    return f"workload-{workload.replace('/', '-')}.html"


def workloads_page(facts) -> dict:
    cells = facts.results.simulated
    anchors = cells[cells["layout"].isin(PAGE_SIZE_OF)]
    cycles, cycles_unit = style.count_unit(anchors["runtime_cycles"].max() if len(anchors) else 0)
    count, count_word = style.count_unit(anchors["stlb_misses"].max() if len(anchors) else 0)
    names = [name for name in facts.workloads() if (cells["workload"] == name).any()]
    rows = [
        row
        for workload in names
        for platform in facts.platforms()
        for row in _uniform_rows(
            cells[(cells["workload"] == workload) & (cells["platform"] == platform)], cycles, count
        )
    ]
    every = facts.workload_table
    return {
        "title": "Workloads",
        "recordings": _recordings(every, set(names)),
        "regimes": _regimes(every),
        "dropped": _dropped(every),
        "workloads": [
            {"name": name, "href": workload_href(name), "good": int((cells["workload"] == name).sum())}
            for name in names
        ],
        "rows": rows,
        "cycles_unit": cycles_unit,
        "count_unit": count_word,
        "sensitivity": facts.figure("sensitivity"),
        "figures": other_figures(facts, "workloads.html", ("sensitivity",)),
    }


def _recordings(every: pd.DataFrame, linked: set[str]) -> list[dict]:
    """One row per workload: its description and the cost of its trace."""
    rows = []
    for row in every.drop_duplicates("workload").to_dict("records"):
        row = {key: None if pd.isna(value) else value for key, value in row.items()}
        link = workload_href(row["workload"]) if row["workload"] in linked else ""
        rows.append(row | {"href": link, "place": workload_table.recording_place(row)})
    return rows


def _regimes(every: pd.DataFrame) -> list[dict]:
    """One row per workload and platform, of those that were recorded."""
    rows = ok_rows(every).to_dict("records")
    return [{key: None if pd.isna(value) else value for key, value in row.items()} for row in rows]


def _dropped(every: pd.DataFrame) -> list[dict]:
    """Per platform the workloads that are not analysed; platforms that drop none have an empty list."""
    found = []
    for platform, part in every.groupby("platform", sort=False):
        rows = part[part["analysed"] == "no"]
        found.append({"platform": platform, "rows": rows[["workload", "dropped_because"]].to_dict("records")})
    return found


def _uniform_rows(cells: pd.DataFrame, cycles: float, count: float) -> list[dict]:
    cells = cells.drop_duplicates("layout").set_index("layout")
    base = cells["runtime_cycles"].get(ALL_4KB)
    rows = []
    for layout, pages in PAGE_SIZE_OF.items():
        if layout not in cells.index:
            continue
        cell = cells.loc[layout]
        saved = 1 - cell["runtime_cycles"] / base if base and layout != ALL_4KB else None
        half = cell["runtime_cycles_ci95"]
        rows.append(
            {
                "workload": cell["workload"],
                "platform": cell["platform"],
                "pages": pages,
                "href": workload_href(cell["workload"]),
                "R": f"{cell['runtime_cycles'] / cycles:.3f}",
                "R_raw": cell["runtime_cycles"],
                "ci": f"{half / cycles:.3f}" if pd.notna(half) else "",
                "H": f"{cell['stlb_hits'] / count:.3g}",
                "H_raw": cell["stlb_hits"],
                "M": f"{cell['stlb_misses'] / count:.3g}",
                "M_raw": cell["stlb_misses"],
                "C": f"{cell['walk_cycles'] / cycles:.3g}",
                "C_raw": cell["walk_cycles"],
                "share": cell["walk_cycles"] / cell["runtime_cycles"],
                "saved": saved,
                "sensitive": ("yes" if saved >= SENSITIVITY_THRESHOLD else "no")
                if layout == ALL_1GB and saved is not None
                else "",
                "provenance": cell["runtime_provenance"],
            }
        )
    return rows


# One workload: curves, errors, fitted equations and layouts on each platform.


def workload_page(facts, workload: str) -> dict:
    cells = facts.results.simulated
    here = cells[cells["workload"] == workload]
    platforms = [
        _platform(facts, workload, name) for name in facts.platforms() if (here["platform"] == name).any()
    ]
    trace_note = note_sentence(facts.results.trace_notes.get(workload, ""))
    return {
        "title": workload, "workload": workload, "about": _about(workload), "trace_note": trace_note,
        "platforms": platforms,
    }  # fmt: skip


def _about(workload: str) -> str:
    try:
        from tessera.record.workloads import load_workload

        return str(load_workload(workload).description)
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
    for model in style.ordered_models(errors["model"]):
        every = errors[(errors["model"] == model) & (errors["protocol"] == "all")]
        test = errors[(errors["model"] == model) & (errors["protocol"] == ALL_1GB)]
        if len(every):
            rows.append(
                {
                    "label": style.model_look(model).label,
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


# Layouts: where the misses of each workload are, and which of them each layout covers.

LAYOUTS_HREF = "layouts.html"


def layouts_page(facts) -> dict:
    pairs = facts.results.pairs()
    names = [name for name in facts.workloads() if any(name == pair[0] for pair in pairs)]
    return {
        "title": "Layouts",
        "workloads": [
            {
                "name": name,
                "href": workload_href(name),
                "figures": [
                    facts.figure("layouts", name, p) for p in facts.platforms() if (name, p) in pairs
                ],
            }
            for name in names
        ],
        "rows": [
            _layouts_of_pair(facts, name, p)
            for name in names
            for p in facts.platforms()
            if (name, p) in pairs
        ],
        "figures": other_figures(facts, LAYOUTS_HREF),
        "render_again": f"./run tessera report render --results {facts.where}",
    }


def _layouts_of_pair(facts, workload: str, platform: str) -> dict:
    """How the misses of a pair are spread, and how many of its layouts differ."""
    results = facts.results
    manifest, profile = (results.read(one, workload, platform, expected=False) for one in (MANIFEST, PROFILE))
    note = results.tree.layouts_note(workload, platform)
    about = {
        "workload": workload,
        "platform": platform,
        "href": workload_href(workload),
        "layouts": None,
        "distinct": None,
    }
    if len(manifest):
        about["layouts"] = len(manifest)
        about["distinct"] = generation.distinct(manifest)
        whole = manifest.loc[manifest["layout"] == ALL_2MB, "pages_2mb"]
        about["pages"] = int(whole.iloc[0]) if len(whole) else None
    about["note"] = note.read_text().strip() if note.exists() else ""
    return {"pages": None} | about | hot_pages(profile, about.get("pages"))


def hot_pages(profile: pd.DataFrame, pages: int | None) -> dict:
    """Fewest 2MB regions with half and nine tenths of the misses, as counts; None without a profile.

    Args:
        profile: ``pool,offset_bytes,stlb_misses`` of the 2MB regions that missed.
        pages: 2MB pages that cover the workload; without it shares are not known.
    """
    if profile.empty or not profile["stlb_misses"].sum():
        return {"misses": None, "half": None, "ninety": None, "half_share": None, "ninety_share": None}
    counts = profile["stlb_misses"].sort_values(ascending=False).cumsum()
    total = counts.iloc[-1]
    half, ninety = (int((counts < share * total).sum()) + 1 for share in (0.5, 0.9))
    return {
        "misses": int(total),
        "half": half,
        "ninety": ninety,
        "half_share": half / pages if pages else None,
        "ninety_share": ninety / pages if pages else None,
    }
