"""One trace per workload. info.json is the declared output: it also says why a recording failed, so the
other workloads go on; trace.tst lies beside it."""

from tessera import workloads


def recording_mb(name):
    """Memory of a recording: the anonymous pool (the heaps are small), QEMU and the tracer's buffers."""
    size = workloads.load(name).size(config["workloads"][name]["size"])
    return size.anon_pool // (1 << 20) + 600


rule trace:
    input:
        component_stamps("mosalloc", "tracer", "workloads"),
        "config/workloads/{workload}.yaml",
    output: f"{RESULTS}/traces/{{workload}}/info.json",
    log: f"{RESULTS}/logs/trace-{{workload}}.log",
    benchmark: f"{RESULTS}/benchmarks/trace-{{workload}}.tsv"
    params:
        size=lambda w: config["workloads"][w.workload]["size"],
        limit=lambda w: (
            f"--max-accesses {config['workloads'][w.workload]['max_accesses']}"
            if "max_accesses" in config["workloads"][w.workload] else ""
        ),
    resources: mem_mb=lambda w: recording_mb(w.workload)
    message: "Tracing {wildcards.workload} ({params.size})"
    shell:
        "tessera pipeline record --workload {wildcards.workload} --size {params.size} {params.limit}"
        " --out {output} 2> >(tee {log} >&2)"
