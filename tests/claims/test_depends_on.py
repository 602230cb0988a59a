"""The column ``depends_on``: simulated claims whose verdict differs between the ends of a walk's cost."""

from __future__ import annotations

import pandas as pd

from tessera.core.results.report_tables import CLAIMS
from tessera.core.results.table_io import read_file
from tessera.lab import walk_cost
from tessera.lab.walk_cost import DEPENDS_ON, Ends
from tessera.report.claims.claim import Outcome
from tessera.report.claims.evaluate import _depends_on
from tessera.report.claims_table import claims_text

FLIPS = Ends("flips", "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION", "1", "2")
STAYS = Ends("stays", "HOLDS-IN-SIMULATION", "HOLDS-IN-SIMULATION", "1", "2")


class Named:
    def __init__(self, name):
        self.id = name


def test_a_simulated_value_depends_and_a_measured_one_does_not(monkeypatch):
    monkeypatch.setattr(walk_cost, "committed", lambda: (FLIPS, STAYS))
    simulated, measured = Outcome(1, "simulated"), Outcome(1, "measured", "haswell")
    assert _depends_on(Named("flips"), simulated) == DEPENDS_ON
    assert _depends_on(Named("flips"), None) == DEPENDS_ON  # no pair is sensitive at this end
    assert _depends_on(Named("flips"), measured) == _depends_on(Named("flips"), Outcome(1, "published")) == ""
    assert _depends_on(Named("stays"), simulated) == _depends_on(Named("other"), simulated) == ""


def test_tables_of_before_have_no_such_column(tmp_path):
    row = dict.fromkeys(CLAIMS.names, "x") | {"required": True}
    row.pop("depends_on")
    pd.DataFrame([row]).to_csv(tmp_path / "claims.csv", index=False)
    assert read_file(CLAIMS, tmp_path / "claims.csv")["depends_on"].tolist() == [""]


def test_the_terminal_says_it_beside_the_verdict():
    row = dict.fromkeys(CLAIMS.names, "x") | {"verdict": "HOLDS-IN-SIMULATION", "depends_on": DEPENDS_ON}
    assert "HOLDS-IN-SIMULATION, depends on the walk's cost" in claims_text(pd.DataFrame([row]))
    assert "depends" not in claims_text(pd.DataFrame([row | {"depends_on": ""}]))
