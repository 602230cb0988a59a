"""The computed updates are those of HPCC, of our gups, and of the trace file."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

from tessera.core import files
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import read_layout
from tessera.core.units import GB
from tessera.lab.numa.gups import (
    BASE,
    LOOP,
    PERIOD,
    UPDATE,
    Gups,
    power,
    product,
    random_blocks,
    write_gups_layouts,
    write_trace,
)
from tessera.record import traces


def one_by_one(begin: int, count: int) -> list[int]:
    """The oracle: HPCC's step, one number after the other."""
    number = 1
    for _ in range(begin):
        number = (number << 1) % 2**64 ^ (7 if number >= 2**63 else 0)
    found = []
    for _ in range(count):
        number = (number << 1) % 2**64 ^ (7 if number >= 2**63 else 0)
        found.append(number)
    return found


def test_the_stream_is_hpccs():
    assert [power(n) for n in (0, 1, 63, 64, 65)] == [1, 2, 2**63, 7, 14]
    assert power(PERIOD) == 1
    assert product(power(1000), power(234)) == power(1234)
    assert list(power(n + 1) for n in range(200)) == one_by_one(0, 200)


@pytest.mark.parametrize("count", [1, 63, 65_536, 65_537, 70_000])
def test_blocks_join_without_a_gap(count):
    blocks = list(random_blocks(41, count))
    assert np.concatenate(blocks).tolist() == one_by_one(41, count)


def test_addresses_are_elements_of_the_table():
    for gb in (1, 64):
        found = np.concatenate(list(Gups(gb, 50_000).addresses()))
        assert len(found) == 50_000
        assert (found % 8 == 0).all() and found.min() >= BASE and found.max() < BASE + gb * GB
        halves = np.histogram(found.astype(float) - BASE, 8, (0, gb * GB))[0]
        assert abs(halves - 6250).max() < 4.5 * (50_000 * 7 / 64) ** 0.5  # binomial, 4.5 sigma
    assert not np.array_equal(*(next(Gups(1, 9, seed).addresses()) for seed in (1, 2)))


def test_records_are_loops_of_twelve_instructions():
    records = np.concatenate(list(Gups(1, 70_000).records())).reshape(-1, len(LOOP))
    addresses = np.concatenate(list(Gups(1, 70_000).addresses()))
    assert len(LOOP) == 12 and records.shape == (70_000, 12) and records.itemsize == 64
    assert (records["loads"][:, UPDATE, 0] == addresses).all()
    assert (records["stores"][:, UPDATE, 0] == addresses).all()
    assert np.count_nonzero(records["loads"]) == np.count_nonzero(records["stores"]) == 70_000
    assert records["branch_taken"].sum() == 69_999 and records["branch_taken"][-1, -1] == 0


@pytest.mark.parametrize("asked", [(0, 1, 1), (3, 1, 1), (32768, 1, 1), (64, 0, 1), (64, 1, -1)])
def test_wrong_requests(asked):
    with pytest.raises(TesseraError) as raised:
        Gups(*asked)
    assert raised.value.code in ("numa-gups-size", "numa-gups-updates")


def test_layouts_are_the_whole_table(tmp_path):
    small, large = (read_layout(path) for path in write_gups_layouts(Gups(64, 1), tmp_path))
    assert small.pool_bytes == large.pool_bytes == {"mmap": 64 * GB}
    assert not small.windows and large.pages(2 << 20) == 32768


def tool(component: str, name: str):
    path = files.build_dir(component) / name
    if not path.exists():
        pytest.skip(f"{path} is missing: ./run tessera dev build {component}")
    return path


def updated(trace) -> tuple[np.ndarray, np.ndarray]:
    """Addresses of loads and of stores of a trace, in order."""
    argv = [tool("tracer", "tessera-trace"), "dump", trace, "1000000"]
    text = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    kinds = (re.findall(rf"^  {kind} (0x\w+)", text, re.MULTILINE) for kind in ("load", "store"))
    return tuple(np.array([int(word, 16) for word in words], np.uint64) for words in kinds)


@pytest.mark.toolchain
def test_the_trace_has_the_updates_and_repeats(tmp_path):
    tool("tracer", "tessera-trace")
    asked = Gups(64, 20_000)
    first, second = (write_trace(asked, tmp_path / name) for name in ("a.tst", "b.tst"))
    assert first.read_bytes() == second.read_bytes()
    found = traces.trace_info(first)
    assert found["accesses"] == 40_000 and found["instructions"] == 240_000
    assert [pool["size_bytes"] for pool in found["pools"]] == [64 * GB]
    addresses = np.concatenate(list(asked.addresses()))
    loads, stores = updated(first)
    assert (loads == addresses).all() and (stores == addresses).all()
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".tst"]


@pytest.mark.toolchain
def test_our_gups_makes_the_same_updates(tmp_path):
    """A recording of the program, 1GB: its stores to the table are the computed ones, in order."""
    for component, name in (("tracer", "libtessera-trace.so"), ("mosalloc", "libmosalloc.so")):
        tool(component, name)
    program = tool("workloads", "gups")
    argv = [program, "--mode", "update", "--size", "1GB", "--reads", "3000"]
    traces.record_program(argv, tmp_path / "real.tst", anon_pool=2 * GB)
    _, stores = updated(tmp_path / "real.tst")
    offsets = np.concatenate(list(Gups(1, 3000).addresses())) - np.uint64(BASE)
    begins = [at for at in range(len(stores) - 2999) if len(set(stores[at : at + 3000] - offsets)) == 1]
    assert begins, "the program stores to other elements"
