"""What the Mitosis paper prints of memory and time that replicas cost (8.3), computed again."""

from __future__ import annotations

from tessera.core.units import GB, MB, parse_bytes
from tessera.judge.claims.outcome import Outcome
from tessera.kernel.overhead import overhead, table4, table_bytes

UNITS = {"MB": MB, "GB": GB}


def replica_overheads(claim, evidence, footprint: str) -> Outcome:
    """Memory with so many copies of the page tables over that with one, by number of copies (ratios)."""
    rows = table4().set_index("footprint").loc[footprint]
    return Outcome(dict(zip(rows["replicas"].astype(str), rows["overhead"], strict=True)), "published")


def page_table_sizes(claim, evidence, footprints: list) -> Outcome:
    """Bytes of one copy of the page tables in the claim's unit, by footprint where there are several."""
    sizes = {name: table_bytes(parse_bytes(name)) / UNITS[claim.unit] for name in footprints}
    return Outcome(sizes if len(sizes) > 1 else sizes[footprints[0]], "published")


def page_table_share(claim, evidence, footprint: str) -> Outcome:
    """One copy of the page tables as a share of all memory, percent."""
    size = parse_bytes(footprint)
    return Outcome(100 * table_bytes(size) / (size + table_bytes(size)), "published")


def extra_memory(claim, evidence, footprint: str, copies: int) -> Outcome:
    """Memory that copies of the page tables add, percent."""
    return Outcome(100 * (overhead(parse_bytes(footprint), copies) - 1), "published")


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


EVALUATORS = {
    "replica_overheads": replica_overheads,
    "page_table_sizes": page_table_sizes,
    "page_table_share": page_table_share,
    "extra_memory": extra_memory,
    "reprinted_cycles": reprinted_cycles,
    "reprinted_run_overheads": reprinted_run_overheads,
}
