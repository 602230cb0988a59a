"""Texts of ``perf script`` made from misses, as perf and the kernel write them: for tests without a PMU."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

from tessera.core.units import PAGE_2MB

SCRIPTS = Path(__file__).with_name("scripts")
PID = 4321
BASES = {"brk": (0x7F3C_0000_0000, 64 * PAGE_2MB), "mmap": (0x7F3D_0000_0000, 256 * PAGE_2MB)}

#: data_src of loads and stores that missed, that hit, and of records without it, with perf's words.
LOAD_MISSED = (0x10450100442, "|OP LOAD|LVL L2 hit|SNP None|TLB L2 miss|LCK No|BLK  N/A")
LOAD_HIT = (0x10268100142, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A")
STORE_MISSED = (0x50080144, "|OP STORE|LVL L1 hit|SNP N/A|TLB L2 miss|LCK No|BLK  N/A")
IBS_MISSED = (0x51080242, "|OP LOAD|LVL LFB/MAB hit|SNP N/A|TLB L2 miss|LCK N/A|BLK  N/A")
IBS_HIT = (0x49080142, "|OP LOAD|LVL L1 hit|SNP N/A|TLB L2 hit|LCK N/A|BLK  N/A")
NOTHING = (0x1E05080021, "|OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A")


def line(event: str, address: int, source=None, *, pid: int = PID, period: int = 997, width: int = 5) -> str:
    """A line with ``-F pid,tid,period,event,addr``, and ``data_src`` if there is a source."""
    text = f"{pid:{width}d}/{pid:<{width}d}  {period:10d} {event}: {address:16x}"
    return text if source is None else f"{text} {source[0]:16x} {source[1]}"


@dataclass(frozen=True)
class Misses:
    """A program with a hot region: ``share`` of its misses lie in [start, end) of ``mmap``."""

    start: int
    end: int
    share: float
    seed: int

    def addresses(self, count: int) -> list[int]:
        """Where it misses: in the region; else, a tenth in the stack, the rest anywhere in ``mmap``."""
        rng, base = random.Random(self.seed), BASES["mmap"][0]
        found = []
        for _ in range(count):
            if rng.random() < self.share:
                found.append(base + rng.randrange(self.start, self.end))
            elif rng.random() < 0.1:
                found.append(0x7FFF_0000_0000 + rng.randrange(1 << 20))
            else:
                found.append(base + rng.randrange(256 * PAGE_2MB))
        return found


def pebs(addresses: list[int], rng: random.Random) -> list[str]:
    """Haswell and later: records of the misses themselves."""
    return [line(f"cpu/event=0xd0,umask=0x1{rng.choice('12')}/pp", a) for a in addresses]


def named(addresses: list[int], rng: random.Random) -> list[str]:
    """The same, recorded by the events' names on a hybrid processor, all fields printed."""
    return [line("mem_inst_retired.stlb_miss_loads:pp", a, NOTHING, width=7) for a in addresses]


def old(addresses: list[int], rng: random.Random) -> list[str]:
    """SandyBridge: misses without addresses, and accesses of which a tenth missed."""
    found = []
    for address in addresses:
        found.append(line("r11d0:pp", 0, NOTHING))
        elsewhere = BASES["mmap"][0] + rng.randrange(256 * PAGE_2MB)
        found += [line("cpu/mem-loads,ldlat=4/pp", elsewhere, LOAD_HIT, period=20011) for _ in range(9)]
        found.append(line("cpu/mem-loads,ldlat=4/pp", address, LOAD_MISSED, period=20011))
    return found


def ibs(addresses: list[int], rng: random.Random) -> list[str]:
    """Zen: operations, of which a third access no memory and a third hit."""
    found = []
    for address in addresses:
        elsewhere = BASES["mmap"][0] + rng.randrange(256 * PAGE_2MB)
        found.append(line("ibs_op/cnt_ctl=1/", 0, NOTHING, period=98416))
        found.append(line("ibs_op/cnt_ctl=1/", elsewhere, IBS_HIT, period=98416))
        found.append(line("ibs_op/cnt_ctl=1/", address, IBS_MISSED, period=98416))
    return found


FORMS = {"pebs": pebs, "named": named, "old": old, "ibs": ibs}


def report(path: Path, **changes) -> Path:
    """The report of the recorded run, as mosalloc-run writes it."""
    pools = [{"type": pool, "base": base, "size_bytes": size} for pool, (base, size) in BASES.items()]
    path.write_text(json.dumps({"pid": PID, "pools": pools, "windows": []} | changes))
    return path
