"""The table "For a new design": as Markdown, in sentences, on the first page, and as a figure."""

from __future__ import annotations

import html
import re

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.report_tables import CLAIMS
from tessera.core.results.table_io import empty_table, frame_of, write_table
from tessera.core.results.transfer_tables import ANSWERED, NEW_DESIGNS
from tessera.core.results.tree import ResultsTree
from tessera.lab.transfer.classes import GROUPS
from tessera.report import new_designs, site
from tessera.report.facts import ReportData
from tessera.report.figures.render import write_figures
from tessera.report.pages import summary
from tessera.report.results import Results
from tessera.report.templates import page_templates

#: workloads judged answered covered passing constant_passing mosmodel_passing, then of the informative:
#: judged, answered, covered, passing, Mosmodel
COUNTS = {
    "normal": (9, 1000, 900, 880, 870, 500, 300, 400, 350, 340, 320, 2),
    "trivial": (9, 162, 107, 106, 106, 104, 101, 5, 3, 3, 2, 0),
    "one workload": (1, 500, 400, 390, 380, 100, 90, 300, 250, 240, 230, 1),
    "29 points": (5, 29, 29, 29, 29, 10, 10, 20, 19, 19, 19, 0),
    "30 of two": (2, 30, 30, 30, 30, 10, 10, 20, 20, 20, 20, 0),
    "refused": (9, 450, 0, 0, 0, 0, 0, 199, 0, 0, 0, 0),
    "useless": (9, 400, 300, 290, 200, 200, 90, 40, 30, 28, 1, 0),
}
NAMES = (
    "workloads judged answered covered passing constant_passing mosmodel_passing informative "
    "informative_answered informative_covered informative_passing mosmodel_informative_passing"
).split()


def row(group, kind, scope="new", open_for=None, platform="haswell-sim"):
    counts = dict(zip(NAMES, COUNTS[kind], strict=True))
    answered = {"half_width": 0.021, "interval_score": 0.06, "constant_interval_score": 0.35}
    return {
        "platform": platform, "scope": scope, "group": group, **counts,
        **(answered if counts["answered"] else {}),
        "worth": "trivial" if counts["informative"] < 20 else "", "open_for": open_for,
        "provenance": "simulated",
    }  # fmt: skip


def table(*rows):
    return frame_of(NEW_DESIGNS, list(rows))


def both(*rows):
    """The rows for the new workloads, and for all."""
    return table(*rows, *(one | {"scope": "all", "workloads": one["workloads"] + 3} for one in rows))


def first_page(tree) -> str:
    """index.html of a results tree, without claims and figures."""
    facts = ReportData(Results(tree), empty_table(CLAIMS), claims_reason="none", figures=[], provenance={})
    template = page_templates().get_template("index.html")
    return template.render(**site.shared_variables(facts), page="index.html", **summary.summary_page(facts))


