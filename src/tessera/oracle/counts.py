"""The kernel's own counts and indices beside those of the state that was read from its memory.

The guest's shell reads /proc/buddyinfo, /proc/zoneinfo, /proc/pagetypeinfo and debugfs's extfrag folder
before and after the host reads the memory. Only values that are the same before and after are compared; the
reading itself may move a page. The other side are `tessera-phys show` on the state (its counts, marks and
indices) and the state's own lines.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tessera.oracle.imitation import printed

#: (file, zone, name) -> value as text.
Values = dict[tuple[str, str, str], str]
ORDERS = range(11)
TYPES = ("Unmovable", "Movable", "Reclaimable", "HighAtomic")
#: Names of /proc/zoneinfo that the state has, too.
ZONEINFO = ("boost", "min", "low", "high", "spanned", "present", "managed", "nr_free_pages")
PAGESET = ("count", "high", "batch", "high_min", "high_max")


@dataclass
class Checked:
    """Values compared, by file: compared, equal, and the first difference, if there is one."""

    compared: Counter
    equal: Counter
    first: dict[str, str]


def kernel_values(text: str) -> Values:
    """Values that were the same before and after, of what the guest printed."""
    before, after = (_values(text, when) for when in ("before", "after"))
    return {key: value for key, value in before.items() if after.get(key) == value}


def _values(text: str, when: str) -> Values:
    found: Values = {}
    zone, pageset = "", False
    for line in text.splitlines():
        moment, _, rest = line.partition(" ")
        file, _, content = rest.partition(" ")
        if moment != when:
            continue
        named = re.match(r"Node\s+\d+, zone\s+(\w+)", content)
        if named:
            zone, pageset = named.group(1), False
        if zone == "Movable":  # has no memory
            continue
        words = content.split()
        if file in ("buddyinfo", "extfrag_index", "unusable_index") and named:
            numbers = words[4:]
            found |= {(file, zone, str(order)): numbers[order] for order in ORDERS}
        elif file == "pagetypeinfo" and named and "type" in words:
            found |= {(file, zone, f"{words[5]} {order}"): words[6 + order] for order in ORDERS}
        elif file == "pagetypeinfo" and named:
            found |= {
                (file, zone, f"{kind} pageblocks"): n for kind, n in zip(TYPES, words[4:8], strict=True)
            }
        elif file == "zoneinfo" and content.startswith("protection:"):
            found[file, zone, "protection"] = " ".join(re.findall(r"\d+", content)[:3])
        elif file == "zoneinfo":
            pageset = pageset or content.startswith("pagesets")
            name = words[0].rstrip(":") if words else ""
            if len(words) == 2 and name in (PAGESET if pageset else ZONEINFO):
                found[file, zone, f"pageset {name}" if pageset else name] = words[1]
    return found


def state_values(program: Path, state: str) -> Values:
    """The same values of a state, by ``tessera-phys show`` and from its lines."""
    words = ["show", "--snapshot", "state"]
    found = _shown(printed(program, words, {"state": state}, "of a state of the guest"))
    found |= _lines(state)
    return found


def _shown(text: str) -> Values:
    found: Values = {}
    for part in text.split("\nzone ")[1:]:
        zone = part[: part.index(":")]
        frames = dict(re.findall(r"(spanned|present|managed|per-CPU) (\d+)", part.splitlines()[0]))
        found |= {("zoneinfo", zone, name): frames[name] for name in ("spanned", "present", "managed")}
        found["zoneinfo", zone, "pageset count"] = frames["per-CPU"]
        marks = re.search(
            r"min (\d+), low (\d+), high (\d+), boost (\d+); lowmem reserve (\d+ \d+ \d+)", part
        )
        names = ("min", "low", "high", "boost", "protection")
        found |= {("zoneinfo", zone, name): value for name, value in zip(names, marks.groups(), strict=True)}
        rows = {"free blocks": "buddyinfo", "extfrag": "extfrag_index", "unusable": "unusable_index"}
        for row, file in rows.items():
            numbers = re.search(rf"{row}:\s+(.*)", part).group(1).split()
            for order in ORDERS:
                number = int(numbers[order])
                shown = str(number) if file == "buddyinfo" else thousandths(number)
                found[file, zone, str(order)] = shown
    return found


def thousandths(value: int) -> str:
    """An index as debugfs prints it: C's division, ``%d.%03d``."""
    whole, rest = abs(value) // 1000, abs(value) % 1000
    if value >= 0:
        return f"{whole}.{rest:03d}"
    return f"{'-' if whole else ''}{whole}.{f'-{rest:02d}' if rest else '000'}"


def _lines(state: str) -> Values:
    """Counters, free blocks by type, pageblocks by type."""
    found: Values = {}
    blocks: Counter = Counter()
    for line in state.splitlines():
        words = line.split()
        if words[0] == "zone":
            found["zoneinfo", words[1], "nr_free_pages"] = words[words.index("free") + 1]
        elif words[0] == "cpu":
            for name in ("high", "batch", "high_min", "high_max"):
                found["zoneinfo", words[1], f"pageset {name}"] = words[words.index(name) + 1]
        elif words[0] == "free":
            blocks[words[1], words[3], int(words[2])] += len(words) - 4
    zones = {zone for _, zone, _ in found}
    for zone in zones:
        for kind in TYPES:
            for order in ORDERS:
                found["pagetypeinfo", zone, f"{kind} {order}"] = str(blocks[zone, kind, order])
    found |= {("pagetypeinfo", *key): str(count) for key, count in _pageblocks(state, zones).items()}
    return found


def _pageblocks(state: str, zones: set[str]) -> Counter:
    """(zone, "TYPE pageblocks") -> pageblocks with RAM (pagetypeinfo_showblockcount_print)."""
    borders = {"DMA": (0, 8), "DMA32": (8, 2048), "Normal": (2048, 1 << 40)}
    kind_of: dict[int, str] = {}
    present: list[tuple[int, int]] = []
    for line in state.splitlines():
        words = line.split()
        if words[0] == "pageblocks":
            first, count = int(words[2]), int(words[3])
            kind_of |= dict.fromkeys(range(first, first + count), words[1])
        elif words[0] == "ram":
            present.append((int(words[1]), int(words[1]) + int(words[2])))
    blocks = {
        frame >> 9 for first, end in present for frame in (first, *range(-(-first // 512) * 512, end, 512))
    }
    found: Counter = Counter({(zone, f"{kind} pageblocks"): 0 for zone in zones for kind in TYPES})
    for block in blocks:
        zone = next(name for name, (low, high) in borders.items() if low <= block < high)
        found[zone, f"{kind_of.get(block, 'Movable')} pageblocks"] += 1
    return found


def check(program: Path, state: str, kernel_text: str) -> Checked:
    """Compare a state with the kernel's own counts of the same moment."""
    mine = state_values(program, state)
    result = Checked(Counter(), Counter(), {})
    for key, value in kernel_values(kernel_text).items():
        result.compared[key[0]] += 1
        if mine.get(key) == value:
            result.equal[key[0]] += 1
        else:
            text = f"{' '.join(key)}: the kernel has {value}, the state {mine.get(key)}"
            result.first.setdefault(key[0], text)
    return result
