"""``tessera lab``: studies by name, and what has commands of its own."""

from __future__ import annotations

import click

from tessera.cli.lazy import LazyGroup

LAB = {
    "Studies": {
        "run": ("tessera.cli.lab.study:run_command", "Run a study: NAME KEY=VALUE..."),
        "list": ("tessera.cli.lab.study:list_command", "List the studies."),
        "show": ("tessera.cli.lab.study:show", "Explain a study: what it answers, its keys, its tables."),
    },
    "With commands of their own": {
        "allocator": ("tessera.cli.lab.allocator:allocator", "Prove the allocator; measure what it costs."),
        "faults": (
            "tessera.cli.lab.faults:faults",
            "Measure what page faults cost; count Linux's work in them.",
        ),
        "kernel": (
            "tessera.cli.lab.kernel:kernel",
            "Build and boot the kernel with page-table replicas; show page tables.",
        ),
        "numa": ("tessera.cli.lab.numa:numa", "Predict what remote page tables cost; map them."),
        "oracle": ("tessera.cli.lab.oracle:oracle", "Record decisions of Linux 6.12 in a guest."),
        "os": (
            "tessera.cli.lab.os_imitation:os_group",
            "Run recorded programs under an imitation of Linux's memory management.",
        ),
        "threads": (
            "tessera.cli.lab.threads:threads",
            "Predict and measure how runtime and energy depend on threads.",
        ),
    },
}


@click.group(cls=LazyGroup, table=LAB)
def lab() -> None:
    """Run studies: of the simulator, designs, operating systems, kernels, NUMA, faults, threads.

    Example: ./run tessera lab list
    """
