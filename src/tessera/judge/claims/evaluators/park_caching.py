"""What Park prints about virtual caching (dissertation, chapter 2), computed again from his other numbers.

Units are those of the claim. Powers, speedups and miss rates are not modelled: no printed number gives them.
"""

from __future__ import annotations

from math import floor

from tessera.core.units import KB
from tessera.judge.claims.outcome import Outcome

VALUES = "park_values"
#: Seconds of the printed units of time; a year has 365.25 days.
SECONDS = {"days": 86400.0, "years": 365.25 * 86400.0}
FIELDS_OF_A_SEGMENT = 3  #: base, offset and length (2.4.4), each as wide as an address
ADDRESS_BYTES = 8


def tlb_access_reduction(claim, evidence) -> Outcome:
    """TLB accesses that the filter saves, percent, cut to one digit after the point, by workload (Table 2.2).

    Only accesses to shared pages (Table 2.1) and false positives (Table 2.2) still reach the TLB.
    """
    shared = _column(evidence, "park_table21_shared_memory", "shared_access")
    false = _column(evidence, "park_table22_synonym_filter", "false_positive")
    return Outcome({name: floor(10 * (100 - shared[name] - false[name])) / 10 for name in false}, "published")


def unused_memory(claim, evidence, applications: int) -> Outcome:
    """Least and most unused share of memory, percent, of the ``applications`` that use least (Table 2.3)."""
    usage = sorted(_column(evidence, "park_table23_segments", "usage").values())[:applications]
    return Outcome({"unused_low": 100 - usage[-1], "unused_high": 100 - usage[0]}, "published")


def index_tree_depth(claim, evidence) -> Outcome:
    """Levels of a full tree that reaches so many segments, by subject (2.4.3)."""
    values = _number(evidence, "index tree", "values_of_a_node")
    return Outcome({name: _levels(int(name.split()[0]), values) for name in claim.published}, "published")


def _levels(segments: int, values: float) -> int:
    levels, reached = 0, 1.0
    while reached < segments:
        levels, reached = levels + 1, reached * values
    return levels


def many_segment_latency(claim, evidence, segments: str) -> Outcome:
    """Cycles of a walk through the index cache, a level after the other, and of the segment table (2.4.4)."""
    levels = _number(evidence, segments, "index_tree_depth")
    node = _number(evidence, segments, "index_cache_latency")
    return Outcome(levels * node + _number(evidence, segments, "segment_table_latency"), "published")


def segment_storage(claim, evidence, segments: int) -> Outcome:
    """KB of the segment table and of the index cache together (2.4.4)."""
    table = segments * FIELDS_OF_A_SEGMENT * ADDRESS_BYTES / KB
    return Outcome(table + _number(evidence, f"{segments} segments", "index_cache"), "published")


def nested_walk_loads(claim, evidence) -> Outcome:
    """Loads of a two-dimensional walk: each guest level and the last address need a host walk (2.6.2)."""
    levels = _number(evidence, "native", "walk_loads")
    return Outcome((levels + 1) * (levels + 1) - 1, "published")


def address_space_growth(claim, evidence) -> Outcome:
    """User address space with 5 levels over that with 4 levels, from the printed exponents (2.7.2)."""
    bits = [_number(evidence, levels, "user_address_bits") for levels in ("5-level", "4-level")]
    return Outcome(2 ** (bits[0] - bits[1]), "published")


def address_space_rates(claim, evidence) -> Outcome:
    """Addresses that a server consumes, KB/s (1000 bytes), from the time after which none is left (2.7.2)."""
    size = 2 ** _number(evidence, "4-level", "user_address_bits")
    return Outcome({name: size / _lifetime_s(evidence, name) / 1000 for name in claim.published}, "published")


def shortest_lifetime(claim, evidence, servers: list) -> Outcome:
    """Years until the first of the servers has used all addresses (2.7.2)."""
    return Outcome(min(_lifetime_s(evidence, name) for name in servers) / SECONDS["years"], "published")


def _lifetime_s(evidence, server: str) -> float:
    row = evidence.rows(VALUES, {"subject": server, "quantity": "va_depletion_48bit"}).iloc[0]
    return row["value"] * SECONDS[row["unit"]]


def _number(evidence, subject: str, quantity: str) -> float:
    return evidence.number({"table": VALUES, "where": {"subject": subject, "quantity": quantity}})


def _column(evidence, table: str, quantity: str) -> dict[str, float]:
    rows = evidence.rows(table, {"quantity": quantity})
    return dict(zip(rows["workload"], rows["value"], strict=True))


EVALUATORS = {
    "tlb_access_reduction": tlb_access_reduction,
    "unused_memory": unused_memory,
    "index_tree_depth": index_tree_depth,
    "many_segment_latency": many_segment_latency,
    "segment_storage": segment_storage,
    "nested_walk_loads": nested_walk_loads,
    "address_space_growth": address_space_growth,
    "address_space_rates": address_space_rates,
    "shortest_lifetime": shortest_lifetime,
}
