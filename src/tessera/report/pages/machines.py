"""Real machines: bundles and the findings they decide, real runs on this machine, and the allocator."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from tessera.core.results.cell_tables import HOST_MANIFEST
from tessera.core.results.loader import GENERATIONS, Pair
from tessera.core.results.machine_tables import ALLOCATOR, COMPARISON, RUNS
from tessera.core.results.outcomes import is_ok, ok_rows
from tessera.core.results.tree import ResultsTree
from tessera.lab.allocator_proof.overhead import overheads
from tessera.machine.environment.condition import barring
from tessera.measure.bundles.texts import bundle_summary
from tessera.report.claims import load_claims
from tessera.report.claims.claim import Claim
from tessera.report.claims.verdicts import UNDECIDED
from tessera.report.claims_table import claim_for_reading
from tessera.report.figures import style
from tessera.report.figures.measured_machines import MEASURE_COMMAND, Kept, kept_bundles, page_size_rows
from tessera.report.machines.evaluate import UNAVAILABLE
from tessera.report.page_elements import other_figures
from tessera.report.pages.about import grouped_gaps
from tessera.report.pages.claims import claim_rows
from tessera.report.results import Results
from tessera.report.verdicts import ELSEWHERE, STRONG

# Real machines: bundles with their conditions, R against C, errors of models, and the findings they decide.
#
# Without a bundle, the page names the command that measures one, and what it would decide.

WHOLE_METHOD = "all"  #: the protocol whose errors are of the layouts that models are fitted to
ANY_INTEL = "intel-pmu"


def machines_page(facts) -> dict:
    bundles = kept_bundles(facts.results.directory)
    return {
        "title": "Machines",
        "bundles": [_bundle(one) for one in bundles],
        "machines_figure": facts.figure("machines"),
        "errors": bundle_errors(facts),
        "decided": decided_findings(facts),
        "elsewhere": _elsewhere(facts),
        "elsewhere_words": ELSEWHERE,
        "measure_command": MEASURE_COMMAND,
        "decidable": decidable(facts),
    }


def _bundle(one: Kept) -> dict:
    barred = {condition.check for condition in barring(one.bundle.environment)}
    return {
        "id": one.identity,
        "machine": one.bundle.about.platform,
        "provenance": one.provenance,
        "rehearsal": one.bundle.about.rehearsal,
        "about": [row for row in bundle_summary(one.bundle) if row[0] != "workload"],
        "bars": one.bars,
        "conditions": [{"bars": c.check in barred, "row": c} for c in one.bundle.environment],
        "workloads": page_size_rows(one),
    }


def bundle_errors(facts) -> list[dict]:
    """Errors of each model on measured cells, beside simulated ones of the same workload and class.

    Errors are relative, as fractions, of models fitted to all layouts but 1gb and tested on these.
    """
    folder = ResultsTree(facts.results.directory).machines.root
    if not folder.is_dir():
        return []
    measured, simulated = (_bundle_errors(one) for one in (Results(folder), facts.results))
    rows = []
    for pair in sorted({pair for pair, _ in measured}):
        for model in style.ordered_models([name for one, name in measured if one == pair]):
            beside = {
                other.platform: found
                for (other, name), found in simulated.items()
                if name == model and other.workload == pair.workload and other.generation == pair.generation
            }
            mine = measured[pair, model]
            rows.append({
                "machine": pair.platform, "workload": pair.workload, "label": style.model_look(model).label,
                "max_error": mine["max_error"], "geomean_error": mine["geomean_error"], "simulated": beside,
            })  # fmt: skip
    return rows


def _bundle_errors(results: Results) -> dict[tuple[Pair, str], dict]:
    table = results.models("errors", analysed=False)
    table = table[table["protocol"] == WHOLE_METHOD]
    return {(Pair(row["workload"], row["platform"]), row["model"]): row for row in table.to_dict("records")}


def decided_findings(facts) -> list[dict]:
    """Findings that machines decided: the claim's row, and what each group of machines gave."""
    rows = []
    for claim in facts.claims.to_dict("records"):
        groups = [one for one in facts.measured.get(claim["id"], ()) if one.decides]
        if not groups or claim["verdict"] not in (*STRONG, UNDECIDED):
            continue
        rows.append(claim_for_reading(claim) | {"groups": [
            {"machines": str(one.group), "word": one.word, "obtained": str(one.outcome),
             "coverage": "" if one.group.whole else one.group.coverage}
            for one in groups
        ]})  # fmt: skip
    return rows


def _elsewhere(facts) -> list[dict]:
    table = facts.elsewhere.rename(columns={"class": "class_name"})
    statements = dict(zip(facts.claims["id"], facts.claims["statement"], strict=True))
    return [row | {"statement": statements.get(row["id"], "")} for row in table.to_dict("records")]


def decidable(facts) -> list[dict]:
    """Findings about processors that no measurement decided, counted by the machines that they need.

    A machine that covers a part of such a finding may decide it one way (docs/howto/bundles.md).
    """
    verdicts = dict(zip(facts.claims["id"], facts.claims["verdict"], strict=True))
    waiting = [claim for claim in load_claims() if verdicts.get(claim.id, STRONG[0]) not in STRONG]
    counts = Counter(found for claim in waiting if (found := _needs(claim)))
    return [{"machines": " + ".join(names), "findings": counts[names]} for names in _by_number(counts)]


