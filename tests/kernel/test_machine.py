"""QEMU's command line, and machines that can't be."""

from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel.qemu import EmulatedMachine


def command(machine):
    return " ".join(machine.command(Path("/run/g"), Path("/k/bzImage"), Path("/k/initrd"), "quiet"))


def test_every_node_has_its_memory_file_and_processors():
    line = command(EmulatedMachine(nodes=2, cpus=4, memory_mb=1024))
    for node, cpus in ((0, "0-1"), (1, "2-3")):
        assert f"size=536870912,mem-path=/run/g/node{node}.memory,share=on" in line
        assert f"nodeid={node},cpus={cpus},memdev=mem{node}" in line
    assert "-m 1073741824B" in line and "-smp 4,sockets=2" in line
    assert "console=ttyS0" in line and "quiet" in line


def test_one_processor_leaves_the_other_nodes_with_memory_only():
    line = command(EmulatedMachine(nodes=2, cpus=1, icount=True))
    assert "nodeid=0,cpus=0,memdev=mem0" in line and "nodeid=1,memdev=mem1" in line
    assert "-icount shift=0" in line and "thread=single" in line


def test_a_node_without_memory_has_no_backend():
    machine = EmulatedMachine(nodes=2, cpus=2, memory_mb=512, memoryless=1)
    line = command(machine)
    assert machine.node_bytes == 512 << 20
    assert "memdev=mem0" in line and "memdev=mem1" not in line and "nodeid=1,cpus=1-1" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nodes": 0}, "1 to 16"),
        ({"nodes": 17, "cpus": 17}, "1 to 16"),
        ({"nodes": 4, "cpus": 6}, "^6 processors on 4 nodes(?s:.*)--cpus 4"),
        ({"nodes": 4, "cpus": 2}, "^2 processors on 4 nodes(?s:.*)--cpus 4"),
        ({"nodes": 4, "cpus": 4, "memory_mb": 508}, "128 MB"),
    ],
    ids=[
        "arguments0-1 to 16",
        "arguments1-1 to 16",
        "arguments2-same number",
        "arguments3-same number",
        "arguments4-128 MB",
    ],
)
def test_impossible_machines_are_refused(arguments, message):
    with pytest.raises(TesseraError, match=message):
        EmulatedMachine(**arguments)


def test_the_smallest_machine_is_accepted():
    assert EmulatedMachine(nodes=4, cpus=4, memory_mb=512).node_bytes == 128 << 20
