"""A map of a guest with our kernel equals that of the first touches of a trace of the same program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tessera.core.files import build_dir
from tessera.core.mapping.paging import read_touches
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import GuestProgram
from tessera.lab.numa.fragmented_memory import page_bytes
from tessera.lab.numa.guest_map import capture_in_guest, guest_script, staged
from tessera.lab.numa.map_rules import Reach, expected_map, touches_as_far_as, touches_behind
from tessera.lab.numa.placement_map import compare_maps, count_differences
from tessera.machine.container.toolchain import toolchain
from tessera.record import traces, workloads

pytestmark = pytest.mark.toolchain
WORKLOAD, SIZE, MB = "mitosis-gups", "tiny", 1 << 20


def built_kernel() -> Path | None:
    """A kernel with the patches that is there already: a test does not build one."""
    for path in build_dir("kernel").glob("kernel-*/info.json"):
        if json.loads(path.read_text())["variant"] == "checked":
            return path.with_name("bzImage")
    return None


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return workloads.prepare(workloads.load_workload(WORKLOAD), SIZE, tmp_path_factory.mktemp("inputs"))


def test_the_files_of_the_guest(run):
    files = staged(run, workloads.load_workload(WORKLOAD).size(SIZE), toolchain())
    assert {"/program/gups", "/program/libmosalloc.so", "/program/libc.so.6", "/program/layout.csv"} <= set(
        files
    )
    assert files["/program/gups"] == Path(run.argv[0]).read_bytes()
    assert files["/lib64/ld-linux-x86-64.so.2"][:4] == b"\x7fELF"


@pytest.mark.parametrize("rule", ["RP-LD", "first-touch", "RP-LD+M", "TRP-LD"])
def test_pages_and_tables_lie_where_the_rule_puts_them(run, rule, tmp_path):
    kernel = built_kernel()
    if kernel is None:
        pytest.skip("no kernel is built: ./run tessera lab kernel build")
    size = workloads.load_workload(WORKLOAD).size(SIZE)
    trace = tmp_path / "trace.tst"
    traces.record_program(
        run.argv, trace, heap_pool=size.heap_pool, anon_pool=size.anon_pool, roi="whole", kernel_accesses=True
    )
    traces.write_touches(trace, tmp_path / "touches.csv")
    said: list[str] = []
    program = GuestProgram(kernel, (image.build_guest(said.append) / "common.cpio",))
    files = staged(run, size, toolchain())
    found = capture_in_guest(image.kernel_tools(said.append), program, run, rule, files, tmp_path / "guest")
    order = touches_behind(found.begin, read_touches(tmp_path / "touches.csv"))
    reach = Reach.of(found.begin, traces.trace_info(tmp_path / "trace.tst"))
    by_rule = expected_map(touches_as_far_as(order, found.map), rule, 2, reach=reach)
    table = compare_maps(found.map, by_rule)
    assert found.differences == [] and found.zero_pages == 0
    assert count_differences(table) == 0, table.to_string()
    assert sum(page_bytes(found.map).values()) > 32 * MB
    assert page_bytes(found.map)[2] == (32 * MB if rule.startswith("T") else 0)
    wrong = expected_map(touches_as_far_as(order, found.map), "LP-RD", 2)
    assert count_differences(compare_maps(found.map, wrong)) > 0


def test_rules_become_settings_of_the_kernel(run):
    assert "-m 1 " in guest_script(run, "LP-RD") and "echo 0 > /proc/sys/vm/pgtable_node" in guest_script(
        run, "LP-RD"
    )
    assert "-m 0 " in guest_script(run, "RP-LD") and "echo 1 > /proc/sys/vm/pgtable_node" in guest_script(
        run, "RP-LD"
    )
    assert " interleave " in guest_script(run, "interleave")
    assert "call-inside $program 157 0x50475201 @1 64" in guest_script(run, "RP-RD+M")
    assert "echo 1 > /proc/sys/vm/pgtable_node" in guest_script(run, "RP-RD+M")
    assert "pools-huge" in guest_script(run, "TLP-LD") and "echo always > enabled" in guest_script(
        run, "TLP-LD"
    )
    assert "pools-huge" not in guest_script(run, "LP-LD") and "call-inside" not in guest_script(run, "RP-RD")
    assert "pgtable_node" not in guest_script(run, "first-touch") + guest_script(run, "interleave")
