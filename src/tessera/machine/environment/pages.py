"""Conditions of pages: enough huge ones, none by surprise, no change of them during a run."""

from __future__ import annotations

from dataclasses import replace

from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
from tessera.machine.environment.condition import (
    BARS,
    NOTED,
    STOP,
    ConditionRule,
    KernelSetting,
    Needs,
    Reading,
    SystemFiles,
    UnreadableFact,
)
from tessera.machine.limits import huge_pages_room
from tessera.machine.reserve.pools import command_for, promised_pages

POOLS = "sys/kernel/mm/hugepages"
THP = "sys/kernel/mm/transparent_hugepage"
DROP_CACHES = "proc/sys/vm/drop_caches"
COMPACT_MEMORY = "proc/sys/vm/compact_memory"
_ORDER_2MB = 9  #: the buddy allocator's order n is a block of 2^n pages of 4KB


def _pool(page_bytes: int, node: int | None) -> str:
    folder = POOLS if node is None else f"sys/devices/system/node/node{node}/hugepages"
    return f"{folder}/hugepages-{page_bytes // 1024}kB"


def _free(tree: SystemFiles, page_bytes: int, node: int | None) -> int:
    """Free pages of the pool that are promised to nobody (promises are made by the machine)."""
    machine = _pool(page_bytes, None)
    promised = promised_pages(tree.number(f"{machine}/resv_hugepages"))
    free = max(0, tree.number(f"{machine}/free_hugepages") - promised)
    if node is None:
        return free
    return min(free, tree.number(f"{_pool(page_bytes, node)}/free_hugepages"))


def free_blocks(tree: SystemFiles, node: int | None) -> int:
    """2MB blocks of free memory, from ``/proc/buddyinfo``; zone DMA is not counted.

    Raises:
        Unreadable: the file cannot be read, or has no such node.
    """
    total, seen = 0, False
    for line in tree.text("proc/buddyinfo").splitlines():
        words = line.replace(",", " ").split()
        if len(words) < 5 or words[0] != "Node" or words[2] != "zone":
            raise UnreadableFact(f"/proc/buddyinfo: '{line[:40]}' is not a line of it")
        if node is not None and int(words[1]) != node:
            continue
        seen = True
        if words[3] != "DMA":
            counts = map(int, words[4 + _ORDER_2MB :])
            total += sum(count << order for order, count in enumerate(counts))
    if not seen:
        raise UnreadableFact(f"/proc/buddyinfo: it has no node {node}" if node is not None else "it is empty")
    return total


def _pages_2mb(tree: SystemFiles, needs: Needs) -> Reading:
    free, blocks = _free(tree, PAGE_2MB, needs.node), free_blocks(tree, needs.node)
    where = "" if needs.node is None else f" on node {needs.node}"
    found = f"{free} free in the pool{where}, {blocks} more in free memory"
    total = tree.number(f"{_pool(PAGE_2MB, needs.node)}/nr_hugepages") + max(0, needs.pages_2mb - free)
    remedy = (
        f"reserve them directly after boot: {command_for(PAGE_2MB, total, needs.node)}; "
        "or free memory: tessera measure environment --fix --free-memory"
    )
    enough = free + blocks >= needs.pages_2mb
    return _limited(tree, PAGE_2MB, needs.pages_2mb, Reading(enough, found, _wanted(needs.pages_2mb), remedy))


def _pages_1gb(tree: SystemFiles, needs: Needs) -> Reading:
    if tree.lacks(POOLS, "hugepages-1048576kB"):
        return Reading(not needs.pages_1gb, "not supported", _wanted(needs.pages_1gb))
    free = _free(tree, PAGE_1GB, needs.node)
    machine = Reading(free >= needs.pages_1gb, f"{free} free in the pool", _wanted(needs.pages_1gb))
    return _limited(tree, PAGE_1GB, needs.pages_1gb, machine)


def _limited(tree: SystemFiles, page_bytes: int, wanted: int, machine: Reading) -> Reading:
    """The finding with what a cgroup's limit leaves; no name of a cgroup, since that may be a user's."""
    room = huge_pages_room(page_bytes, tree.root)
    if room is None:
        return machine
    found = f"{machine.found}; {room.limit.file.name} of a cgroup leaves {room.pages}"
    if room.pages >= wanted:
        return replace(machine, found=found)
    remedy = f"raise {room.limit.file.name} of this job or container; ./run doctor names the cgroup"
    return replace(machine, ok=False, found=found, remedy=remedy)


def _wanted(count: int) -> str:
    return f">= {count} pages" if count else "as many as the layouts need (number not given)"


def _overcommit(tree: SystemFiles, needs: Needs) -> Reading:
    """Surplus pages come from free memory in the middle of a run."""
    if tree.lacks("sys/kernel/mm", "hugepages"):
        return Reading(True, "this kernel has no huge pages")
    files = _overcommit_files(tree)
    if not files:
        raise UnreadableFact(f"/{POOLS}: no pool")
    counts = {name.split("-")[1].split("/")[0]: tree.number(name) for name in files}
    return Reading(not any(counts.values()), ", ".join(f"{size}: {n}" for size, n in counts.items()))


def _overcommit_files(tree: SystemFiles) -> list[str]:
    return tree.names(f"{POOLS}/hugepages-*kB/nr_overcommit_hugepages")


def _thp(tree: SystemFiles, needs: Needs) -> Reading:
    """With `always`, 4KB pages of a layout may become larger ones; since Linux 6.8 also below 2MB."""
    if tree.lacks("sys/kernel/mm", "transparent_hugepage"):
        return Reading(True, "this kernel has none")
    values = {name: tree.chosen(name) for name in _thp_files(tree)}
    always = [name.removeprefix(f"{THP}/") for name, value in values.items() if value == "always"]
    found = ", ".join(f"{name} {values[f'{THP}/{name}']}" for name in ("enabled", "defrag"))
    return Reading(not always, f"always: {', '.join(always)}" if always else found)


def _thp_files(tree: SystemFiles) -> list[str]:
    sizes = [name for name in tree.names(f"{THP}/hugepages-*kB/enabled")]
    return [f"{THP}/enabled", f"{THP}/defrag", *sizes]


def _never(tree: SystemFiles) -> list[KernelSetting]:
    return [KernelSetting(tree.path(n), "never") for n in _thp_files(tree) if tree.chosen(n) == "always"]


PAGE_RULES = (
    ConditionRule("2mb-pages", STOP, "enough free 2MB pages", "use a smaller --size", _pages_2mb),
    ConditionRule(
        "1gb-pages",
        NOTED,
        "enough free 1GB pages",
        "boot options hugepagesz=1G hugepages=N; without them, layouts with 1GB pages are skipped",
        _pages_1gb,
    ),
    ConditionRule(
        "overcommit",
        BARS,
        "0 surplus huge pages (nr_overcommit_hugepages)",
        f"for each size: echo 0 | sudo tee /{POOLS}/hugepages-{PAGE_2MB // 1024}kB/nr_overcommit_hugepages",
        _overcommit,
        lambda tree: [KernelSetting(tree.path(n), "0") for n in _overcommit_files(tree) if tree.number(n)],
    ),
    ConditionRule(
        "thp",
        BARS,
        "not `always`",
        f"echo never | sudo tee /{THP}/enabled /{THP}/defrag",
        _thp,
        _never,
    ),
)

#: Steps that no one can undo: what they cost, the file, the value.
IRREVERSIBLE = (
    ("drop the page cache: programs read their files again", DROP_CACHES, "3"),
    (f"compact memory into blocks of {format_bytes(PAGE_2MB)}", COMPACT_MEMORY, "1"),
)
