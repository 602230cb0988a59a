"""`tessera demo`: its numbers are those of the archive, its designs found by asking, its page is whole."""

from __future__ import annotations

import re
import shutil

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.cell_tables import MODELS_OF_RUN
from tessera.core.results.table_io import read_file
from tessera.core.results.transfer_tables import ANSWERED, FITS
from tessera.core.results.tree import ResultsTree
from tessera.lab.transfer import archived
from tessera.report import demo
from tessera.report.asked_designs import pairs_with_designs
from tessera.report.explore import source
from tests.in_process import tessera

ARCHIVE = repo_root() / source.ARCHIVE
TREE = ResultsTree(ARCHIVE)
PAIRS = pairs_with_designs(ARCHIVE)
OF_CELLS = [pair for pair in PAIRS if TREE.archived_designs(*pair).is_file()]
OF_STUDY = [pair for pair in PAIRS if pair not in OF_CELLS]


@pytest.fixture(scope="module")
def default():
    return demo.make_demo(ARCHIVE)


@pytest.fixture
def copy(tmp_path):
    """An archive of one's own."""
    return shutil.copytree(ARCHIVE, tmp_path / "data")


def in_both(found: pd.Series, archived: pd.Series) -> list[str]:
    """The models of the archive; one that was added since is shown, too."""
    models = [name for name in found.index if name in archived.index]
    assert len(models) == 9
    return models


def test_each_error_is_that_of_the_archive():
    table = read_file(MODELS_OF_RUN["errors"], MODELS_OF_RUN["errors"].place(TREE))
    for workload, platform in (demo.DEFAULT, OF_CELLS[-1]):
        mine = table[(table["workload"] == workload) & (table["platform"] == platform)]
        expected = mine[mine["protocol"] == "all"].set_index("model")["max_error"]
        found = demo.make_demo(ARCHIVE, workload, platform).errors["fitted"]
        models = in_both(found, expected)
        pd.testing.assert_series_equal(found[models], expected[models], rtol=1e-8, check_names=False)


def test_a_pair_of_the_study_has_its_errors_and_its_answers():
    """Each table of the study says what the demo computes again."""
    workload, platform = OF_STUDY[0]
    found = demo.make_demo(ARCHIVE, workload, platform)
    fits, answers = (
        table[(table["workload"] == workload) & (table["platform"] == platform)]
        for table in (archived.read_packed(one, TREE) for one in (FITS, ANSWERED))
    )
    expected = fits.set_index("model")["max_cv_error"]
    shown = found.errors["held_out"].fillna(found.errors["fitted"])
    models = in_both(shown, expected)
    pd.testing.assert_series_equal(shown[models], expected[models], rtol=1e-9, check_names=False)
    rows = answers[answers["layout"] == "growing-0"].set_index("variant")
    assert len(rows) > 5 and list(rows.index) == [design.name for design in found.designs]
    for design in found.designs:
        row, answer = rows.loc[design.name], design.decision.answer
        assert design.answered == (row["status"] == "answered")
        assert design.runtime == row["runtime_cycles"] and found.base == row["base_runtime_cycles"]
        if answer:
            assert (answer.low, answer.high) == pytest.approx((row["low_cycles"], row["high_cycles"]))


def test_the_default_pair_shows_what_the_demo_is_for(default):
    """A model that fits within 3% gives an impossible runtime; all models are wrong about the refused one."""
    answered, refused = default.shown
    assert answered.covered and not refused.answered
    impossible = [name for name, value in answered.predictions.items() if value <= 0]
    assert impossible and default.errors.loc[impossible, "fitted"].max() < 0.03
    assert refused.errors[0] > 0.1


def test_designs_are_chosen_by_what_is_said_of_them(default):
    answered = [design for design in default.designs if design.answered]
    refused = [design for design in default.designs if not design.answered]
    assert default.shown == [
        max(answered, key=lambda design: design.errors[-1]), max(refused, key=lambda d: d.errors[0])
    ]  # fmt: skip
    assert demo.most_telling(answered) == default.shown[:1]
    assert demo.most_telling(refused) == default.shown[1:]
    assert demo.most_telling([]) == []


@pytest.mark.parametrize("pair", [OF_CELLS[0], OF_STUDY[-1]])
def test_the_text_fits_a_terminal_and_says_what_is_simulated(pair):
    made = demo.make_demo(ARCHIVE, *pair)
    text = demo.lines(made, "P")
    assert max(map(len, text)) <= demo.COLUMNS and len(text) <= 21 + len(made.errors)
    whole = " ".join(" ".join(text).split())
    assert "Every R is simulated" in whole and demo.UNCOUNTED in whole
    assert "Two pictures: P" in whole and demo.NEXT in text[-1]
    for design in made.shown:
        assert " ".join(design.says.split()) in whole
    for model in made.errors.index:
        assert re.search(rf"^{model} +[0-9.]+% ", "\n".join(text), re.MULTILINE)


