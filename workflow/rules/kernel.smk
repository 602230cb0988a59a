"""The kernel with replicated page tables: `snakemake kernel`; `kernel_smoke` for its tests alone, `kernel_bisect`.

Image and kernels take minutes to build the first time and come from build/kernel afterwards, so the main job doesn't
wait for them; a rule that lists KERNEL_TABLES among its inputs does."""

KERNEL = f"{RESULTS}/kernel"
KERNEL_TABLES = [
    f"{KERNEL}/{name}"
    for name in (
        "test/summary.csv",
        "prove/prove.csv",
        "stress-ng/stress-ng.csv",
        "table4/table4.csv",
        "table4/table4_measured.csv",
        "table5/table5.csv",
        "table6/table6.csv",
        "placement/placement.csv",
        "placement/figure4.csv",
    )
]

localrules: kernel, kernel_smoke, kernel_bisect


rule kernel:
    """Everything about the kernel: what it must stand, and its tables."""
    input:
        KERNEL_TABLES,


rule kernel_smoke:
    """Selftests and two minutes of stress."""
    input: f"{KERNEL}/test/summary.csv"


rule kernel_bisect:
    """The kernel after each patch: it builds and boots."""
    input: f"{KERNEL}/bisect/bisect.csv"


rule kernel_build:
    input:
        images,
        lambda w: sources("kernel"),
        lambda w: sources("workloads"),  # the guest runs some
    output: touch("build/kernel.{variant}.stamp"),
    log: "build/logs/kernel-{variant}.log",
    wildcard_constraints: variant="checked|measure|plain|broken"
    message: "Building the kernel, variant {wildcards.variant}"
    threads: workflow.cores
    resources: mem_mb=3000
    shell: "tessera kernel build --accept-series --variant {wildcards.variant} > {log} 2>&1"


rule kernel_test:
    input: "build/kernel.checked.stamp",
    output: f"{KERNEL}/test/summary.csv",
    log: f"{KERNEL}/logs/test.log",
    benchmark: f"{KERNEL}/benchmarks/test.tsv"
    message: "Selftests and stress in the guest"
    threads: workflow.cores
    resources: mem_mb=3000
    shell:
        "tessera kernel test --accept-series --stress-seconds 120 --out {KERNEL}/test > {log} 2>&1"


rule kernel_prove:
    """A kernel with a hook that forgets the replicas: both observers must report it."""
    input: expand("build/kernel.{variant}.stamp", variant=["checked", "broken"]),
    output: f"{KERNEL}/prove/prove.csv",
    log: f"{KERNEL}/logs/prove.log",
    benchmark: f"{KERNEL}/benchmarks/prove.tsv"
    message: "A forgotten hook in the guest"
    threads: workflow.cores
    resources: mem_mb=3000
    shell: "tessera kernel prove --accept-series --out {KERNEL}/prove > {log} 2>&1"


rule kernel_bisected:
    input:
        images,
        lambda w: sources("kernel"),
        lambda w: sources("workloads"),
    output: f"{KERNEL}/bisect/bisect.csv",
    log: f"{KERNEL}/logs/bisect.log",
    benchmark: f"{KERNEL}/benchmarks/bisect.tsv"
    message: "The kernel after each patch"
    threads: workflow.cores
    resources: mem_mb=3000
    shell: "tessera kernel bisect --accept-series --out {KERNEL}/bisect > {log} 2>&1"


rule kernel_stress_ng:
    input: "build/kernel.checked.stamp",
    output: f"{KERNEL}/stress-ng/stress-ng.csv",
    log: f"{KERNEL}/logs/stress-ng.log",
    benchmark: f"{KERNEL}/benchmarks/stress-ng.tsv"
    message: "stress-ng's memory stressors in the guest"
    threads: workflow.cores
    resources: mem_mb=3000
    shell: "tessera kernel stress-ng --accept-series --out {KERNEL}/stress-ng > {log} 2>&1"


rule kernel_table4:
    input: "build/kernel.measure.stamp",
    output: multiext(f"{KERNEL}/table4/", "table4.csv", "table4_measured.csv"),
    log: f"{KERNEL}/logs/table4.log",
    message: "Memory that replicas cost"
    threads: workflow.cores
    resources: mem_mb=4000
    shell: "tessera kernel table4 --accept-series --measure {KERNEL}/table4 > {log} 2>&1"


rule kernel_instructions:
    """Tables 5 and 6; one processor is emulated, so two of them may run at a time."""
    input: expand("build/kernel.{variant}.stamp", variant=["measure", "plain"]),
    output: f"{KERNEL}/{{table}}/{{table}}.csv",
    log: f"{KERNEL}/logs/{{table}}.log",
    benchmark: f"{KERNEL}/benchmarks/{{table}}.tsv"
    wildcard_constraints: table="table5|table6"
    message: "Instructions that replicas cost: {wildcards.table}"
    resources: mem_mb=3000
    shell: "tessera kernel {wildcards.table} --accept-series --out {KERNEL}/{wildcards.table} > {log} 2>&1"


rule kernel_placement:
    input: "build/kernel.measure.stamp",
    output: multiext(f"{KERNEL}/placement/", "placement.csv", "figure4.csv"),
    log: f"{KERNEL}/logs/placement.log",
    benchmark: f"{KERNEL}/benchmarks/placement.tsv"
    message: "Where page tables lie"
    threads: workflow.cores
    resources: mem_mb=3000
    shell: "tessera kernel placement --accept-series --out {KERNEL}/placement > {log} 2>&1"
