"""Findings that our kernel or allocator decides say so; the paper measured another one."""

from __future__ import annotations

import pytest
import yaml

from tessera.core.errors import TesseraError
from tessera.core.results.kernel_tables import (
    BALANCING,
    COST_UPDATES,
    FRAGMENTED,
    MAPS,
    PLACEMENT,
    TABLE4_MEASURED,
    TABLE5,
    TABLE6,
)
from tessera.core.results.machine_tables import ALLOCATOR
from tessera.report.claims import judged_claims, load_claims, registry
from tessera.report.claims.claim import Missing
from tessera.report.claims.evidence import Evidence

OURS = {
    table.name
    for table in (
        BALANCING,
        COST_UPDATES,
        PLACEMENT,
        TABLE4_MEASURED,
        TABLE5,
        TABLE6,
        ALLOCATOR,
        MAPS,
        FRAGMENTED,
    )
}


class Asked(Evidence):
    """Evidence without results that remembers which tables were asked for."""

    def __init__(self, folder):
        super().__init__(folder)
        self.asked: set[str] = set()

    def table(self, table, command=None):
        self.asked.add(table.name)
        return super().table(table, command)


def test_every_claim_that_reads_tables_of_our_kernel_or_allocator_names_it(tmp_path, claims_file):
    found = set()
    for claim in load_claims(claims_file):
        evidence = Asked(tmp_path)
        try:
            registry.find_evaluator(claim.evaluator, claim.parameters)(claim, evidence, **claim.parameters)
        except Missing:
            pass
        assert bool(evidence.asked & OURS) == bool(claim.implementation), claim.id
        assert bool(evidence.asked & OURS) == registry.uses_our_system(claim.evaluator), claim.id
        if evidence.asked & OURS:
            found.add(claim.implementation)
    assert found == {"Tessera's patches on Linux 6.12, in a guest", "Tessera's allocator"}


def test_a_finding_without_it_is_refused(tmp_path, claim_entries):
    (entry,) = (dict(one) for one in claim_entries if one["id"] == "micro20-allocator-memory")
    del entry["implementation"]
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": [entry]}))
    with pytest.raises(TesseraError, match="micro20-allocator-memory.*allocator_overhead") as error:
        load_claims(path)
    assert error.value.code == "claims-implementation"


def test_the_table_has_it(tmp_path, claims_file):
    table = judged_claims(tmp_path, claims_file).set_index("id")["implementation"]
    assert table["opera-allocator-memory"] == "Tessera's allocator"
    assert table["mitosis-first-touch-one"].startswith("Tessera's patches") and table["opera-slope"] == ""
