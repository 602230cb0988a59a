"""The page allocator: decisions and counts of the guest beside those of the imitation."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tessera.lab.oracle.imitation import (
    FREE,
    NONE,
    Agreement,
    Replay,
    event_line,
    frames_of,
    output_of,
    replay,
)

# Decisions of the guest beside the imitation's.
#
# *Free-running*: from the start state, all events in one run; the share of equal decisions and the first
# difference. *Block by block*: every block of events starts from the guest's own lists, which the host read
# at that moment. After a difference, the rest of its block counts as it comes, so the share is a lower bound
# of "each decision on the guest's own lists". A decision is the frame that a request got, or that it got
# none. After a block, the whole state is compared, too: every list in its order, and every counter.


@dataclass(frozen=True)
class FirstDivergence:
    """The first event with another decision: its index and text, and both frames (-1: nothing)."""

    index: int
    event: str
    guest: int
    imitation: int

    def __str__(self) -> str:
        return (
            f"event {self.index} ({self.event}): the guest got {self.guest}, the imitation {self.imitation}"
        )


@dataclass
class Comparison:
    """Decisions compared so far.

    Attributes:
        events: events, frees included.
        decisions: requests.
        refused: requests that got nothing in the guest.
        equal: requests with the same outcome.
        blocks, equal_states: blocks of events, and those after which the whole state was equal.
        first: the first difference.
        state_differences: first differing line of both states, by block; at most ten.
    """

    events: int = 0
    decisions: int = 0
    refused: int = 0
    equal: int = 0
    blocks: int = 0
    equal_states: int = 0
    first: FirstDivergence | None = None
    state_differences: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share of equal decisions; 1 for none."""
        return self.equal / self.decisions if self.decisions else 1.0

    def add(self, events: np.ndarray, at: slice, guest: np.ndarray, mine: np.ndarray) -> None:
        """Count the events of a block; frames have the shape of the block."""
        asks = events[at] & FREE == 0
        same = guest == mine
        self.events += len(asks)
        self.decisions += int(asks.sum())
        self.refused += int((asks & (guest == NONE)).sum())
        self.equal += int((asks & same).sum())
        wrong = np.flatnonzero(asks & ~same)
        if len(wrong) and self.first is None:
            index = at.start + int(wrong[0])
            self.first = FirstDivergence(
                index, event_line(events, index), int(guest[wrong[0]]), int(mine[wrong[0]])
            )

    def add_state(self, block: int, guest: str, mine: str) -> None:
        """Count the states after a block."""
        self.blocks += 1
        self.equal_states += guest == mine
        if guest != mine and len(self.state_differences) < 10:
            self.state_differences.append(f"block {block}: {first_divergence(guest, mine)}")


def first_divergence(guest: str, mine: str) -> str:
    """The first line that differs, of both."""
    for one, other in zip(guest.splitlines(), mine.splitlines(), strict=False):
        if one != other:
            return f"guest '{one[:160]}', imitation '{other[:160]}'"
    return "one state has more lines"


def free_running(events: np.ndarray, guest: np.ndarray, done: Replay) -> Comparison:
    """All events of one run of the imitation.

    Args:
        guest: frame by event, -1 for a free or nothing; shape (events,).
        done: of :func:`replay_events`.
    """
    result = Comparison()
    result.add(events, slice(0, len(events)), guest, frames_of(done.frames, len(events)))
    return result


def replay_events(program: Path, snapshot: str, events: np.ndarray) -> Replay:
    """All events in the imitation."""
    return replay(program, snapshot, [event_line(events, index) for index in range(len(events))])


def block_lines(events: np.ndarray, at: slice, guest: np.ndarray) -> list[str]:
    """The events of a block as lines. Memory of an earlier block is freed by the frame of the guest."""
    lines = []
    for index in range(at.start, at.stop):
        event = int(events[index])
        target = event & ~FREE
        if event & FREE and target < at.start:
            if guest[target] != NONE:
                lines.append(f"free-frame {guest[target]} {int(events[target]) & 15}")
        else:
            lines.append(event_line(events, index))
    return lines


def compare_block(
    result: Comparison,
    program: Path,
    states: tuple[str, str],
    events: np.ndarray,
    at: slice,
    guest: np.ndarray,
) -> None:
    """Compare a block from the guest's state before it, and the states after it.

    Args:
        states: before and after the block.
        guest: frame by event up to the end of the block.
    """
    before, after = states
    done = replay(program, before, block_lines(events, at, guest))
    mine = np.array([done.frames.get(index, NONE) for index in range(at.start, at.stop)], dtype=np.int64)
    result.add(events, at, guest[at], mine)
    result.add_state(at.start, after, done.state)


# The kernel's own counts and indices beside those of the state that was read from its memory.
#
# The guest's shell reads /proc/buddyinfo, /proc/zoneinfo, /proc/pagetypeinfo and debugfs's extfrag folder
# before and after the host reads the memory. Only values that are the same before and after are compared;
# the reading itself may move a page. The other side are `tessera-phys show` on the state (its counts, marks
# and indices) and the state's own lines.

#: (file, zone, name) -> value as text.
Values = dict[tuple[str, str, str], str]
ORDERS = range(11)
TYPES = ("Unmovable", "Movable", "Reclaimable", "HighAtomic")
#: Names of /proc/zoneinfo that the state has, too.
ZONEINFO = ("boost", "min", "low", "high", "spanned", "present", "managed", "nr_free_pages")
PAGESET = ("count", "high", "batch", "high_min", "high_max")


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
    found = _shown(output_of(program, words, {"state": state}, "of a state of the guest"))
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


def check_counts(program: Path, state: str, kernel_text: str) -> dict[str, Agreement]:
    """File -> a state beside the kernel's own counts of the same moment."""
    mine = state_values(program, state)
    found: dict[str, Agreement] = {}
    for key, value in kernel_values(kernel_text).items():
        same = mine.get(key) == value
        first = "" if same else f"{' '.join(key)}: the kernel has {value}, the state {mine.get(key)}"
        found[key[0]] = found.get(key[0], Agreement()) + Agreement(1, int(same), first)
    return found
