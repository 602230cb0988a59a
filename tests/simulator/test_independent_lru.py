"""Random layouts on a 12-way 1536-entry platform: the engines and an LRU written in Python agree exactly."""

from __future__ import annotations

import csv
import io
import random
import shlex
import struct

import pytest

from tessera.core import platforms
from tessera.core.files import build_dir
from tessera.machine.container import RunOptions, toolchain

from .independent_lru import Machine

ANON, HEAP, POOL = 64 << 30, 16 << 30, 2 << 30
MB2, GB = 2 << 20, 1 << 30

#: What the Python model does not have is off; the rest keeps the platform file's values.
CHANGES = {
    "tlb.organisation": "split",
    "tlb.stlb.entries": 1536,
    "tlb.stlb.ways": 12,
    "tlb.stlb.holds_2mb": 1,
    "tlb.stlb.holds_1gb": 0,
    "tlb.stlb_1gb.entries": 16,
    "tlb.stlb_1gb.ways": 4,
    "tlb.stlb_2mb.entries": 0,
    "tlb.stlb_2mb.ways": 0,
    "tlb.l1d.2mb.in_4kb": 0,
    "tlb.l1d.1gb.in_4kb": 0,
    "tlb.l1i.entries": 0,
    "tlb.l1i.ways": 0,
    "page_table.levels": 4,
    "pwc.pml5e.entries": 0,
    "pwc.pml5e.ways": 0,
    "walker.pollutes": 1,
    "walker.begin_cycles": 17,
    "memory.allocator": "identity",
    # Small caches, so that page tables and data push each other out in a short trace.
    "cache.l1d.bytes": 16 << 10,
    "cache.l1d.ways": 8,
    "cache.l2.bytes": 96 << 10,
    "cache.l2.ways": 8,
    "cache.l3.bytes": 960 << 10,
    "cache.l3.ways": 20,
    **{f"tlb.{array}.replacement": "lru" for array in ("l1d", "l1i", "stlb")},
    **{f"prefetch.{slot}.kind": "none" for slot in ("l1d", "l2")},
    **{f"prefetch.{slot}.{n}": 0 for slot in ("l1d", "l2") for n in ("entries", "degree", "distance")},
    **{
        f"dram.{n}": 0
        for n in (
            "channels",
            "banks",
            "row_bytes",
            "row_hit_saves_cycles",
            "row_conflict_adds_cycles",
            "bank_busy_cycles",
        )
    },
}


