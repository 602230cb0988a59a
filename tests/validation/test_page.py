"""The report's page shows what the tables say: failures with their reason, gaps with the command."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tessera.core.results import machine_tables
from tessera.report.figures import host_validation
from tessera.report.figures.render import Drawn
from tessera.report.pages import validation
from tessera.report.results import NotDrawn, Results
from tessera.report.templates import page_templates

ENGINES = [
    ("timing", "tiny", 5, 1, "random-0: stlb_misses 8 instead of 7", None),
    ("timing", "huge", 0, 0, None, "not compared: it died"),
    ("partial", "tiny", 5, 0, None, None),
]
FORMS = [
    ("cycle", "p", "stlb_misses", "M = n", 64, 64, 0, True, None),
    ("stride", "p", "stlb_hits", "H = 0", 0, 3, 0, False, None),
]
SKIPPED = [
    "large-pages",
    "the same bytes in 2MB pages",
    "skipped",
    "sudo sysctl vm.nr_hugepages=130",
    "",
    "",
    "",
]


@pytest.fixture
def results(tmp_path):
    """A validation folder with something wrong in every part."""
    folder = tmp_path / "default" / "validation"
    folder.mkdir(parents=True)

    def write(name, rows, columns):
        pd.DataFrame(rows, columns=list(columns)).to_csv(folder / f"{name}.csv", index=False)

    write("engines", ENGINES, machine_tables.ENGINES.names)
    write("closed_forms", FORMS, machine_tables.CLOSED_FORMS.names)
    write("chase_series", [SKIPPED], machine_tables.CHASE_SERIES.names)
    write(
        "findings", [("2MB pages are splintered", "unknown", None, "no chase")], machine_tables.FINDINGS.names
    )
    step = dict.fromkeys(machine_tables.STEPS.names, 7.0)
    step |= {"series": "pages", "step": 1, "what": "L1 DTLB, 4KB pages"}
    rows = [step | {"source": "measured", "entries": 103.6}, step | {"source": "host-sim", "entries": 71.2}]
    write("steps", rows, machine_tables.STEPS.names)
    latency = [("measured", "measured", "pages", n, 1, 5.0 + n, 5.0) for n in (16, 64, 256)]
    latency += [("host-sim", "simulated", "pages", n, 1, 4.0 + n, 4.0) for n in (16, 64, 256)]
    write("chase_latency", latency, machine_tables.LATENCY.names)
    summary = [("host-sim", "largest error", 0.9, "of the gain", "<= 25%", "MISSED", "nested paging")]
    write("mosaics_summary", summary, machine_tables.MOSAICS_SUMMARY.names)
    write("mosaics", [], machine_tables.MOSAICS.names)
    return tmp_path / "default"


def html(folder):
    facts = SimpleNamespace(
        results=Results(folder),
        figure=lambda name: Drawn(name, name, name, "", reason="not asked for", remedy="./run"),
    )
    shared = {
        "name": "default",
        "up": "",
        "navigation": [],
        "commit": "",
        "dirty": False,
        "render_command": "",
    }
    page = validation.validation_page(facts)
    text = page_templates().get_template("validation.html")
    return text.render(**shared, figure_command=lambda figure: "", page="validation.html", **page)


def test_what_failed_is_shown_with_its_reason(results):
    text = html(results)
    for words in (
        "random-0: stlb_misses 8 instead of 7",
        "not compared: it died",
        "2 expected values, 1 do not hold",
        "sudo sysctl vm.nr_hugepages=130",
        "nested paging",
        "validation/invariants.csv is missing",
        "104",
        "71, 7.0",
    ):
        assert words in text, words


def test_an_empty_tree_is_a_page_of_gaps(tmp_path):
    text = html(tmp_path)
    assert text.count("is missing") == 3
    assert "./run --reserve reproduce" in text


def test_chase_figure_marks_measured_steps(results):
    figure, table = host_validation.draw_chase(results, None)
    marks = table[table["source"] == "step"]
    assert marks["elements"].tolist() == [103.6]
    assert set(table["provenance"]) == {"measured", "simulated"}
    assert len(figure.axes) == 1


def test_figures_say_what_is_missing(results, tmp_path):
    with pytest.raises(NotDrawn, match="real run"):
        host_validation.mosaics_table(results)
    with pytest.raises(NotDrawn, match="not measured"):
        host_validation.chase_table(tmp_path)
