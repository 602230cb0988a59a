"""Bundles in a run: each is verified, judged by machine, and shown on the report's page of machines."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace

import pytest
import yaml
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.cli.pipeline import digests
from tessera.cli.pipeline.bundles import accepted, take_part
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.table_io import read_cells, write_cells
from tessera.core.results.tree import ResultsTree
from tessera.measure.bundles import file_format, store
from tessera.measure.bundles.reader import parse_bundle
from tessera.measure.counted.campaign import measure_bundle
from tessera.measure.rounds import StoppingRule
from tessera.report import exit_status, site, verdicts
from tests.bundles.processor import Plan, made, put
from tests.measure.counted.world import World, engine_cells

pytestmark = pytest.mark.slow

WALKS = "micro20-broadwell-walks-exceed-runtime"
GUPS = ("gups-8gb", "gups-16gb", "gups-32gb")
PLAN = Plan(layouts=("growing-0", "growing-8", "1gb"))
A, B = "broadwell-aaaaaaaa", "broadwell-bbbbbbbb"


@pytest.fixture
def results(tmp_path):
    """A run whose simulated gups have C / R = 0.9 on Broadwell: the finding that C exceeds R fails there."""
    cells = [
        {
            "workload": workload, "platform": "broadwell-sim", "layout": layout, "repeat": 0, "status": "ok",
            "runtime_cycles": r, "stlb_hits": 1, "stlb_misses": 1, "walk_cycles": c, "instructions": 1,
            "runtime_provenance": "simulated", "tlb_provenance": "simulated", "engine": "timing",
        }
        for workload in GUPS
        for layout, r, c in (("growing-0", 1000, 900), ("growing-8", 500, 90), ("1gb", 400, 1))
    ]  # fmt: skip
    write_cells(cells, ResultsTree(tmp_path / "results").cells)
    return tmp_path / "results"


@pytest.fixture
def claims(tmp_path):
    """The one finding, as config/claims.yaml has it."""
    known = yaml.safe_load((repo_root() / "config" / "claims.yaml").read_text())["claims"]
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": [one for one in known if one["id"] == WALKS]}))
    return path


def bundle(folder, seed=1, **changes):
    """The folder of a sealed bundle."""
    put(made(replace(PLAN, **changes), seed).files, folder)
    return folder


def take(results, *sources, **changes):
    out = ResultsTree(results).machines.bundles_list
    return take_part(sources, out, **{"seed": 1, "orders": 1, **changes})


def report(results, claims):
    """The row of the finding, and the text of the page of machines."""
    facts = site.render_report(results, claims=claims, only=["machines"], with_pdf=False)
    (row,) = facts.claims.to_dict("records")
    text = ResultsTree(results).report.with_name("machines.html").read_text()
    assert verdicts.objections(facts.claims) == {}
    assert (
        verdicts.objections(verdicts.shown_verdicts(ResultsTree(results).report.with_name("machines.html")))
        == {}
    )
    return row, text


def code_of(run):
    with pytest.raises(TesseraError) as error:
        run()
    return error.value


# -- which bundles take part


def test_a_bundle_that_fails_is_named_with_every_check(tmp_path, results):
    broken = bundle(tmp_path / "monday")
    cells = broken / file_format.CELLS_FILE
    cells.write_text(cells.read_text().replace("measured", "simulated"))
    error = code_of(lambda: take(results, bundle(tmp_path / "good"), broken))
    assert (error.code, error.exit_code) == ("bundle-fails", 1)
    assert "monday" in error.asked
    assert re.findall(r"check (\S+) fails", error.found) == ["sums", "cells"]
    assert not ResultsTree(results).machines.root.exists()
    assert code_of(lambda: accepted([tmp_path / "nothing"])).code == "bundle-absent"


def test_a_rehearsal_is_refused(tmp_path, results):
    error = code_of(lambda: take(results, bundle(tmp_path / "fake", rehearsal=True)))
    assert (error.code, error.exit_code) == ("bundle-rehearsal", 1)
    assert "fake" in error.asked
    assert not ResultsTree(results).machines.root.exists()


def test_a_bundle_that_is_named_twice_counts_once(tmp_path):
    folder = bundle(tmp_path / "one")
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        for path in folder.rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    (entry,) = accepted([folder, tmp_path / "one.zip"])
    assert entry.identity == store.bundle_id(parse_bundle("x", made(PLAN).files)) and entry.bars == ()


def test_two_bundles_of_a_machine_must_be_merged(tmp_path, results):
    both = bundle(tmp_path / "one"), bundle(tmp_path / "two", 2, workloads=("chase",))
    assert code_of(lambda: take(results, *both)).code == "bundle-twice"
    assert not ResultsTree(results).machines.root.exists()


def test_what_took_part_before_is_replaced(tmp_path, results):
    take(results, bundle(tmp_path / "one", workloads=GUPS[:1]))
    tree = ResultsTree(results).machines
    assert tree.cells.exists() and len(ResultsTree(results).machines.bundles()) == 1
    assert [one["bars"] for one in json.loads(tree.bundles_list.read_text())] == [[]]
    take(results)
    assert list(tree.root.iterdir()) == [tree.bundles_list]
    assert json.loads(tree.bundles_list.read_text()) == []


def test_bundles_of_the_checkout_come_first_then_those_that_are_named(tmp_path):
    for name in ("b", "a", ".git"):
        (tmp_path / "bundles" / name).mkdir(parents=True)
    (tmp_path / "bundles" / "index.csv").write_text("id,doi,sha256\n")
    added = [tmp_path / "bundles" / name for name in ("a", "b")]
    assert digests.bundle_sources(tmp_path, {}) == added
    named = {digests.BUNDLES_VARIABLE: f"/x y/z.zip\n{added[0]}\n"}
    assert [str(p) for p in digests.bundle_sources(tmp_path, named)] == [*map(str, added), "/x y/z.zip"]


def test_the_command_checks_or_writes(tmp_path):
    def run(*words):
        done = CliRunner().invoke(cli, ["dev", "step", *map(str, words)])
        return done.exit_code, done.output

    good, out = bundle(tmp_path / "good"), ResultsTree(tmp_path).machines.bundles_list
    barred = bundle(tmp_path / "barred", rounds=2, machine_id="b" * 32)
    bundles = f"bundle={good}", f"bundle={barred}"
    status, said = run("accept", *bundles, "--out", tmp_path / "paths.txt")
    assert (tmp_path / "paths.txt").read_text() == f"{good}\n{barred}\n"
    assert status == 0 and "decide claims" in said and "barred: gups-16gb: 2 rounds" in said
    assert not out.parent.exists()
    assert run("machines", *bundles, "--out", out)[0] == 0
    assert len(json.loads(out.read_text())) == 2
    status, said = run("machines", *bundles)
    assert status == 2 and "--out" in said


# -- verdicts and the page


def test_without_a_bundle_the_page_names_the_command_and_what_it_would_decide(results, claims):
    row, text = report(results, claims)
    assert (row["verdict"], row["obtained"]) == ("FAILS-IN-SIMULATION", "0.9")
    assert "./run measure --minutes 20 --out B" in text
    assert re.findall(r"<td>([a-z+ ]+)</td><td class=\"n\">(\d+)</td>", text) == [("broadwell", "1")]
    assert not ResultsTree(results).claims_elsewhere.exists()


def test_the_fake_machine_decides_by_the_switch_only(tmp_path, results, claims, monkeypatch):
    """Its launcher gives C / R = 600,000,008 / 500,000,000 with 4KB pages, so the finding holds on it."""
    (tmp_path / "world").mkdir()
    world = World(tmp_path / "world")
    world.workload("gups-8gb")
    engine_cells(world.folder / "engine.csv", ("gups-8gb",))
    with monkeypatch.context() as of_machine:
        for name, value in world.environment.items():
            of_machine.setenv(name, value)
        request = world.request(workloads=("gups-8gb",), rule=StoppingRule(), mode="uk")
        measure_bundle(request, say=world.said.append)
    before, _ = report(results, claims)
    assert code_of(lambda: take(results, world.folder / "bundle")).code == "bundle-rehearsal"
    after, _ = report(results, claims)
    assert before == after and after["verdict"] == "FAILS-IN-SIMULATION"
    (entry,) = take(results, world.folder / "bundle", rehearsals=True)
    row, text = report(results, claims)
    assert row["verdict"] == "REPRODUCED" and row["obtained"] == "1.2"
    assert "1 of 3 pairs" in row["reason"] and row["provenance"] == "measured"
    assert entry.identity in text and "Rehearsal:" in text and f'data-claim="{WALKS}"' in text
    assert f"holds on {entry.bundle.about.platform}: 1.2" in text
    assert (ResultsTree(results).report.parent / "figures" / "machines.svg").exists()
    take(results)
    assert report(results, claims)[0] == before


def test_two_machines_that_disagree_deviate_with_both_names(tmp_path, results, claims):
    """C / R is 1.03 on both (test_judge); then C of the second machine is halved."""
    first = bundle(tmp_path / "a", machine_id="a" * 32, workloads=GUPS)
    second = bundle(tmp_path / "b", 2, machine_id="b" * 32, workloads=GUPS)
    take(results, first, second)
    row, text = report(results, claims)
    assert row["verdict"] == "REPRODUCED" and A in row["obtained"] and B in row["obtained"]
    cells = ResultsTree(results).machines.cells
    table = read_cells(cells)
    table.loc[table["platform"] == B, "walk_cycles"] //= 2
    write_cells(table, cells)
    row, text = report(results, claims)
    assert row["verdict"] == "DEVIATES" and f"holds on {A}, fails on {B}" in row["reason"]
    assert f"holds on {A}" in text and f"fails on {B}" in text
    assert text.count('<h2 id="broadwell-') == 2


def test_another_class_has_its_own_table_and_changes_no_claim(tmp_path, results, claims):
    report(results, claims)
    before = ResultsTree(results).claims.read_bytes()
    take(results, bundle(tmp_path / "haswell", class_name="haswell", workloads=GUPS))
    _, text = report(results, claims)
    assert ResultsTree(results).claims.read_bytes() == before
    lines = ResultsTree(results).claims_elsewhere.read_text().splitlines()
    assert len(lines) == 2 and lines[1].startswith(f"{WALKS},haswell-") and "FAILS-ELSEWHERE" in lines[1]
    assert (
        "FAILS-ELSEWHERE" in text
        and (ResultsTree(results).report.parent / "data/claims_elsewhere.csv").exists()
    )
    take(results)
    report(results, claims)
    assert not ResultsTree(results).claims_elsewhere.exists()


def test_a_barred_bundle_is_shown_and_decides_nothing(tmp_path, results, claims):
    report(results, claims)
    before = ResultsTree(results).claims.read_bytes()
    take(results, bundle(tmp_path / "short", rounds=2, workloads=GUPS))
    _, text = report(results, claims)
    assert (
        ResultsTree(results).claims.read_bytes() == before
        and not ResultsTree(results).machines.cells.exists()
    )
    assert "gups-8gb: 2 rounds; rounds-1 needs 5" in text
    assert "<p>None.</p>" in text and "figures/machines.svg" in text


def test_words_of_other_classes_are_no_verdicts_of_claims(results, claims):
    report(results, claims)
    path = ResultsTree(results).claims
    path.write_text(path.read_text().replace("FAILS-IN-SIMULATION", "FAILS-ELSEWHERE"))
    (problem,) = [one for one in exit_status.problems(results) if WALKS in one]
    assert "claims_elsewhere.csv" in problem


def test_measured_errors_stand_beside_simulated_ones_of_the_same_class(tmp_path, results):
    """Tables by hand: mosmodel errs by 2% on the machine, by 3% on the simulated Broadwell."""
    from tessera.core.results.cell_tables import MODELS_OF_RUN
    from tessera.core.results.table_io import frame_of, write_table
    from tessera.report.facts import ReportData
    from tessera.report.pages.machines import bundle_errors
    from tessera.report.results import Results

    def row(platform, error, protocol="all"):
        return {"workload": GUPS[0], "platform": platform, "model": "mosmodel", "protocol": protocol,
                "max_error": error, "geomean_error": error / 2}  # fmt: skip

    table = MODELS_OF_RUN["errors"]
    simulated = [row("broadwell-sim", 0.03), row("haswell-sim", 0.5), row("broadwell-sim", 0.9, "1gb")]
    write_table(table, frame_of(table, simulated), table.place(ResultsTree(results)))
    write_table(table, frame_of(table, [row(A, 0.02)]), table.place(ResultsTree(results).machines))
    facts = ReportData(Results(results), claims=None, claims_reason="", figures=[], provenance={})
    (found,) = bundle_errors(facts)
    assert (found["machine"], found["max_error"], found["geomean_error"]) == (A, 0.02, 0.01)
    assert {name: one["max_error"] for name, one in found["simulated"].items()} == {"broadwell-sim": 0.03}
