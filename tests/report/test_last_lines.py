"""The last lines of `./run smoke`: computed from the run; each planted fault changes one, and the status."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import tessera.report.claims
from tessera.cli.report import report
from tessera.core.results.machine_tables import CLOSED_FORMS, ENGINES, INVARIANTS, RECORDINGS
from tessera.core.results.tree import ResultsTree
from tessera.report import last_lines, site
from tessera.report.provenance import keep_config
from tests.synthetic import make_tree
from tests.synthetic.claims import claims
from tests.synthetic.tables import put

RUN = "2026-01-01T00:00:00Z"
STEPS = ["cells gups, sandybridge-sim", "report", "smoke", "trace gups"]
TIMELINE = f"""run,job,subject,started_s,ended_s,threads,outcome
2025-01-01T00:00:00Z,report,,1,2,1,failed
{RUN},trace,gups,0.5,60.1,1,ok
{RUN},cells,"gups, sandybridge-sim",60.2,90.4,2,ok
{RUN},report,,90.5,120,1,ok
{RUN},smoke,,120,125,1,ok
"""
TINY = {"name": "smoke", "workloads": {"gups": {"size": "tiny"}}, "platforms": ["sandybridge-sim"]}
FULL = TINY | {"workloads": {"gups": {"size": "published"}}}


def write_checks(tree, differing=0, obtained=5.0, broken=0, recorded="equal"):
    """Two comparisons, two formulas, a rule, two recordings; a fault in one of each if asked for."""
    engine = {"comparison": "timing, AVX2", "platform": "haswell-sim", "cells": 5, "differing": 0}
    fault = {"differing": differing, "first_difference": "growing-3: walk_cycles 7 instead of 8"}
    put(tree, ENGINES, [engine, engine | {"comparison": "partial"} | (fault if differing else {})])
    form = {"case": "stride", "platform": "p", "quantity": "M", "formula": "M = pages", "expected": 5.0,
            "obtained": 5.0, "tolerance": 0.0, "holds": True}  # fmt: skip
    put(tree, CLOSED_FORMS, [form, form | {"obtained": obtained, "holds": obtained == 5.0}])
    rule = {"invariant": "H + M <= a", "because": "b", "cells": 9, "broken": broken}
    put(tree, INVARIANTS, [rule])
    row = {
        "workload": "gups",
        "size": "tiny",
        "outcome": "unknown",
        "sha256": "ab",
        "accesses": 5,
        "message": "m",
    }
    put(tree, RECORDINGS, [row, row | {"workload": "graph500", "outcome": recorded}])


def write_run(tree, timeline=TIMELINE, config=TINY):
    keep_config(tree, config)
    (tree / "provenance" / "timeline.csv").write_text(timeline)
    plan = {"run": RUN, "target": "smoke", "steps": STEPS, "done_before": 2, "logs": ["log/1.log"]}
    path = ResultsTree(tree).steps
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(plan))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A tiny run with its report, rendered once."""
    tree = make_tree(tmp_path_factory.mktemp("made") / "small", ("gups",), ("sandybridge-sim",),
                     host=False, broken=False)  # fmt: skip
    (tree / "validation").mkdir(exist_ok=True)
    write_run(tree)
    write_checks(tree)
    notebook = ResultsTree(tree).notebook("01-quick-tour")
    notebook.parent.mkdir()
    notebook.write_text('<title>1</title><main id="main">cells</main>')
    for name in ("workloads.csv", "regime.csv", "claims_elsewhere.csv"):
        (tree / name).write_text("of an earlier report\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tessera.report.claims, "judged_claims", lambda *_: claims())
        render(tree)
    return tree


@pytest.fixture
def tree(made, tmp_path):
    """A copy of it, free to be damaged."""
    return Path(shutil.copytree(made, tmp_path / "small"))


def render(tree):
    site.render_report(tree, only=["fig2"], with_pdf=False)


def command(name, tree):
    return CliRunner().invoke(report, [name, "--results", str(tree)])


def shown(tree) -> dict[str, str]:
    """Line by its name."""
    lines = last_lines.text_of(last_lines.last_lines(tree)).splitlines()
    assert len(lines) <= last_lines.MOST_LINES
    return {line[: last_lines.NAME_WIDTH].strip(): line[last_lines.NAME_WIDTH :].strip() for line in lines}


def test_recordings_of_which_none_is_known_are_not_called_equal(tree):
    write_checks(tree, recorded="other key")
    assert shown(tree)["recordings"] == "none of 2 compared with a known one (1 unknown, 1 other key)"


def test_a_sound_run(tree):
    lines = shown(tree)
    assert lines.pop("logs").startswith("log/1.log and ") and lines.pop("report").endswith("index.html")
    assert lines.pop("claims").endswith("logs/report.log")
    assert re.fullmatch(r"\d+ of \d+ are as the report read them", tables := lines.pop("tables"))
    assert int(tables.split()[0]) == int(tables.split()[2]) > 5
    assert lines == {
        "smoke": "done in 2 min 5 s",
        "steps": "4 of 4 ran (2 done before)",
        "engines": "2 of 2 agree with the reference (partial, timing)",
        "closed forms": "2 of 2 counts equal their formulas",
        "invariants": "1 of 1 rules hold in 9 cells",
        "recordings": "1 of 2 equal known ones (1 unknown)",
        "self-checks": "2 checked: 1 holds, 1 does not.",
        "not proved": "tiny inputs: no evidence about the papers",
        "missing": "report.pdf: page Missing",
    }
    assert command("last-lines", tree).exit_code == 0 and command("check", tree).exit_code == 0
    assert command("last-lines", tree).output == last_lines.text_of(last_lines.last_lines(tree)) + "\n"


def other_digit(tree):
    path = tree / "cells.csv"
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    cells.loc[3, "stlb_misses"] = str(int(float(cells.loc[3, "stlb_misses"])) + 1)
    cells.to_csv(path, index=False)


def other_claim(tree):
    path = tree / "claims.csv"
    path.write_text(path.read_text().replace("1.12", "1.13"))


#: what is planted -> (how, the line that says so, what it says, whether `report check` fails, too)
FAULTS = {
    "a digit in a table": (other_digit, "tables", "cells.csv", True),
    "a digit in a claim": (other_claim, "tables", "claims.csv", True),
    "a table that the report wrote": (
        lambda tree: (tree / "workloads.csv").write_text("another"), "tables", "workloads.csv", True,
    ),
    "a table is gone": (
        lambda tree: (tree / "validation/engines.csv").unlink(), "engines", "NOT CHECKED", True,
    ),
    "an engine": (lambda tree: write_checks(tree, differing=1), "engines", "1 of 2 agree", True),
    "a closed form": (
        lambda tree: write_checks(tree, obtained=6.0), "closed forms", "is 5, obtained 6", True,
    ),
    "a rule": (lambda tree: write_checks(tree, broken=2), "invariants", "H + M <= a", True),
    "a recording": (
        lambda tree: write_checks(tree, recorded="differs"), "recordings", "another trace: graph500", True,
    ),
    "no recording": (lambda tree: put(tree, RECORDINGS, []), "recordings", "NOT CHECKED", True),
    "no row": (lambda tree: put(tree, CLOSED_FORMS, []), "closed forms", "NOT CHECKED", True),
    "a step failed": (
        lambda tree: write_run(tree, TIMELINE.replace("90.4,2,ok", "90.4,2,failed")),
        "steps", "3 of 4 ran (2 done before); FAILED: cells gups, sandybridge-sim", False,
    ),
    "a step is missing": (
        lambda tree: write_run(tree, TIMELINE.replace(f"{RUN},trace,gups,0.5,60.1,1,ok\n", "")),
        "steps", "3 of 4 ran (2 done before); NOT RUN: trace gups", False,
    ),
    "no report": (lambda tree: (tree / "report/index.html").unlink(), "report", "NOT WRITTEN", False),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_changes_its_line_and_the_status(tree, fault):
    before = shown(tree)
    plant, name, says, fails_check = FAULTS[fault]
    plant(tree)
    after = shown(tree)
    assert says in after[name] and after[name] != before[name]
    assert after["smoke"].startswith("FAILED, ") and "report check" in after["problems"]
    assert command("last-lines", tree).exit_code == 1
    assert (command("check", tree).exit_code == 1) == fails_check


def test_a_run_without_a_report_says_so(small_tree):
    """A run that failed early: no claims, no report, no checks."""
    write_run(small_tree, TIMELINE.replace(f"{RUN},report,,90.5,120,1,ok\n{RUN},smoke,,120,125,1,ok\n", ""))
    lines = shown(small_tree)
    assert "NOT RUN: report and 1 more" in lines["steps"] and lines["report"] == "NOT WRITTEN"
    assert all(lines[name].startswith("NOT CHECKED") for name in ("engines", "invariants", "self-checks"))
    assert command("last-lines", small_tree).exit_code == 1


def test_an_unpacked_package_has_tables_without_names_of_its_maker(tree, tmp_path, monkeypatch):
    """Its manifest has the sums of what it holds; the run's own are of the tables before that."""
    other_digit(tree)
    folder = tmp_path / "unpacked"
    monkeypatch.setenv("TESSERA_ROOT", str(folder))
    moved = folder / "results" / "small"
    moved.parent.mkdir(parents=True)
    tree.rename(moved)
    assert last_lines.changed_tables(moved) == ["cells.csv"]
    digest = last_lines.file_digest(moved / "cells.csv")
    (folder / "manifest.csv").write_text(f"path,sha256\nresults/small/cells.csv,{digest}\n")
    assert last_lines.changed_tables(moved) == []


def test_a_report_of_tiny_inputs_has_a_banner_on_each_page_and_says_what_the_chain_proved(tree):
    pages = [*(tree / "report").rglob("*.html")]
    assert len(pages) > 20 and (tree / "report" / "notebooks" / "01-quick-tour.html") in pages
    assert [page.name for page in pages if site.BANNER not in page.read_text()] == []
    index = (tree / "report" / "index.html").read_text()
    rows = dict(re.findall(r"<tr><th>([^<]+)</th><td>.*?(PASS|FAIL)</span>", index))
    assert rows == dict.fromkeys(
        ("steps", "engines", "closed forms", "invariants", "recordings", "self-checks"), "PASS"
    )
    assert "2 of 2 ran (2 done before)" in index  # the report is being written
    assert index.index("What it did not prove") < index.index("How wrong each model is")


def test_any_other_report_has_no_banner_and_counts_findings(tree, five_claims):
    write_run(tree, config=FULL)
    render(tree)
    assert [p.name for p in (tree / "report").rglob("*.html") if site.BANNER in p.read_text()] == []
    assert shown(tree)["findings"].startswith("2 measured: 1 reproduced, 1 not. 2 simulated: ")
    assert "What the chain proved here" not in (tree / "report" / "index.html").read_text()
