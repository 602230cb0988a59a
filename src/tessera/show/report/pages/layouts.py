"""Layouts: where the misses of each workload are, and which of them each layout covers."""

from __future__ import annotations

import pandas as pd

from tessera.layouts import generate
from tessera.layouts.names import ALL_2MB
from tessera.results.schema.cells import MANIFEST, PROFILE
from tessera.show.report.pages.workloads import href
from tessera.show.report.placing import others

HREF = "layouts.html"


def page(facts) -> dict:
    pairs = facts.results.pairs()
    names = [name for name in facts.workloads() if any(name == pair[0] for pair in pairs)]
    return {
        "title": "Layouts",
        "workloads": [
            {
                "name": name,
                "href": href(name),
                "figures": [
                    facts.figure("layouts", name, p) for p in facts.platforms() if (name, p) in pairs
                ],
            }
            for name in names
        ],
        "rows": [_pair(facts, name, p) for name in names for p in facts.platforms() if (name, p) in pairs],
        "figures": others(facts, HREF),
        "render_again": f"./run tessera report render --results {facts.where}",
    }


def _pair(facts, workload: str, platform: str) -> dict:
    """How the misses of a pair are spread, and how many of its layouts differ."""
    results = facts.results
    manifest, profile = (results.read(one, workload, platform, expected=False) for one in (MANIFEST, PROFILE))
    note = results.tree.layouts_note(workload, platform)
    about = {
        "workload": workload,
        "platform": platform,
        "href": href(workload),
        "layouts": None,
        "distinct": None,
    }
    if len(manifest):
        about["layouts"] = len(manifest)
        about["distinct"] = generate.distinct(manifest)
        whole = manifest.loc[manifest["layout"] == ALL_2MB, "pages_2mb"]
        about["pages"] = int(whole.iloc[0]) if len(whole) else None
    about["note"] = note.read_text().strip() if note.exists() else ""
    return {"pages": None} | about | hot(profile, about.get("pages"))


def hot(profile: pd.DataFrame, pages: int | None) -> dict:
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
