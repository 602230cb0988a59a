"""Every kind of bad input of ``tessera-sim``: what was asked, what was found, what to do; exit status 2."""

from __future__ import annotations

import csv
import hashlib
import re
import struct

import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import built
from tessera.machine.container import RunOptions, toolchain

pytestmark = pytest.mark.toolchain
BASE = 0x4000000000  # of the pool, 1GB, of which traces touch 64MB
#: where the lanes of the tracer's digest start (artifacts/tracer/lib/digest.h)
LANES = (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89)
HEAD = "type,pageSize,startOffset,endOffset\n"


def champsim(addresses) -> bytes:
    """One instruction a record: a load of each address."""
    record = struct.Struct("<QBB2B4B2Q4Q")
    return b"".join(
        record.pack(0x401000, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, address, 0, 0, 0) for address in addresses
    )


def run(*argv, folder):
    options = RunOptions(writes=(folder,))
    return toolchain().run([str(a) for a in argv], capture=True, check=False, options=options)


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """Folder with a good trace, platform, layout and list; a function that runs with one of them replaced."""
    try:
        simulator, tracer = built("simulator", "tessera-sim"), built("tracer", "tessera-trace")
    except TesseraError as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("bad-input")

    def trace(name, addresses, pool=f"{BASE}:{BASE + (1 << 30)}"):
        (folder / f"{name}.champsim").write_bytes(champsim(addresses))
        argv = [tracer, "import-champsim", folder / f"{name}.champsim", folder / f"{name}.tst"]
        done = run(*argv, "--mmap-pool", pool, folder=folder)
        assert done.returncode == 0, done.stderr
        return folder / f"{name}.tst"

    good = trace("good", [BASE + i * 7919 % (64 << 20) // 8 * 8 for i in range(20000)])
    (folder / "flat").write_text(platforms.load_platform("haswell-sim").flat())
    (folder / "growing-0.csv").write_text(HEAD + "mmap,-1,0,64MB\n")
    (folder / "list").write_text(f"{folder / 'growing-0.csv'}\n")

    def simulate(**changes):
        options = {"trace": good, "platform": folder / "flat", "layouts": folder / "list"}
        options |= {"engine": "partial"} | changes
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        return run(simulator, "run", *words, folder=folder)

    return folder, good, trace, simulate


def refused(done, *words):
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert re.match(r"tessera-sim: .+: .+\n  what to do: .+", done.stderr), done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def test_the_good_input_is_good(case):
    _, _, _, simulate = case
    done = simulate()
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert done.returncode == 0 and [(r["layout"], r["status"]) for r in rows] == [("growing-0", "ok")]


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


#: name -> (what a good trace's bytes become, words of the refusal)
TRACES = {
    "empty": (lambda data: b"", ["preamble at byte 0", "0 bytes"]),
    "text": (lambda data: b"hello\n" * 100, ["not a Tessera trace"]),
    "compressed text": (lambda data: b"\x28\xb5\x2f\xfd" + data, ["not a Tessera trace"]),
    "preamble": (lambda data: flip(data, 20), ["preamble at byte 0", "checksum"]),
    "first frame": (lambda data: flip(data, 150), ["frame 0 at byte 112", "checksum"]),
    "tail": (lambda data: flip(data, len(data) - 8), ["header, block table and index", "checksum"]),
    "truncated": (lambda data: data[:-1], ["end of file", "truncated or extended"]),
    "extended": (lambda data: data + b"x", ["end of file", "truncated or extended"]),
}


@pytest.mark.parametrize("name", TRACES)
def test_damaged_traces(case, name):
    folder, good, _, simulate = case
    change, words = TRACES[name]
    bad = folder / "bad.tst"
    bad.write_bytes(change(good.read_bytes()))
    refused(simulate(trace=bad), str(bad), *words)


def test_traces_that_are_no_files(case):
    folder, _, _, simulate = case
    refused(simulate(trace=folder / "missing.tst"), "missing.tst", "No such file")
    refused(simulate(trace=folder), str(folder), "directory")


def tracer_digest(data):
    """The digest of artifacts/tracer/lib/digest.cpp."""
    word, multiplier = (1 << 64) - 1, 0x9E3779B97F4A7C15
    whole = len(data) // 32 * 32
    rest = data[whole:].ljust(32, b"\0")
    rows = [*struct.iter_unpack("<4Q", data[:whole]), struct.unpack("<4Q", rest), (len(data),) * 4]
    lanes = list(LANES)
    for row in rows:
        for i, value in enumerate(row):
            mixed = (lanes[i] ^ value) * multiplier & word
            lanes[i] = (mixed << 29 | mixed >> 35) & word
    for _ in range(2):
        for i in range(4):
            lanes[i] = (lanes[i] ^ lanes[i] >> 32) * multiplier & word
            lanes[(i + 1) % 4] = (lanes[(i + 1) % 4] + lanes[i]) & word
    return struct.pack("<4Q", *lanes)


def with_pool_of(size_bytes, path):
    """A whole trace like ``path``, whose pool has another size: no tool of ours writes such a one."""
    data = path.read_bytes()
    preamble = struct.unpack_from("<6Q", data)
    start, length = preamble[1:3]
    header = data[start : start + length]
    body = re.sub(rb"(?m)^(pool=mmap \d+) \d+", rb"\1 %d" % size_bytes, header.rpartition(b"sha256=")[0])
    header = body + b"sha256=" + hashlib.sha256(body).hexdigest().encode() + b"\n"
    tail = header + data[start + length :]
    fields = struct.pack("<6Q", *preamble[:2], len(header), *preamble[3:]) + tracer_digest(tail)
    made = path.with_name(f"{path.stem}-wide.tst")
    made.write_bytes(fields + tracer_digest(fields) + data[len(fields) + 32 : start] + tail)
    return made


@pytest.mark.parametrize("command", ["run", "profile"])
def test_pools_beyond_48_bits(case, command):
    folder, good, _, simulate = case
    wide = with_pool_of((1 << 60) - BASE, good)
    if command == "run":
        refused(simulate(trace=wide), "2^48", "pool mmap", f"{(1 << 60) - BASE}")
    else:
        argv = [built("simulator", "tessera-sim"), "profile", "--trace", wide, "--platform", folder / "flat"]
        refused(run(*argv, "--out", folder / "misses.csv", folder=folder), "2^48", f"{(1 << 60) - BASE}")


#: name -> (key, its line in the flat file, words of the refusal)
PLATFORMS = {
    "NaN": (
        "memory.load_cycles",
        "memory.load_cycles = nan",
        ["memory.load_cycles", "'nan'", "whole number"],
    ),
    "infinite": ("memory.load_cycles", "memory.load_cycles = inf", ["memory.load_cycles", "'inf'"]),
    "negative": ("memory.load_cycles", "memory.load_cycles = -1", ["'-1'", "from 1 to 100000"]),
    "fraction": ("core.mshrs", "core.mshrs = 1.5", ["core.mshrs", "'1.5'"]),
    "boolean": ("walker.pollutes", "walker.pollutes = true", ["walker.pollutes", "'true'", "from 0 to 1"]),
    "missing": ("core.mshrs", "", ["keys missing: core.mshrs"]),
    "twice": ("core.mshrs", "core.mshrs = 1\ncore.mshrs = 2", ["core.mshrs", "already set"]),
    "unknown": ("core.mshrs", "core.mshrs = 1\ncore.mshr = 1", ["core.mshr", "no such key", "core.mshrs"]),
    "geometry": ("tlb.stlb.ways", "tlb.stlb.ways = 7", ["tlb.stlb.entries = 1024", "tlb.stlb.ways = 7"]),
    "rule": ("tlb.stlb_2mb.entries", "tlb.stlb_2mb.entries = 8", ["tlb.stlb_2mb.ways = 0"]),
    "latency": (
        "cache.l2.load_cycles",
        "cache.l2.load_cycles = 3",
        ["no faster", "cache.l2.load_cycles = 3"],
    ),
    "replacement": (
        "tlb.stlb.replacement",
        "tlb.stlb.replacement = best",
        ["= best: no such", "lru", "srrip"],
    ),
    "prefetcher": ("prefetch.l2.kind", "prefetch.l2.kind = oracle", ["= oracle: no such", "stream"]),
    "allocator": ("memory.allocator", "memory.allocator = buddy", ["= buddy: no such", "identity"]),
    "page table": ("page_table.format", "page_table.format = hashed", ["= hashed: no such", "radix"]),
    "design": ("mmu.design", "mmu.design = no-such-design", ["= no-such-design: no such", "conventional"]),
}


@pytest.mark.parametrize("name", PLATFORMS)
def test_bad_platforms(case, name):
    folder, _, _, simulate = case
    key, line, words = PLATFORMS[name]
    text = (folder / "flat").read_text()
    changed = re.sub(rf"^{re.escape(key)} = .*$", line, text, count=1, flags=re.M)
    assert changed != text
    (folder / "bad.flat").write_text(changed)
    refused(simulate(platform=folder / "bad.flat"), *words)


def test_platforms_that_are_no_text(case):
    folder, _, _, simulate = case
    (folder / "bad.flat").write_bytes(bytes(range(256)) * 8)
    refused(simulate(platform=folder / "bad.flat"), "key = value")
    refused(simulate(platform=folder / "missing.flat"), "missing.flat", "No such file")


#: rows of a layout -> words of the failed row's message
LAYOUTS = {
    "mmap,2MB,1GB,1026MB": ["outside its pool", "1073741824", "[trace/outside-pool]"],
    "mmap,2MB,4096,2MB": ["startOffset", "multiple of the page size"],
    "mmap,2MB,0,4MB\nmmap,2MB,2MB,6MB": ["overlaps the window 0-4194304 of line 2", "[layout/overlap]"],
    "mmap,8192,0,8192": ["pageSize", "'8192'"],
    "mmap,2MB,4MB,2MB": ["above startOffset 4194304"],
    "mmap,2MB,nan,2MB": ["startOffset", "'nan'"],
    "mmap,2MB,-2097152,0": ["startOffset", "'-2097152'"],
    "mmap,2MB,0,99999999999999999999": ["endOffset", "'99999999999999999999'"],
    "mmap,2MB,0,9007199254740992GB": ["endOffset", "GB"],
    "stack,2MB,0,2MB": ["type", "'stack'"],
    "brk,2MB,0,2MB": ["type", "no such pool", "[trace/no-pool]"],
    "file,2MB,0,2MB": ["pageSize", "the file pool has 4KB pages only"],
    "mmap,2MB,0": ["4 columns"],
    "mmap,-1,0,4MB\nmmap,-1,0,4MB": ["line 2 [layout/pool-twice]"],
    "mmap,-1,4096,4MB": ["startOffset", "0 in a row that gives a pool's size"],
}


def test_bad_layouts_are_failed_rows_and_the_good_one_goes_on(case):
    folder, _, _, simulate = case
    paths = {}
    for number, rows in enumerate(LAYOUTS):
        paths[f"bad-{number}"] = rows
        (folder / f"bad-{number}.csv").write_text(f"{HEAD}{rows}\n")
    (folder / "bad-no-header.csv").write_text("mmap,2MB,0,2MB\n")
    (folder / "bad-empty.csv").write_text("")
    names = [*paths, "bad-no-header", "bad-empty", "bad-missing", "growing-0"]
    (folder / "many").write_text("".join(f"{folder / name}.csv\n" for name in names))
    done = simulate(layouts=folder / "many")
    rows = {row["layout"]: row for row in csv.DictReader(done.stdout.splitlines())}
    assert done.returncode == 0 and set(rows) == set(names), done.stderr
    assert {name: row["status"] for name, row in rows.items() if row["status"] == "ok"} == {"growing-0": "ok"}
    for name, text in paths.items():
        for word in LAYOUTS[text]:
            assert word in rows[name]["message"], (text, rows[name]["message"])
    for name, word in (("bad-no-header", "header"), ("bad-empty", "empty"), ("bad-missing", "No such file")):
        assert word in rows[name]["message"] and rows[name]["message"].count("what to do: ") == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engine": "magic"}, ["magic", "partial", "reference", "timing"]),
        ({"sampling": "units=0,warmup_accesses=1,timed_instructions=1"}, ["units"]),
        ({"sampling": "units=nan"}, ["nan"]),
        ({"sampling": "units=-1,warmup_accesses=1,timed_instructions=1"}, ["-1"]),
        ({"sampling": "everything"}, ["everything", "full"]),
        ({"group": "0"}, ["group", "0"]),
        ({"group": "many"}, ["group", "many"]),
        ({"layouts": "/dev/null"}, ["/dev/null", "empty"]),
        ({"speed": "fast"}, ["--speed", "--engine"]),
    ],
    ids=lambda value: (
        next(iter(value.items()), None) and "=".join(*value.items()) if isinstance(value, dict) else ""
    ),
)
def test_bad_options(case, changes, words):
    _, _, _, simulate = case
    refused(simulate(**changes), *words)


def test_tessera_simulate_refuses_a_platform_before_it_asks_the_simulator(case, tmp_path):
    from click.testing import CliRunner

    from tessera.cli.simulate import simulate as command

    folder, good, _, _ = case
    bad = tmp_path / "bad.yaml"
    text = (platforms.platforms_folder() / "haswell-sim.yaml").read_text()
    bad.write_text(re.sub(r"load_cycles: \{value: 200,", "load_cycles: {value: .nan,", text))
    assert bad.read_text() != text
    words = ["--trace", good, "--platform", bad, "--layouts", folder, "--out", tmp_path / "cells.csv"]
    done = CliRunner().invoke(command, [str(word) for word in words])
    assert isinstance(done.exception, TesseraError)
    assert "memory/load_cycles/value: '.nan'" in str(done.exception)
