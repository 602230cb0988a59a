"""What readers see: figures in a browser, titles from two inputs, the text of pages; a fault of each kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tessera.core.files import repo_root
from tessera.report.figures import registry, render, style
from tessera.report.page_text import finished
from tests.report import looks
from tests.report.browser import find

in_browser = pytest.mark.skipif(find() is None, reason="no browser: apt-get install chromium")
REFERENCE = repo_root() / "reference-results"


@in_browser
def test_no_figure_has_a_defect_to_see(browser, rendered, tmp_path):
    figures = sorted((rendered / "figures").glob("*.svg"))
    browser.open(looks.sheet(figures, tmp_path / "figures.html"), 1280)
    assert len(figures) > 40 and browser.value(looks.FIGURE_FAULTS) == []


@in_browser
def test_what_the_check_of_figures_would_see(browser, tmp_path):
    """A long text, a legend that no helper made, ticks without room, axes without labels."""
    figure, axes = style.panels(1, 2, width=style.WIDTH)
    for n in range(4):
        axes[0].plot([0, 1], [n, n], label=f"a series of measurements with a long name, number {n}")
    axes[0].set_xticks([0.2, 0.21, 0.9], ["0.200", "0.210", "0.900"])
    axes[1].text(0.9, 0.5, "words that go on beyond the border of the figure with `marks`")
    axes[1].set_xlabel("x")
    figure.legend(loc="outside lower center", ncols=4)
    style.save_svg(figure, tmp_path / "bad.svg", title="bad", description="bad")
    browser.open(looks.sheet([tmp_path / "bad.svg"], tmp_path / "bad.html"), 1280)
    kinds = re.findall(r"bad: ([\w ]+):", " ".join(browser.value(looks.FIGURE_FAULTS)))
    assert {"outside", "backtick", "ticks overlap", "no label"} == set(kinds) and kinds.count("outside") >= 3


@in_browser
def test_what_the_check_of_pages_would_see(browser, tmp_path):
    head = "".join(f"<th>column {n}</th>" for n in range(9))
    (tmp_path / "bad.html").write_text(
        "<!doctype html><main>"
        "<div style='overflow:hidden;width:60px;white-space:nowrap'>words that are cut</div>"
        f"<div style='width:300px'><table><thead><tr>{head}</tr></thead></table></div>"
        "<img style='display:block;width:900px;height:9px' src='data:,'>"
        "<p>a `mark`, 1.75515e-10, +302625% <b>x</b> .</p><code>`not` 1e-10</code></main>"
    )
    browser.open(tmp_path / "bad.html", 1280)
    kinds = {text.split(":")[0] for text in browser.value(looks.PAGE_FAULTS)}
    assert kinds == {
        *("clipped", "9 columns", "wide table", "wide figure"),
        *("backtick", "exponent", "percent", "space before"),
    }


def _titles_of_other_inputs(tree: Path, figures: list[str], out: Path) -> dict[str, str]:
    return {
        one.stem: looks.title_of((out / f"{one.stem}.svg").read_text())
        for one in render.write_figures(tree, REFERENCE, out, figures)
        if one.ok
    }


def test_titles_name_only_what_is_in_the_data(full_tree, rendered, tmp_path):
    """Figures that name data are drawn from the same tree with other names, and must say those."""
    names = looks.workloads_of(full_tree)
    said = {
        name: found
        for name in registry.all_figures()
        if (svg := rendered / "figures" / f"{name}.svg").exists()
        and (found := looks.names_in(looks.title_of(svg.read_text()), names))
    }
    assert "numa-placements" in said  # so that this test draws something
    others = {name: f"made-up-{n}" for n, name in enumerate(sorted(names))}
    tree = looks.renamed(full_tree, tmp_path / "default", others)
    titles = _titles_of_other_inputs(tree, list(said), tmp_path / "figures")
    constant = {name: found for name, title in titles.items() if (found := looks.names_in(title, names))}
    assert constant == {} and titles.keys() == said.keys()
    assert "made-up-" in titles["numa-placements"]


def test_what_the_check_of_titles_would_see():
    assert looks.names_in("GUPS of 64GB by placement, 4KB pages", {"gups", "gap"}) == {"gups", "64GB"}
    svg = '<text style="font-weight: 700; font-size: 11px; fill: #1d2129" x="1">A title</text><text>no</text>'
    assert looks.title_of(svg) == "A title"


def test_a_page_has_code_marks_and_numbers_without_an_e():
    page = "<p title='`x`'>`a b` 1.755e-10, 1e-06; 4.481e+06</p><pre>`x` 1e-10</pre><code>2e-1</code> 1e9ab12"
    assert finished(page) == (
        "<p title='x'><code>a b</code> 1.755 × 10⁻¹⁰, 10⁻⁶; 4,481,000</p><pre>`x` 1e-10</pre>"
        "<code>2e-1</code> 1e9ab12"
    )
    assert finished('<td class="n">5.1e-07</td>') == '<td class="n" data-sort="5.1e-07">5.1 × 10⁻⁷</td>'
    assert finished('<td data-sort="5">5.1e-07</td>') == '<td data-sort="5">5.1 × 10⁻⁷</td>'


def test_a_wide_table_shows_the_named_columns_and_has_a_switch():
    head = "".join(f"<th>{name}</th>" for name in "abcdefghi")
    row = "<td>0</td>" * 7 + '<td class="n">7</td><td>8</td>'
    table = f"<table{{}}><thead><tr>{head}</tr></thead><tr>{row}</tr></table>"
    made = finished(table.format(' data-shown="a; i"'))
    assert "all 9 columns" in made and '<td class="more n">7</td><td>8</td>' in made
    assert made.count('<th class="more">') == 7 and '<th class="more">i' not in made
    assert finished(table.format("")).count('<th class="more">') == 1
    with pytest.raises(ValueError, match="no column"):
        finished(table.format(' data-shown="no column"'))
    narrow = "<table><tr><th>a</th></tr></table>"
    assert finished(narrow) == narrow
