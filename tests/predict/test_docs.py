"""The pages of `tessera predict`: tables are those of the code, commands and Python run as printed."""

import re

import pandas as pd
import pytest

import tessera
from tessera.core import platforms
from tessera.fit.predict import decision, processor
from tessera.fit.predict.answers import LEAST_LAYOUTS
from tessera.lab.transfer import own_design
from tests.docs import pages

from .builders import design, samples

PAGE, CODES, HOWTO = "predict.md", "predict-codes.md", "predict-a-design.md"
GENERATED = "codes.md"
DESIGNS = sorted((pages.ROOT / "examples" / "designs").glob("*.yaml"))
WRONG = ("absent", "not-finite", "negative", "zero")
ASKED = ("answer", "from_python", "own_design")
#: modules whose errors the page lists
SOURCES = [
    *(pages.ROOT / "src/tessera/fit/predict").glob("*.py"), pages.ROOT / "src/tessera/cli/predict.py",
    *(pages.ROOT / "src/tessera/lab/transfer" / f"{one}.py" for one in ASKED),
]  # fmt: skip


def rows(page: str, heading: str) -> list[list[str]]:
    """Cells of all tables under a heading, without their heads."""
    part = pages.text(page, f"{heading}\n")
    lines = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return [cells for cells in lines if cells[0] not in ("code", "level", "status", "source", "option")]


def test_every_refusal_of_the_code_has_its_remedy_on_the_page():
    page = {}
    for code, _, remedy in rows(GENERATED, "Answers refused by `tessera predict`"):
        word = code.strip("`")
        codes = [word.replace("...", wrong) for wrong in WRONG] if word.endswith("...") else [word]
        page |= dict.fromkeys(codes, remedy)
    of_samples = {code: remedy for code, (_, remedy) in processor.OF_SAMPLES.items()}
    assert page == decision.REMEDIES | of_samples


def test_every_remark_is_on_the_page():
    remarks = [cells[0].strip("`") for cells in rows(GENERATED, "Remarks of `tessera predict`")]
    assert remarks == list(decision.REMARKS)


def test_every_wrong_request_is_on_the_page():
    raised = {code for path in SOURCES for code in re.findall(r'code="([a-z-]+)"', path.read_text())}
    raised.remove(own_design.DESIGN_FILE.code)
    of_files = {f"{own_design.DESIGN_FILE.code}-{kind}" for kind in ("key", "value", "size", "yaml")}
    assert all(f"`{code}`" in pages.text(CODES) for code in of_files)
    known = {row[0] for row in pages.table("errors.md", "| code | found | what to do |")}
    assert raised - known <= set(decision.REMEDIES)


def test_levels_are_those_of_the_code():
    assert dict(pages.table(GENERATED, "| level | means |")) == decision.LEVELS
    assert f"at least {LEAST_LAYOUTS} layouts" in pages.text(PAGE)


def test_answers_of_reach_by_family_are_those_of_the_archive():
    rows = pd.read_csv(pages.ROOT / "notebooks/data/studies/transfer/answers.csv.gz")
    rows = rows[(rows["group"] == "reach") & (rows["status"] == "answered") & rows["judged"].eq(True)]
    for family in ("STLB", "coalescing"):
        covered = rows[rows["family"] == family]["covered"].eq(True)
        assert f" {covered.sum()} of {len(covered)}" in pages.text(PAGE, "Levels").replace("\n", " ")


def test_commands_on_samples_run_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    samples().to_csv("cells.csv", index=False)
    design(design=["mine"]).to_csv("counts.csv", index=False)
    # --design needs a run; tests/studies/transfer has the rest
    assert pages.invoke_all(HOWTO, but=("--design examples",)) == 3


def test_the_python_asks_as_the_function_takes_it(monkeypatch):
    (source,) = pages.blocks(HOWTO, "python")
    asked = []
    columns = ["design", "runtime_cycles", "low_cycles", "high_cycles", "source", "level", "codes"]

    def predict(*words, **named):
        asked.append((words, named))
        frame = pd.DataFrame(columns=columns)
        frame.attrs["decisions"] = [decision.refused_question(decision.Question("d"), [])]
        return frame

    monkeypatch.setattr(tessera, "predict", predict, raising=False)
    exec(source, {})
    ((words, named_),) = asked
    assert words[0]["changes"] and named_ == {"workload": "gups-8gb", "platform": "haswell-sim"}


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_example_designs_are_valid_and_in_the_class_that_they_state(path):
    """Their first line names the class, or says that there is none."""
    from tessera.lab.transfer.classes import changed

    own, platform = own_design.read_own(path), platforms.load_platform("haswell-sim")
    changed(platform, own.changes)
    groups, unknown = own_design.classes(own, platform)
    stated = re.findall(r"Class `([a-z0-9-]+)`", path.read_text())
    assert stated == groups if stated else (unknown or groups == ["control"])
