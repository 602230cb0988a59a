"""Record one trace per workload. info.json is the declared output. If a recording fails, info.json has the reason,
and the other workloads continue. trace.tst is in the same folder."""

from tessera.record import workloads
from tessera.pipeline import needs

#: Kinds of workloads whose programs come from Debian and have their own image.
INSTALLED_KINDS = ("debian", "server")
MB = 1 << 20

# Recordings run in parallel if their memory fits. One that needs more memory than this limit runs alone, and fails
# with a message if the machine has too little. A smaller limit given by --resources stays.
if "mem_mb" in workflow.global_resources:
    workflow.global_resources["mem_mb"] = min(
        workflow.global_resources["mem_mb"].value, int(0.9 * needs.total_memory_bytes()) // MB
    )


def size_of(name):
    """The size of a workload in this configuration."""
    return workloads.load(name).size(config["workloads"][name]["size"])


def recording_mb(name):
    """Memory that a recording needs, in MB of 2^20 bytes."""
    return needs.memory_bytes(size_of(name)) // MB


def limit(name):
    """The option that stops a recording after a number of accesses; empty if there is no limit."""
    accesses = config["workloads"][name].get("max_accesses", config.get("max_accesses"))
    return f"--max-accesses {accesses}" if accesses else ""


def installed(name):
    """Whether the workload needs the image of the programs of Debian."""
    return bool(images()) and workloads.load(name).kind in INSTALLED_KINDS


def workload_files(name):
    """Digest of the files that define a workload."""
    datasets = ["datasets/manifest.csv"] if size_of(name).datasets else []
    return content(f"config/workloads/{name}.yaml", *datasets)


rule trace:
    input:
        component_stamps("mosalloc", "tracer", "workloads"),
        lambda w: workloads_image() if installed(w.workload) else [],
        ancient("config/workloads/{workload}.yaml"),
    output: TREE.info("{workload}"),
    log: TREE.log("trace-{workload}"),
    benchmark: TREE.benchmark("trace-{workload}")
    params:
        size=lambda w: config["workloads"][w.workload]["size"], limit=lambda w: limit(w.workload),
        # a recording does not depend on layouts or platforms
        code=code("tessera.pipeline.record", without=("tessera.layouts.", "tessera.platforms.")),
        files=lambda w: workload_files(w.workload),
    priority: 20  # all other jobs wait for traces; long jobs start early, so that none runs alone at the end
    resources: mem_mb=lambda w: recording_mb(w.workload)
    message: "Recording the trace of {wildcards.workload} ({params.size})"
    shell:
        "tessera pipeline record --workload {wildcards.workload} --size {params.size} {params.limit}"
        " --out {output} 2> >(tee {log} >&2)"
