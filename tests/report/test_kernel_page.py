"""The page about replicated page tables: the paper's tables beside ours, figures, and what failed."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from tessera.lab.kernel import ALL_PARTS
from tessera.report.pages.page_tables import table_for_reading
from tests.synthetic.kernel import FAILED, UNKNOWN, placement


@pytest.fixture(scope="module")
def text(rendered):
    return (rendered / "kernel.html").read_text()


def section(text: str, name: str) -> str:
    """Words of a section, tags and line breaks gone."""
    (found,) = re.findall(rf'<section id="{name}">(.*?)</section>', text, re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", found).split())


def test_table_4_has_the_papers_digits_under_its_function(text):
    words = section(text, "table4")
    assert "1 MB function 0.02 MB 1.000 1.015 1.046 1.108 1.231" in words
    assert "16 TB function 32.06 GB 1.000 1.002 1.006 1.014 1.029" in words
    assert "16 TB printed 32.0 GB 1.000 1.002 1.006 1.014 1.029" in words
    # 1 MB with 2 copies: 8 tables; the synthetic kernel says 9
    assert "1MB 2 36 32 4,096" in section(text, "table4_measured")


def test_tables_5_and_6_name_both_measures(text):
    words = section(text, "table5")
    assert (
        "mmap 8MB 1.043 1.0 1.002 100,000 104,300" in words
        and "mprotect 8MB 1.482 3.2 1.000 1,000 1,482" in words
    )
    assert "ratio of instructions measured" in words and "ratio of cycles published" in words
    words = section(text, "table6")
    assert "gups 3.70 0.46 1,000 1,037" in words and "btree 1.50 \u2013 200 203" in words
    assert "% of instructions measured" in words and "% of time published" in words


def test_costs_by_kind_of_page_have_ratios_and_counts(text):
    words = section(text, "operations")
    assert "munmap clean 1.500 1.004 300,000 450,000" in words and "ratio of instructions measured" in words
    assert "munmap clean 4 211.5 66.0 70.0 31.0 9.0" in section(text, "updates")


def test_a_process_that_moved_has_a_row_for_each_moment(text):
    words = section(text, "balancing")
    assert "before 0 4,096 4,090 18 0 4,283 0 0 0.5 measured" in words
    assert "balanced 1 4,096 4,090 18 0 4,283 4,283 1 1.5 measured" in words


def test_outcomes_are_counted_and_what_did_not_pass_is_named(text):
    assert "passed 2 skipped 1 numa" in section(text, "stress-ng")
    assert UNKNOWN in section(text, "another") and " yes " in section(text, "another") + " "


def test_a_part_that_failed_says_so(text):
    assert "Part prove: failed" in text and FAILED.replace("'", "&#39;") in text
    assert "tessera lab run kernel-prove" in text and "Part table5" not in text


def test_every_table_is_a_file_even_where_names_repeat(rendered, text):
    for name in ("kernel-table5.csv", "kernel-placement.csv", "kernel-instructions.csv"):
        assert f'href="data/{name}"' in text and (rendered / "data" / name).exists()
    assert (rendered / "data" / "kernel-table6-instructions.csv").exists()


def test_figures_are_on_the_page_with_their_numbers(rendered, text):
    for name in ("mitosis-fig3", "mitosis-fig4", "mitosis-table5"):
        assert f'id="{name}"' in text and f"figures/{name}.svg" in text
    cells = pd.read_csv(rendered / "figures" / "mitosis-fig3.csv").set_index(
        ["workload", "config", "level", "socket"]
    )
    assert cells.loc[("gups", "F", 1, 0), ["pages", "pointers", "remote_share"]].tolist() == [4, 400, 0.25]
    assert cells.loc[("btree", "F", 1, 1), "remote_share"] == 0.75  # 300 of 400 to socket 0
    assert pd.isna(cells.loc[("btree", "F", 1, 0), "remote_share"]) and len(cells) == 4 * 4 * 2


def test_published_numbers_of_the_figures_are_the_printed_ones(rendered):
    shares = pd.read_csv(rendered / "figures" / "mitosis-fig4.csv")
    paper = shares[shares["provenance"] == "published"].set_index("config")["remote_leaf_share"]
    assert paper.to_dict() == {"F": 0.99, "I": 0.75}
    calls = pd.read_csv(rendered / "figures" / "mitosis-table5.csv")
    paper = calls[calls["series"] == "paper"].set_index(["operation", "region"])["ratio"]
    assert paper[("mprotect", "8MB")] == 3.2 and ("munmap", "8MB") not in paper.index  # no row of ours


def test_a_table_of_another_shape_is_shown_as_it_is():
    view = table_for_reading("table5", pd.DataFrame({"operation": ["mmap"], "ratio": [1.5]}))
    assert [column.name for column in view.columns] == ["operation", "ratio"]
    assert view.rows == [("mmap", 1.5)] and [column.number for column in view.columns] == [False, True]


def test_without_a_run_that_the_figure_is_about(tmp_path):
    from tessera.report.figures import mitosis_kernel
    from tessera.report.results import NotDrawn

    with pytest.raises(NotDrawn, match="placement.csv") as absent:
        mitosis_kernel.table_placement(tmp_path)
    assert absent.value.remedy == ALL_PARTS and "snakemake --cores all kernel" in ALL_PARTS
    folder = tmp_path / "kernel" / "placement"
    folder.mkdir(parents=True)
    placement().assign(config="F+M").to_csv(folder / "placement.csv", index=False)
    with pytest.raises(NotDrawn, match="mitosis-fig3") as replicated:
        mitosis_kernel.table_placement(tmp_path)
    assert replicated.value.remedy == ALL_PARTS and "placement.csv" not in replicated.value.found
    placement().drop(columns="pages").to_csv(folder / "placement.csv", index=False)
    with pytest.raises(NotDrawn, match="lacks pages"):
        mitosis_kernel.table_placement(tmp_path)
