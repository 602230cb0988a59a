"""The kernel with replicated page tables: `kernel:` of the configuration lists the jobs of `reproduce`.

`snakemake kernel` runs all jobs but bisect, `kernel_smoke` only the tests, `kernel_bisect` a kernel for each patch.
A job builds the kernels that it needs (5 to 10 minutes each the first time; build/kernel keeps them). If a job fails,
the others continue; the report and `tessera report check` list the failure.
`kernel_numa.smk` has the jobs with a recorded program in the guest. `os_oracle.smk` has the job that compares the
imitation of memory management with plain Linux."""

from tessera.core.results.outcomes import OUTCOME_FILE as OUTCOME

KERNEL = TREE.kernel_parts
#: jobs: the study kernel-<job> each
KERNEL_PARTS = (
    "test", "table4", "table5", "table6", "costs", "placement", "balancing", "prove", "lives", "stress-ng",
    "selftests-mm", "bisect",
)


include: "kernel_numa.smk"


def kernel_parts(names):
    """Files with the outcomes of these jobs."""
    return [TREE.kernel(name, OUTCOME) for name in names]


def kernel_parts_here(names=(*KERNEL_PARTS, *GUEST_PARTS)):
    """Outcomes of the jobs that the configuration lists, and of jobs that ran before."""
    asked = config.get("kernel", [])
    return [path for name in names for path in kernel_parts([name]) if name in asked or path.is_file()]


rule kernel:
    """All jobs of the kernel but bisect: its tests, and its tables."""
    input: kernel_parts(name for name in (*KERNEL_PARTS, *GUEST_PARTS) if name != "bisect"),
    params: parts=KERNEL,
    shell: "tessera lab kernel outcomes {params.parts:q}"


rule kernel_smoke:
    """Selftests and stress tests."""
    input: kernel_parts(["test"]),
    params: parts=KERNEL,
    shell: "tessera lab kernel outcomes {params.parts:q}"


rule kernel_bisect:
    """Build and boot the kernel after each patch."""
    input: kernel_parts(["bisect"]),
    params: parts=KERNEL,
    shell: "tessera lab kernel outcomes {params.parts:q}"


rule kernel_part:
    input: images,
    output: TREE.kernel("{part}", OUTCOME),
    log: KERNEL / "logs" / "{part}.log",
    benchmark: KERNEL / "benchmarks" / "{part}.tsv"
    wildcard_constraints: part="|".join(KERNEL_PARTS)
    params:
        words=lambda w: catalogue.words(
            {"stress_seconds": config.get("kernel_stress_seconds", 120)} if w.part == "test" else {}, accept_series=True
        ),
        code=lambda w: study_code(f"kernel-{w.part}"),
        files=content_digest("artifacts/kernel", "artifacts/workloads", "artifacts/common", "docker/kernel"),  # the guest runs some workloads
    message: "Running the kernel job {wildcards.part}"
    threads: 1  # most jobs wait for a guest most of the time; the first that needs a kernel builds it on all cores
    priority: 70  # early, beside jobs of one core: at the end only jobs of all cores are left, and these wait for a guest
    resources: mem_mb=4000, kernel_guests=1  # one at a time (profiles/default), as a guest leaves a core partly idle
    shell:
        "tessera dev attempt --outcome {output} -- lab run kernel-{wildcards.part} {params.words} > {log} 2>&1"


include: "os_oracle.smk"
