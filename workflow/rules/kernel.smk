"""The kernel with replicated page tables: `kernel:` of the configuration names the parts that `reproduce` has.

`snakemake kernel` makes all parts but bisect, `kernel_smoke` the tests alone, `kernel_bisect` a kernel for each patch.
A part builds the kernels that it needs (5 to 10 minutes each the first time; build/kernel keeps them). One that fails
writes so and stops no other: the report says it, and `tessera report check`."""

from tessera.results.attempts import OUTCOME

KERNEL = TREE.kernel_parts
#: part -> what makes it, but for --out
KERNEL_PARTS = {
    "test": "test --stress-seconds 120",
    "table4": "table4",
    "table5": "table5",
    "table6": "table6",
    "placement": "placement",
    "prove": "prove",
    "stress-ng": "stress-ng",
    "selftests-mm": "selftests-mm",
    "bisect": "bisect",
}


def kernel_parts(names):
    """What says how these parts went."""
    return [TREE.kernel(name, OUTCOME) for name in names]


def kernel_parts_here(names=KERNEL_PARTS):
    """Of these parts, those that the configuration asks for, and those that were made before."""
    asked = config.get("kernel", [])
    return [path for name in names for path in kernel_parts([name]) if name in asked or path.is_file()]


rule kernel:
    """Everything about the kernel: what it must stand, and its tables."""
    input: kernel_parts(name for name in KERNEL_PARTS if name != "bisect"),
    params: parts=KERNEL,
    shell: "tessera kernel outcomes {params.parts}"


rule kernel_smoke:
    """Selftests and two minutes of stress."""
    input: kernel_parts(["test"]),
    params: parts=KERNEL,
    shell: "tessera kernel outcomes {params.parts}"


rule kernel_bisect:
    """The kernel after each patch: it builds and boots."""
    input: kernel_parts(["bisect"]),
    params: parts=KERNEL,
    shell: "tessera kernel outcomes {params.parts}"


rule kernel_part:
    input: images,
    output: TREE.kernel("{part}", OUTCOME),
    log: KERNEL / "logs" / "{part}.log",
    benchmark: KERNEL / "benchmarks" / "{part}.tsv"
    wildcard_constraints: part="|".join(KERNEL_PARTS)
    params:
        command=lambda w: KERNEL_PARTS[w.part], code=code("tessera.cli.kernel"),
        files=content("artifacts/kernel", "artifacts/workloads", "docker/kernel"),  # the guest runs some workloads
    message: "Kernel with replicated page tables: {wildcards.part}"
    threads: 1  # most parts wait for a guest most of the time; only the first to ask for a kernel builds it, on all cores
    resources: mem_mb=4000
    shell:
        "tessera pipeline attempt --outcome {output} -- kernel {params.command} --accept-series > {log} 2>&1"
