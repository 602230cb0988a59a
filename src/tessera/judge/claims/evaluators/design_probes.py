"""Single structures of Park's designs under accesses from a formula (``studies/probes/probes.csv``)."""

from __future__ import annotations

from tessera.judge.claims.design_rows import PLATFORM, PROVENANCE
from tessera.judge.claims.outcome import REPRODUCE, Missing, Outcome
from tessera.results.schema.designs import PROBES
from tessera.results.status import is_ok


def probe_values(claim, evidence, probe: str, quantity: str, cases: dict) -> Outcome:
    """One quantity, percent. ``cases``: published name -> case of the probe."""
    return Outcome(
        {name: _value(evidence, probe, case, quantity) for name, case in cases.items()}, PROVENANCE
    )


def _value(evidence, probe: str, case: str, quantity: str) -> float:
    rows = evidence.table(PROBES, REPRODUCE)
    rows = rows[(rows["platform"] == PLATFORM) & (rows["probe"] == probe) & (rows["case"] == case)]
    failed = [row["message"] for _, row in rows.iterrows() if not is_ok(row["status"])]
    rows = rows[rows["quantity"] == quantity]
    if rows.empty or failed:
        why = failed[0] if failed else "the table has no such row"
        raise Missing(f"probe {probe}, {case}, {quantity}: {why}", "tessera study probes")
    return float(rows["value"].iloc[0])


EVALUATORS = {"probe_values": probe_values}
