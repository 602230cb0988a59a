"""The kernel with replicated page tables: `snakemake kernel`. Its image and kernels take long to build the first
time, so the main job doesn't wait for them."""

KERNEL = f"{RESULTS}/kernel"

localrules: kernel


rule kernel:
    """Everything about the kernel: what it must stand, and its tables."""
    input:
        f"{KERNEL}/test.stamp",
        f"{KERNEL}/table4.csv",
        f"{KERNEL}/table5/table5.csv",
        f"{KERNEL}/placement/placement.csv",


rule kernel_build:
    input:
        images,
        lambda w: sources("kernel"),
    output: touch("build/kernel.{variant}.stamp"),
    log: "build/logs/kernel-{variant}.log",
    wildcard_constraints: variant="checked|measure|plain",
    message: "Building the kernel, variant {wildcards.variant}"
    threads: workflow.cores
    shell: "tessera kernel build --accept-series --variant {wildcards.variant} > {log} 2>&1"


rule kernel_test:
    input: "build/kernel.checked.stamp",
    output: touch(f"{KERNEL}/test.stamp"),
    log: f"{KERNEL}/test.log",
    message: "Selftests and stress in the guest"
    threads: workflow.cores
    shell: "tessera kernel test --accept-series --out {KERNEL}/test > {log} 2>&1"


rule kernel_table4:
    output: f"{KERNEL}/table4.csv",
    message: "Memory that replicas cost"
    shell: "tessera kernel table4 > {output}"


rule kernel_table5:
    input: expand("build/kernel.{variant}.stamp", variant=["measure", "plain"]),
    output: f"{KERNEL}/table5/table5.csv",
    log: f"{KERNEL}/table5.log",
    message: "Instructions that replicas cost"
    threads: workflow.cores
    shell: "tessera kernel table5 --accept-series --out {KERNEL}/table5 > {log} 2>&1"


rule kernel_placement:
    input: "build/kernel.measure.stamp",
    output: f"{KERNEL}/placement/placement.csv",
    log: f"{KERNEL}/placement.log",
    message: "Where page tables lie"
    threads: workflow.cores
    shell: "tessera kernel placement --accept-series --out {KERNEL}/placement > {log} 2>&1"
