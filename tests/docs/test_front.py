"""README and docs/index.md: numbers and picture are the archive's, and every page has a door."""

from __future__ import annotations

import re

import pytest

from tessera.core.files import repo_root
from tessera.report import pictures
from tessera.report.figures.overview import overview_table
from tessera.report.new_designs import NEW, TOTAL, new_design_table, of_scope

from . import pages

ARCHIVE = repo_root() / "notebooks" / "data"


def one_line(page: str) -> str:
    return " ".join(pages.text(page).split())


def test_numbers_of_the_readme_are_the_archives():
    errors = overview_table(ARCHIVE).query("panel == 'errors'").groupby("name")["value"]
    rows = of_scope(new_design_table(ARCHIVE), NEW, "haswell-sim").set_index("group")
    total, text = rows.loc[TOTAL], one_line("README.md")
    basu, mosmodel = errors.get_group("basu"), errors.get_group("mosmodel")
    for sentence in (
        f"**{basu.median():.0%} and {mosmodel.median():.1%}**: the largest error of Basu's model and",
        f"in the median of {len(basu)} pairs of workload and platform.",
        f"In the worst pair: {basu.max():.0%} and {mosmodel.max():.1%}.",
        f"**{total.answered:,.0f} of {total.judged:,.0f}** questions about new designs are answered",
        f"of {total.workloads:.0f} workloads that nothing was tuned on.",
        f"**{total.passing:,.0f}** of the {total.answered:,.0f} answers are within the tolerance.",
        f"Mosmodel is within it {total.mosmodel_passing:,.0f} times",
        f'"nothing changes" {total.constant_passing:,.0f} times.',
    ):
        assert sentence in text


def test_the_readme_names_the_archives_commit():
    (commit,) = re.findall(r"^Run: commit (\w+)", (ARCHIVE / "README.md").read_text(), re.M)
    assert f"commit {commit}" in one_line("README.md")


def test_the_picture_is_drawn_from_the_archive(tmp_path):
    pictures.draw_pictures(ARCHIVE, tuple((name,) for name in pictures.OF_THE_ARCHIVE), tmp_path)
    for name in pictures.OF_THE_ARCHIVE:
        there = (repo_root() / "docs" / "pictures" / f"{name}.svg").read_text()
        assert (tmp_path / f"{name}.svg").read_text() == there


@pytest.mark.parametrize(
    "page", sorted(name for name in pages.PAGES if name not in ("README.md", "index.md"))
)
def test_every_page_has_a_door(page):
    assert f"({pages.PAGES[page].relative_to(repo_root() / 'docs')})" in pages.text("index.md")


def test_every_picture_is_shown_somewhere():
    text = "".join(pages.text(page) for page in pages.PAGES if page != "pictures.md")
    for picture in (repo_root() / "docs" / "pictures").glob("*.svg"):
        assert f"pictures/{picture.name})" in text, picture.name


def test_the_readme_is_short():
    assert len(pages.text("README.md").split()) <= 700