def random_addresses(rng: random.Random, count: int) -> list[int]:
    """Hot pages that nearly fill the second level, runs of lines, accesses anywhere and outside the pools."""
    hot = [base + rng.randrange(POOL >> 12) * 4096 for base in (ANON, HEAP) for _ in range(900)]
    addresses, at = [], ANON
    while len(addresses) < count:
        kind = rng.random()
        if kind < 0.6:
            at = rng.choice(hot) + rng.randrange(512) * 8
        elif kind < 0.7:
            at = rng.choice((ANON, HEAP)) + rng.randrange(POOL // 8) * 8
        elif kind < 0.72:
            at = 0x7FFF00000000 + rng.randrange(4096) * 8
        for _ in range(rng.randrange(1, 4)):
            at += 64 if kind > 0.9 else 8
            addresses.append(at)
    return addresses[:count]


def random_sizes(rng: random.Random, addresses: list[int]) -> list[tuple[int, int]]:
    """Accesses of 1 to 64 bytes; one in six moves to the last bytes of its page, or of its 2MB region."""
    accesses = []
    for address in addresses:
        if rng.random() < 1 / 6:
            page = rng.choice((4096, 4096, MB2))
            address = address // page * page + page - rng.randrange(1, 40)
        accesses.append((address, 1 << rng.randrange(7)))
    return accesses


def random_windows(rng: random.Random) -> list[tuple[str, int, int, int]]:
    """Rows ``type, page size, begin, end`` of a layout: disjoint windows in each pool."""
    rows = []
    for pool in ("brk", "mmap"):
        at = rng.randrange(40) * MB2
        while rng.random() < 0.85:
            size = GB if rng.random() < 0.15 else MB2
            begin = -(-at // size) * size
            end = begin + size * (1 if size == GB else rng.randrange(1, 200))
            if end > POOL:
                break
            rows.append((pool, size, begin, end))
            at = end + rng.randrange(60) * MB2
    return rows


def page_size_of(rows):
    """Address -> page size under these rows."""
    base = {"brk": HEAP, "mmap": ANON}
    spans = [(base[pool] + begin, base[pool] + end, size) for pool, size, begin, end in rows]

    def look(address: int) -> str:
        for begin, end, size in spans:
            if begin <= address < end:
                return "1gb" if size == GB else "2mb"
        return "4kb"

    return look


def write_imported(folder, accesses: list[tuple[int, int]]) -> None:
    """A trace by way of ChampSim's format, which has no sizes."""
    record = struct.Struct("<Q BB 2B 4B 2Q 4Q")
    with (folder / "records").open("wb") as out:
        for i, (address, _) in enumerate(accesses):
            loads, stores = ((0,), (address,)) if i % 5 == 0 else ((address,), (0,))
            registers = (40, 0, 41, 0, 0, 0)  # writes one, reads another
            out.write(record.pack(0x401000 + i % 50 * 4, 0, 0, *registers, *stores, 0, *loads, 0, 0, 0))
    pools = ["--mmap-pool", f"{ANON}:{ANON + POOL}", "--brk-pool", f"{HEAP}:{HEAP + POOL}"]
    tracer = _tool("tracer", "tessera-trace", "./run tessera dev build")
    _run([tracer, "import-champsim", folder / "records", folder / "t.tst", *pools], folder)


def write_sized(folder, accesses: list[tuple[int, int]]) -> None:
    """A trace whose accesses have these sizes."""
    tool = _tool("simulator", "trace_of_accesses", "./run tessera dev build --test simulator")
    lines = [f"{address} {size} {i % 5 == 0:d}\n" for i, (address, size) in enumerate(accesses)]
    (folder / "accesses").write_text("".join(lines))
    words = shlex.join(str(word) for word in (tool, folder / "t.tst", HEAP, ANON, POOL))
    _run(["sh", "-c", f"{words} < {shlex.quote(str(folder / 'accesses'))}"], folder)


def _tool(component: str, name: str, build: str):
    path = build_dir(component) / name
    if not path.exists():
        pytest.skip(f"{name} is missing: {build}")
    return path


@pytest.fixture(scope="module", params=["imported", "sized"])
def setting(request, tmp_path_factory):
    """The platform, the accesses of a trace, random layouts, and a way to run an engine over them."""
    simulator = _tool("simulator", "tessera-sim", "./run tessera dev build")
    folder = tmp_path_factory.mktemp("lru")
    rng = random.Random(20201)
    addresses = random_addresses(rng, 40000)
    if request.param == "sized":
        accesses = random_sizes(rng, addresses)
        assert sum(address % 4096 + size > 4096 for address, size in accesses) > 2000
        write_sized(folder, accesses)
    else:
        accesses = [(address, 1) for address in addresses]
        write_imported(folder, accesses)
    trace = folder / "t.tst"

    values = {
        key: leaf.value for key, leaf in platforms.load_platform("haswell-sim").values.items()
    } | CHANGES
    (folder / "flat").write_text("".join(f"{key} = {value}\n" for key, value in values.items()))
    layouts = {"growing-0": []} | {f"random-{i}": random_windows(rng) for i in range(1, 7)}
    for name, rows in layouts.items():
        lines = ["type,pageSize,startOffset,endOffset", *(",".join(map(str, row)) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")

    def engine(name: str, order: list[str]) -> list[dict[str, str]]:
        (folder / "list").write_text("".join(f"{folder / layout}.csv\n" for layout in order))
        files = ["--trace", trace, "--platform", folder / "flat", "--layouts", folder / "list"]
        rows = list(csv.DictReader(io.StringIO(_run([simulator, "run", *files, "--engine", name], folder))))
        assert [row["layout"] for row in rows] == order
        return rows

    return values, accesses, layouts, engine


def _run(argv: list, folder) -> str:
    options = RunOptions(writes=(folder,))
    done = toolchain().run([str(word) for word in argv], capture=True, options=options)
    return done.stdout if isinstance(done.stdout, str) else done.stdout.decode()


@pytest.mark.toolchain
def test_three_engines_agree_with_an_independent_lru(setting):
    values, accesses, layouts, engine = setting
    truth = {}
    for name, rows in layouts.items():
        machine = truth[name] = Machine(values, page_size_of(rows))
        for address, size in accesses:
            machine.access(address, size)
    assert len({m.misses for m in truth.values()}) > 3  # the layouts do differ
    assert all(sum(m.program) == len(accesses) and min(m.program) > 0 for m in truth.values())
    for name in ("reference", "partial", "timing"):
        for row in engine(name, list(layouts)):
            machine = truth[row["layout"]]
            found = [int(row[column]) for column in ("stlb_hits", "stlb_misses", "walk_cycles")]
            assert found == [machine.hits, machine.misses, machine.walk_cycles], (name, row["layout"])
            for kind, served in (("program", machine.program), ("walker", machine.walker)):
                reached = [sum(served[level:]) for level in range(4)]
                columns = [f"{kind}_{level}_loads" for level in ("l1d", "l2", "l3", "dram")]
                assert [int(row[column]) for column in columns] == reached, (name, row["layout"], kind)


@pytest.mark.toolchain
def test_the_order_of_layouts_changes_nothing(setting):
    *_, layouts, engine = setting
    order = list(layouts)
    random.Random(3).shuffle(order)
    assert order != list(layouts)
    rows = {}
    for name in ("partial", "timing", "reference"):
        straight = {row["layout"]: row for row in engine(name, list(layouts))}
        assert {row["layout"]: row for row in engine(name, order)} == straight
        rows[name] = straight
    assert rows["timing"] == rows["reference"]
