"""What Park prints about TLB coalescing (dissertation, chapter 3), computed again from his other numbers.

Algorithm 1 has a file of its own (:mod:`tessera.judge.claims.evaluators.park_distances`).
"""

from __future__ import annotations

from tessera.core.units import GB, parse_bytes
from tessera.judge.claims.outcome import Outcome

PAGE = parse_bytes("4KB")


def shares_not_100(claim, evidence, slack: float) -> Outcome:
    """Rows of Table 3.5 whose three shares differ from 100 percent by more than ``slack`` points."""
    sums = evidence.rows("park_table35_stlb_shares").groupby(["workload", "mapping"])["value"].sum()
    return Outcome(int(((sums - 100).abs() > slack).sum()), "published")


def printed_range(claim, evidence, table: str, where: dict, names: list) -> Outcome:
    """Smallest and largest printed number of the rows ``where``, under the two ``names``."""
    values = evidence.rows(table, where)["value"]
    return Outcome({names[0]: float(values.min()), names[1]: float(values.max())}, "published")


def anchors_written(claim, evidence, footprint_gb: int) -> Outcome:
    """Anchor entries of so many GB, by ``distance <pages>``; a change of the distance writes each (3.3.3)."""
    pages = footprint_gb * GB // PAGE
    return Outcome({name: pages / int(name.split()[1]) for name in claim.published}, "published")


def smallest_lead(claim, evidence, subject: str, other: str, mappings: list) -> Outcome:
    """Smallest difference of two schemes' miss reductions in the text of Figure 3.9, points."""

    def reductions(scheme: str) -> dict[str, float]:
        where = {"location": "Figure 3.9 text", "subject": scheme, "mapping": mappings}
        rows = evidence.rows("park_values", where)
        return dict(zip(rows["mapping"], rows["value"], strict=True))

    ours, theirs = reductions(subject), reductions(other)
    return Outcome(min(ours[name] - theirs[name] for name in mappings), "published")


EVALUATORS = {
    "shares_not_100": shares_not_100,
    "printed_range": printed_range,
    "anchors_written": anchors_written,
    "smallest_lead": smallest_lead,
}
