"""A program in the guest: maps of its pages and page tables, and its 2MB pages in fragmented memory (docs/explain/numa.md).

These jobs are parts of the kernel's results (`kernel.smk`). They also need the allocator, the tracer and the workloads."""

#: jobs: the study numa-<job> each
GUEST_PARTS = ("maps", "fragmented")


def guest_parts_here():
    """Outcomes of the jobs that the configuration lists."""
    return kernel_parts(name for name in GUEST_PARTS if name in config.get("kernel", []))


rule kernel_numa:
    input:
        images,
        component_stamps("mosalloc", "tracer", "workloads"),
    output: TREE.kernel("{part}", OUTCOME),
    log: KERNEL / "logs" / "{part}.log",
    benchmark: KERNEL / "benchmarks" / "{part}.tsv"
    wildcard_constraints: part="|".join(GUEST_PARTS)
    params:
        code=lambda w: study_code(f"numa-{w.part}"),
        files=content_digest("artifacts/kernel", "docker/kernel", "config/workloads/mitosis-gups.yaml"),
    message: "Running the kernel job {wildcards.part}"
    threads: 1
    priority: 70  # as the other jobs of the kernel
    resources: mem_mb=4000, kernel_guests=1
    shell:
        "tessera dev attempt --outcome {output} -- lab run numa-{wildcards.part} accept_series=yes > {log} 2>&1"