def text(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_each_class_of_the_study_has_words():
    assert list(new_designs.CHANGES) == [name for name in GROUPS if name != "ideal"]


def test_markdown_has_the_new_workloads_by_class_and_both_sums():
    made = new_designs.markdown(
        both(row("all", "normal"), row("invisible", "refused"), row("reach", "normal"))
    )
    head, rule, *rows = made.split("\n\n")[0].splitlines()
    assert head == new_designs.HEAD and rule.count("|") == head.count("|")
    assert [line.count("|") for line in rows] == [head.count("|")] * 4
    assert rows[0] == "| reach: what TLBs hold | 1,000 | 900 | 880 | 870 | 500 | 300 | 320 of 350 | 2 |"
    assert rows[1] == "| invisible: walkers, queues | 450 | 0 |  |  |  |  |  |  |"
    assert rows[2].startswith("| all, 9 workloads | 1,000 |")
    assert rows[3].startswith("| with the 3 it was tuned on | 1,000 |")
    assert made.endswith(new_designs.LAST) and "haswell-sim" in made and "xploratory" not in made


def test_a_study_of_the_tuned_workloads_alone_is_exploratory():
    made = new_designs.markdown(table(row("reach", "one workload", "all"), row("all", "one workload", "all")))
    assert "xploratory" in made and "| all, 1 workloads |" in made and "it was tuned on |" not in made


def test_two_platforms_have_two_tables():
    made = new_designs.markdown(table(row("reach", "normal"),
                                      row("reach", "normal", platform="broadwell-sim"),
                                      row("reach", "normal", "all"),
                                      row("reach", "normal", "all", platform="broadwell-sim")))  # fmt: skip
    assert made.count(new_designs.HEAD) == 2 and made.count(new_designs.LAST) == 1
    assert "on haswell-sim." in made and "on broadwell-sim." in made


@pytest.mark.parametrize("rows", [[], [row("reach", "normal") | {"judged": 0}]], ids=["no row", "not judged"])
def test_without_a_judged_point_there_is_no_table(rows):
    assert new_designs.class_sentences(table(*rows)) == []
    with pytest.raises(TesseraError) as error:
        new_designs.markdown(table(*rows))
    assert "./run reproduce" in error.value.remedy


def test_the_table_of_a_page_is_replaced_and_the_rest_stays():
    old = new_designs.markdown(both(row("reach", "normal"), row("all", "normal")))
    new = new_designs.markdown(both(row("walk-cost", "useless"), row("all", "useless")))
    page = f"Before.\n\n{old}\n\nAfter.\n"
    assert new_designs.rewritten(page, new) == f"Before.\n\n{new}\n\nAfter.\n"
    with pytest.raises(TesseraError):
        new_designs.rewritten("No table.", new)


@pytest.mark.parametrize(
    ("kind", "says", "not_says"),
    [
        ("normal", ["900 of 1,000", "880", "2.1%", "870", "500", "300", "350", "320"], ["Too few", "no use"]),
        ("trivial", ["107 of 162", "5 informative points"], ["informative answers", "no use"]),
        ("one workload", ["Too few", "500 judged points of 1 workload;"], ["390"]),
        ("29 points", ["Too few", "29 judged points of 5 workloads;", "30 of 2"], ["constant"]),
        ("30 of two", ["30 of 30"], ["Too few"]),
        ("refused", ["450", "clock"], ["level", "constant"]),
        ("useless", ["no use"], ["Too few"]),
    ],
    ids=list(COUNTS),
)
def test_the_sentence_of_a_class(kind, says, not_says):
    (shown,) = new_designs.class_sentences(table(row("reach", kind)))
    assert [part for part in says if part not in shown] == []
    assert [part for part in not_says if part in shown] == []
    assert "trust" not in shown


def test_the_level_is_that_which_the_class_earns():
    (closed,) = new_designs.class_sentences(table(row("reach", "normal", open_for=0)))
    (opened,) = new_designs.class_sentences(table(row("reach", "normal", open_for=9)))
    assert "level C" in closed and "level B" not in closed
    assert "9 workloads" in opened and "level B" in opened and "measured" in opened


def test_too_few_new_workloads_leave_the_sentence_to_all_of_them_which_is_exploratory():
    rows = [row("reach", "29 points"), row("reach", "normal", "all")]
    (shown,) = new_designs.class_sentences(table(*rows))
    assert "900 of 1,000" in shown and "xploratory" in shown


@pytest.fixture
def tree(small_tree):
    def write(schema, frame):
        path = schema.place(ResultsTree(small_tree))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_table(schema, frame, path)

    answers = [
        answer("stlb-x4", 0.8, 0.82),
        answer("nested", 1.5, 1.2, covered=False),
        answer("noop", 1.0, 1.0, informative=False),
        answer("wide", 0.7, 0.7, status="refused"),
    ]
    write(
        NEW_DESIGNS,
        both(row("reach", "normal", open_for=9), row("invisible", "refused"), row("all", "normal")),
    )
    write(ANSWERED, frame_of(ANSWERED, answers))
    return small_tree


def answer(variant, runtime, centre, *, covered=True, informative=True, status="answered"):
    return {
        "workload": "gups", "platform": "haswell-sim", "group": "reach" if centre < 1 else "walk-cost",
        "variant": variant, "layout": "growing-0", "source": "bracket", "status": status,
        "low_cycles": 1e9 * (centre - 0.05), "centre_cycles": 1e9 * centre,
        "high_cycles": 1e9 * (centre + 0.05),
        "half_width": 0.05, "runtime_cycles": 1e9 * runtime, "base_runtime_cycles": 1e9, "judged": True,
        "informative": informative, "covered": covered, "passes": covered, "constant_passes": not informative,
        "provenance": "simulated",
    }  # fmt: skip


def test_the_first_page_begins_with_it(tree):
    page = first_page(tree)
    places = [page.index(f'id="{name}"') for name in ("new-design", "verdicts", "findings", "new-designs")]
    assert places == sorted(places)
    shown = text(page)
    assert shown.index("What does a new design gain?") < shown.index("How large is the error")
    # questions, answered, refused, R inside, half-width, passing, Mosmodel
    assert shown.count("reach: what TLBs hold 1000 900 100 880 2.1% 870 300") == 2
    assert shown.count("invisible: walkers, queues 450 0 450") == 2
    table = page[page.index('id="new-design"') : page.index('id="origins"')]
    heads = re.findall(r"<th[ >].*?</th>", table)[:8]
    assert [text(head) for head in heads][1:4] == ["questions", "answered", "refused"]
    for line in re.findall(r"<tr><td>(?:reach|invisible|all).*?</tr>", table, re.DOTALL):
        cells = [text(cell) for cell in re.findall(r"<td.*?</td>", line)]
        assert len(cells) == len(heads) == 8, line
        assert int(cells[1]) == int(cells[2]) + int(cells[3])
    assert "9 workloads on which nothing" in shown and "12 workloads with those" in shown
    assert new_designs.LAST in shown and "nan" not in shown.lower().split()


def test_the_figure_has_the_informative_answers_as_changes(tree, tmp_path):
    (drawn,) = write_figures(tree, repo_root() / "reference-results", tmp_path, ["new-designs"])
    assert drawn.ok, drawn.reason
    found = pd.read_csv(tmp_path / "new-designs.csv").set_index("variant")
    assert list(found.index) == ["stlb-x4", "nested"]
    assert found.loc["stlb-x4", ["change", "answer", "low", "high"]].tolist() == pytest.approx(
        [-0.2, -0.18, -0.23, -0.13]
    )
    assert not found.loc["nested", "covered"]


def test_without_the_study_the_first_page_names_the_command(small_tree):
    shown = text(first_page(small_tree))
    part = shown[shown.index("What a new design gets") : shown.index("Three scores")]
    assert "studies.transfer" in part and "./run reproduce" in part and new_designs.LAST in part


@pytest.mark.parametrize("name", ["docs/explain/transfer.md"])
def test_the_pages_in_git_show_the_archived_table(name):
    """Again: python -m tessera.report.new_designs notebooks/data docs/explain/transfer.md"""
    made = new_designs.markdown(new_designs.new_design_table(repo_root() / "notebooks" / "data"))
    assert made in (repo_root() / name).read_text()