def test_a_runtime_that_is_not_above_zero_is_called_impossible(default):
    text = demo.lines(default, "P")
    for name, value in default.shown[0].predictions.items():
        (line,) = [line for line in text if line.startswith(name + " ")]
        assert (demo.IMPOSSIBLE in line) == (value <= 0)


def test_the_page_is_one_file_with_two_pictures(default, tmp_path):
    made, page = demo.write_demo(ARCHIVE, tmp_path / "out", *demo.DEFAULT)
    text = page.read_text()
    assert list(page.parent.iterdir()) == [page]
    assert text.count("<img ") == 2 and not re.search(r"(src|href)=\"(?!data:)|url\(|@import", text)
    for design in default.shown:
        assert design.name in text and demo.cycles(design.runtime) in text
    assert demo.UNCOUNTED in text and demo.IMPOSSIBLE in text
    assert demo.lines(made, "") == demo.lines(default, "")


def test_a_perturbed_sample_changes_text_and_page(copy, default):
    cells = copy / "cells.csv"
    table = pd.read_csv(cells, dtype=str, keep_default_na=False)
    row = (table["workload"] == default.pair.workload) & (table["platform"] == default.pair.platform)
    row &= table["layout"] == "growing-4"
    table.loc[row, "runtime_cycles"] = (table.loc[row, "runtime_cycles"].astype(float) * 1.1).map(
        "{:.0f}".format
    )
    table.to_csv(cells, index=False)
    changed = demo.make_demo(copy, *demo.DEFAULT)
    assert not changed.errors["fitted"].equals(default.errors["fitted"])
    before, after = (demo.lines(one, "") for one in (default, changed))
    models = [i for i, line in enumerate(before) if line.split(" ")[0] in default.errors.index]
    assert sum(before[i] != after[i] for i in models) >= 4  # those that are fitted to all layouts
    assert demo.html(changed) != demo.html(default)


def test_a_design_without_a_run_or_a_pair_without_designs(copy, default):
    """A design without R is left out; without any, the models are still shown."""
    designs = copy / "designs" / "-".join(["graph500-4gb", "haswell-sim.csv"])
    table = pd.read_csv(designs, dtype=str, keep_default_na=False)
    table.assign(runtime_cycles="").to_csv(designs, index=False)
    made = demo.make_demo(copy, *demo.DEFAULT)
    assert made.designs == () and made.errors.equals(default.errors)
    assert "no design of this pair" in "\n".join(demo.lines(made, "")) and demo.html(made).count("<img ") == 1


def test_the_command_prints_the_text_and_names_the_page(tmp_path, default, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = tessera("demo", "--out", "here", "--pair", "/".join(demo.DEFAULT))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == demo.lines(default, "here/index.html")
    assert (tmp_path / "here" / "index.html").is_file()


UNKNOWN = {
    "--pair gups-8gb/skylake-sim": "gups-8gb/skylake-sim",
    "--pair gups-8gb": "--pair WORKLOAD/PLATFORM",
    "--workload nobody": "nobody/any platform",
    "--pair gups-8gb/haswell-sim --workload gups-8gb": "or --workload and --platform",
}


@pytest.mark.parametrize("words", UNKNOWN)
def test_an_unknown_pair_is_refused_with_the_list(words, tmp_path):
    done = tessera("demo", *words.split(), "--out", tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert UNKNOWN[words] in done.stderr and "what to do: " in done.stderr
    if "it has" in done.stderr:
        assert all("/".join(pair) in done.stderr for pair in PAIRS)


def test_part_of_a_pair_chooses_the_first_with_it():
    assert demo.chosen_pair(ARCHIVE, platform="broadwell-sim") == next(
        p for p in PAIRS if p[1] == "broadwell-sim"
    )
    assert demo.chosen_pair(ARCHIVE) == demo.DEFAULT


def test_a_folder_without_designs_is_refused(tmp_path):
    with pytest.raises(TesseraError, match="name a folder with them"):
        pairs_with_designs(tmp_path)


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(demo, "make_demo", None)
    done = tessera("demo", "--out", tmp_path / "file" / "demo")
    assert done.returncode == 2 and "--out FOLDER" in done.stderr
    done = tessera("demo", "--out", "/proc/demo")  # a file system that nobody can write to
    assert done.returncode == 2 and "write /proc/demo" in done.stderr and "--out FOLDER" in done.stderr
