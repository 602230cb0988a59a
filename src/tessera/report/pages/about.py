"""About the report: missing results, provenance of the numbers, and how to read it."""

from __future__ import annotations

import hashlib
import re

import pandas as pd
import yaml

from tessera.core.results.cell_tables import MODELS_OF_RUN
from tessera.core.results.machine_tables import RECORDINGS
from tessera.core.results.outcomes import FAILED, other_rows
from tessera.core.results.tree import ResultsTree
from tessera.core.units import format_bytes
from tessera.fit.models.registry import EVERY, MODELS

# Missing results: failed and skipped cells, pairs without cells, fits, tables and figures.

_COMMANDS = (re.compile(r"\./run [^`;,)\n]+"), re.compile(r"(?:tessera|sysctl|snakemake) [^`;,)\n]+"))


def gaps_page(facts) -> dict:
    errors = facts.results.read(MODELS_OF_RUN["errors"])
    failed = errors[errors["max_error"].isna() & (errors["protocol"] == "all")]
    return {
        "title": "Missing",
        "recordings": _recordings(facts),
        "dropped": [
            {"workload": workload, "platform": platform, "why": why}
            for (workload, platform), why in facts.results.dropped.items()
        ],
        "groups": grouped_gaps(facts.results.gaps),
        "absent": _absent(facts),
        "pair_notes": pair_notes(facts.results.tree),
        "fits": failed.to_dict("records"),
        "tables": facts.results.notes,
        "figures": [figure for figure in facts.figures if not figure.ok],
        "pdf_problem": facts.pdf_problem,
    }


def gap_count(facts) -> int:
    """Number of failed cells and pairs without cells, for the navigation."""
    return int((facts.results.gaps["status"] == FAILED).sum()) + len(_absent(facts))


def pair_notes(tree: ResultsTree) -> list[dict]:
    """Notes of the pipeline on a pair: few distinct layouts, or why no model was fitted."""
    found = []
    for pattern in (tree.layouts_note("*", "*"), tree.why_no_models("*", "*", "not_*")):
        for path in tree.found(pattern):
            if note := path.read_text().strip():
                workload, platform = path.parts[-3:-1]
                found.append({"workload": workload, "platform": platform, "note": note})
    return found


def grouped_gaps(gaps: pd.DataFrame) -> list[dict]:
    """Rows that share workload, platform, status and message, with their layouts."""
    rows = []
    for (workload, platform, status, message), part in gaps.groupby(
        ["workload", "platform", "status", "message"], sort=False
    ):
        layouts = list(dict.fromkeys(part["layout"]))
        short = ", ".join(layouts[:3]) + (f" and {len(layouts) - 3} more" if len(layouts) > 3 else "")
        rows.append(
            {
                "workload": workload,
                "platform": platform,
                "status": status,
                "message": message,
                "count": len(part),
                "layouts": short,
                "remedy": remedy_of(message, status),
            }
        )
    return rows


def remedy_of(message: str, status: str) -> str:
    """The command that the message names, else the start that tries failed cells again."""
    for pattern in _COMMANDS:
        if found := pattern.search(message):
            return found.group().strip()
    return "./run reproduce" if status == FAILED else "./run --reserve reproduce"


def _recordings(facts) -> list[dict]:
    """Workloads without a trace, with reason and command."""
    table = facts.workload_table.drop_duplicates("workload")
    table = other_rows(table[table["status"] != ""])
    rows = table[["workload", "size", "status", "message"]].to_dict("records")
    return [row | {"remedy": remedy_of(row["message"], row["status"])} for row in rows]


def _absent(facts) -> list[dict]:
    cells = facts.results.cells
    there = set(cells[["workload", "platform"]].drop_duplicates().itertuples(index=False, name=None))
    return [
        {"workload": workload, "platform": platform}
        for workload in facts.config.get("workloads") or []
        for platform in facts.config.get("platforms") or []
        if (workload, platform) not in there
    ]


# Provenance: engines and origins per quantity, configuration, versions, machine, hashes, claims' history.

#: folders of the results whose files are listed in provenance/hashes.json only
SUMMARISED = ("layouts", "models", "figures", "logs")


def provenance_page(facts) -> dict:
    parts = facts.provenance
    machine = dict(parts.get("machine") or {})
    if machine.get("memory_bytes"):
        machine["memory"] = f"{machine.pop('memory_bytes') / (1 << 30):.1f} GB"
    git = dict(parts.get("git") or {})
    history, changes = git.pop("claims_history", []), git.pop("claims_changes", "")
    hashes = parts.get("hashes") or {}
    engine = parts.get("engine") or {}
    images = {name: _manifest(content) for name, content in (engine.get("images") or {}).items()}
    if kernel := engine.get("kernel_source"):
        images["kernel source"] = f"{kernel['version']}, {kernel['origin']}"
    blocks = [
        ("Code", git),
        ("Engine", {"engine": engine.get("engine"), **images}),
        ("Machine", machine),
        ("Versions", parts.get("versions") or {}),
    ]
    return {
        "title": "Provenance",
        "quantities": (parts.get("quantities") or {}).get("cells") or [],
        "blocks": [{"title": title, "rows": _provenance_rows(values)} for title, values in blocks],
        "known": facts.results.read(RECORDINGS, expected=False).to_dict("records"),
        "config_text": yaml.safe_dump(facts.config, sort_keys=False, allow_unicode=True),
        "timeline": facts.figure("timeline"),
        "history": history,
        "changes": unwrapped(changes),
        "hashes": [
            {"title": title, "count": len(hashes.get(name) or {}), "rows": _few(hashes.get(name) or {})}
            for title, name in (("Inputs of the checkout", "inputs"), ("Results", "results"))
        ],
    }


def _few(hashes: dict[str, str]) -> list[tuple[str, str]]:
    """Files and their hashes; of folders with thousands of files only how many there are."""
    rows, many = [], {}
    for path, digest in sorted(hashes.items()):
        folder = path.split("/")[0]
        if folder in SUMMARISED:
            many.setdefault(folder, []).append(digest)
        else:
            rows.append((path, digest))
    return rows + [
        (f"{name}/: {len(found)} files, hash of their hashes", _short_hash(found))
        for name, found in many.items()
    ]


def _short_hash(digests: list[str]) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _manifest(content) -> str:
    """An image's manifest in one line: its plain entries, and how long its lists are."""
    if not isinstance(content, dict):
        return str(content)
    return ", ".join(
        f"{key} {len(value)}" if isinstance(value, dict | list) else f"{key} {value}"
        for key, value in content.items()
    )


def _provenance_rows(values: dict) -> list[tuple[str, str]]:
    return [(key.replace("_", " "), _word(key, value)) for key, value in values.items()]


def _word(key: str, value) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "none"
    return format_bytes(value) if key.endswith("_bytes") and isinstance(value, int) else str(value)


def unwrapped(text: str) -> str:
    """Markdown whose paragraphs and items are one line each, so that the page breaks them."""
    return re.sub(r"(?<=\S)\n *(?=[^\s#*|-])", " ", text)


# How to read the report: verdicts, provenance, quantities, models in one line each.


def guide_page(facts) -> dict:
    return {"title": "How to read", "models": _models(facts)}


def _models(facts) -> list[dict]:
    """Those that this run fitted; the registry's if it fitted none."""
    fitted = set(facts.results.models("errors", analysed=False)["model"]) or set(MODELS)
    return [
        {"label": model.label, "equation": model.equation, "source": model.source}
        for name, model in EVERY.items()
        if name in fitted
    ]
