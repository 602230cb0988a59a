"""Which number to simulate: verdicts of models in classes of designs, and what they rest on."""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.transfer import rules
from tessera.judge.studies.transfer.classes import GROUPS, VARIANTS
from tessera.judge.studies.transfer.declared import COUNTED
from tessera.judge.studies.transfer.openness import REFUSED
from tessera.judge.studies.transfer.sentences import which_number
from tessera.results.schema.transfer import (
    ANSWERED,
    FITS,
    LADDER,
    NEW_DESIGNS,
    POINTS,
    SAMPLES,
    TWINS,
    VERDICTS,
)
from tessera.results.status import ok_rows, other_rows
from tessera.show import new_designs

READ = (SAMPLES, FITS, POINTS, TWINS, LADDER, VERDICTS, ANSWERED, NEW_DESIGNS)


def page(facts) -> dict:
    tables = {table.name: facts.results.read(table) for table in READ}
    verdicts, points = tables[VERDICTS.name], tables[POINTS.name]
    judged = verdicts[verdicts["verdict"] != rules.NOT_JUDGED]
    return {
        "title": "Which number to simulate",
        "figures": [facts.figure("transfer"), facts.figure("transfer-ladder")],
        "designs": for_a_new_design(tables[NEW_DESIGNS.name]),
        "refusals": refusals(tables[ANSWERED.name]),
        "sentences": which_number(verdicts) if len(verdicts) else [],
        "groups": [{"name": name, "sentence": text} for name, text in GROUPS.items()],
        "variants": [{"name": v.name, "group": v.group, "sentence": v.sentence} for v in VARIANTS],
        "windows": windows(tables[SAMPLES.name]),
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


def windows(samples: pd.DataFrame) -> list[str]:
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
    rows = twins[(twins["inputs"] == COUNTED) & (twins["kind"] == "exact") & (twins["group"] != "K0")]
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
