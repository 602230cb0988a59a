"""Numbers that papers print, computed again from other numbers that they print.

Arithmetic on any published table, checks of particular tables, the memory and time of Mitosis' replicas
(8.3), and examples that a paper works through in its text.
"""

from __future__ import annotations

import pandas as pd

from tessera.core.units import GB, MB, PAGE_1GB, PAGE_2MB, parse_bytes
from tessera.lab.kernel.cost_experiments import memory_overhead, memory_table, table_bytes
from tessera.report.claims.claim import Outcome
from tessera.report.claims.registry import evaluator

# Checks of one particular published table: counters of xalancbmk, overheads, cross-validation.

OVERHEADS = "opera_table4_overheads"


@evaluator
def published_slope(claim, evidence, table: str) -> Outcome:
    """Runtime difference over walk-cycle difference between the 4KB and the 2MB run."""

    def difference(counter: str) -> float:
        rows = evidence.rows(table, {"counter": counter}).set_index("page_size")["value"]
        return rows["4KB"] - rows["2MB"]

    return Outcome(difference("runtime_cycles") / difference("walk_cycles"), "published")


@evaluator
def published_walk_latency(claim, evidence) -> Outcome:
    """Walker loads of the 4KB run times the latencies of Broadwell's caches, 1e9 cycles."""
    total = 0.0
    for level, latency in (("l1d", "l1d_latency"), ("l2", "l2_latency"), ("l3", "l3_latency_low")):
        loads = {"counter": f"{level}_loads", "agent": "walker", "page_size": "4KB"}
        cycles = {"generation": "broadwell", "quantity": latency}
        total += evidence.number({"table": "opera_table6_xalancbmk", "where": loads}) * (
            evidence.number({"table": "opera_platforms", "where": cycles})
        )
    return Outcome(total, "published")


@evaluator
def published_tables_differ(claim, evidence, first: str, second: str) -> Outcome:
    """Largest difference between two tables of counters, over the rows that both have."""
    keys = ["counter", "agent", "page_size"]
    both = evidence.rows(first).merge(evidence.rows(second), on=keys)
    return Outcome(float((both["value_x"] - both["value_y"]).abs().max()), "published")


@evaluator
def published_cv_over_all(claim, evidence, models: list) -> Outcome:
    """Smallest ratio of printed cross-validation error to printed error on all data."""
    folded = evidence.rows("table6_cv_errors", {"model": models}).set_index("model")["value"]
    where = {"model": models, "location": "Figure 2b"}
    fitted = evidence.rows("printed_errors", where).set_index("model")["value"]
    return Outcome(float((folded / fitted)[models].min()), "published")


@evaluator
def reprinted_overheads(claim, evidence, quantity: str, half_digit: float) -> Outcome:
    """Rows whose printed overhead no unrounded pair of numbers explains (percent, whole)."""
    table = _overheads(evidence, quantity)
    low = 100 * ((table["mosalloc"] - half_digit) / (table["glibc"] + half_digit) - 1) - 0.5
    high = 100 * ((table["mosalloc"] + half_digit) / (table["glibc"] - half_digit) - 1) + 0.5
    return Outcome(int(((table["overhead"] < low) | (table["overhead"] > high)).sum()), "published")


@evaluator
def printed_fixed_overhead(claim, evidence) -> Outcome:
    """Median difference of the printed footprints, MB (1000 to the GB)."""
    table = _overheads(evidence, "memory")
    return Outcome(float((table["mosalloc"] - table["glibc"]).median() * 1000), "published")


@evaluator
def printed_overhead_from(claim, evidence, smallest_gb: float) -> Outcome:
    """Largest printed memory overhead among programs of at least ``smallest_gb``, percent."""
    table = _overheads(evidence, "memory")
    return Outcome(float(table.loc[table["glibc"] >= smallest_gb, "overhead"].max()), "published")


def _overheads(evidence, quantity: str) -> pd.DataFrame:
    rows = evidence.rows(OVERHEADS, {"quantity": quantity})
    return rows.pivot(index="workload", columns="allocator", values="value")


