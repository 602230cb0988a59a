"""Figures: drawn from any tree, with the numbers they show, published ones as printed."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.registry import EVERY
from tessera.report.figures import figure, findings, published, registry, rsquared, style
from tessera.report.figures.host_validation import real_runs_table
from tessera.report.figures.model_errors import max_errors_table
from tessera.report.figures.render import write_figures
from tessera.report.results import NotDrawn, Results

REFERENCE = repo_root() / "reference-results"
WORDS = ("simulated", "measured", "published", "assumed")


@pytest.fixture(scope="module")
def drawn(complete_tree, tmp_path_factory):
    out = tmp_path_factory.mktemp("figures")
    return out, write_figures(complete_tree, REFERENCE, out)


def test_every_registered_figure_is_drawn(drawn):
    _, figures = drawn
    assert {one.name for one in figures if one.ok} == set(registry.all_figures())


def test_only_what_has_no_input_is_left_out_with_a_reason(drawn):
    _, figures = drawn
    assert [(one.stem, one.reason) for one in figures if not one.ok] == [
        ("layouts-gups-host-sim", "no layout files in the results tree")
    ]


def test_svg_and_csv_share_a_stem_and_the_title_says_where_numbers_come_from(drawn):
    out, figures = drawn
    for one in (found for found in figures if found.ok):
        text = "".join(ET.parse(out / f"{one.stem}.svg").getroot().itertext())
        assert any(word in text for word in WORDS), one.stem
        table = pd.read_csv(out / f"{one.stem}.csv")
        assert len(table) == one.rows > 0
        assert set(table["provenance"]) <= set(WORDS), one.stem


def test_same_input_gives_the_same_bytes(small_tree, tmp_path):
    for name in ("one", "two"):
        write_figures(small_tree, REFERENCE, tmp_path / name, ["fig2"])
    first, second = ((tmp_path / name / "fig2.svg").read_bytes() for name in ("one", "two"))
    assert first == second


def test_fig2_shows_the_worst_of_all_pairs_beside_the_printed_value(full_tree):
    rows = max_errors_table(full_tree, REFERENCE).set_index(["source", "model", "scope"])["max_error"]
    errors = pd.read_csv(full_tree / "models" / "errors.csv")
    errors = errors[(errors["protocol"] == "all") & (errors["model"] == "basu")]
    assert rows["Tessera", "basu", "all"] == errors["max_error"].max()
    assert rows["paper", "basu", "all"] == pytest.approx(1.92)
    assert ("paper", "poly2", "all") not in rows.index  # the paper prints no bar for poly2


def test_published_numbers_come_from_the_reference_tables():
    assert published.cv_errors(REFERENCE).set_index("model")["max_error"]["mosmodel"] == pytest.approx(0.043)


def test_without_reference_results_figures_show_what_was_obtained(small_tree, tmp_path):
    (tmp_path / "empty").mkdir()
    figures = write_figures(
        small_tree, tmp_path / "empty", tmp_path / "out", ["fig2", "table6", "table7", "table8"]
    )
    assert all(one.ok for one in figures), [one.reason for one in figures]
    assert set(pd.read_csv(tmp_path / "out" / "fig2.csv")["source"]) == {"Tessera"}


def test_table8_sits_beside_the_same_program_of_the_paper(full_tree):
    rows = rsquared.table(full_tree, REFERENCE)
    twin = rows[(rows["source"] == "paper") & (rows["workload"] == "pr")]
    assert set(twin["paper_workload"]) == {"gapbs/pr-twitter"}


def test_host_draws_paired_differences_with_their_interval(full_tree):
    rows = real_runs_table(full_tree).set_index(["layout", "provenance"])
    assert rows.loc[("growing-8", "measured"), ["difference", "ci95"]].tolist() == [-0.1, 0.003]
    assert rows.loc[("growing-8", "simulated"), "difference"] == -0.12
    assert ("random-3", "simulated") not in rows.index and "growing-0" not in rows.index


def test_hybrid_cells_are_never_among_the_samples(full_tree):
    results = Results(full_tree)
    assert results.hybrid["runtime_cycles"].isna().all()
    assert (results.simulated["engine"] != "host").all()


def test_a_missing_input_is_a_reason_not_a_crash(small_tree, tmp_path):
    (small_tree / "models" / "cv.csv").unlink()
    six, two = write_figures(small_tree, REFERENCE, tmp_path / "out", ["table6", "fig2"])[::-1]
    assert two.ok and "models/cv.csv" in six.reason and six.remedy == "./run reproduce"


def test_a_stale_figure_goes_when_its_input_went(small_tree, tmp_path):
    write_figures(small_tree, REFERENCE, tmp_path, ["fig2"])
    (small_tree / "models" / "errors.csv").unlink()
    write_figures(small_tree, REFERENCE, tmp_path, ["fig2"])
    assert not (tmp_path / "fig2.svg").exists() and not (tmp_path / "fig2.csv").exists()


def test_unknown_figure_names_the_valid_ones():
    with pytest.raises(TesseraError, match="fig2.*table6"):
        registry.select_figures(["fig99"])


def test_a_figure_registered_twice_aborts(monkeypatch):
    def again(results, reference): ...

    again.__module__ = style.__name__
    monkeypatch.setattr(style, "again", figure("fig2", "Again", "")(again), raising=False)
    monkeypatch.setattr(registry, "all_figures", registry.all_figures.__wrapped__)
    with pytest.raises(RuntimeError, match="fig2"):
        registry.select_figures(None)


def test_models_differ_by_more_than_colour():
    found = [style.model_look(name) for name in EVERY]
    assert len({(one.marker, one.dash) for one in found}) == len({one.label for one in found}) == len(EVERY)


def test_platforms_of_no_generation_differ_too(monkeypatch):
    mine = [f"mine{n}-sim" for n in range(40)]
    monkeypatch.setattr(platforms, "platform_names", lambda: ["broadwell-sim", *mine])
    marks = {style.platform_mark(name) for name in [*mine, "sandybridge-sim", "broadwell-sim"]}
    assert len(marks) == len(mine) + 2
    assert style.platform_mark("broadwell-lab") == style.platform_mark("broadwell-sim")


def test_a_new_model_needs_no_line_for_its_look(monkeypatch):
    before = {name: style.model_look(name) for name in EVERY}
    assert before["yaniv"] == ("Yaniv", "#8d96a3", "s", "-.")
    for n in range(16):  # with the extra ones 24
        name = f"mine-{n}"
        monkeypatch.setitem(EVERY, name, type("Mine", (RuntimeModel,), {"name": name, "label": f"Mine {n}"}))
    found = [style.model_look(name) for name in EVERY]
    assert len({(one.marker, one.dash) for one in found}) == len(EVERY) == 9 + 24
    assert {name: style.model_look(name) for name in before} == before
    assert style.ordered_models(["unheard", "mine-0", "poly1", "basu"]) == [
        "basu",
        "poly1",
        "mine-0",
        "unheard",
    ]
    assert style.model_look("unheard").label == "unheard"


@pytest.mark.parametrize(
    ("fraction", "text"), [(0, "0.00%"), (0.0099, "0.99%"), (0.012, "1.2%"), (0.1, "10%"), (1.92, "192%")]
)
def test_percentages_have_as_many_digits_as_are_worth_reading(fraction, text):
    assert style.percent_text(fraction) == text


def test_empty_tree_says_what_to_run(tmp_path):
    with pytest.raises(NotDrawn, match="./run reproduce"):
        max_errors_table(tmp_path, REFERENCE)


def test_figures_show_the_models_that_were_fitted_and_no_others(complete_tree, tmp_path):
    tree = shutil.copytree(complete_tree, tmp_path / "tree")
    kept = {"yaniv": "gandhi-opera", "poly1": "lasso", "poly3": "minimax", "mosmodel": "gp"}
    for name in ("errors", "cv", "predictions"):
        table = pd.read_csv(tree / f"models/{name}.csv")
        table = table[table["model"].isin(kept)]
        table.assign(model=table["model"].map(kept)).to_csv(tree / f"models/{name}.csv", index=False)
    figures = write_figures(tree, REFERENCE, tmp_path / "out", ["fig2", "fig5", "table6", "curves", "fig3"])
    assert {one.name for one in figures if one.ok} == {"fig2", "fig5", "table6", "curves"}
    (reason,) = {one.reason for one in figures if not one.ok}
    assert "yaniv, poly1, mosmodel" in reason
    for name in ("fig2", "fig5", "table6"):
        rows = pd.read_csv(tmp_path / f"out/{name}.csv")
        trained = {"lasso", "minimax", "gp"} | ({"gandhi-opera"} if name != "table6" else set())
        assert set(rows.loc[rows["source"] == "Tessera", "model"]) == trained, name
    assert set(pd.read_csv(tmp_path / "out/curves-gups-broadwell-sim.csv")["series"]) == {
        "samples",
        *kept.values(),
    }


def test_pairs_where_one_model_is_worse_than_another_at_1gb_are_counted():
    rows = [
        ("a", "p", "1gb", "mosmodel", 0.2), ("a", "p", "1gb", "yaniv", 0.1),
        ("a", "p", "all", "mosmodel", 0.1), ("a", "p", "all", "yaniv", 0.9),
        ("b", "p", "1gb", "mosmodel", 0.1), ("b", "p", "1gb", "yaniv", 0.2),
        ("a", "q", "1gb", "mosmodel", 0.3), ("a", "q", "1gb", "poly1", 0.1),
    ]  # fmt: skip
    errors = pd.DataFrame(rows, columns=["workload", "platform", "protocol", "model", "max_error"])
    assert findings.pairs_worse_at_1gb(errors) == (1, 2)
    assert findings.pairs_worse_at_1gb(errors, "yaniv", "mosmodel") == (1, 2)
    assert findings.pairs_worse_at_1gb(errors, "mosmodel", "poly1") == (1, 1)
    assert findings.pairs_worse_at_1gb(errors[errors["protocol"] == "all"]) == (0, 0)
