"""An analysis as text: footprints, calls, memory outside the pools, and recommendations."""

from __future__ import annotations

from tessera.core.tables import table_text
from tessera.core.units import GB, KB, MB, PAGE_2MB, format_bytes, round_up
from tessera.mosalloc.analyze.model import POOLS, Analysis
from tessera.mosalloc.report import PoolReport

OUTSIDE = {
    "kernel_heap_bytes": "the kernel's own heap",
    "stack_bytes": "stacks",
    "anonymous_bytes": "anonymous memory",
    "unseen_bytes": "anonymous memory mapped by calls that can't be seen",
}


def about(count: float) -> str:
    """A size for people, with two digits or so: 1.2GB."""
    for suffix, unit in (("GB", 1 << 30), ("MB", MB), ("KB", KB)):
        if count >= unit:
            number = count / unit
            return f"{number:.0f}{suffix}" if number >= 100 else f"{number:.3g}{suffix}"
    return f"{count:.0f}B"


def summary(found: Analysis) -> list[str]:
    """The lines that ``tessera mosalloc analyze`` prints."""
    seconds = found.duration_ms / 1000
    lines = [f"{len(found.samples)} samples, one in {found.interval_ms} ms, over {seconds:.2f} s", ""]
    rows = []
    for pool in found.pools:
        sizes = (pool.used_bytes, found.peak_live_bytes(pool), pool.live_bytes)
        rows.append((POOLS[pool.pool][1], *map(about, (pool.size_bytes, *sizes)), str(pool.calls)))
    heads = ("pool", "size", "high-water", "peak live", "end live", "calls")
    lines += table_text(heads, rows, right=range(1, 6)).splitlines()
    if found.calls:
        rows = []
        for call, went in sorted(found.calls.items()):
            counts = [went.get(where, 0) for where in ("pool", "kernel", "failed")]
            if any(counts):
                rows.append((call, *map(str, counts)))
        heads = ("calls", "pool", "kernel", "failed")
        lines += ["", *table_text(heads, rows, right=range(1, 4)).splitlines()]
    if found.outside:
        lines += ["", "outside the pools at the end"]
        lines += [f"  {OUTSIDE[key]}: {about(size)}" for key, size in outside_bytes(found).items() if size]
    return lines + ["", *[f"- {line}" for line in advice(found)]]


def outside_bytes(found: Analysis) -> dict[str, int]:
    """Bytes outside the pools by kind; anonymous memory without the part that can't be seen."""
    sizes = {key: int(found.outside.get(key, 0)) for key in OUTSIDE}
    sizes["anonymous_bytes"] = max(0, sizes["anonymous_bytes"] - sizes["unseen_bytes"])
    return sizes


def advice(found: Analysis) -> list[str]:
    """Recommended changes, most important first."""
    counters, outside, sizes = found.counters, found.outside, outside_bytes(found)
    lines = []
    if counters.get("pool_full_calls"):
        lines.append(_full(found))
    if counters.get("reservation_calls"):
        lines.append(_reservations(found))
    if outside.get("second_libc"):
        lines.append("a second copy of libc is loaded (dlmopen?): its memory is not in the pools")
    reached = sum(found.peak_live_bytes(pool) for pool in found.pools)
    for key, remedy in (
        ("stack_bytes", "--stacks pool puts stacks of threads into the anonymous pool"),
        ("anonymous_bytes", "--hints pool takes memory that the program asks for at an address"),
        ("unseen_bytes", "it was not mapped through libc, so no layout reaches it"),
        ("kernel_heap_bytes", "it was allocated before the library started"),
    ):
        if sizes[key] > reached / 10:
            lines.append(f"{about(sizes[key])} are {OUTSIDE[key]} outside the pools: {remedy}")
    if counters.get("split_pages"):
        lines.append(
            f"{counters['split_pages']} huge pages were split, because the program protected or mapped parts "
            "of them: move the windows, or --protections soft"
        )
    if counters.get("fork_risks"):
        lines.append(
            f"{counters['fork_risks']} forks had fewer free huge pages than the child could need: add some"
        )
    return lines + [line for pool in found.pools if (line := _fit(pool))]


def _fit(pool: PoolReport) -> str:
    """The size row that would do; nothing for a pool that is not used."""
    size = round_up(pool.used_bytes, PAGE_2MB)
    if size == 0 or pool.pool == "file":
        return ""
    name = POOLS[pool.pool][1]
    row = f"{pool.pool},-1,0,{format_bytes(size)}"
    pages = f"{size // PAGE_2MB} x 2MB if all of it were huge"
    return f"the {name} would fit in {about(size)} (row `{row}`), {pages}"


def _reservations(found: Analysis) -> str:
    """Reservations that had no room in the anonymous pool, and the size row that has room for all of them."""
    counters = found.counters
    size = next(pool.used_bytes for pool in found.pools if pool.pool == "mmap") + counters["reserved_bytes"]
    return (
        f"{counters['reservation_calls']} reservations without access "
        f"({about(counters['reserved_bytes'])} at a time) have no room in the anonymous pool; "
        f"{about(counters['opened_bytes'])} of them were used, with 4KB pages under every layout: "
        f"to have them in the pool, give row `mmap,-1,0,{format_bytes(round_up(size, GB))}`"
    )


def _full(found: Analysis) -> str:
    refused = found.counters.get("largest_refused_bytes", 0)
    sizes = ", ".join(
        f"{POOLS[pool.pool][1]} {about(round_up(pool.size_bytes + refused, PAGE_2MB))}"
        for pool in found.pools
        if pool.pool != "file"
    )
    return (
        f"a pool was full {found.counters['pool_full_calls']} times (largest refused: {about(refused)}): "
        f"give sizes such as {sizes}"
    )
