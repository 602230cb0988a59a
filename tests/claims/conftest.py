"""A synthetic results tree with numbers chosen by hand, so that every verdict is known in advance.

The tree imitates no machine: misses fall linearly with the number of 2MB pages, R = 1000 + 2 C.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml

from tessera.core.files import repo_root
from tessera.core.results.cell_tables import MODELS_OF_RUN
from tessera.core.results.table_io import CELL_COLUMNS, write_table
from tessera.report.claims import judged_claims
from tessera.report.claims.load import PROOF_READING

WORKLOADS = ("gups-8gb", "graph500-2gb", "gapbs-pr-twitter")
#: the rows of MICRO'20 Table 5, as config/claims.yaml names them
ROWS = (
    "gups-8gb", "gups-16gb", "gups-32gb", "graph500-2gb", "graph500-4gb", "graph500-8gb",
    "xsbench-4gb", "xsbench-8gb", "xsbench-16gb", "gapbs-bc-twitter", "gapbs-bfs-road", "gapbs-bfs-twitter",
    "gapbs-pr-twitter", "gapbs-sssp-twitter", "gapbs-sssp-web",
    "network-simplex", "event-network-small", "event-network-large", "xml-transform",
)  # fmt: skip
PLATFORMS = ("sandybridge-sim", "haswell-sim", "broadwell-sim")
EXISTING = {"basu": 1.92, "pham": 1.79, "gandhi": 1.15, "alam": 1.11, "yaniv": 0.25}
AUTHORS = "mosmodel-authors"
FITTED = {"poly1": 0.26, "poly2": 0.10, "poly3": 0.06, "mosmodel": 0.015, AUTHORS: 0.012}
CV = {"poly1": 0.364, "poly2": 0.191, "poly3": 0.20, "mosmodel": 0.043}
LEFT_OUT = CV | {AUTHORS: 0.03}  #: by leave-one-out, as the claims of Table 6
SPACE = 80  #: 2MB pages
SLOPE, BASE = 2.0, 1000.0


def layouts() -> dict[str, int]:
    """Layout -> number of 2MB pages."""
    found = {f"growing-{i}": i * SPACE // 8 for i in range(9)}
    found |= {f"random-{i}": 5 if i < 5 else SPACE - 3 for i in range(9)}
    found |= {f"sliding-{x}-{i}": (8 - i) * x // 10 for x in (20, 40, 60, 80) for i in range(9)}
    return found | {"1gb": 0}


def cell(workload: str, platform: str, layout: str, pages: int) -> dict:
    """A good row; the 1GB layout misses like all-2MB."""
    share = 0.0 if layout == "1gb" else 1 - pages / SPACE
    misses = 10 + 1000 * share
    walk = 20 * misses
    return {
        "workload": workload, "platform": platform, "layout": layout, "repeat": 0,
        "status": "ok", "message": "", "runtime_cycles": BASE + SLOPE * walk,
        "stlb_hits": 500, "stlb_misses": misses, "walk_cycles": walk,
        "instructions": 1e6, "accesses": 1e5, "timed_instructions": 1e5,
        "program_l1d_loads": 1e5, "program_l2_loads": 5e4, "program_l3_loads": 1e4 * (1 + share),
        "program_dram_loads": 1e3, "walker_l1d_loads": misses, "walker_l2_loads": misses / 2,
        "walker_l3_loads": misses / 4, "walker_dram_loads": misses / 8,
        "runtime_provenance": "simulated", "tlb_provenance": "simulated", "engine": "timing",
    }  # fmt: skip


class Tree:
    """A results folder whose tables can be changed before they are written."""

    def __init__(self, path: Path, workloads=WORKLOADS):
        self.path = path
        pairs = [(w, p) for w in workloads for p in PLATFORMS]
        self.cells = pd.DataFrame(
            [cell(w, p, name, pages) for w, p in pairs for name, pages in layouts().items()],
            columns=list(CELL_COLUMNS),
        )
        keys = [{"workload": w, "platform": p} for w, p in pairs]
        self.errors = pd.DataFrame(
            [
                key | {"model": m, "protocol": protocol, "samples": n, "max_error": error,
                       "geomean_error": error / 5, "zero_errors": 1, "dropped_zero_errors": 1}
                for key in keys
                for m, error in (EXISTING | FITTED).items()
                for protocol, n in (("all", 54), ("1gb", 1))
            ]
        )  # fmt: skip
        self.cv = pd.DataFrame(
            [
                key | {"model": m, "folds": folds, "seed": 1, "max_error": error,
                       "geomean_error": error / 5}
                for key in keys for m, error in CV.items() for folds in (3, 6, 9, 27, 54)
            ] + [
                key | {"model": m, "protocol": "leave-one-out", "folds": 54, "max_error": error}
                for key in keys for m, error in LEFT_OUT.items()
            ] + [
                key | {"model": m, "protocol": "seeds", "folds": 6, "seed": s, "max_error": (1 + s) * error}
                for key in keys for m, error in CV.items() for s in range(10)
            ]
        )  # fmt: skip
        self.rsquared = pd.DataFrame(
            [
                key | {"input": name, "r_squared": value}
                for key in keys
                for name, value in (("C", 0.99), ("M", 0.98), ("H", 0.5))
            ]
        )
        terms = {"basu": {"M": 20, "1": -5}, "poly1": {"C": SLOPE, "1": BASE},
                 "poly2": {"C": 1.0, "C^2": 1e-4, "1": BASE},
                 "mosmodel": {"C": 1.0, "M": 0.0, "H": 2.0, "C^2": 0.0, "1": BASE}}  # fmt: skip
        terms[AUTHORS] = terms["mosmodel"]
        self.coefficients = pd.DataFrame(
            [
                key | {"model": m, "term": t, "coefficient": c}
                for key in keys for m, found in terms.items() for t, c in found.items()
            ]
        )  # fmt: skip
        self.predictions = pd.concat(
            [self._predictions(model, factor) for model, factor in
             (("basu", 0.5), ("pham", 0.9), ("alam", 1.18), ("gandhi", 0.6), ("yaniv", 1.1),
              ("poly1", 1.05), ("poly2", 1.03), ("poly3", 1.01))],
            ignore_index=True,
        )  # fmt: skip
        anchors = {"basu": ["growing-0"], "pham": ["growing-0"], "alam": ["growing-8"],
                   "yaniv": ["growing-0", "growing-8"]}  # fmt: skip
        for model, names in anchors.items():
            rows = (self.predictions["model"] == model) & self.predictions["layout"].isin(names)
            self.predictions.loc[rows, "predicted_runtime_cycles"] = self._runtimes()[rows]

    def _runtimes(self) -> pd.Series:
        keys = ["workload", "platform", "layout"]
        return self.predictions.merge(self.cells, on=keys)["runtime_cycles"]

    def _predictions(self, model: str, factor: float) -> pd.DataFrame:
        table = self.cells[["workload", "platform", "layout"]].assign(model=model)
        return table.assign(predicted_runtime_cycles=factor * self.cells["runtime_cycles"])

    def manifest(self) -> pd.DataFrame:
        rows = [(n, n.split("-")[0], "", p, int(n == "1gb"), "") for n, p in layouts().items()]
        columns = ["layout", "heuristic", "parameter", "pages_2mb", "pages_1gb", "duplicate_of"]
        return pd.DataFrame(rows, columns=columns)

    def write(self) -> Path:
        """All tables on disk; the folder's path."""
        (self.path / "models").mkdir(parents=True, exist_ok=True)
        self.cells.to_csv(self.path / "cells.csv", index=False)
        for name in ("errors", "cv", "rsquared", "coefficients", "predictions"):
            table = getattr(self, name).reindex(columns=MODELS_OF_RUN[name].names)
            write_table(MODELS_OF_RUN[name], table, self.path / "models" / f"{name}.csv")
        for workload, platform in set(zip(self.cells.workload, self.cells.platform, strict=True)):
            folder = self.path / "layouts" / workload / platform
            folder.mkdir(parents=True, exist_ok=True)
            self.manifest().to_csv(folder / "manifest.csv", index=False)
            window = "type,pageSize,startOffset,endOffset\nmmap,-1,0,167772160\n"
            (folder / "growing-8.csv").write_text(window + "mmap,2097152,0,167772160\n")
        return self.path


