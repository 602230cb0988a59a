"""The smoke configuration end to end: real programs, real traces, real models, a real report."""

import json
import os
import re

import pandas as pd
import pytest
import yaml

from tessera.core.results.table_io import read_cells
from tessera.report import last_lines

from .conftest import ROOT, run_sh

pytestmark = [pytest.mark.slow, pytest.mark.toolchain]
CONFIG = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text())


def test_it_ends_well_and_says_what_it_proved(smoke):
    """Its last lines: all steps ran, all checks hold, and it is no evidence about the papers."""
    assert smoke.status == 0, smoke.output[-4000:]
    lines = smoke.output.rstrip().splitlines()[-last_lines.MOST_LINES :]
    text = {line[: last_lines.NAME_WIDTH].strip(): line[last_lines.NAME_WIDTH :].strip() for line in lines}
    assert text["smoke"].startswith("done in ") and text["not proved"] == last_lines.TINY
    for name in ("steps", "engines", "closed forms", "invariants", "tables"):
        done, total = re.match(r"(\d+) of (\d+) ", text[name]).groups()
        assert done == total and int(total) > 0, text[name]


def test_every_cell_is_there_and_consistent(smoke):
    cells = read_cells(smoke.results / "cells.csv")
    simulated = cells[~cells.platform.str.startswith("host")]
    assert len(simulated) == len(CONFIG["workloads"]) * len(CONFIG["platforms"]) * 55
    assert set(simulated.status) == {"ok"}
    assert set(simulated.runtime_provenance) == {"simulated"}
    assert (simulated.stlb_hits + simulated.stlb_misses <= simulated.accesses).all()
    assert (simulated.runtime_cycles > 0).all()
    assert (simulated.runtime_cycles_ci95 == 0).all() and (simulated.walk_cycles_ci95 == 0).all()  # exact
    anchors = simulated.set_index(["workload", "platform", "layout"]).stlb_misses
    for workload in CONFIG["workloads"]:
        for platform in CONFIG["platforms"]:
            all_4kb, all_2mb = (anchors[workload, platform, f"growing-{i}"] for i in (0, 8))
            assert all_2mb < all_4kb


def test_gups_reads_what_it_says(smoke):
    """One data access per read is the array's; the rest of the loop stays in registers."""
    info = json.loads((smoke.results / "traces" / "gups" / "info.json").read_text())
    reads = info["result"]["reads"]
    assert info["result"]["verified"] is True
    assert reads <= info["accesses"] < 1.1 * reads


def test_uniform_reads_miss_as_often_as_arithmetic_says(smoke):
    """A 4KB page of a large array is in an N-entry STLB with probability about N / pages."""
    info = json.loads((smoke.results / "traces" / "gups" / "info.json").read_text())
    pages = info["result"]["footprint_bytes"] / 4096
    cells = read_cells(smoke.results / "cells.csv")
    for platform, entries in (("sandybridge-sim", 512), ("broadwell-sim", 1536)):
        row = cells[(cells.workload == "gups") & (cells.platform == platform) & (cells.layout == "growing-0")]
        rate = float(row.stlb_misses.iloc[0]) / float(row.accesses.iloc[0])
        assert rate == pytest.approx(1 - entries / pages, abs=0.02)


def test_host_cells_are_real_or_say_what_is_missing(smoke):
    cells = read_cells(smoke.results / "host" / "cells.csv")
    assert len(cells) == len(CONFIG["host"]["layouts"])
    assert cells.runtime_cycles.isna().all(), "clock time must not pose as cycles"
    if os.environ.get("TESSERA_RESERVE") == "1":
        assert set(cells.status) == {"ok"}, list(cells.message)
        assert (cells.runtime_ns > 0).all() and set(cells.runtime_provenance) == {"measured"}
    else:
        skipped = cells[cells.status == "skipped"]
        assert skipped.message.str.contains("--reserve|nr_hugepages").all()


def test_models_and_claims(smoke):
    errors = pd.read_csv(smoke.results / "models" / "errors.csv")
    assert set(errors.model) >= {
        "basu",
        "gandhi",
        "pham",
        "alam",
        "yaniv",
        "poly1",
        "poly2",
        "poly3",
        "mosmodel",
    }
    terms = pd.read_csv(smoke.results / "models" / "coefficients.csv")
    mosmodel = terms[(terms.model == "mosmodel") & (terms.term != "1") & (terms.coefficient != 0)]
    assert mosmodel.groupby(["workload", "platform"]).size().max() <= 5
    claims = pd.read_csv(smoke.results / "claims.csv", keep_default_na=False)
    strong = claims[claims.verdict.isin(["REPRODUCED", "DEVIATES"])]
    assert ((strong.kind == "finding") & (strong.provenance == "measured")).all()
    own = {"arithmetic": ["CONSISTENT", "CONTRADICTED"], "invariant": ["PASS", "FAIL"]}
    for kind, words in own.items():
        verdicts = set(claims.verdict[claims.kind == kind])
        assert verdicts <= {*words, "NOT-MEASURABLE-HERE"}


def test_report_is_a_site_without_server_or_network(smoke):
    pages = list((smoke.results / "report").rglob("*.html"))
    assert len(pages) >= 4
    for page in pages:
        text = page.read_text()
        assert not re.search(r'(src|href)="(https?:)?//', re.sub(r"<a [^>]*>", "", text)), page
        for target in re.findall(r'(?:src|href)="([^"#:?]+)(?:[?#][^"]*)?"', text):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_second_start_has_nothing_to_do(smoke):
    again = run_sh("smoke")
    assert again.returncode == 0
    jobs = re.findall(r"^(trace|layouts|cells|fit|report|component|images)\s+\d+", again.stdout, re.MULTILINE)
    assert not jobs, again.stdout[-2000:]


def test_provenance_names_engine_and_versions_but_no_machine_path(smoke):
    text = "".join(p.read_text() for p in (smoke.results / "provenance").glob("*.json"))
    for word in ("scikit-learn", "smoke", os.environ.get("TESSERA_ENGINE", "docker")):
        assert word in text
    assert str(ROOT) not in text
