"""Summary: what ran, how wrong each model is, what a new design gets, origins of numbers, scores, findings.

With tiny inputs its first part is what the chain proved; the rest follows, folded.
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera.core.layouts.layout import ALL_1GB
from tessera.core.results.loader import pairs_of
from tessera.core.results.machine_tables import ALLOCATOR, CHASE_SERIES
from tessera.core.results.outcomes import OUTCOME_FILE, ok_rows
from tessera.core.results.transfer_tables import NEW_DESIGNS
from tessera.core.units import percent_text
from tessera.report import last_lines, new_designs
from tessera.report.facts import MACHINE
from tessera.report.figures import style
from tessera.report.page_elements import other_figures
from tessera.report.pages.claims import claim_rows
from tessera.report.verdicts import PROOF_READING, SCORES, in_words

OVERVIEW = "overview"  #: the picture on top: errors of the models, and what new designs get


def summary_page(facts) -> dict:
    claims = claim_rows(facts)
    errors = model_errors(facts)
    return {
        "title": "Summary",
        "summary": run_in_words(facts),
        "tiles": _tiles(facts),
        "chain": chain(facts) if facts.tiny else [],
        "not_proved": f"{last_lines.TINY[0].upper()}{last_lines.TINY[1:]}.",
        "missing": last_lines.missing(facts.results, facts.claims, pdf=facts.pdf_written).text,
        "model_errors": errors,
        "errors_sentence": errors_sentence(errors, len(facts.results.analysed_pairs())),
        "picture": facts.figure(OVERVIEW),
        "new_designs": _new_designs(facts),
        "notes": _notes(facts),
        "claims_reason": facts.claims_reason,
        "scores": scores(claims),
        "headlines": judged_headlines(facts, claims),
        "origins": origins(facts),
        "check_command": f"./run tessera report check --results {facts.where}",
        "more": other_figures(facts, "index.html", (OVERVIEW, *(one.figure for one in HEADLINES))),
    }


def chain(facts) -> list[last_lines.Line]:
    """What a run with tiny inputs proves: its steps, and the checks of the simulator."""
    ran = last_lines.steps(facts.results.tree, before_report=True)
    return [ran, *last_lines.checks(facts.results, facts.claims)]


def scores(claims: list[dict]) -> list[dict]:
    """Each score that has claims: what they are, and how many hold, in words."""
    found = []
    for kind, score in SCORES.items():
        mine = [row["verdict"] for row in claims if row["kind"] == kind]
        place = "#proof-reading" if score is PROOF_READING else f"?kind={kind}"
        if mine:
            sentence = in_words(score, mine)
            one = {
                "name": f"{score.name[0].upper()}{score.name[1:]}",
                "about": score.about,
                "sentence": sentence,
            }
            found.append(one | {"href": f"claims.html{place}"})
    return found


def model_errors(facts) -> list[dict]:
    """Of each model the largest error, its pair, the median of the pairs, and the largest at 1GB pages."""
    errors = facts.results.models("errors").dropna(subset="max_error")
    rows = []
    for model in style.ordered_models(errors["model"]):
        mine = errors[errors["model"] == model]
        every, test = (mine[mine["protocol"] == name]["max_error"] for name in ("all", ALL_1GB))
        if len(every):
            worst = mine.loc[every.idxmax()]
            rows.append(
                {
                    "label": style.model_look(model).label,
                    "max_error": worst["max_error"],
                    "pair": f"{worst['workload']}, {worst['platform']}",
                    "median_error": every.median(),
                    "test_error": test.max() if len(test) else None,
                }
            )
    return rows


def errors_sentence(errors: list[dict], pairs: int) -> str:
    """The models with the least and the greatest of the largest errors."""
    if not errors:
        return ""
    ordered = sorted(errors, key=lambda row: row["max_error"])
    least, most = (f"{one['label']} {percent_text(one['max_error'])}" for one in (ordered[0], ordered[-1]))
    return f"The largest error of a model over {_counted(pairs, 'pair')} is between {least} and {most}."


def run_in_words(facts) -> str:
    """Workloads, platforms and layouts of the run, in one or two sentences."""
    cells = facts.results.simulated
    cells = cells[~cells["platform"].isin(MACHINE)]
    if cells.empty:
        return "No cell has a number yet. The pages list the missing results and the commands that make them."
    workloads, platforms, layouts = (cells[name].nunique() for name in ("workload", "platform", "layout"))
    text = (
        f"{_counted(workloads, 'workload')} on {_counted(platforms, 'simulated platform')} under up to "
        f"{layouts} layouts. Every runtime model is fitted to each pair of workload and platform. The report "
        "compares the results with the numbers in the papers."
    )
    hybrid = len(facts.results.hybrid)
    return text + (
        f" {_counted(hybrid, 'layout')} also ran on the processor of this machine." if hybrid else ""
    )


def _new_designs(facts) -> dict:
    """Tables of both scopes with judged points, and a sentence for each class."""
    table = facts.results.read(NEW_DESIGNS, expected=False)
    words = {
        new_designs.NEW: "on which nothing was tuned",
        new_designs.ALL: "with those that the bracket was tuned on",
    }
    found = []
    for platform, scope, rows in new_designs.tables(table):
        about = f"{_counted(int(rows['workloads'].max()), 'workload')} {words[scope]}"
        found.append({"platform": platform, "about": about, "rows": rows.to_dict("records")})
    return {"tables": found, "sentences": new_designs.class_sentences(table), "last": new_designs.LAST}


def _tiles(facts) -> list[dict]:
    status = facts.results.cells["status"].value_counts()
    pairs = facts.results.pairs()
    fitted = pairs_of(facts.results.models("errors", analysed=False))
    dropped = len(facts.results.dropped)
    missing = [f"{status[name]} {name}" for name in ("failed", "skipped") if status.get(name)]
    return [
        {
            "label": "good cells",
            "value": int(status.get("ok", 0)),
            "detail": ", ".join(missing) or "none missing",
        },
        {
            "label": "pairs of workload and platform",
            "value": len(pairs),
            "detail": f"models for {len(fitted)}"
            + (f", {dropped} of them not TLB-sensitive" if dropped else ""),
        },
    ]


def _notes(facts) -> list[dict]:
    notes, run = [], "smoke" if facts.tiny else "reproduce"
    status = facts.results.cells["status"].value_counts()
    if status.get("failed"):
        notes.append(
            {
                "what": f"{_counted(int(status['failed']), 'cell')} failed",
                "why": "The page \u201cMissing\u201d has the reasons. Failed cells make the check fail.",
                "todo": f"./run {run}",
            }
        )
    if facts.results.hybrid.empty:
        notes.append(
            {
                "what": "No real run on this machine",
                "why": "The page \u201cRuns on this machine\u201d has the reason.",
                "todo": f"./run --reserve {run}",
            }
        )
    return notes


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")


# The findings of the summary: a question, the claims that decide it, the figure that shows it.
#
# Sentences state the findings of the papers; values and verdicts of the claims state those of this run.


@dataclass(frozen=True)
class Headline:
    """One finding of the papers, the ids of its claims, and its figure (registry name)."""

    title: str
    sentence: str
    claims: tuple[str, ...]
    figure: str


HEADLINES = (
    Headline(
        "What does a new design gain?",
        "MICRO'20 and the studies before it ask a model of a processor for the runtime of a new design. The "
        "figure has the simulated designs that change R by more than 3%, and what the bracket answers from "
        "runs of the processor and from H and C of the design.",
        (
            "transfer-mosmodel-survives-coverage",
            "transfer-accuracy-on-p-sufficient",
            "transfer-invisible-gap",
        ),
        "new-designs",
    ),
    Headline(
        "How large is the error of a runtime model?",
        "The figure tests five published models, each fitted to one or two runs, on every layout. The paper "
        "reports errors below 3% for Mosmodel: a polynomial of degree 3 in H, M and C with at most 5 terms.",
        ("micro20-max-error-basu", "micro20-max-error-yaniv", "micro20-max-error-mosmodel"),
        "fig2",
    ),
    Headline(
        "Does a walk cycle add more than one cycle to the runtime?",
        "According to the papers, page tables displace data of the program from the caches. Then each walk "
        "cycle adds more than one cycle to the runtime, and the program loads more data from L3.",
        ("micro20-table7-slope", "micro20-slope-above-1-exists", "micro20-extra-l3-loads"),
        "fig9",
    ),
    Headline(
        "Does a straight line predict 1GB pages?",
        "No model is fitted to the 1GB layout. According to the papers, a line through the 4KB and 2MB runs "
        "does not predict it, and a cubic polynomial does.",
        ("opera-gups-linear-deviation", "opera-gups-cubic", "micro20-1gb-mosmodel"),
        "fig11",
    ),
)


def judged_headlines(facts, claims: list[dict]) -> list[dict]:
    """The headlines with their claims' rows and figures; without claims that this run did not evaluate."""
    by_id = {row["id"]: row for row in claims}
    return [
        {
            "title": one.title,
            "sentence": one.sentence,
            "claims": [by_id[name] for name in one.claims if name in by_id],
            "figure": facts.figure(one.figure),
        }
        for one in HEADLINES
    ]