@pytest.fixture(scope="session")
def make_tree():
    """For fixtures that live longer than a test: ``path -> Tree`` with every row."""
    return lambda path: Tree(path, ROWS)


@pytest.fixture
def tree(tmp_path) -> Tree:
    """A tree that isn't written yet."""
    return Tree(tmp_path / "results")


@pytest.fixture
def claims_file() -> Path:
    return repo_root() / "config" / "claims.yaml"


@pytest.fixture(scope="session")
def claim_entries() -> list[dict]:
    """The claims of config/claims.yaml and config/proof-reading.yaml as they are written."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files = [repo_root() / "config" / name for name in ("claims.yaml", PROOF_READING)]
    return [entry for file in files for entry in yaml.load(file.read_text(), Loader=loader)["claims"]]


@pytest.fixture
def judge_printed(tmp_path, claim_entries):
    """Verdict of one claim of the file on hand-made published tables, and the value that it obtained.

    ``judge_printed(id, {table: (keys, rows)})``: a row is the keys, the value and, if it matters, the unit.
    """

    def judge(claim: str, tables: dict) -> tuple[str, str]:
        folder = tmp_path / "reference"
        folder.mkdir(exist_ok=True)
        for name, (keys, rows) in tables.items():
            width = len(keys) + 1
            table = pd.DataFrame([row[:width] for row in rows], columns=[*keys, "value"])
            units = [row[width] if len(row) > width else "1" for row in rows]
            source = {"paper": "p", "section": "1", "provenance": "published", "note": "", "unit": units}
            if "location" not in keys:
                source["location"] = "t"
            table.assign(**source).to_csv(folder / f"{name}.csv", index=False)
        entries = {"claims": [entry for entry in claim_entries if entry["id"] == claim]}
        (tmp_path / "claims.yaml").write_text(yaml.safe_dump(entries, sort_keys=False))
        row = judged_claims(tmp_path / "results", tmp_path / "claims.yaml", folder).iloc[0]
        return row["verdict"], row["obtained"] or row["reason"]

    return judge