def _needs(claim: Claim) -> tuple[str, ...]:
    """Classes of the machines that decide a finding; empty if none with counters does."""
    if claim.kind != "finding" or claim.evaluator == UNAVAILABLE:
        return ()
    if claim.hardware_class not in (ANY_INTEL, *GENERATIONS):
        return ()
    if claim.scope.platforms:
        return claim.scope.platforms
    return ("any Intel processor" if claim.hardware_class == ANY_INTEL else claim.hardware_class,)


def _by_number(counts: Counter) -> list[tuple[str, ...]]:
    """Few machines first, then what is decided most."""
    return sorted(counts, key=lambda names: (len(names), -counts[names], names))


# Real runs on this machine (hybrid cells), and skipped cells with the remedy.


def host_page(facts) -> dict:
    gaps = facts.results.gaps
    mine = gaps[(gaps["engine"] == "host") | gaps["platform"].str.startswith("host")]
    return {
        "title": "Real runs",
        "host_figure": facts.figure("host"),
        "rows": _host_rows(facts),
        "skipped": grouped_gaps(mine),
    }


def _host_rows(facts) -> list[dict]:
    real = facts.results.cells[facts.results.cells["engine"] == "host"]
    notes = {(row.workload, row.layout): row.message for row in real.itertuples()}
    compared = (
        facts.results.read(COMPARISON, expected=bool(len(facts.results.hybrid)))
        .drop_duplicates("layout")
        .set_index("layout")
    )
    rows = []
    for cell in facts.results.hybrid.to_dict("records"):
        known = cell["layout"] in compared.index
        pair = compared.loc[cell["layout"]] if known else {}
        rows.append(
            {
                "workload": cell["workload"],
                "layout": cell["layout"],
                "ns": cell["runtime_ns"],
                "time": f"{cell['runtime_ns'] / 1e9:.4g} s",
                "ci": cell["runtime_ns_ci95"] / cell["runtime_ns"],
                "difference": pair.get("measured_delta"),
                "difference_ci": pair.get("measured_ci95"),
                "simulated": pair.get("simulated_delta"),
                "note": notes.get((cell["workload"], cell["layout"]), ""),
            }
        )
    return rows


# The allocator: pages that real runs asked for and got; the overhead of intercepting calls.

ALLOCATOR_HREF = "allocator.html"
OVERHEAD_COMMAND = "tessera lab allocator overhead"
QUANTITIES = {"memory_bytes": "memory, peak", "cpu_ns": "processor time"}


def allocator_page(facts) -> dict:
    return {
        "title": "Allocator",
        "runs": _allocator_runs(facts),
        "overhead": allocator_overhead(facts.results.read(ALLOCATOR, expected=False)),
        "overhead_command": f"./run {OVERHEAD_COMMAND} --out {facts.where}/host/allocator.csv",
        "published": _published_overheads(facts),
        "figures": other_figures(facts, ALLOCATOR_HREF),
    }


def _allocator_runs(facts) -> list[dict]:
    """Per layout of a real run: huge pages asked for, and whether the kernel gave them."""
    manifest = facts.results.read(HOST_MANIFEST, expected=False)
    good = ok_rows(facts.results.read(RUNS, expected=False))["layout"].value_counts()
    real = facts.results.cells[facts.results.cells["engine"] == "host"]
    cells = real.drop_duplicates("layout").set_index("layout")
    rows = []
    for row in manifest.to_dict("records"):
        name, asked = row["layout"], (row["pages_2mb"], row["pages_1gb"])
        status = cells["status"].get(name, "not run")
        rows.append(
            {
                "layout": name,
                "workload": cells["workload"].get(name, ""),
                "asked_2mb": asked[0],
                "asked_1gb": asked[1],
                "runs": int(good.get(name, 0)),
                "status": status,
                "got": "all pages, in every run" if is_ok(status) else "",
                "message": "" if is_ok(status) else cells["message"].get(name, ""),
            }
        )
    return rows


def allocator_overhead(table: pd.DataFrame) -> list[dict]:
    """Per workload, memory and processor time: medians of both, and the median overhead of the pairs."""
    rows = []
    for row in overheads(table).sort_values("workload", key=_first_seen, kind="stable").itertuples():
        scale, unit = (2**20, "MB") if row.quantity.endswith("_bytes") else (1e9, "s")
        rows.append(
            {
                "workload": row.workload,
                "quantity": QUANTITIES[row.quantity],
                "glibc": f"{row.glibc / scale:.4g} {unit}",
                "mosalloc": f"{row.mosalloc / scale:.4g} {unit}",
                "change": row.overhead,
                "pairs": row.pairs,
            }
        )
    return rows


def _first_seen(names: pd.Series) -> pd.Series:
    return names.map({name: place for place, name in enumerate(names.unique())})


def _published_overheads(facts) -> list[dict]:
    """Claims about the allocator, as the page of claims shows them."""
    return [row for row in claim_rows(facts) if "allocator" in row["statement"].lower()]
