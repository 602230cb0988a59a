"""Reasons that several claims share: one note above the table, a reference per row, full text in the CSV."""

from __future__ import annotations

import re

import pandas as pd

from tessera.report import site
from tessera.report.claims.claim import TO_MEASURE
from tessera.report.pages.claims import shared

CELLS, PMU = f"no cells of a{TO_MEASURE}./run a", f"no PMU{TO_MEASURE}./run b"
REASONS = ["once", PMU, CELLS, PMU, CELLS, "twice", CELLS, "twice", f"no host{TO_MEASURE}./run c", ""]


def test_shared_reasons_are_counted_and_the_most_frequent_is_first():
    claims, notes = shared([{"id": n, "reason": reason} for n, reason in enumerate(REASONS)])
    assert [(n["number"], n["count"], n["why"], n["command"]) for n in notes] == [
        (1, 3, "no cells of a", "./run a"),
        (2, 2, "no PMU", "./run b"),
    ]
    assert [row["note"] for row in claims] == [0, 2, 1, 2, 1, 0, 1, 0, 0, 0]
    assert [row["reason"] for row in claims] == REASONS


def test_the_page_has_one_note_and_the_csv_every_reason(small_tree, five_claims, monkeypatch):
    import tessera.report.claims

    (missing,) = five_claims[five_claims["verdict"] == "NOT-MEASURABLE-HERE"].to_dict("records")
    more = [missing | {"id": f"missing-{n}", "reason": CELLS} for n in range(3)]
    table = pd.concat([five_claims, pd.DataFrame(more)], ignore_index=True)
    monkeypatch.setattr(tessera.report.claims, "judged_claims", lambda *_: table.copy())
    site.render_report(small_tree, only=["fig2"], with_pdf=False)
    text = (small_tree / "report" / "claims.html").read_text()
    (note,) = re.findall(r'<li id="reason-1">(.*?)</li>', text)
    assert "3 claims" in note and "no cells of a" in note and "<code>./run a</code>" in note
    assert text.count("no cells of a") == 1 and text.count('href="#reason-1"') == 3
    assert 'id="reason-2"' not in text and missing["reason"] in text  # a reason of one claim stays in its row
    written = pd.read_csv(small_tree / "claims.csv", keep_default_na=False)
    assert (written["reason"] == CELLS).sum() == 3
