"""One trace per workload. info.json is the declared output: it also says why a recording failed, so the
other workloads go on; trace.tst lies beside it."""

from tessera.record import workloads
from tessera.pipeline import needs

#: Kinds whose programs are Debian's own, in an image of their own.
INSTALLED_KINDS = ("debian", "server")
MB = 1 << 20

# Recordings run side by side as far as memory goes; one that needs more than there is runs alone, and says so
# itself if the machine can't hold it. A smaller limit given by --resources stays.
if "mem_mb" in workflow.global_resources:
    workflow.global_resources["mem_mb"] = min(
        workflow.global_resources["mem_mb"].value, int(0.9 * needs.total_memory_bytes()) // MB
    )


def size_of(name):
    """The size of a workload that this configuration runs."""
    return workloads.load(name).size(config["workloads"][name]["size"])


def recording_mb(name):
    """Memory of a recording."""
    return needs.memory_bytes(size_of(name)) // MB


def limit(name):
    """After how many accesses a recording stops, as an option."""
    accesses = config["workloads"][name].get("max_accesses", config.get("max_accesses"))
    return f"--max-accesses {accesses}" if accesses else ""


def installed(name):
    """The image of Debian's programs, for the workloads that are in it."""
    return bool(images()) and workloads.load(name).kind in INSTALLED_KINDS


def workload_files(name):
    """Digest of what says what a workload is."""
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
        # a recording knows neither mosaics nor platforms
        code=code("tessera.pipeline.record", without=("tessera.layouts.", "tessera.platforms.")),
        files=lambda w: workload_files(w.workload),
    priority: 20  # all else waits for traces; long jobs start early, so that none is left alone at the end
    resources: mem_mb=lambda w: recording_mb(w.workload)
    message: "Tracing {wildcards.workload} ({params.size})"
    shell:
        "tessera pipeline record --workload {wildcards.workload} --size {params.size} {params.limit}"
        " --out {output} 2> >(tee {log} >&2)"