# Measured, simulated and published numbers of a run: three lists of sentences for the summary.

#: part of the kernel's results -> what it measured
GUEST = {
    "balancing": "Data and page tables of a process that moves to another socket, in a guest.",
    "placement": "Where page tables lie, with and without replication, in a guest.",
    "table4": "Memory of page tables and their replicas, in a guest.",
    "table5": "Instructions of system calls with replicated page tables, in a guest.",
}


def origins(facts) -> list[dict]:
    """In order of strength; a list can be empty."""
    return [
        {"name": "measured", "words": "on this machine", "sentences": _measured(facts)},
        {"name": "simulated", "words": "by tessera-sim", "sentences": _simulated(facts)},
        {"name": "published", "words": "by others, in the papers", "sentences": _published(facts)},
    ]


def _measured(facts) -> list[str]:
    found = []
    hybrid = facts.results.hybrid
    if len(hybrid):
        names = ", ".join(sorted(hybrid["workload"].unique()))
        found.append(f"Clock time of {names} under {len(hybrid)} real mosaics of 2MB pages.")
    if good := len(ok_rows(facts.results.read(CHASE_SERIES, expected=False))):
        found.append(f"{good} series of pointer chases, which show the sizes of the TLBs of this processor.")
    if len(allocator := facts.results.read(ALLOCATOR, expected=False)):
        count = allocator["workload"].nunique()
        found.append(f"Memory and time of {count} program{'s' * (count > 1)} with and without the allocator.")
    found += [
        words for part, words in GUEST.items() if facts.results.tree.kernel(part, OUTCOME_FILE).is_file()
    ]
    machine = facts.provenance.get("machine") or {}
    if machine.get("pmu") is False:
        found.append("No performance counters here: R, H, M, C of real processors come from bundles only.")
    return found


def _simulated(facts) -> list[str]:
    cells = facts.results.simulated
    cells = cells[~cells["platform"].isin(MACHINE)]
    if cells.empty:
        return []
    count = {name: cells[name].nunique() for name in ("workload", "platform", "layout")}
    return [
        f"R, H, M, C of {len(cells)} cells: {count['workload']} workloads, {count['platform']} platforms, "
        f"up to {count['layout']} layouts each.",
        "H and M over all recorded accesses, for some workloads a part of the region (page Workloads); "
        "C and R from samples, with 95% intervals.",
        "Simulated platforms end in -sim: sizes of TLBs and caches are published, other details assumed.",
    ]


def _published(facts) -> list[str]:
    arithmetic = int((facts.claims["kind"] == "arithmetic").sum()) if len(facts.claims) else 0
    found = ["Numbers as the papers print them; reference-results/ has them with paper, section and table."]
    if arithmetic:
        found.append(f"{arithmetic} claims are arithmetic on these numbers and need no run.")
    return found
