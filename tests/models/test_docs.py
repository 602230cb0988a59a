"""The commands and examples of the pages about models run as printed, and their tables are complete."""

import re
from pathlib import Path

import pandas as pd
import pytest

from tessera.fit.evaluation.protocols import PROTOCOLS
from tessera.fit.models.registry import EXTRA, MODELS, Registry
from tests.docs import pages

from .builders import make_frame, noisy

HOWTO, DEFINITIONS = "fit-models.md", "model-definitions.md"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that the pages' examples read."""
    monkeypatch.chdir(tmp_path)
    make_frame(noisy()).to_csv("cells.csv", index=False)
    Path("design.csv").write_text("design,stlb_hits,stlb_misses,walk_cycles\nmine,12e6,34e6,1.2e9\n")


def test_commands_run_in_the_order_of_the_page(files):
    assert pages.invoke_all(HOWTO) == 9
    assert Path("fit/errors.csv").exists() and Path("budget.csv").exists()


def test_the_python_examples_run(files, capsys):
    s = noisy()
    given = {"frame": pd.DataFrame({"H": s.H, "M": s.M, "C": s.C, "R": s.R})}
    examples = pages.blocks(HOWTO, "python") + pages.blocks(DEFINITIONS, "python")
    assert len(examples) == 4
    for source in examples:
        exec(source, given)
    printed = capsys.readouterr().out
    assert re.search(r"walk cycle .*[+-][\d.]+ cycles", printed) and "mine" in printed


def test_the_table_of_models_is_complete():
    rows = pages.table("codes.md", "| model | equation | fitted | source |")
    assert [row[0] for row in rows if "always" in row] == list(MODELS)
    assert [row[0] for row in rows if "by name" in row] == list(EXTRA)


def test_the_table_of_protocols_is_complete():
    text = pages.text(DEFINITIONS)
    table = re.search(r"## Protocols.*?\n\n(\|.*?)\n\n", text, re.DOTALL)[1]
    assert re.findall(r"^\| (\w+) \|", table, re.MULTILINE)[1:] == list(PROTOCOLS)


def test_the_example_of_a_new_model():
    (source,) = pages.blocks("add-a-model.md", "python")
    namespace: dict = {"__name__": "flat"}
    exec(source, namespace)
    flat = Registry(*MODELS.rows(), ("flat", namespace["Flat"]))["flat"]()
    s = noisy()
    H, M, C, R = s.anchor("growing-8")
    assert flat.fit(s).predict(H, M, C) == pytest.approx(R, rel=1e-15)
    assert flat.coefficients_["M"] == 30
    assert flat.get_params() == {"cycles_per_miss": 30.0}


@pytest.mark.parametrize("page", [DEFINITIONS, "add-a-model.md"])
def test_files_that_pages_name_exist(page):
    text = pages.text(page)
    for name in re.findall(r"`(src/tessera/fit/models/\w+\.py)`", text):
        assert name.endswith("flat.py") or (pages.ROOT / name).exists(), name
