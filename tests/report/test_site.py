"""The site: complete without a network, honest about what is missing, with verdicts as allowed."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.report import report
from tessera.core.results.machine_tables import CLOSED_FORMS, ENGINES, INVARIANTS
from tessera.core.results.table_io import frame_of, write_table
from tessera.core.results.tree import ResultsTree
from tessera.report import exit_status, site, verdicts
from tessera.report.pages import PAGES
from tests.synthetic.cells import KILLED

BUILD = "./run tessera dev build --workloads-image"


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids, self.images = [], set(), []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.links += [values[name] for name in ("href", "src") if values.get(name)]
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "img":
            self.images.append(values)


def _parse(path):
    parser = _Links()
    parser.feed(path.read_text())
    return parser


def test_all_pages_are_there(rendered):
    assert all((rendered / page.href).stat().st_size > 1000 for page in PAGES)
    assert {path.name for path in rendered.glob("workload-*.html")} == {
        "workload-gups.html",
        "workload-graph500.html",
        "workload-pr.html",
    }


def test_every_link_leads_somewhere_inside_the_folder(rendered):
    pages = {path.name: _parse(path) for path in rendered.glob("*.html")}
    for name, page in pages.items():
        for link in page.links:
            assert not re.match(r"[a-z]+:|//", link), f"{name} needs the network: {link}"
            target, _, anchor = link.partition("#")
            target = target.partition("?")[0]
            assert not target or (rendered / target).exists(), f"{name}: {link}"
            if anchor:
                assert anchor in pages[target or name].ids, f"{name}: {link}"


def test_no_page_allows_a_script_or_a_style_in_its_text(rendered):
    """The templates escape all texts; the policy holds if one of them is forgotten."""
    for path in rendered.glob("*.html"):
        text = path.read_text()
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)[1]
        assert "default-src 'none'" in policy and "unsafe" not in policy, path.name
        assert not re.search(r"<style|<script(?! src=)|\sstyle=|\son[a-z]+=", text), path.name


def test_style_and_script_load_nothing(rendered):
    for path in (rendered / "assets").iterdir():
        assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", path.read_text()), path.name


def test_every_image_has_words(rendered):
    for path in rendered.glob("*.html"):
        for image in _parse(path).images:
            assert "alt" in image, (path.name, image)


def test_no_page_shows_a_verdict_that_its_provenance_forbids(rendered):
    shown = verdicts.shown_verdicts(rendered / "claims.html")
    assert set(shown["verdict"]) == set(verdicts.VERDICTS)
    assert verdicts.objections(shown) == {}


def test_missing_cells_are_listed_with_why_and_what_to_do(rendered):
    text = (rendered / "gaps.html").read_text()
    assert KILLED in text and "FAILED" in text
    assert "SKIPPED" in text and "./run tessera trace record" in text


def test_skipped_host_cells_name_the_remedy(rendered):
    text = (rendered / "host.html").read_text()
    assert "SKIPPED" in text and "./run --reserve reproduce" in text


def test_real_runs_say_how_many_and_how_well_known(rendered):
    assert (rendered / "host.html").read_text().count("7 runs: asked 0.50%") == 4


def test_no_machine_path_gets_into_the_site(rendered):
    from tessera.core.files import repo_root

    for path in [*rendered.rglob("*.html"), *rendered.rglob("*.svg")]:
        assert str(repo_root()) not in path.read_text(), path.name
        assert str(rendered.parents[1]) not in path.read_text(), path.name


def test_numbers_carry_provenance_and_figures_their_data(rendered):
    text = (rendered / "index.html").read_text()
    assert 'class="prov simulated"' in text and "figures/fig2.csv" in text
    assert "--only fig2" in text and (rendered / "figures" / "fig2.csv").exists()


#: one figure per drawing function
ONE_OF_EACH = [
    "fig2",
    "fig5",
    "fig11",
    "table6",
    "table7",
    "table8",
    "sensitivity",
    "host",
    "curves",
    "layouts",
]
DAMAGES = {
    "empty tree": lambda tree: [shutil.rmtree(p) if p.is_dir() else p.unlink() for p in tree.iterdir()],
    "no cells": lambda tree: (tree / "cells.csv").unlink(),
    "no models": lambda tree: shutil.rmtree(tree / "models"),
    "no layouts": lambda tree: shutil.rmtree(tree / "layouts"),
    "truncated cells": lambda tree: (tree / "cells.csv").write_text("workload,platform\n"),
    "empty errors": lambda tree: (tree / "models" / "errors.csv").write_text(""),
    "no anchors": lambda tree: _keep(tree, lambda cells: ~cells["layout"].str.startswith("growing")),
    "nothing good": lambda tree: _keep(tree, lambda cells: cells.index < 0),
    "model not fitted": lambda tree: _unfit(tree, "basu"),
}


def _keep(tree, rows):
    cells = pd.read_csv(tree / "cells.csv")
    cells[rows(cells)].to_csv(tree / "cells.csv", index=False)


def _unfit(tree, model):
    path = tree / "models" / "errors.csv"
    errors = pd.read_csv(path).assign(message="")
    mine = errors["model"] == model
    errors.loc[mine, ["max_error", "geomean_error"]] = None
    errors.loc[mine, "message"] = "no misses in the 4KB run"
    errors.to_csv(path, index=False)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_tree_gives_a_report_that_says_so(small_tree, five_claims, damage):
    DAMAGES[damage](small_tree)
    facts = site.render_report(small_tree, only=ONE_OF_EACH, with_pdf=False)
    for figure in facts.figures:
        assert figure.remedy != "please report this as a bug", (figure.stem, figure.reason)
    assert (small_tree / "report" / "index.html").exists()


def test_notes_of_the_pipeline_on_a_pair_are_shown(small_tree, five_claims):
    for name, text in (
        ("layouts/gups/p-sim/note.txt", "11 distinct"),
        ("models/gups/q-sim/not_fitted.txt", "no 2mb"),
    ):
        path = small_tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    site.render_report(small_tree, only=["fig2"], with_pdf=False)
    page = (small_tree / "report" / "gaps.html").read_text()
    assert "gups on p-sim: 11 distinct" in page and "gups on q-sim: no 2mb" in page


def test_a_model_that_could_not_be_fitted_is_named(small_tree, five_claims):
    _unfit(small_tree, "basu")
    site.render_report(small_tree, only=["fig2"], with_pdf=False)
    assert "no misses in the 4KB run" in (small_tree / "report" / "gaps.html").read_text()


def test_claims_that_cannot_be_judged_leave_a_report(small_tree, monkeypatch):
    import tessera.report.claims
    from tessera.core.errors import TesseraError

    def refuse(*_):
        raise TesseraError("claims file", "line 3 is broken", "correct it")

    monkeypatch.setattr(tessera.report.claims, "judged_claims", refuse, raising=False)
    site.render_report(small_tree, only=["fig2"], with_pdf=False)
    for page in ("index.html", "claims.html"):
        assert "line 3 is broken" in (small_tree / "report" / page).read_text()


def test_a_claim_that_names_no_figure_is_refused_with_the_valid_names(small_tree, five_claims, monkeypatch):
    import tessera.report.claims

    table = five_claims.assign(figure="fig1")
    monkeypatch.setattr(tessera.report.claims, "judged_claims", lambda *_: table, raising=False)
    facts = site.render_report(small_tree, only=["fig2"], with_pdf=False)
    assert "fig1" in facts.claims_reason and "mitosis-table5" in facts.claims_reason
    assert facts.claims.empty


def test_render_prints_the_claims_and_check_passes_a_clean_tree(small_tree, five_claims):
    shutil.rmtree(small_tree / "layouts")  # its figure is the slowest, and not what is tested
    done = CliRunner().invoke(report, ["render", "--results", str(small_tree)])
    assert done.exit_code == 0, done.output
    assert "mosmodel-max" in done.output and "HOLDS-IN-SIMULATION" in done.output
    assert CliRunner().invoke(report, ["check", "--results", str(small_tree)]).exit_code == 0


def _set(tree, column, value, claim):
    claims = pd.read_csv(tree / "claims.csv", dtype=str, keep_default_na=False)
    claims.loc[claims["id"] == claim, column] = value
    claims.to_csv(tree / "claims.csv", index=False)


def test_check_fails_on_a_required_claim_but_not_on_a_finding(small_tree, five_claims):
    site.render_report(small_tree, only=["fig2"], with_pdf=False)
    assert exit_status.problems(small_tree) == []  # a failing finding and a failing optional claim are in it
    _set(small_tree, "verdict", "CONTRADICTED", "mosmodel-features")
    assert any("mosmodel-features" in problem for problem in exit_status.problems(small_tree))


def test_check_fails_on_failed_cells_and_not_on_skipped_ones(small_tree, five_claims):
    site.render_report(small_tree, only=["fig2"], with_pdf=False)
    cells = pd.read_csv(small_tree / "cells.csv", dtype=object)
    cells.loc[3, ["status", "message"]] = ["skipped", "no pages"]
    cells.to_csv(small_tree / "cells.csv", index=False)
    assert exit_status.problems(small_tree) == []
    cells.loc[4, ["status", "message"]] = ["failed", "killed; what to do: ./run smoke"]
    cells.to_csv(small_tree / "cells.csv", index=False)
    assert any(
        "killed" in problem and "./run smoke" in problem for problem in exit_status.problems(small_tree)
    )


def test_check_fails_on_a_part_of_the_kernel_that_failed(small_tree, five_claims):
    site.render_report(small_tree, only=["fig2"], with_pdf=False)
    for part, status, message in (("table4", "ok", ""), ("test", "failed", "not ok 7 - fork")):
        folder = small_tree / "kernel" / part
        folder.mkdir(parents=True)
        outcome = {
            "command": f"tessera lab run kernel-{part}",
            "status": status,
            "message": message,
            "seconds": 1.0,
        }
        (folder / "attempt.json").write_text(json.dumps(outcome))
    (problem,) = exit_status.problems(small_tree)
    assert "part test" in problem and "not ok 7 - fork" in problem
    assert "tessera lab run kernel-test" in problem


@pytest.mark.parametrize(
    ("table", "good", "bad", "said"),
    [
        (ENGINES, {"comparison": "timing", "platform": "haswell-sim", "cells": 54, "differing": 0},
         {"differing": 1, "first_difference": "growing-3: walk_cycles 7 instead of 8"}, "7 instead of 8"),
        (ENGINES, {"comparison": "timing", "platform": "odd", "cells": 0, "differing": 0,
                   "message": "refused by all: two levels"},
         {"message": "not compared: two levels"}, "not compared: two levels"),
        (CLOSED_FORMS, {"case": "c", "platform": "p", "quantity": "M", "formula": "n",
                        "expected": 5.0, "obtained": 5.0, "tolerance": 0.0, "holds": True},
         {"obtained": 6.0, "holds": False}, "M = n is 5, obtained 6"),
        (INVARIANTS, {"invariant": "H + M <= a", "because": "b", "cells": 9, "broken": 0},
         {"broken": 2, "first_broken": "gups on p: growing-1"}, "broken by 2 of 9 cells, first gups on p"),
    ],
)  # fmt: skip
def test_check_fails_on_a_fault_of_the_simulator(small_tree, five_claims, table, good, bad, said):
    site.render_report(small_tree, only=["fig2"], with_pdf=False)
    path = table.place(ResultsTree(small_tree))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(table, frame_of(table, [good]), path)
    assert exit_status.problems(small_tree) == []
    write_table(table, frame_of(table, [good, good | bad]), path)
    (problem,) = exit_status.problems(small_tree)
    assert said in problem


def test_check_fails_on_a_verdict_that_provenance_forbids(small_tree, five_claims):
    site.render_report(small_tree, only=["fig2"], with_pdf=False)
    _set(small_tree, "verdict", "REPRODUCED", "mosmodel-max")
    done = CliRunner().invoke(report, ["check", "--results", str(small_tree)])
    assert done.exit_code == 1 and "mosmodel-max" in done.output


def test_check_before_render_says_what_to_run(small_tree):
    from tessera.core.errors import TesseraError

    done = CliRunner().invoke(report, ["check", "--results", str(small_tree)])
    assert isinstance(done.exception, TesseraError) and "report render" in str(done.exception)


def test_workloads_page_has_every_row_and_says_which_are_dropped(tmp_path, full_tree, five_claims):
    """bfs gains nothing on one platform; pr has no trace: both are in the tables, with the reason."""
    tree = tmp_path / "default"
    shutil.copytree(full_tree, tree)
    cells = pd.read_csv(tree / "cells.csv", keep_default_na=False)
    rows = (cells["workload"] == "gups") & (cells["platform"] == "broadwell-sim")
    cells.loc[rows & (cells["status"] == "ok"), "runtime_cycles"] = "4e9"
    cells.to_csv(tree / "cells.csv", index=False)
    for name, info in {
        "gups": {"status": "ok", "size": "tiny", "accesses": 123_400_000},
        "pr": {"status": "failed", "size": "tiny", "message": f"image w: not built; {BUILD}"},
    }.items():
        path = tree / "traces" / name / "info.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"workload": name} | info))
    site.render_report(tree, only=["fig5", "fig2"], with_pdf=False)
    page = (tree / "report" / "workloads.html").read_text()
    assert "<b>broadwell-sim</b> drops gups (1GB pages save 0.0%" in page
    assert "<b>sandybridge-sim</b> drops none" in page
    assert "123.4" in page and "FAILED" in page
    gaps = (tree / "report" / "gaps.html").read_text()
    assert "Workloads without a trace" in gaps and "gups on broadwell-sim: 1GB pages save" in gaps
    assert f"<code>{BUILD}</code>" in gaps
    assert "Not TLB-sensitive here" in (tree / "report" / "workload-gups.html").read_text()
    data = pd.read_csv(tree / "report" / "data" / "workloads.csv").set_index(["workload", "platform"])
    assert (
        data.analysed["gups", "broadwell-sim"] == "no" and data.analysed["gups", "sandybridge-sim"] == "yes"
    )
    drawn = pd.read_csv(tree / "figures" / "fig5.csv")
    pairs = set(zip(drawn["workload"], drawn["platform"], strict=True))
    assert ("gups", "sandybridge-sim") in pairs and ("gups", "broadwell-sim") not in pairs


def test_a_recording_that_nobody_knows_of_is_not_called_lost(rendered):
    """The tree has cells and no info.json, so the page "Missing" has no list of workloads without a trace."""
    assert "Workloads without a trace" not in (rendered / "gaps.html").read_text()
