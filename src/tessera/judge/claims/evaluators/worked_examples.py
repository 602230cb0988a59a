"""Examples that a paper works through in its text: event numbers, intervals of a pool, holes in a heap."""

from __future__ import annotations

from tessera.core.units import parse_bytes
from tessera.judge.claims.outcome import Outcome

EXAMPLES = "opera_values"
MB, PAGE_2MB, PAGE_1GB = 1 << 20, 1 << 21, 1 << 30


def raw_events(claim, evidence, events: dict) -> Outcome:
    """Numbers of events, by name, from ``[event select, unit mask]``: mask above select, a byte each."""
    return Outcome({name: mask << 8 | select for name, (select, mask) in events.items()}, "published")


def interval_faults(claim, evidence) -> Outcome:
    """OPERA D5.10 section 2.4.1: bytes by which the example's two intervals break the rules of a pool."""

    def printed(quantity: str) -> int:
        return int(evidence.number({"table": EXAMPLES, "where": {"quantity": quantity}}) * MB)

    start_1gb, end_1gb = printed("interval_offset"), printed("interval_1gb_end")
    start_2mb, end_2mb = printed("interval_2mb_start"), printed("interval_2mb_end")
    faults = {
        "part of a 1GB page": (end_1gb - start_1gb) % PAGE_1GB,
        "part of a 2MB page": (end_2mb - start_2mb) % PAGE_2MB,
        "gap that 2MB pages do not fill": (start_2mb - end_1gb) % PAGE_2MB,
        "beyond the pool": max(0, end_2mb - printed("pool_request")),
    }
    return Outcome(faults, "published")


def released_at_top(claim, evidence, requests: list, freed: list) -> Outcome:
    """Bytes that a heap returns if it shrinks only at its top; ``freed`` is the order of calls of free."""
    sizes = {}
    for name in requests:
        row = evidence.rows(EXAMPLES, {"quantity": name}).iloc[0]
        sizes[name] = parse_bytes(f"{int(row['value'])}{row['unit']}")
    heap, free, released = list(requests), set(), 0
    for name in freed:
        free.add(name)
        while heap and heap[-1] in free:
            released += sizes[heap.pop()]
    return Outcome(released, "published")


EVALUATORS = {
    "raw_events": raw_events,
    "interval_faults": interval_faults,
    "released_at_top": released_at_top,
}