# What the Mitosis paper prints of memory and time that replicas cost (8.3), computed again.

UNITS = {"MB": MB, "GB": GB}


@evaluator
def replica_overheads(claim, evidence, footprint: str) -> Outcome:
    """Memory with so many copies of the page tables over that with one, by number of copies (ratios)."""
    rows = memory_table().set_index("footprint").loc[footprint]
    return Outcome(dict(zip(rows["replicas"].astype(str), rows["overhead"], strict=True)), "published")


@evaluator
def page_table_sizes(claim, evidence, footprints: list) -> Outcome:
    """Bytes of one copy of the page tables in the claim's unit, by footprint where there are several."""
    sizes = {name: table_bytes(parse_bytes(name)) / UNITS[claim.unit] for name in footprints}
    return Outcome(sizes if len(sizes) > 1 else sizes[footprints[0]], "published")


@evaluator
def page_table_share(claim, evidence, footprint: str) -> Outcome:
    """One copy of the page tables as a share of all memory, percent."""
    size = parse_bytes(footprint)
    return Outcome(100 * table_bytes(size) / (size + table_bytes(size)), "published")


@evaluator
def extra_memory(claim, evidence, footprint: str, copies: int) -> Outcome:
    """Memory that copies of the page tables add, percent."""
    return Outcome(100 * (memory_overhead(parse_bytes(footprint), copies) - 1), "published")


@evaluator
def reprinted_cycles(claim, evidence) -> Outcome:
    """Cells of Table 5 whose printed ratio no unrounded pair of its two printed cycles explains.

    All of its numbers have one digit after the point, in units of 1e3, 1e6 or 1e9 cycles.
    """
    table = evidence.rows("mitosis_table5").pivot(
        index=["operation", "region"], columns="quantity", values="value"
    )
    off = table["off"].map(_half_digit)
    on = table["on"].map(_half_digit)
    low = (table["on"] - on) / (table["off"] + off)
    high = (table["on"] + on) / (table["off"] - off)
    slack = 0.05
    return Outcome(
        int(((high < table["overhead"] - slack) | (low > table["overhead"] + slack)).sum()), "published"
    )


@evaluator
def reprinted_run_overheads(claim, evidence) -> Outcome:
    """Overheads of whole runs from the printed runtimes, percent, by name of the printed quantity."""

    def runtime(program: str, state: str) -> float:
        where = {"quantity": f"runtime_{program}_{state}"}
        return evidence.number({"table": "mitosis_values", "where": where})

    programs = [name.removeprefix("overhead_") for name in claim.published]
    ratios = {name: runtime(name, "on") / runtime(name, "off") for name in programs}
    return Outcome({f"overhead_{name}": 100 * (ratio - 1) for name, ratio in ratios.items()}, "published")


def _half_digit(cycles: float) -> float:
    unit = next(unit for unit in (1e9, 1e6, 1e3) if cycles >= 0.1 * unit)
    return 0.05 * unit


# Examples that a paper works through in its text: event numbers, intervals of a pool, holes in a heap.

EXAMPLES = "opera_values"


@evaluator
def aligned_pool(claim, evidence) -> Outcome:
    """OPERA D5.10 section 2.4.1: where the 1GB interval and the pool start, addresses."""

    def printed(quantity: str) -> int:
        return int(evidence.number({"table": EXAMPLES, "where": {"quantity": quantity}}))

    offset = printed("interval_offset") * MB
    unaligned = printed("mmap_base") + offset
    aligned = -(-unaligned // GB) * GB
    value = {
        "interval_unaligned": unaligned,
        "interval_aligned": aligned,
        "pool_base": aligned - offset,
    }
    return Outcome(value, "published")


@evaluator
def raw_events(claim, evidence, events: dict) -> Outcome:
    """Numbers of events, by name, from ``[event select, unit mask]``: mask above select, a byte each."""
    return Outcome({name: mask << 8 | select for name, (select, mask) in events.items()}, "published")


@evaluator
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


@evaluator
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
